//! [`Review`]: what came of looking citations up, as it is told to whoever reads the text.

use std::fmt;

use super::{
    grammar::Citation,
    verify::{Standing, Tally, Why},
};

/// How the citations of a text stand, with those that do not hold one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// How many there are of each.
    pub tally: Tally,
    /// Those whose quote stands elsewhere, with the line where it begins.
    pub moved: Vec<(String, u32)>,
    /// Those that nothing confirms, and why.
    pub missing: Vec<(String, Why)>,
}

impl Review {
    /// Puts citations and their standings, in the same order, together.
    pub fn of(citations: &[Citation], standings: &[Standing]) -> Self {
        let mut review = Self {
            tally: Tally::of(standings),
            ..Self::default()
        };
        for (citation, standing) in citations.iter().zip(standings) {
            match standing {
                Standing::Verified => {}
                Standing::Moved { line } => review.moved.push((citation.place(), *line)),
                Standing::Missing(why) => review.missing.push((citation.place(), *why)),
            }
        }
        review
    }

    /// Those that do not hold, in words, at most `most` of each kind.
    pub fn complaints(&self, most: usize) -> Vec<String> {
        let moved = self.moved.iter().take(most);
        let missing = self.missing.iter().take(most);
        missing
            .map(|(place, why)| format!("{place} ({why})"))
            .chain(moved.map(|(place, line)| format!("{place} (it stands at line {line})")))
            .collect()
    }
}

impl fmt::Display for Review {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally {
            total,
            verified,
            moved,
            missing,
        } = self.tally;
        let noun = if total == 1 { "citation" } else { "citations" };
        write!(f, "{verified} of {total} {noun} hold")?;
        if moved > 0 {
            write!(f, "; {moved} moved")?;
        }
        if missing > 0 {
            write!(f, "; {missing} invented")?;
        }
        Ok(())
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoQuote => "it quotes nothing that could be compared",
            Self::NoSuchFile => "there is no such file",
            Self::OutsideRoot => "it is outside of the root",
            Self::NotReadable => "it is no file that can be read",
            Self::NotThere => "the quote is not in the file",
        })
    }
}

impl Citation {
    /// The place as a person names it, such as `src/main.rs:12` or `src/main.rs:12-15`.
    pub fn place(&self) -> String {
        if self.first_line == self.last_line {
            format!("{}:{}", self.path, self.first_line)
        } else {
            format!("{}:{}-{}", self.path, self.first_line, self.last_line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::find;

    /// LOA-GRD-1: what is told names the place, and where a moved quote stands now.
    #[test]
    fn a_review_counts_and_names_what_does_not_hold() {
        let cited = find("`abc d` [a.rs:1] `abc d` [a.rs:2-3] `abc d` [x.rs:900]");
        let standings = [
            Standing::Verified,
            Standing::Moved { line: 7 },
            Standing::Missing(Why::NoSuchFile),
        ];
        let review = Review::of(&cited, &standings);
        assert_eq!(
            review.to_string(),
            "1 of 3 citations hold; 1 moved; 1 invented"
        );
        assert_eq!(
            review.complaints(9),
            [
                "x.rs:900 (there is no such file)",
                "a.rs:2-3 (it stands at line 7)"
            ]
        );
        assert_eq!(review.complaints(0), [""; 0]);
        assert_eq!(Review::default().to_string(), "0 of 0 citations hold");
    }
}
