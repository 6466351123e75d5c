//! [`OwnFolder`]: a known client's own folder while it is sandboxed, made for it and removed with it.
//!
//! It holds a copy of the client's login, which the client may write in any way, even by renaming.
//! A renewed login is copied back at the end. Deliberately not here: which of its settings it sees
//! (`client_settings`).

use std::path::{Path, PathBuf};

use callosum_host::{
    Disk, DiskError,
    disk::{EntryKind, Scratch},
};
use callosum_sandbox::{Access, MountPoint};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::credential_refresh::is_renewal;

/// Largest login that is copied or taken back, in bytes.
const LARGEST_LOGIN: u64 = 1024 * 1024;

/// A folder that replaces the client's own one.
#[derive(Debug)]
pub(super) struct OwnFolder {
    scratch: Scratch,
    path: PathBuf,
    logins: Vec<Login>,
}

/// Keys in a login file that do not belong to the client's own service: Claude Code's keys of tool
/// servers.
const WITHHELD: [&str; 2] = ["mcpOAuth", "mcpOAuthClientConfig"];

/// A login as it was when it was copied.
#[derive(Debug)]
struct Login {
    original: PathBuf,
    whole: Vec<u8>,
    copy: PathBuf,
    shown: Vec<u8>,
    withheld: Map<String, Value>,
}

impl OwnFolder {
    /// Makes it in `parent`, to stand at `path`, with copies of those logins that are there and can be
    /// read.
    pub(super) fn lay(
        disk: &Disk,
        parent: &Path,
        path: PathBuf,
        logins: impl Iterator<Item = PathBuf>,
    ) -> Result<Self, DiskError> {
        let scratch = disk.scratch(parent)?;
        let mut copied = Vec::new();
        for original in logins {
            let (Some(whole), Some(name)) = (read(disk, &original), original.file_name()) else {
                continue;
            };
            let copy = scratch.path().join(name);
            let (shown, withheld) = shown_of(&whole);
            disk.create(&copy, &shown, 0o600)?;
            copied.push(Login {
                original,
                whole,
                copy,
                shown,
                withheld,
            });
        }
        Ok(Self {
            scratch,
            path,
            logins: copied,
        })
    }

    /// Puts a copy of a file into it, if the file can be read.
    pub(super) fn copy(&self, disk: &Disk, file: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        if let Some(name) = file.file_name() {
            disk.create(&self.scratch.path().join(name), bytes, 0o600)?;
        }
        Ok(())
    }

    /// Returns the path where the client sees it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path where its files really are.
    pub(super) fn source(&self) -> &Path {
        self.scratch.path()
    }

    /// Returns its mount.
    pub(super) fn place(&self) -> MountPoint {
        MountPoint {
            source: self.scratch.path().to_owned(),
            path: self.path.clone(),
            access: Access::Write,
        }
    }

    /// Copies logins back that were renewed by now, unless someone changed the originals since.
    pub(super) fn take_back(self, disk: &Disk, now: Timestamp) -> Result<(), DiskError> {
        for login in &self.logins {
            let Some(renewed) = read(disk, &login.copy).filter(|renewed| *renewed != login.shown)
            else {
                continue;
            };
            let is_untouched = read(disk, &login.original).is_some_and(|now| now == login.whole);
            if is_untouched && is_renewal(&login.shown, &renewed, now) {
                let renewed = with_withheld(renewed, &login.withheld);
                disk.replace(&login.original, &renewed, 0o600)?;
            }
        }
        Ok(())
    }
}

/// Reads a file of a login; `None` if it is none, or cannot be read.
fn read(disk: &Disk, path: &Path) -> Option<Vec<u8>> {
    let real = disk.canonicalize(path).ok()?;
    // A link that the client left in place of its login leads wherever it likes.
    if real.file_name() != path.file_name() {
        return None;
    }
    let stat = disk.stat(&real).ok()??;
    if stat.kind != EntryKind::File || stat.len > LARGEST_LOGIN {
        return None;
    }
    disk.read(&real).ok()
}

/// Splits a login into what the client sees and what is withheld; a login that is no JSON object is
/// shown as it is.
fn shown_of(whole: &[u8]) -> (Vec<u8>, Map<String, Value>) {
    let mut withheld = Map::new();
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(whole) else {
        return (whole.to_owned(), withheld);
    };
    for key in WITHHELD {
        if let Some(value) = fields.shift_remove(key) {
            withheld.insert(key.to_owned(), value);
        }
    }
    if withheld.is_empty() {
        return (whole.to_owned(), withheld);
    }
    (Value::Object(fields).to_string().into_bytes(), withheld)
}

/// Returns a renewed login with the withheld part of the old one.
fn with_withheld(renewed: Vec<u8>, withheld: &Map<String, Value>) -> Vec<u8> {
    if withheld.is_empty() {
        return renewed;
    }
    match serde_json::from_slice(&renewed) {
        Ok(Value::Object(mut fields)) => {
            fields.extend(withheld.clone());
            Value::Object(fields).to_string().into_bytes()
        }
        _ => renewed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-SEC-1: keys of servers of tools are in no copy, and still there once the login was renewed.
    #[test]
    fn keys_of_tool_servers_are_withheld_and_kept() {
        let whole =
            br#"{"claudeAiOauth":{"accessToken":"a"},"mcpOAuth":{"s":{"accessToken":"canary"}}}"#;
        let (shown, withheld) = shown_of(whole);
        assert_eq!(shown, br#"{"claudeAiOauth":{"accessToken":"a"}}"#);
        let renewed = br#"{"claudeAiOauth":{"accessToken":"b"}}"#;
        assert_eq!(
            with_withheld(renewed.to_vec(), &withheld),
            br#"{"claudeAiOauth":{"accessToken":"b"},"mcpOAuth":{"s":{"accessToken":"canary"}}}"#
        );
        let plain = br#"{ "a": 1 }"#;
        assert_eq!(shown_of(plain).0, plain);
    }

    #[test]
    fn what_changed_outside_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let original = folder.path().join("auth.json");
        let temporary = folder.path().join("tmp");
        let lay = || {
            disk.replace(&original, br#"{"access": "1", "expires": 1}"#, 0o600)
                .unwrap();
            let logins = [original.clone(), folder.path().join("none")];
            let path = PathBuf::from("/home/u/.client");
            OwnFolder::lay(&disk, &temporary, path, logins.into_iter()).unwrap()
        };
        let renew = |own: &OwnFolder| {
            let copy = own.place().source.join("auth.json");
            let beside = own.place().source.join("new");
            disk.create(&beside, br#"{"access": "2", "expires": 1}"#, 0o600)
                .unwrap();
            disk.rename(&beside, &copy).unwrap();
        };
        let own = lay();
        renew(&own);
        own.take_back(&disk, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(
            disk.read(&original).unwrap(),
            br#"{"access": "2", "expires": 1}"#
        );
        let own = lay();
        renew(&own);
        disk.replace(&original, br#"{"access": "3", "expires": 1}"#, 0o600)
            .unwrap();
        own.take_back(&disk, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(
            disk.read(&original).unwrap(),
            br#"{"access": "3", "expires": 1}"#
        );
    }
}
