//! [`ToolServers`]: settings that name a client's servers of the Model Context Protocol.
//!
//! Data only; writing into its settings is the program's business.

use std::path::{Path, PathBuf};

/// Settings that name a client's tool servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolServers {
    /// Path of the settings that apply everywhere, in its own folder.
    pub user: &'static str,
    /// Whether that file is next to its own folder instead, unless a variable names the folder.
    pub beside: bool,
    /// Path of the settings of one project, in the project's root.
    pub project: &'static str,
    /// Whether an entry names the transport of its server.
    pub typed: bool,
}

impl ToolServers {
    /// Returns the file for servers that apply everywhere; `own` is the client's folder, and
    /// `moved` is whether a variable names it.
    pub fn everywhere(&self, own: &Path, moved: bool) -> PathBuf {
        if self.beside && !moved {
            own.with_file_name(self.user)
        } else {
            own.join(self.user)
        }
    }
}
