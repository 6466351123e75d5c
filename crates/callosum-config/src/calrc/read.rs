//! [`Calrc`]: content of a project's `.calrc`, each value in range.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use callosum_arbiter::{suggest::nearest, truncate::excerpt};
use callosum_host::{
    Disk, DiskError,
    disk::{EntryKind, FileStat},
};
use callosum_json::{
    Checksum,
    canonical::{CanonicalError, DuplicateKeys, canonicalize},
};
use serde_json::{Map, Value as Json};

use crate::{
    key::Key,
    setting_path::{Address, NotAllowed},
    value::Value,
};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The name of the object that has an entry for each executor.
const EXECUTORS: &str = "executors";

/// The keys of an executor's entry.
const EXECUTOR_KEYS: [&str; 3] = ["enabled", "priority", "max_concurrent"];

/// Content of a project's `.calrc`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calrc {
    /// Path of the file, which need not exist.
    pub path: PathBuf,
    /// The hash of its bytes, by which it is trusted; `None` where there is no file.
    pub fingerprint: Option<Checksum>,
    /// The keys of the table that it sets.
    pub values: BTreeMap<&'static str, Value>,
    /// Entries of executors, by id.
    pub executors: BTreeMap<String, CalrcExecutor>,
    /// The keys that are unknown.
    pub unknown: Vec<UnknownKey>,
    /// The values that their keys do not take. Nothing may be done by a file that has any.
    pub refused: Vec<NotAllowed>,
}

/// Entry of one executor in `.calrc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalrcExecutor {
    /// Whether it may be chosen.
    pub enabled: Option<bool>,
    /// Its place in the order.
    pub priority: Option<u64>,
    /// Most tasks that it may have at once.
    pub max_concurrent: Option<u64>,
}

/// An unknown key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key, with those that lead to it; cut where it is long.
    pub key: String,
    /// The key that was probably meant.
    pub nearest: Option<&'static str>,
}

impl Calrc {
    /// Reads the file; one that is not there says nothing.
    pub fn load(disk: &Disk, path: &Path) -> Result<Self, CalrcError> {
        match bytes_of(disk, path)? {
            Some(bytes) => Self::read(path, &bytes),
            None => Ok(Self {
                path: path.to_owned(),
                ..Self::default()
            }),
        }
    }

    /// Reads the bytes of the file at `path`. A value that its key does not allow is kept in
    /// `refused`, so that all of them can be reported at once.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self, CalrcError> {
        let mut calrc = Self {
            path: path.to_owned(),
            fingerprint: Some(Checksum::of(bytes)),
            ..Self::default()
        };
        let failed = |fault| CalrcError::Fault {
            path: path.to_owned(),
            fault,
        };
        for (name, value) in &object_in(bytes).map_err(failed)? {
            if name == EXECUTORS {
                calrc.read_executors(value);
            } else if let Some(key) = Key::ALL.into_iter().find(|key| key.name() == name) {
                if let Some(value) = calrc.taken(Address::Key(key).read_json(value)) {
                    calrc.values.insert(key.name(), value);
                }
            } else {
                let known = Key::ALL.map(Key::name).into_iter().chain([EXECUTORS]);
                calrc.unknown.push(UnknownKey {
                    key: excerpt(name),
                    nearest: nearest(name, known),
                });
            }
        }
        Ok(calrc)
    }

    /// Whether the value at an address is not allowed.
    pub fn refuses(&self, address: &Address) -> bool {
        let key = excerpt(&address.to_string());
        self.refused.iter().any(|refused| refused.key == key)
    }

    /// Checks that the value at an address may be set: every value is allowed, or this is the one
    /// that is not.
    pub(super) fn may_be_set(&self, address: &Address) -> Result<(), CalrcError> {
        match self.refused.first().filter(|_| !self.refuses(address)) {
            None => Ok(()),
            Some(refused) => Err(CalrcError::Fault {
                path: self.path.clone(),
                fault: refused.clone().into(),
            }),
        }
    }

    /// Returns the value that was read; `None`, with a note in `refused`, if it is not allowed.
    fn taken<T>(&mut self, read: Result<T, NotAllowed>) -> Option<T> {
        read.map_err(|refused| self.refused.push(refused)).ok()
    }

    fn read_executors(&mut self, value: &Json) {
        for (id, entry) in self.taken(object(EXECUTORS, value)).into_iter().flatten() {
            let mut executor = CalrcExecutor::default();
            let fields = self.taken(object(&format!("{EXECUTORS}.{id}"), entry));
            for (field, value) in fields.into_iter().flatten() {
                match field.as_str() {
                    "enabled" => {
                        let read = self.taken(Address::Enabled(id.clone()).read_json(value));
                        executor.enabled = read.map(|on| on == Value::Switch(true));
                    }
                    "priority" => {
                        let read = self.taken(Address::Priority(id.clone()).read_json(value));
                        executor.priority = read.and(value.as_u64());
                    }
                    "max_concurrent" => {
                        let read = self.taken(Address::MaxConcurrent(id.clone()).read_json(value));
                        executor.max_concurrent = read.and(value.as_u64());
                    }
                    _ => self.unknown.push(UnknownKey {
                        key: excerpt(&format!("{EXECUTORS}.{id}.{field}")),
                        nearest: nearest(field, EXECUTOR_KEYS),
                    }),
                }
            }
            self.executors.insert(id.clone(), executor);
        }
    }
}

