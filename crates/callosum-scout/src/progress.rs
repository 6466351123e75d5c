//! [`Progress`]: scout's current activity, for the caller that waits.

use serde::{Deserialize, Serialize};

/// One line of progress, as it is written to stderr while scout works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The current phase.
    pub phase: Phase,
    /// Number of files that were read.
    pub files_read: usize,
    /// Number of files to read; 0 while they are being listed.
    pub files_total: usize,
}

/// A stretch of scout's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Finding the files.
    Listing,
    /// Reading them.
    Reading,
    /// Finding out what they mean to each other.
    Linking,
    /// Writing the digest.
    Writing,
}

impl Progress {
    /// Reads a line of an executor's stderr; `None` if it is something else.
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_progress_is_read_back_and_other_lines_are_none() {
        let progress = Progress {
            phase: Phase::Reading,
            files_read: 3,
            files_total: 9,
        };
        let line = serde_json::to_string(&progress).unwrap();
        assert_eq!(
            line,
            r#"{"phase":"reading","files_read":3,"files_total":9}"#
        );
        assert_eq!(Progress::parse(&line), Some(progress));
        assert_eq!(Progress::parse("warning: something"), None);
    }
}
