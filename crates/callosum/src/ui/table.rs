//! [`Table`]: columns for a person, without lines drawn around them.

use comfy_table::presets::NOTHING;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// An empty table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING);
        table.set_header(headings.iter().map(|heading| heading.to_uppercase()));
        Self(table)
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.add_row(cells);
    }

    /// The table as lines, none with trailing blanks.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        for line in self.0.lines() {
            text.push_str(line.trim());
            text.push('\n');
        }
        text
    }
}
