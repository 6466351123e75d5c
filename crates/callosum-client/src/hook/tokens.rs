//! [`Added`]: tokens that a hook has added to a model's context, a line for each text (`docs/formats/hooks.md`).
//!
//! Only an event that adds a text writes one; a tool call without a note costs nothing. `status`
//! and `doctor -v` read them.

use std::{io, time::Duration};

use callosum_citation::tokens::estimate;
use callosum_host::{Disk, DiskError, LockFile, OpenHow};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use callosum_config::{Environment, Homes};

/// Longest wait for another hook that writes.
const PATIENCE: Duration = Duration::from_millis(50);

/// Days that are kept, and read.
const MOST_DAYS: usize = 14;

/// Most bytes of a day; past that nothing is counted.
const LONGEST_DAY: u64 = 4 * 1024 * 1024;

/// Tokens of one text.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Added {
    /// When, in UTC.
    pub at: String,
    /// The client whose model got it.
    pub client: String,
    /// The session, as the client names it.
    pub session: String,
    /// The folder that the session is in.
    pub folder: String,
    /// Our word for the event.
    pub event: String,
    /// Number of tokens, estimated.
    pub tokens: u64,
}

/// A text that a client was given.
pub(super) struct Given<'a> {
    pub(super) client: &'a str,
    pub(super) session: &'a str,
    pub(super) folder: Option<&'a std::path::Path>,
    pub(super) event: &'a str,
    pub(super) text: &'a str,
}

/// Writes down what a text costs. If that fails the text was given all the same, and is only not counted.
pub(super) fn note(disk: &Disk, environment: &Environment, given: &Given<'_>) {
    let (Ok(homes), Ok(clock)) = (Homes::find(environment), environment.clock()) else {
        return;
    };
    let folder = given.folder.map(|folder| folder.display().to_string());
    let added = Added {
        at: clock.now().to_string(),
        client: given.client.to_owned(),
        session: given.session.to_owned(),
        folder: folder.unwrap_or_default(),
        event: given.event.to_owned(),
        tokens: estimate(given.text),
    };
    let patience = environment.patience(PATIENCE).unwrap_or(PATIENCE);
    drop(append(disk, &homes, &added, patience));
}

fn append(disk: &Disk, homes: &Homes, added: &Added, patience: Duration) -> Result<(), io::Error> {
    homes.create_machine(disk).map_err(io::Error::other)?;
    let folder = homes.hook_tokens();
    disk.create_private_dir(&folder).map_err(io::Error::other)?;
    let lock = LockFile::private().acquire(disk, &folder.join("lock"), patience);
    let _held = lock.map_err(io::Error::other)?;
    let path = folder.join(day_file(&added.at));
    let how = OpenHow::READ_WRITE_CREATE.with_mode(0o600);
    let file = disk.open(&path, how).map_err(io::Error::other)?;
    let size = file.size().map_err(io::Error::other)?;
    let line = serde_json::to_string(added)? + "\n";
    if size + line.len() as u64 > LONGEST_DAY {
        return Ok(());
    }
    file.write_at(line.as_bytes(), size)
        .map_err(io::Error::other)?;
    if size == 0 {
        forget_old_days(disk, homes).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The name of the file of a day, which is that of UTC.
fn day_file(at: &str) -> String {
    let day: String = at.chars().take(10).collect();
    format!("{day}.jsonl")
}

/// Returns the names of the files of days, oldest first.
fn days(disk: &Disk, homes: &Homes) -> Result<Vec<std::ffi::OsString>, DiskError> {
    let folder = homes.hook_tokens();
    if !disk.exists(&folder)? {
        return Ok(Vec::new());
    }
    let listed = disk.list_dir(&folder)?.into_iter().map(|entry| entry.name);
    let mut days: Vec<_> = listed
        .filter(|name| name.as_encoded_bytes().ends_with(b".jsonl"))
        .collect();
    days.sort();
    Ok(days)
}

fn forget_old_days(disk: &Disk, homes: &Homes) -> Result<(), DiskError> {
    let days = days(disk, homes)?;
    let surplus = days.len().saturating_sub(MOST_DAYS);
    for day in &days[..surplus] {
        disk.remove_file(&homes.hook_tokens().join(day))?;
    }
    Ok(())
}

/// Reads what was added in the days that are kept, oldest first. A torn line is left out.
pub fn added(disk: &Disk, homes: &Homes) -> Result<Vec<(Timestamp, Added)>, DiskError> {
    let mut found = Vec::new();
    for day in days(disk, homes)? {
        let path = homes.hook_tokens().join(day);
        let bytes = disk.read_at_most(&path, LONGEST_DAY)?;
        let lines = bytes.split(|byte| *byte == b'\n');
        found.extend(lines.filter_map(|line| {
            let added: Added = serde_json::from_slice(line).ok()?;
            Some((added.at.parse().ok()?, added))
        }));
    }
    Ok(found)
}
