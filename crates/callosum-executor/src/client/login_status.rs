//! [`LoginStatus`]: status of a client's login and hooks, from its own folder, without opening secrets.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};

use super::Client;

/// Most bytes of its settings that are looked through.
const LARGEST_SETTINGS: usize = 4 * 1024 * 1024;

/// Text by which Codex notes in its settings that a person has trusted a hook.
const TRUSTED_MARK: &[u8] = b"trusted_hash";

/// Status of a client, from its own folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginStatus {
    /// Whether one of the files that a login leaves exists. Callosum does not look into it, so the
    /// login may have expired.
    pub logged_in: bool,
    /// Hooks that it silently ignores, because no one has trusted any.
    pub untrusted_hooks: Option<PathBuf>,
}

impl Client {
    /// Returns the folder in which it keeps its own files.
    ///
    /// `variable` is the value of [`Home::variable`](super::Home::variable), if that is set.
    pub fn folder(&self, home: &Path, variable: Option<&Path>) -> PathBuf {
        variable.map_or_else(|| home.join(self.home.folder), Path::to_owned)
    }

    /// Looks at its own folder. A file that cannot be looked at is an error.
    pub fn standing(&self, disk: &Disk, folder: &Path) -> Result<LoginStatus, DiskError> {
        let mut logged_in = false;
        for file in self.login.files {
            logged_in |= disk.exists(&folder.join(file))?;
        }
        let untrusted_hooks = match self.hooks_to_trust {
            Some(hooks) if disk.exists(&folder.join(hooks))? => {
                let is_trusted = self.has_trusted(disk, folder)?;
                (!is_trusted).then(|| folder.join(hooks))
            }
            _ => None,
        };
        Ok(LoginStatus {
            logged_in,
            untrusted_hooks,
        })
    }

    fn has_trusted(&self, disk: &Disk, folder: &Path) -> Result<bool, DiskError> {
        let settings = match disk.read(&folder.join(self.settings)) {
            Ok(settings) => settings,
            Err(error) if error.is_absent() => return Ok(false),
            Err(error) => return Err(error),
        };
        let looked_at = &settings[..settings.len().min(LARGEST_SETTINGS)];
        let mut windows = looked_at.windows(TRUSTED_MARK.len());
        Ok(windows.any(|window| window == TRUSTED_MARK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_format::Dialect;

    /// CAL-SEC-1: a login is detected by its file's name, and untrusted hooks are reported.
    #[test]
    fn a_login_and_untrusted_hooks_are_seen() {
        let home = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let client = Client::of(Dialect::Codex).unwrap();
        let folder = client.folder(home.path(), None);
        let standing = || client.standing(&disk, &folder).unwrap();
        assert!(!standing().logged_in);
        disk.create_dir_all(&folder).unwrap();
        let write =
            |name: &str, text: &[u8]| disk.replace(&folder.join(name), text, 0o600).unwrap();
        write("auth.json", b"");
        write("hooks.json", b"{}");
        assert!(standing().logged_in);
        assert_eq!(standing().untrusted_hooks, Some(folder.join("hooks.json")));
        write(
            "config.toml",
            b"[hooks.state.x]\ntrusted_hash = \"sha256:1\"\n",
        );
        assert_eq!(standing().untrusted_hooks, None);
        let elsewhere = Path::new("/elsewhere");
        assert_eq!(client.folder(home.path(), Some(elsewhere)), elsewhere);
    }
}