/// The bytes of a file that is a file, and not too large to be a configuration.
pub(super) fn bytes_of(disk: &Disk, path: &Path) -> Result<Option<Vec<u8>>, CalrcError> {
    let Some(found) = disk.stat(path)? else {
        return Ok(None);
    };
    let followed = match found.kind {
        EntryKind::Link => disk.stat(&disk.canonicalize(path)?)?,
        _ => Some(found),
    };
    match followed {
        Some(FileStat {
            kind: EntryKind::File,
            len: ..=LARGEST,
            ..
        }) => Ok(Some(disk.read(path)?)),
        _ => Err(CalrcError::NoFile {
            path: path.to_owned(),
        }),
    }
}

/// The object in the bytes, passing over a byte order mark.
fn object_in(bytes: &[u8]) -> Result<Map<String, Json>, CalrcFault> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    // Refuses what readers disagree about, duplicate keys above all, and names its position.
    let canonical = canonicalize(bytes, DuplicateKeys::Refused)?;
    let value: Json = serde_json::from_slice(&canonical).expect("canonical JSON is JSON");
    match value {
        Json::Object(map) => Ok(map),
        other => Err(CalrcFault::NotAnObject(excerpt(&other.to_string()))),
    }
}

/// Mark that some editors put before the first byte.
pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

fn object<'a>(key: &str, value: &'a Json) -> Result<&'a Map<String, Json>, NotAllowed> {
    value.as_object().ok_or_else(|| NotAllowed {
        key: excerpt(key),
        value: excerpt(&value.to_string()),
        allowed: "an object".to_owned(),
    })
}

/// Fault in the content of a `.calrc`.
#[expect(clippy::enum_variant_names, reason = "each says what the file is not")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalrcFault {
    /// It is not JSON, or not JSON that everybody reads alike.
    #[error("it is not valid JSON: {0}")]
    NotJson(#[from] CanonicalError),
    /// A value of another type is in the place of the object.
    #[error("expected an object, found `{0}`")]
    NotAnObject(String),
    /// A value that its key does not take.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
}

/// A `.calrc` that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CalrcError {
    /// Its content is invalid.
    #[error("`{}`: {fault}", path.display())]
    Fault {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: CalrcFault,
    },
    /// It is a folder, a pipe or a device, or far too large.
    #[error("`{}` is not a regular file of at most 1 MiB", path.display())]
    NoFile {
        /// Path of what is there.
        path: PathBuf,
    },
    /// The disk does not give it.
    #[error(transparent)]
    Disk(#[from] DiskError),
}
