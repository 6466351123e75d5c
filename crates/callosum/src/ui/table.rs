//! [`Table`]: columns for a person, without lines drawn around them.

use std::fmt::Write as _;

use comfy_table::{ColumnConstraint, ContentArrangement, Width, presets::NOTHING};

use super::terminal::columns;

/// The longest word that a column is kept wide enough for, in characters: ids and times have less.
const LONGEST_WHOLE: usize = 28;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self {
            headings: headings
                .iter()
                .map(|heading| heading.to_uppercase())
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as lines, none with trailing blanks. On a terminal, cells are wrapped between words to its width; if
    /// the columns have no room for that, each row becomes a few lines of its own.
    pub(crate) fn render(&self) -> String {
        match columns() {
            None => self.as_table(None),
            Some(width) => self.render_to(width),
        }
    }

    fn render_to(&self, width: usize) -> String {
        let least = self.least_widths();
        if least.iter().sum::<usize>() > width {
            self.as_records()
        } else {
            self.as_table(Some(width))
        }
    }

    /// Returns the width of each column that breaks no word, with the blanks on both sides.
    fn least_widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headings.iter().map(|one| longest_word(one)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(longest_word(cell));
            }
        }
        let least = |width: usize| width.min(LONGEST_WHOLE) + 2;
        widths.into_iter().map(least).collect()
    }

    fn as_table(&self, width: Option<usize>) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING);
        table.set_header(&self.headings);
        for row in &self.rows {
            table.add_row(row);
        }
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
            for (at, least) in self.least_widths().into_iter().enumerate() {
                let least = Width::Fixed(u16::try_from(least).unwrap_or(u16::MAX));
                if let Some(column) = table.column_mut(at) {
                    column.set_constraint(ColumnConstraint::LowerBoundary(least));
                }
            }
        }
        let mut text = String::new();
        for line in table.lines() {
            text.push_str(match width {
                None => line.trim(),
                // A line that continues a cell begins with the blanks of the columns before it.
                Some(_) => line.strip_prefix(' ').unwrap_or(&line).trim_end(),
            });
            text.push('\n');
        }
        text
    }

    /// Returns each row as lines of a heading and a cell, with an empty line between two rows.
    fn as_records(&self) -> String {
        let widest = self.headings.iter().map(|heading| heading.chars().count());
        let widest = widest.max().unwrap_or(0);
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            for (heading, cell) in self.headings.iter().zip(row) {
                if !cell.is_empty() {
                    let _ = writeln!(text, "{heading:<widest$}  {cell}");
                }
            }
        }
        text
    }
}

fn longest_word(cell: &str) -> usize {
    let words = cell.split_whitespace();
    words.map(|word| word.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["task", "executor", "prompt"]);
        let prompt = "Which modules of this repository depend on each other?";
        table.row(["cal_2026_01_02_0001", "scout", prompt].map(str::to_owned));
        table.row(["cal_2026_01_02_0002", "", "Map"].map(str::to_owned));
        table
    }

    #[test]
    fn a_table_that_goes_to_no_terminal_is_not_wrapped() {
        let text = table().as_table(None);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(
            text.starts_with("TASK                 EXECUTOR  PROMPT\n"),
            "{text}"
        );
    }

    #[test]
    fn a_table_is_wrapped_between_words() {
        let text = table().render_to(60);
        assert!(text.lines().all(|line| line.len() <= 60), "{text}");
        for word in ["cal_2026_01_02_0001", "repository", "depend", "other?"] {
            assert!(text.contains(word), "{text}");
        }
        let below = text.lines().nth(2).unwrap();
        assert!(below.starts_with("                     "), "{text}");
        assert_eq!(table().render_to(200), table().as_table(None));
    }

    #[test]
    fn a_row_without_room_for_its_words_has_lines_of_its_own() {
        let text = table().render_to(40);
        let expected = "TASK      cal_2026_01_02_0001\nEXECUTOR  scout\n\
                        PROMPT    Which modules of this repository depend on each other?\n\n\
                        TASK      cal_2026_01_02_0002\nPROMPT    Map\n";
        assert_eq!(text, expected);
    }
}
