//! [`Selection`]: the selected item of a list, by its identity.

use super::Entry;

/// The selected item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Identity of the item; `None` if nothing is selected.
    id: Option<String>,
    /// Its place among the items, which stays when it disappears.
    place: usize,
}

impl Selection {
    /// Returns the number of the selected row.
    pub(crate) fn row(&self, entries: &[Entry]) -> Option<usize> {
        let id = self.id.as_deref()?;
        entries.iter().position(|entry| entry.id() == Some(id))
    }

    /// Returns the number of the row at the place of the selection, also if nothing is selected.
    pub(crate) fn place(&self, entries: &[Entry]) -> usize {
        let rows = rows(entries);
        let row = rows.get(self.place.min(rows.len().saturating_sub(1)));
        row.copied().unwrap_or(0)
    }

    /// Takes note of a changed list: an item that is gone is no longer selected.
    pub(crate) fn follow(&mut self, entries: &[Entry]) {
        match self.row(entries) {
            Some(row) => self.place = rows(entries).iter().position(|at| *at == row).unwrap_or(0),
            None => self.id = None,
        }
    }

    /// Selects the first item.
    pub(crate) fn first(&mut self, entries: &[Entry]) {
        self.select(entries, 0);
    }

    /// Selects the last item.
    pub(crate) fn last(&mut self, entries: &[Entry]) {
        self.select(entries, usize::MAX);
    }

    /// Moves by so many items. If nothing is selected, selects the item at the place of the last selection.
    pub(crate) fn step(&mut self, entries: &[Entry], by: isize) {
        let place = match self.id {
            Some(_) => self.place.saturating_add_signed(by),
            None => self.place,
        };
        self.select(entries, place);
    }

    fn select(&mut self, entries: &[Entry], place: usize) {
        let rows = rows(entries);
        self.place = place.min(rows.len().saturating_sub(1));
        let row = rows.get(self.place);
        self.id = row.and_then(|row| entries[*row].id().map(str::to_owned));
    }
}

/// Returns the numbers of the rows that are items.
fn rows(entries: &[Entry]) -> Vec<usize> {
    let numbered = entries.iter().enumerate();
    let items = numbered.filter(|(_, entry)| entry.id().is_some());
    items.map(|(row, _)| row).collect()
}
