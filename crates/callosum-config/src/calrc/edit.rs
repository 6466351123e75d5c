//! [`edit`]: one value changed, every other byte as it was.
//!
//! The file is a person's: its order, its spacing and keys that we do not know are theirs. So the
//! text is cut open at the value, not printed from scratch.

use std::{ops::Range, path::Path};

use callosum_host::{Disk, DiskError, FileLock, LockError};
use callosum_json::Checksum;
use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::read::{BYTE_ORDER_MARK, Calrc, CalrcError, bytes_of};
use crate::{
    setting_path::{Address, NotAllowed},
    value::Value,
};

/// Permission bits of a `.calrc` that is written.
const MODE: u32 = 0o644;

/// Effect of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The fingerprint before; `None` where there was no file.
    pub before: Option<Checksum>,
    /// The fingerprint now.
    pub after: Checksum,
}

/// Sets one value in the `.calrc` at `path`, creating the file if it is missing.
///
/// Holds `lock` during the edit (waits up to 1.5 s for it), so that of two edits at once none is
/// lost. The file is replaced whole. One that is broken elsewhere than at this value is left alone,
/// and a value that its key does not allow is not written.
pub(crate) fn edit(
    disk: &Disk,
    path: &Path,
    lock: &Path,
    address: &Address,
    value: &Value,
) -> Result<Change, EditError> {
    let json = value.to_json().ok_or(EditError::NotUtf8)?;
    address.read_json(&json)?;
    let _held = FileLock::acquire_private(disk, lock, std::time::Duration::from_millis(1500))?;
    let before = bytes_of(disk, path)?;
    let text = match &before {
        // What cannot be read must not be rewritten either.
        Some(bytes) => {
            Calrc::read(path, bytes)?.may_be_set(address)?;
            String::from_utf8_lossy(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes))
                .into_owned()
        }
        None => "{}\n".to_owned(),
    };
    let after = with_value(&text, &address.names(), &json.to_string(), 1);
    disk.replace(path, after.as_bytes(), MODE)?;
    Ok(Change {
        before: before.map(|bytes| Checksum::of(&bytes)),
        after: Checksum::of(after.as_bytes()),
    })
}

/// The object in `text` with the value that `names` lead to replaced, or added at its end.
fn with_value(text: &str, names: &[&str], json: &str, depth: usize) -> String {
    let Some((name, inner)) = names.split_first() else {
        return json.to_owned();
    };
    let members = members_of(text);
    if let Some((_, range)) = members.iter().find(|(key, _)| key == name) {
        let changed = with_value(&text[range.clone()], inner, json, depth + 1);
        return spliced(text, range.clone(), &changed);
    }
    let added = inner.iter().rev().fold(json.to_owned(), |value, name| {
        format!("{{ {}: {value} }}", quoted(name))
    });
    let member = format!("{}: {added}", quoted(name));
    let indent = "  ".repeat(depth);
    match members.last() {
        Some((_, last)) if text.trim_end().contains('\n') => {
            spliced(text, last.end..last.end, &format!(",\n{indent}{member}"))
        }
        Some((_, last)) => spliced(text, last.end..last.end, &format!(", {member}")),
        None => {
            let open = text.find('{').map_or(0, |at| at + 1);
            let close = text.rfind('}').unwrap_or(text.len());
            let outer = "  ".repeat(depth - 1);
            spliced(text, open..close, &format!("\n{indent}{member}\n{outer}"))
        }
    }
}

fn spliced(text: &str, range: Range<usize>, piece: &str) -> String {
    format!("{}{piece}{}", &text[..range.start], &text[range.end..])
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

/// Returns the keys of the object in `text`, and the range of each value in it.
fn members_of(text: &str) -> Vec<(String, Range<usize>)> {
    let Members(members) = serde_json::from_str(text).expect("it was read as an object before");
    members
        .into_iter()
        .map(|(key, raw)| {
            // `raw` borrows from `text`, so its place is the distance between the two.
            let start = raw.get().as_ptr().addr() - text.as_ptr().addr();
            (key, start..start + raw.get().len())
        })
        .collect()
}

/// An object whose values are kept as they are written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Reason that `.calrc` was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The present content cannot be read.
    #[error(transparent)]
    Calrc(#[from] CalrcError),
    /// The value is not allowed.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// Another process is changing it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The disk does not take it.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A path that JSON cannot hold.
    #[error("cannot store the path in `.calrc`: it is not UTF-8")]
    NotUtf8,
}
