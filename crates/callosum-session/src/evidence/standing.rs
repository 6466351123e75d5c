//! [`EvidenceStatus`]: the status of a cited place against a file. Pure: the caller has read the
//! file.

use std::fmt;

use callosum_citation::{MOST_LINES, says_enough};

use super::{place::Evidence, tree::CitedFileState};

/// Least share of words that a line must have in common with a quote to be called its successor,
/// in percent.
const LEAST_ALIKE: usize = 50;

/// Replacement in a quote for a secret that was removed from it.
const MASK: &str = "[secret: ";

/// Status of a cited place against the current tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvidenceStatus {
    /// The quote is at the cited place, and nowhere else in the file.
    Verified,
    /// The quote occurs once in the file, at another place.
    Moved {
        /// Line where it begins.
        line: u32,
    },
    /// The quote occurs in the file more than once.
    Ambiguous {
        /// Number of occurrences.
        places: usize,
    },
    /// The quote was code, and is only in a comment or a string now.
    Inert {
        /// The line on which it begins.
        line: u32,
    },
    /// The quote is nowhere in the file.
    Changed {
        /// Line that is most similar to the quote, and its text now.
        nearest: Option<(u32, String)>,
    },
    /// The file does not exist.
    MissingFile,
    /// The path leaves the tree, directly or through a link.
    OutsideRoot,
    /// There is no quote, too little of one, or no readable place.
    BadFormat,
    /// The file is not text, or is larger than the limit.
    Binary,
    /// It is a record of sessions or of git, with any content.
    Record,
}

impl EvidenceStatus {
    /// Whether the claim may rely on it.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Verified | Self::Moved { .. })
    }

    /// Returns its name in records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Verified => "VERIFIED",
            Self::Moved { .. } => "MOVED",
            Self::Ambiguous { .. } => "AMBIGUOUS",
            Self::Inert { .. } => "NOT_CODE",
            Self::Changed { .. } => "CHANGED",
            Self::MissingFile => "MISSING_FILE",
            Self::OutsideRoot => "OUTSIDE_ROOT",
            Self::BadFormat => "BAD_FORMAT",
            Self::Binary => "BINARY",
            Self::Record => "RECORD",
        }
    }

    /// Returns its meaning in words, for people.
    pub fn meaning(&self) -> &'static str {
        match self {
            Self::Verified => "the quote is at this place",
            Self::Moved { .. } => "the quote is at another place in the file",
            Self::Ambiguous { .. } => "the quote occurs more than once in the file",
            Self::Inert { .. } => "the quote is only in a comment or a string",
            Self::Changed { .. } => "the quote is not in the file",
            Self::MissingFile => "there is no such file",
            Self::OutsideRoot => "the file is not in this project",
            Self::BadFormat => "there is no place, or no quote that is long enough",
            Self::Binary => "it is a folder, not text, or too large",
            Self::Record => "files written by sessions or git are not evidence",
        }
    }
}

impl fmt::Display for EvidenceStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Moved { line } => write!(f, " to line {line}"),
            Self::Ambiguous { places } => write!(f, ": the quote occurs {places} times"),
            Self::Inert { line } => write!(
                f,
                ": the quote was code, and is now in a comment or a string in line {line}"
            ),
            Self::Changed {
                nearest: Some((line, now)),
            } => write!(f, ": line {line} is now `{now}`"),
            Self::Changed { nearest: None } => f.write_str(": the file contains nothing similar"),
            Self::Binary => f.write_str(": it is a folder, not text, or too large"),
            Self::Record => f.write_str(": files written by sessions or git are not evidence"),
            _ => Ok(()),
        }
    }
}

/// Returns the status of a cited place in the file.
pub(super) fn stand_in(looked: &CitedFileState, evidence: &Evidence) -> EvidenceStatus {
    place_in(looked, evidence).unwrap_or_else(|| {
        let quote = evidence.quote.as_deref().unwrap_or_default();
        EvidenceStatus::Changed {
            nearest: nearest(looked.masked().text(), quote, evidence.first),
        }
    })
}

/// The same; `None` if the quote is nowhere in the file.
pub(super) fn place_in(looked: &CitedFileState, evidence: &Evidence) -> Option<EvidenceStatus> {
    let file = &looked.file;
    if file.is_binary() {
        return Some(EvidenceStatus::Binary);
    }
    let Some(quote) = evidence.quote.as_deref().filter(|quote| says_enough(quote)) else {
        return Some(EvidenceStatus::BadFormat);
    };
    let file = if quote.contains(MASK) && file.places(quote).next().is_none() {
        // The quote was masked when it was taken, so it is searched for in the masked file.
        looked.masked()
    } else {
        file
    };
    let mut places = file.places(quote);
    Some(match (places.next(), places.next()) {
        (Some(_), Some(_)) => EvidenceStatus::Ambiguous {
            places: 2 + places.count(),
        },
        (Some(lines), None) if looked.is_inert(quote, &lines) => EvidenceStatus::Inert {
            line: *lines.start(),
        },
        (Some(lines), None) => {
            let is_narrow = evidence.last.saturating_sub(evidence.first) < MOST_LINES;
            if is_narrow && *lines.start() >= evidence.first && *lines.end() <= evidence.last {
                EvidenceStatus::Verified
            } else {
                EvidenceStatus::Moved {
                    line: *lines.start(),
                }
            }
        }
        (None, _) => return None,
    })
}

/// Returns the line that has most words in common with a quote, the nearest to `cited` among
/// equals.
fn nearest(text: &str, quote: &str, cited: u32) -> Option<(u32, String)> {
    fn words(text: &str) -> Vec<&str> {
        let mut words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .collect();
        words.sort_unstable();
        words.dedup();
        words
    }
    let wanted = words(quote);
    let mut best: Option<(usize, u32, &str)> = None;
    for (line, number) in text.lines().zip(1_u32..) {
        let had = words(line);
        let shared = had
            .iter()
            .filter(|word| wanted.binary_search(word).is_ok())
            .count();
        let alike = shared * 200 / (wanted.len() + had.len()).max(1);
        let is_better = best.is_none_or(|(known, at, _)| {
            alike > known || (alike == known && number.abs_diff(cited) < at.abs_diff(cited))
        });
        if alike >= LEAST_ALIKE && is_better {
            best = Some((alike, number, line));
        }
    }
    best.map(|(_, number, line)| {
        let shown: String = line.trim().chars().take(120).collect();
        (number, shown)
    })
}
