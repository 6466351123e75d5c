//! [`App`]: the state of the dashboard. Keys, overviews and outcomes go in, an [`Action`] comes out.
//!
//! The selection follows an item by its identity. If the selected item disappears, nothing is selected until the next move:
//! a key that was meant for it must not act on the item that took its place.

mod input;
mod items;
mod key;
mod line_editor;
mod selection;
pub(crate) mod text;

pub(crate) use self::{
    input::keys_of,
    items::{Entry, Item, Tone},
    text::command_line,
};
pub use self::{key::Key, line_editor::LineEditor};

use std::collections::BTreeSet;

use self::selection::Selection;
use crate::overview::{Command, Overview};

/// One of the three lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Items that wait for a person, and the agents.
    #[default]
    Now,
    /// The tasks.
    Tasks,
    /// The decisions of the guard.
    Guard,
}

impl View {
    /// All views, in the order of their keys.
    pub const ALL: [Self; 3] = [Self::Now, Self::Tasks, Self::Guard];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Now => "Now",
            Self::Tasks => "Tasks",
            Self::Guard => "Guard",
        }
    }

    const fn index(self) -> usize {
        match self {
            Self::Now => 0,
            Self::Tasks => 1,
            Self::Guard => 2,
        }
    }
}

/// Work for the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// End the dashboard.
    Quit,
    /// Gather an overview now.
    Refresh,
    /// Run the program with these arguments.
    Run(Vec<String>),
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The arguments.
    pub argv: Vec<String>,
    /// Its output, or the reason of its failure.
    pub result: Result<String, String>,
}

/// Receiver of the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The list.
    #[default]
    List,
    /// The details of the selected item, scrolled by so many lines.
    Details(u16),
    /// The keys, scrolled by so many lines.
    Help(u16),
    /// The line that filters the list.
    Filter(LineEditor),
    /// A message to an agent.
    Message(LineEditor, Command),
    /// A question that `y` confirms.
    Confirm(String, Action),
}

/// The state of the dashboard.
#[derive(Debug, Default)]
pub struct App {
    pub(crate) overview: Overview,
    pub(crate) view: View,
    pub(crate) mode: Mode,
    pub(crate) status: String,
    /// Number of commands that run.
    pub(crate) running: BTreeSet<Vec<String>>,
    /// The filter of each view.
    filters: [LineEditor; 3],
    selections: [Selection; 3],
    entries: Vec<Entry>,
    has_data: bool,
    /// Rows of the list on the screen.
    page: usize,
}

impl App {
    /// Returns an empty dashboard for a screen of this height.
    pub fn new(height: u16) -> Self {
        let mut app = Self::default();
        app.resize(height);
        app
    }

    /// Takes a new height of the screen.
    pub fn resize(&mut self, height: u16) {
        self.page = usize::from(height.saturating_sub(4)).max(1);
    }

    /// Takes a new overview. The selection stays on its item.
    pub fn update(&mut self, overview: Overview) {
        self.overview = overview;
        let is_first = !std::mem::replace(&mut self.has_data, true);
        self.rebuild();
        if is_first {
            for view in View::ALL {
                let entries = items::entries(view, &self.overview, "");
                self.selections[view.index()].first(&entries);
            }
        }
    }

    /// Takes the result of a command.
    pub fn finish(&mut self, outcome: &Outcome) {
        self.running.remove(&outcome.argv);
        let (word, words) = match &outcome.result {
            Ok(output) => ("done", output),
            Err(error) => ("failed", error),
        };
        let words = words.trim();
        let command = command_line(&outcome.argv);
        self.status = text::safe(&if words.is_empty() {
            format!("{word}: {command}")
        } else {
            format!("{word}: {}", words.lines().collect::<Vec<_>>().join(" · "))
        });
    }

    /// Returns whether an overview was gathered yet.
    pub(crate) fn has_data(&self) -> bool {
        self.has_data
    }

    /// Returns the rows of the view.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the number of the selected row.
    pub(crate) fn selected_row(&self) -> Option<usize> {
        self.selection().row(&self.entries)
    }

    /// Returns the selected item.
    pub(crate) fn selected(&self) -> Option<&Item> {
        match self.entries.get(self.selected_row()?)? {
            Entry::Item(item) => Some(item),
            Entry::Heading(_) => None,
        }
    }

    /// Returns the row that has to be on the screen: the selected one, or the place of one that disappeared.
    pub(crate) fn anchor(&self) -> usize {
        let row = self.selected_row();
        row.unwrap_or_else(|| self.selection().place(&self.entries))
    }

    /// Returns the filter of the view, as it is typed.
    pub(crate) fn filter(&self) -> &str {
        match &self.mode {
            Mode::Filter(editor) => editor.text(),
            _ => self.filters[self.view.index()].text(),
        }
    }

    fn selection(&self) -> &Selection {
        &self.selections[self.view.index()]
    }

    fn rebuild(&mut self) {
        self.entries = items::entries(self.view, &self.overview, self.filter());
        self.selections[self.view.index()].follow(&self.entries);
    }
}

#[cfg(test)]
pub(crate) mod tests;
