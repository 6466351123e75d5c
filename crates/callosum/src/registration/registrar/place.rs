//! [`Place`]: a settings file of a client, and whose settings they are.

use std::path::PathBuf;

use callosum_agents::client::{Client, Hooks};

/// Whose settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// The user's own, which hold in every folder
    #[default]
    User,
    /// Those of the project, in its root
    Project,
}

/// A settings file of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) client: &'static Client,
    pub(crate) hooks: Hooks,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
}
