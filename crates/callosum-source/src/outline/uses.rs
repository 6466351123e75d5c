//! [`Use`]: a name that code uses, with the path or receiver in front of it.
//!
//! Start with [`Uses::note`], which grammars call for each name, and [`Uses::finish`], which drops
//! the names that a parameter or local variable hides and joins the rest. Whether a use means a
//! declaration of another file is not decided here: that needs the other files.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::symbol::Outline;

/// Longer qualifiers are not paths that people write, and a chain of calls must not cost its
/// length squared.
pub(super) const LONGEST_QUALIFIER: usize = 200;

/// When code is needed: the first that fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// When the program runs.
    #[default]
    Run,
    /// Only for a type checker: `if TYPE_CHECKING:`, `import type`, declaration files.
    Types,
    /// Only in tests that are next to the code: `#[cfg(test)]`.
    Tests,
}

/// A name in code that is not hidden by a parameter or local variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The text before the name: `http` of `http.createServer`, `hyper::upgrade` of
    /// `hyper::upgrade::on`; empty for a name alone.
    pub qualifier: String,
    /// The name; of a Rust macro with its `!`.
    pub name: String,
    /// The line of the first use for `purpose`.
    pub line: u32,
    /// The line of the last use.
    pub last_line: u32,
    /// The first purpose of any of these uses.
    pub purpose: Purpose,
}

/// A local name that an import introduces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The name in this file; dotted for Python's `import a.b`.
    pub local: String,
    /// The name in the imported module; empty for the module as a whole.
    pub name: String,
}

/// A name under which a JavaScript or TypeScript file exports one of its own names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The exported name; `=` for `module.exports = …`.
    pub name: String,
    /// The name in this file.
    pub local: String,
}

/// One use before names are joined.
struct Noted<'t> {
    qualifier: &'t str,
    name: &'t str,
    at: usize,
}

/// Collects the uses of a file during the walk.
#[derive(Default)]
pub(super) struct Uses<'t> {
    noted: Vec<Noted<'t>>,
    /// Open scopes, innermost last, each with the level of the syntax tree that it ends with.
    scopes: Vec<(usize, Range<usize>)>,
    /// The scopes in which each name is a parameter or local variable.
    locals: HashMap<&'t str, Vec<Range<usize>>>,
    /// Parts of the file with a purpose of their own, in order, without overlaps.
    apart: Vec<(Range<usize>, Purpose)>,
    /// Starts of nodes that look like names but are keys, fields or parts of a longer path.
    passed_over: HashSet<usize>,
    /// Whether files of this language see names of other files without an import.
    pub(super) keeps_unbound: bool,
    /// Whether the head of a path may be a module or package that no import names, as in Rust.
    pub(super) keeps_paths: bool,
}

impl<'t> Uses<'t> {
    /// Opens a scope for local names: a function or block at this level of the syntax tree.
    pub(super) fn open(&mut self, depth: usize, range: Range<usize>) {
        self.scopes.push((depth, range));
    }

    /// Closes the scopes that end with this level of the syntax tree.
    pub(super) fn close(&mut self, depth: usize) {
        while self.scopes.pop_if(|(at, _)| *at == depth).is_some() {}
    }

    /// Notes that a name is a parameter or variable of the innermost scope; at file level it hides
    /// nothing.
    pub(super) fn declare_local(&mut self, name: &'t str) {
        if let Some((_, range)) = self.scopes.last() {
            let ranges = self.locals.entry(name).or_default();
            if ranges.last() != Some(range) {
                ranges.push(range.clone());
            }
        }
    }

    /// Gives a part of the file a purpose of its own, unless it is inside of such a part already.
    pub(super) fn set_apart(&mut self, range: Range<usize>, purpose: Purpose) {
        let last = self.apart.last().map_or(0, |(range, _)| range.end);
        if range.start >= last {
            self.apart.push((range, purpose));
        }
    }

    /// Returns the purpose of the code at an offset.
    pub(super) fn purpose_at(&self, at: usize) -> Purpose {
        purpose_at(&self.apart, at)
    }

