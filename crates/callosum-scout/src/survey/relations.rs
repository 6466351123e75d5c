//! [`Survey::edges`] and [`Survey::uses`]: every relation between files, in plain values.
//!
//! A digest shows a selection of these. `cargo xtask truth` compares all of them with what
//! compilers and interpreters say.

use callosum_source::outline::Purpose;

use super::Survey;

/// One file that depends on another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relation {
    /// The path of the file that depends, from the root.
    pub from: String,
    /// The path of the file that it depends on.
    pub to: String,
    /// The declaration of `to` that `from` names; `None` for an edge between files.
    pub name: Option<String>,
    /// The first line of the dependency in `from`.
    pub line: u32,
    /// When it is needed.
    pub purpose: Purpose,
}

impl Survey {
    /// Returns the files that import each other, or use each other's names in Go and Java. Lines that
    /// only declare a module are left out.
    pub fn edges(&self) -> impl Iterator<Item = Relation> + '_ {
        self.links.leaning().map(|edge| Relation {
            from: self.files[edge.from].path.clone(),
            to: self.files[edge.to].path.clone(),
            name: None,
            line: edge.line,
            purpose: edge.purpose,
        })
    }

    /// Returns the uses of declarations by other files.
    pub fn uses(&self) -> impl Iterator<Item = Relation> + '_ {
        let others = self.links.names.iter().filter(|used| used.from != used.to);
        others.map(|used| Relation {
            from: self.files[used.from].path.clone(),
            to: self.files[used.to].path.clone(),
            name: Some(used.name.to_string()),
            line: used.line,
            purpose: used.purpose,
        })
    }
}
