//! [`ComparedViews`]: a ledger file and its hashlog, compared with the journal.

use callosum_host::DiskError;

use super::window::Window;
use crate::{
    hashlog::ReadRange,
    journal::{Begins, EntryRef, RecordPlace, ScanVisitor},
    position::View,
};

/// A ledger file and its hashlog while the journal is read.
#[derive(Debug)]
pub(crate) struct ComparedViews<L, H> {
    ledger: Compared<L>,
    hashlog: Compared<H>,
    view: Option<View>,
    entry: Vec<u8>,
    line: Vec<u8>,
}

impl<L: ReadRange, H: ReadRange> ComparedViews<L, H> {
    /// Files that are not there are unlike everything.
    pub(crate) fn new(ledger: Option<L>, hashlog: Option<H>) -> Self {
        Self {
            ledger: Compared::new(ledger),
            hashlog: Compared::new(hashlog),
            view: None,
            entry: Vec::new(),
            line: Vec::new(),
        }
    }

    /// Begins a ledger: the files are compared with it from here on.
    pub(crate) fn begin(&mut self, view: View) -> Result<(), DiskError> {
        self.ledger.restart();
        self.hashlog.restart();
        self.ledger.push(view.begun.head.as_bytes())?;
        self.view = Some(view);
        Ok(())
    }

    /// An entry is stored.
    pub(crate) fn push(&mut self, entry: EntryRef<'_>) -> Result<(), DiskError> {
        if let Some(view) = &mut self.view {
            self.entry.clear();
            self.line.clear();
            view.push(entry, &mut self.entry, &mut self.line);
            self.ledger.push(&self.entry)?;
            self.hashlog.push(&self.line)?;
        }
        Ok(())
    }

    /// Returns the ends that the files must have now.
    pub(crate) fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// Whether the ledger file has its required contents.
    pub(crate) fn has_ledger(&mut self) -> Result<bool, DiskError> {
        match &self.view {
            Some(view) => {
                self.ledger.push(view.begun.tail.as_bytes())?;
                self.ledger.has_ended()
            }
            None => Ok(false),
        }
    }

    /// Whether the hashlog has its required contents.
    pub(crate) fn has_hashlog(&self) -> Result<bool, DiskError> {
        self.hashlog.has_ended()
    }

    /// Whether the hashlog begins with its required contents.
    pub(crate) fn hashlog_is_alike(&self) -> bool {
        self.hashlog.is_alike
    }
}

impl<L: ReadRange, H: ReadRange> ScanVisitor for ComparedViews<L, H> {
    fn begins(&mut self, _before: Option<&View>, begins: &Begins) -> Result<(), DiskError> {
        self.begin(begins.view())
    }

    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        self.push(entry)
    }
}

/// A file during the comparison with its required bytes.
#[derive(Debug)]
struct Compared<R> {
    file: Option<Window<R>>,
    at: u64,
    is_alike: bool,
}

impl<R: ReadRange> Compared<R> {
    fn new(file: Option<R>) -> Self {
        Self {
            is_alike: file.is_some(),
            file: file.map(Window::new),
            at: 0,
        }
    }

    fn restart(&mut self) {
        self.at = 0;
        self.is_alike = self.file.is_some();
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        if let Some(file) = self.file.as_mut().filter(|_| self.is_alike) {
            // Also if nothing can be read.
            self.is_alike = false;
            self.is_alike = file.get(self.at, bytes.len())? == bytes;
            self.at += bytes.len() as u64;
        }
        Ok(())
    }

    fn has_ended(&self) -> Result<bool, DiskError> {
        match self.file.as_ref().filter(|_| self.is_alike) {
            Some(file) => Ok(file.size()? == self.at),
            None => Ok(false),
        }
    }
}