    /// Skips the name that begins at this offset: a key, a field, a part of a longer path.
    pub(super) fn pass_over(&mut self, at: usize) {
        self.passed_over.insert(at);
    }

    /// Notes a name with the text before it.
    pub(super) fn note(&mut self, qualifier: &'t str, name: &'t str, at: usize) {
        if qualifier.is_empty() && self.passed_over.contains(&at) {
            return;
        }
        self.noted.push(Noted {
            qualifier,
            name,
            at,
        });
    }

    /// Notes a name that a path takes from the file itself.
    pub(super) fn note_outer(&mut self, name: &'t str, at: usize) {
        self.noted.push(Noted {
            qualifier: "",
            name,
            at,
        });
    }

    /// Joins the uses, sorted by qualifier and name, each with its lines.
    ///
    /// Leaves out what local names hide and what no import, declaration or package of the file can
    /// explain.
    pub(super) fn finish(self, outline: &Outline, line_of: impl Fn(usize) -> u32) -> Vec<Use> {
        let imports = &outline.imports;
        let has_glob = imports.iter().any(|import| {
            import.target.ends_with('*') || import.names.iter().any(|name| name == "*")
        });
        let keeps_unbound = self.keeps_unbound || has_glob;
        let bindings = imports.iter().flat_map(|import| &import.bindings);
        let bound: HashSet<&str> = bindings
            .map(|binding| head(&binding.local))
            .chain(
                outline
                    .symbols
                    .iter()
                    .filter(|symbol| !symbol.test)
                    .map(|symbol| symbol.name.as_str()),
            )
            .collect();
        let mut locals = self.locals;
        locals.retain(|name, _| keeps_unbound || self.keeps_paths || bound.contains(name));
        for ranges in locals.values_mut() {
            join_nested(ranges);
        }
        let mut joined: HashMap<(&str, &str), (Purpose, usize, usize)> = HashMap::new();
        for noted in &self.noted {
            let path = if noted.qualifier.is_empty() {
                noted.name
            } else {
                noted.qualifier
            };
            let first = head(path);
            let is_rust_path = self.keeps_paths && !noted.qualifier.is_empty();
            let is_macro = noted.name.ends_with('!');
            if !keeps_unbound && !is_rust_path && !is_macro && !bound.contains(first) {
                continue;
            }
            let is_hidden = locals.get(first).is_some_and(|ranges| {
                let begun = ranges.partition_point(|range| range.start <= noted.at);
                begun > 0 && ranges[begun - 1].contains(&noted.at)
            });
            if is_hidden {
                continue;
            }
            let purpose = purpose_at(&self.apart, noted.at);
            joined
                .entry((noted.qualifier, noted.name))
                .and_modify(|(least, first, last)| {
                    if (purpose, noted.at) < (*least, *first) {
                        (*least, *first) = (purpose, noted.at);
                    }
                    *last = noted.at.max(*last);
                })
                .or_insert((purpose, noted.at, noted.at));
        }
        let mut uses: Vec<Use> = joined
            .into_iter()
            .map(|((qualifier, name), (purpose, first, last))| Use {
                qualifier: qualifier.to_owned(),
                name: name.to_owned(),
                line: line_of(first),
                last_line: line_of(last),
                purpose,
            })
            .collect();
        uses.sort_unstable();
        uses
    }
}

fn purpose_at(apart: &[(Range<usize>, Purpose)], at: usize) -> Purpose {
    let begun = apart.partition_point(|(range, _)| range.start <= at);
    match begun.checked_sub(1).map(|last| &apart[last]) {
        Some((range, purpose)) if range.contains(&at) => *purpose,
        _ => Purpose::Run,
    }
}

/// Sorts scopes and drops those inside of another: scopes never overlap otherwise.
fn join_nested(ranges: &mut Vec<Range<usize>>) {
    ranges.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    ranges.dedup_by(|next, before| next.end <= before.end);
}

/// The first part of a dotted or `::` path.
fn head(path: &str) -> &str {
    let end = path.find(['.', ':']).unwrap_or(path.len());
    &path[..end]
}
