//! [`Diff`]: a unified diff, line by line, as the page shows it.

use serde::Serialize;

/// Most lines that are shown.
const MOST_LINES: usize = 4000;

/// Lines of a unified diff.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Diff {
    /// The first lines.
    pub(crate) lines: Vec<Line>,
    /// Number of lines that are not shown.
    pub(crate) left: usize,
}

/// A line of a diff, with its mark.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Line {
    /// Class of the style sheet: `add`, `del`, or nothing.
    pub(crate) class: &'static str,
    /// The line. An empty one is a space, so that it has a height.
    pub(crate) text: String,
}

impl Diff {
    /// Splits a unified diff.
    pub(crate) fn new(text: &str) -> Self {
        let mut is_header = true;
        let mut lines = text.lines();
        let shown = lines.by_ref().take(MOST_LINES);
        let shown = shown.map(|line| {
            // The names of files begin as added and deleted lines do.
            if line.starts_with("diff ") {
                is_header = true;
            } else if line.starts_with("@@") {
                is_header = false;
            }
            let class = match line.as_bytes().first() {
                Some(b'+') if !is_header => "add",
                Some(b'-') if !is_header => "del",
                _ => "",
            };
            let text = if line.is_empty() { " " } else { line };
            Line {
                class,
                text: text.to_owned(),
            }
        });
        let shown: Vec<Line> = shown.collect();
        Self {
            lines: shown,
            left: lines.count(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_and_deleted_lines_are_marked_but_names_of_files_are_not() {
        let diff =
            Diff::new("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a list\n+<b>\n\n");
        let classes: Vec<_> = diff.lines.iter().map(|line| line.class).collect();
        assert_eq!(classes, ["", "", "", "", "del", "add", ""]);
        assert_eq!(diff.lines[6].text, " ");
        assert_eq!(diff.left, 0);
    }

    #[test]
    fn a_long_diff_is_cut() {
        let diff = Diff::new(&"+\n".repeat(MOST_LINES + 7));
        assert_eq!((diff.lines.len(), diff.left), (MOST_LINES, 7));
    }
}
