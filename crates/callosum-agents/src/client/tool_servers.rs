//! [`ToolServers`]: where a client is told of servers of the Model Context Protocol.
//!
//! Data only; writing into its settings is the program's business.

use std::path::{Path, PathBuf};

/// Where a client's servers of tools are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolServers {
    /// Where those stand that hold everywhere, in its own folder.
    pub user: &'static str,
    /// Whether they stand beside its own folder instead, where no variable names that.
    pub beside: bool,
    /// Where those of one project stand, in the project's root.
    pub project: &'static str,
    /// Whether an entry says by which transport it is reached.
    pub typed: bool,
}

impl ToolServers {
    /// The file of those that hold everywhere; `own` is the client's folder, and `moved` says that a
    /// variable names it.
    pub fn everywhere(&self, own: &Path, moved: bool) -> PathBuf {
        if self.beside && !moved {
            own.with_file_name(self.user)
        } else {
            own.join(self.user)
        }
    }
}
