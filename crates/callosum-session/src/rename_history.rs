//! [`RenameHistory`]: the project's history of moved files, as a locked session asks for it.

use std::fmt;

/// The project's history of moved files. Paths are from the root of the tree.
pub trait RenameHistory {
    /// Returns the staged place of a missing file, if it was renamed there.
    fn staged(&self, file: &str) -> Option<String>;
    /// Returns the new path of a file in the commit that last removed it, if it was renamed there.
    fn renamed(&self, file: &str) -> Option<String>;
    /// Returns the last committed content of the file.
    fn committed(&self, file: &str) -> Option<Vec<u8>>;
    /// Returns the files that the last commit does not have; `None` if there is no repository.
    fn uncommitted(&self) -> Option<Vec<String>>;
}

/// The history that a held session asks.
#[derive(Clone, Copy, Default)]
pub(crate) struct HistorySource<'s>(pub(crate) Option<&'s dyn RenameHistory>);

impl fmt::Debug for HistorySource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HistorySource")
            .field(&self.0.is_some())
            .finish()
    }
}
