//! [`SettingsFile`]: a settings file of a client, and whose settings they are.

use std::path::PathBuf;

use callosum_executor::client::{Client, Hooks};

/// The owner of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The user's own settings, which hold in every folder.
    #[default]
    User,
    /// The project's settings, in its root.
    Project,
}

/// A settings file of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    /// The client whose settings they are.
    pub client: &'static Client,
    /// The form of its hooks.
    pub hooks: Hooks,
    /// Whether the settings are the user's or the project's.
    pub scope: Scope,
    /// The path of the file.
    pub path: PathBuf,
}
