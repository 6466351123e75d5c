//! Records of ours in the memory of past sessions: ledger entries, decisions, runs of plans, and what agents said on the mesh.
//!
//! Start with [`update`]. Each store of a project, and the mesh, is a store of the index. Its [`Stamp`] has the files that
//! change with it, so that a look at each of them is all that an update costs where nothing happened, and the place up to
//! which it was read. Only what came since is read, by the crate that owns the store.
//!
//! A store that cannot be read keeps what the index has of it, and is read again by the next update.

mod decisions;
mod ledger;
mod mesh;
#[cfg(feature = "plans")]
mod plans;
mod projects;

pub use self::projects::known_projects;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use callosum_host::Disk;
use callosum_memory::{Memory, MemoryError, MemoryScope, UpdateReport};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::MemoryMachine;
use crate::context::Context;
use crate::report::Silent;
use crate::{CommandError, Exit};

/// Most projects whose records are read.
const MOST_PROJECTS: usize = 200;

/// The reason why a store is not brought in line.
#[derive(Debug, thiserror::Error)]
enum RecordError {
    /// The index cannot be written.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The store cannot be read, in words.
    #[error("{0}")]
    Store(String),
}

impl RecordError {
    fn store(error: &(dyn std::error::Error + 'static)) -> Self {
        Self::Store(CommandError::because(Exit::Environment, "unreadable", error).one_line())
    }
}

/// Note about a store in the index.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Stamp {
    /// Files and folders that change whenever the store does.
    watched: Vec<(PathBuf, Option<FileMark>)>,
    /// Place up to which the store was read.
    #[serde(default)]
    place: Value,
}

/// State of a file: length, nanoseconds since 1970, and inode.
type FileMark = (u64, u64, u64);

impl Stamp {
    fn new(watched: Vec<(PathBuf, Option<FileMark>)>, place: &impl Serialize) -> Self {
        let place = serde_json::to_value(place).unwrap_or_default();
        Self { watched, place }
    }

    fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether nothing of the store changed. Costs a look at each file.
    fn is_current(&self, disk: &Disk) -> bool {
        let mut watched = self.watched.iter();
        watched.all(|(path, known)| mark(disk, path) == *known)
    }

    fn place<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(self.place.clone()).ok()
    }
}

/// Looks at files before they are read, so that a later change is seen the next time.
fn watch(
    disk: &Disk,
    paths: impl IntoIterator<Item = PathBuf>,
) -> Vec<(PathBuf, Option<FileMark>)> {
    let paths = paths.into_iter();
    paths
        .map(|path| {
            let mark = mark(disk, &path);
            (path, mark)
        })
        .collect()
}

fn mark(disk: &Disk, path: &Path) -> Option<FileMark> {
    let stat = disk.stat(path).ok()??;
    let since = stat.modified.duration_since(SystemTime::UNIX_EPOCH);
    let modified = since.map_or(0, |since| since.as_nanos());
    let inode = stat.id.map_or(0, |id| id.inode);
    Some((stat.len, u64::try_from(modified).unwrap_or(0), inode))
}

/// A store of a project that is to be brought in line.
struct StoreUpdate<'u> {
    context: &'u Context,
    scope: &'u MemoryScope,
    /// Its name in the index.
    name: &'u str,
    /// Its stamp; `None` if all of it is to be read.
    before: Option<&'u Stamp>,
    /// Its files as they are now.
    watched: Vec<(PathBuf, Option<FileMark>)>,
}

