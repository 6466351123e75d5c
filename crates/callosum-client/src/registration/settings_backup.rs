//! [`SettingsBackup`]: a settings file as it was before our entry, in the machine's home.
//!
//! So removing the entry restores the exact bytes that were there, if no one wrote to the file
//! since; and it is the backup. The format: `docs/formats/hooks.md`.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use callosum_json::Checksum;
use serde::{Deserialize, Serialize};

/// The format that this version writes; another one is as good as none.
const FORMAT: u32 = 1;

/// The record of a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SettingsBackup {
    pub(super) format: u32,
    /// The client whose settings they are.
    pub(super) client: String,
    /// The file, links resolved.
    pub(super) path: PathBuf,
    /// The checksum of what we wrote.
    pub(super) after: Checksum,
    /// Whether there was a file.
    pub(super) existed: bool,
    /// Whether its folder was made for it.
    pub(super) made_folder: bool,
    /// Whether the list of the event before a tool was made, as it was noted before there were
    /// entries for others.
    #[serde(default, skip_serializing)]
    pub(super) made_event: bool,
    /// The events whose lists were made.
    #[serde(default)]
    pub(super) made_events: Vec<String>,
    /// Whether the object of hooks was made.
    pub(super) made_hooks: bool,
    /// Lists next to it that were made.
    #[serde(default)]
    pub(super) made_keys: Vec<String>,
}

/// The folder of what is remembered.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) disk: Disk,
    pub(super) folder: PathBuf,
}

impl SettingsBackup {
    pub(super) fn new(client: &str, path: &Path, after: &[u8]) -> Self {
        Self {
            format: FORMAT,
            client: client.to_owned(),
            path: path.to_owned(),
            after: Checksum::of(after),
            existed: true,
            made_folder: false,
            made_event: false,
            made_events: Vec::new(),
            made_hooks: false,
            made_keys: Vec::new(),
        }
    }

    /// The events whose lists were made.
    pub(super) fn made(&self, before_tool: &str) -> Vec<String> {
        let older = self.made_event.then(|| before_tool.to_owned());
        self.made_events.iter().cloned().chain(older).collect()
    }
}

impl Memory {
    /// Remembers a file and its earlier content.
    pub(super) fn keep(
        &self,
        kept: &SettingsBackup,
        before: Option<&[u8]>,
    ) -> Result<(), DiskError> {
        self.disk.create_private_dir(&self.folder)?;
        if let Some(before) = before {
            self.disk.replace(&self.before(&kept.path), before, 0o600)?;
        }
        self.note(kept)
    }

    /// Remembers something else of a file than before, of whose old content nothing changes.
    pub(super) fn note(&self, kept: &SettingsBackup) -> Result<(), DiskError> {
        let mut bytes =
            serde_json::to_vec_pretty(kept).expect("strings and flags are printed to memory");
        bytes.push(b'\n');
        self.disk.replace(&self.note_of(&kept.path), &bytes, 0o600)
    }

    /// Returns the record of a file.
    pub(super) fn of(&self, path: &Path) -> Result<Option<SettingsBackup>, DiskError> {
        let bytes = self.disk.read_if_there(&self.note_of(path))?;
        Ok(bytes.and_then(|bytes| read(&bytes)))
    }

    /// Returns the earlier content of a file.
    pub(super) fn content(&self, path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
        self.disk.read_if_there(&self.before(path))
    }

    /// Every file that is remembered.
    pub(super) fn all(&self) -> Result<Vec<SettingsBackup>, DiskError> {
        let mut all = Vec::new();
        for entry in self.disk.list_dir(&self.folder)? {
            if Path::new(&entry.name)
                .extension()
                .is_some_and(|ending| ending == "json")
                && let Some(bytes) = self.disk.read_if_there(&self.folder.join(&entry.name))?
            {
                all.extend(read(&bytes));
            }
        }
        Ok(all)
    }

    pub(super) fn forget(&self, path: &Path) -> Result<(), DiskError> {
        self.disk.remove_file(&self.note_of(path))?;
        self.disk.remove_file(&self.before(path))?;
        Ok(())
    }

    /// Returns the path of the backup of a file.
    pub(super) fn before(&self, path: &Path) -> PathBuf {
        self.folder.join(format!("{}.before", name(path)))
    }

    fn note_of(&self, path: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", name(path)))
    }
}

fn name(path: &Path) -> Checksum {
    Checksum::of(path.as_os_str().as_encoded_bytes())
}

fn read(bytes: &[u8]) -> Option<SettingsBackup> {
    let kept: SettingsBackup = serde_json::from_slice(bytes).ok()?;
    (kept.format == FORMAT).then_some(kept)
}
