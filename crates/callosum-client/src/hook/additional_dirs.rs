//! Folders that a client was given by its user in addition to the project.
//!
//! Only the user's own settings in their usual place count: those of a project come with it, and
//! would let it out of itself.

use std::path::{Path, PathBuf};

use callosum_executor::client::Client;
use callosum_host::Disk;
use serde_json::Value;

use callosum_config::Environment;

/// So many folders of a client's settings count.
const MOST: usize = 64;

/// Returns the folders in the settings of the client in this home: absolute, or relative to the
/// home. Settings that cannot be read give none.
pub(super) fn folders(disk: &Disk, environment: &Environment, client: &Client) -> Vec<PathBuf> {
    let read = || {
        let hooks = client.hooks.as_ref()?;
        let [outer, inner] = hooks.given?;
        let home = environment.path("HOME")?;
        let own = client.home.variable;
        let own = own.and_then(|name| environment.path(name));
        // A project's settings may set variables as well, and lead to files of its own.
        if own
            .as_ref()
            .is_some_and(|own| *own != home.join(client.home.folder))
        {
            return None;
        }
        let settings = home.join(client.home.folder).join(hooks.user);
        let settings = disk.read_if_there(&settings).ok()??;
        let settings: Value = serde_json::from_slice(&settings).ok()?;
        let listed = settings.get(outer)?.get(inner)?.as_array()?;
        let path = |folder: &Value| absolute(folder.as_str()?, &home);
        Some(listed.iter().filter_map(path).take(MOST).collect())
    };
    read().unwrap_or_default()
}

/// Returns a folder of the settings. The base of a relative path is known only to the session.
fn absolute(folder: &str, home: &Path) -> Option<PathBuf> {
    let path = match folder.strip_prefix("~/") {
        Some(inner) => home.join(inner),
        None => PathBuf::from(folder),
    };
    path.is_absolute().then_some(path)
}
