//! The intent at work, for the text that a session starts with: found in bounded time, however long
//! the journal is.
//!
//! The journal also has each decision of the guard, so a search through all of it may take longer
//! than a hook may. A file next to the locks has the intent at work and the place in the journal up
//! to which that is known. Each change of an intent writes it; [`at_start`] searches on from there.
//! It is derived and safe to lose (`docs/formats/intents.md`).

use callosum_client::hook::CurrentIntent;
use callosum_host::{Disk, DiskError};
use callosum_intent::graph::{Graph, IntentId, Status};
use callosum_ledger::{AuditReader, Event, LedgerPaths, SearchPlace, Searched};
use serde::{Deserialize, Serialize};

use super::journal;

/// The name of the file.
const FILE: &str = "current_intent";

/// The format that this version writes. Another one counts as no file.
const FORMAT: u32 = 1;

/// The most bytes of the file that are read.
const LARGEST_FILE: u64 = 64 * 1024;

/// The most bytes of the journal that a session's start searches.
const MOST_SEARCHED: u64 = 512 * 1024;

/// The most bytes of a journal that a session's start replays.
const LARGEST_JOURNAL: u64 = 8 * 1024 * 1024;

/// The bytes of a search that are worth a write: the next one need not search them.
const WORTH_A_WRITE: u64 = 32 * 1024;

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    format: u32,
    /// The place up to which the journal gives this intent.
    place: SearchPlace,
    intent: Option<StoredIntent>,
}

/// The intent at work.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredIntent {
    id: IntentId,
    status: Status,
    goal: String,
}

/// Returns the intent at work in the project of a ledger, as far as it is known without a long search.
///
/// `None` without an intent at work, if something cannot be read, and if a journal over 8 MiB has changes of intents that another
/// version of the program wrote.
pub fn at_start(disk: &Disk, paths: &LedgerPaths) -> Option<CurrentIntent> {
    let stored = search_on(disk, paths).ok().flatten()?;
    let StoredIntent { id, status, goal } = stored.intent?;
    status.is_current().then(|| CurrentIntent {
        id: id.to_string(),
        status: status.to_string(),
        goal,
    })
}

/// Writes the file after a change, with the place up to which the graph was read.
///
/// A failure costs the next session's start a search.
pub(super) fn store(disk: &Disk, paths: &LedgerPaths, graph: &Graph, place: SearchPlace) {
    drop(write(disk, paths, &stored(graph, place)));
}

/// Searches on from the place in the file; `None` if that would take too long.
fn search_on(disk: &Disk, paths: &LedgerPaths) -> Result<Option<Stored>, SearchError> {
    if !disk.exists(&paths.audit)? {
        return Ok(None);
    }
    let before = read(disk, paths)?;
    let reader = AuditReader::new(disk.clone(), paths.clone());
    let mut place = before.place.clone();
    let mut intent = before.intent.clone();
    let mut left = MOST_SEARCHED;
    let mut searched = reader.search_on(Event::Intent, &mut place, &mut left)?;
    if searched == Searched::Replaced {
        intent = None;
        searched = reader.search_on(Event::Intent, &mut place, &mut left)?;
    }
    let after = match searched {
        Searched::None | Searched::Unfinished => Stored {
            format: FORMAT,
            place,
            intent,
        },
        Searched::Replaced => return Ok(None),
        Searched::Found if is_large(disk, paths)? => return Ok(None),
        Searched::Found => {
            let read = journal::read_from(disk, paths)?;
            stored(&read.graph, read.place)
        }
    };
    // Where it cannot be written, the next search takes as long again.
    if searched == Searched::Found || MOST_SEARCHED - left >= WORTH_A_WRITE {
        drop(write(disk, paths, &after));
    }
    Ok(Some(after))
}

fn stored(graph: &Graph, place: SearchPlace) -> Stored {
    let intent = graph.current().map(|intent| StoredIntent {
        id: intent.id.clone(),
        status: intent.status,
        goal: intent.goal.clone(),
    });
    Stored {
        format: FORMAT,
        place,
        intent,
    }
}

/// Reads the file. One that is not readable is as good as none.
fn read(disk: &Disk, paths: &LedgerPaths) -> Result<Stored, DiskError> {
    let path = paths.locks.join(FILE);
    if disk
        .stat(&path)?
        .is_none_or(|found| found.len > LARGEST_FILE)
    {
        return Ok(Stored::default());
    }
    let bytes = disk.read_if_there(&path)?.unwrap_or_default();
    let stored: Stored = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(if stored.format == FORMAT {
        stored
    } else {
        Stored::default()
    })
}

fn write(disk: &Disk, paths: &LedgerPaths, stored: &Stored) -> Result<(), SearchError> {
    let bytes = serde_json::to_vec(stored)?;
    disk.replace_unsynced(&paths.locks.join(FILE), &bytes, 0o600)?;
    Ok(())
}

/// Returns true if a replay of the journal would take too long.
fn is_large(disk: &Disk, paths: &LedgerPaths) -> Result<bool, DiskError> {
    let mut bytes = 0;
    for entry in disk.list_dir(&paths.audit)? {
        let found = disk.stat(&paths.audit.join(entry.name))?;
        bytes += found.map_or(0, |found| found.len);
    }
    Ok(bytes > LARGEST_JOURNAL)
}

/// A reason why a search cannot go on.
#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Journal(#[from] callosum_ledger::AuditReadError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