/// A kind of store that a project has.
struct StoreKind {
    /// The beginning of its name in the index; the rest is the project's root.
    prefix: &'static str,
    /// Returns the files that change whenever it does; the first tells it from those of other projects.
    files: fn(&Context) -> Vec<PathBuf>,
    /// Brings it in line.
    gather: fn(StoreUpdate<'_>, &mut Memory) -> Result<UpdateReport, RecordError>,
}

const OF_PROJECT: &[StoreKind] = &[
    StoreKind {
        prefix: "ledger:",
        files: ledger::files,
        gather: ledger::gather,
    },
    StoreKind {
        prefix: "decision:",
        files: decisions::files,
        gather: decisions::gather,
    },
    #[cfg(feature = "plans")]
    StoreKind {
        prefix: "plan:",
        files: plans::files,
        gather: plans::gather,
    },
];

/// Name of the mesh's store.
const MESH: &str = "mesh";

/// Brings the records in the index in line with the stores of the projects of this machine.
///
/// # Errors
/// The index cannot be read or written. A store that cannot be read is a detail of the report.
pub(super) fn update(
    machine: &MemoryMachine,
    memory: &mut Memory,
    scope: &MemoryScope,
) -> Result<UpdateReport, MemoryError> {
    let known: BTreeMap<String, Option<Stamp>> = memory
        .record_stores()?
        .into_iter()
        .map(|(name, stamp)| (name, Stamp::read(&stamp)))
        .collect();
    let mut report = UpdateReport::default();
    let mut done = |name: &str, updated: Result<UpdateReport, RecordError>| match updated {
        Ok(updated) => {
            report.added += updated.added;
            report.removed += updated.removed;
            Ok(())
        }
        Err(RecordError::Memory(error)) => Err(error),
        Err(RecordError::Store(why)) => {
            machine
                .report
                .detail(&format!("not searched: {name}: {why}"));
            Ok(())
        }
    };
    let stamp = known.get(MESH).and_then(Option::as_ref);
    if !stamp.is_some_and(|stamp| stamp.is_current(&machine.disk)) {
        done(MESH, mesh::gather(machine, memory, scope, (MESH, stamp)))?;
    }
    let roots = roots(machine, known.keys());
    // Linked work trees of one repository share a ledger: the first project that had it keeps it.
    let mut owners: HashMap<(&str, PathBuf), String> = HashMap::new();
    for (name, stamp) in &known {
        let first = stamp.as_ref().and_then(|stamp| stamp.watched.first());
        if let (Some((first, _)), Some((prefix, root))) = (first, name.split_once(':'))
            && roots.contains(Path::new(root))
        {
            let key = (prefix, first.clone());
            owners.entry(key).or_insert_with(|| name.clone());
        }
    }
    for root in &roots {
        let Some(shown) = root.to_str() else {
            continue;
        };
        if machine.cancel.is_cancelled() {
            return Err(MemoryError::Interrupted);
        }
        let is_there = machine.disk.stat(root).is_ok_and(|stat| stat.is_some());
        if !is_there {
            for kind in OF_PROJECT {
                let name = format!("{}{shown}", kind.prefix);
                if known.contains_key(&name) {
                    let removed = memory.forget_records(&name)?;
                    let gone = UpdateReport {
                        removed,
                        ..UpdateReport::default()
                    };
                    done(&name, Ok(gone))?;
                }
            }
            continue;
        }
        // They were removed when the folder was excluded, and the stamps with them.
        if scope.excluded.iter().any(|outer| root.starts_with(outer)) {
            continue;
        }
        let mut context = None;
        for kind in OF_PROJECT {
            let name = format!("{}{shown}", kind.prefix);
            let before = known.get(&name).and_then(Option::as_ref);
            if before.is_some_and(|stamp| stamp.is_current(&machine.disk)) {
                continue;
            }
            // A project that cannot be read now may be readable later.
            let Some(context) = context.get_or_insert_with(|| load(machine, root)) else {
                break;
            };
            let files = (kind.files)(context);
            let first = files.first().cloned().unwrap_or_default();
            let key = (kind.prefix.trim_end_matches(':'), first);
            let owner = owners.entry(key).or_insert_with(|| name.clone());
            if *owner != name {
                let nothing = Stamp::default().text();
                let noted = memory.write_records(scope, &name, |_| Ok(nothing));
                done(&name, noted)?;
                continue;
            }
            let update = StoreUpdate {
                context,
                scope,
                name: &name,
                before,
                watched: watch(&machine.disk, files),
            };
            done(&name, (kind.gather)(update, memory))?;
        }
    }
    Ok(report)
}

/// Returns the roots of the projects whose records are read: those that are known, the current one, and those in the index.
fn roots<'k>(
    machine: &MemoryMachine,
    stores: impl Iterator<Item = &'k String>,
) -> BTreeSet<PathBuf> {
    let known = known_projects(&machine.disk, &machine.homes);
    let in_index = stores.filter_map(|name| {
        let (_, root) = name.split_once(':')?;
        Some(PathBuf::from(root))
    });
    let mut roots: BTreeSet<PathBuf> = machine.project.iter().cloned().collect();
    roots.extend(in_index);
    roots.extend(known.into_iter().take(MOST_PROJECTS));
    roots
}

/// Reads a project; `None` if that cannot be done. What its configuration lacks is no concern of a search.
fn load(machine: &MemoryMachine, root: &Path) -> Option<Context> {
    let environment = machine.environment.clone();
    let cancel = machine.cancel.clone();
    Context::gather(environment, Some(root), Arc::new(Silent), cancel).ok()
}
