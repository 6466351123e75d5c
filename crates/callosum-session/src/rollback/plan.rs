//! [`Session::plan_rollback`]: the state of each file at a time, from the best source that knows it.

use std::{collections::BTreeSet, time::SystemTime};

use callosum_host::disk::EntryKind;
use jiff::{SignedDuration, Timestamp};

use super::{
    FileChange, History, RollbackError, RollbackPlan, StateSource, UnknownState, versions::Versions,
};
use crate::{
    bead::{Bead, BeadId, Sheet},
    merge::Kind,
    timestamp::second,
    trajectory::day_files,
    transaction::{Session, SessionError},
};

/// The reason if another program changed a file.
const CHANGED_SINCE: &str =
    "changed since then by another program, and no earlier version is known";

/// The reason if a trajectory is compressed.
const COMPRESSED: &str = "compressed, and has records of before and after that time";

/// The reason if an entry is no file.
const NOT_FILE: &str = "not a regular file";

/// Longest time by which a file's timestamp may be later than the change that set it.
const COARSE: SignedDuration = SignedDuration::from_secs(1);

impl Session<'_> {
    /// Finds what a rollback to a time would change. Changes nothing.
    ///
    /// # Errors
    ///
    /// Fails for a time in the future, and if the files cannot be read.
    pub fn plan_rollback(
        &self,
        to: Timestamp,
        history: &dyn History,
    ) -> Result<RollbackPlan, RollbackError> {
        let ts = second(to);
        if to > self.clock.now() {
            return Err(RollbackError::Future { to: ts });
        }
        let mut plan = RollbackPlan {
            to: ts.clone(),
            is_undo: false,
            files: Vec::new(),
            unknown: Vec::new(),
        };
        self.plan_notes_and_beads(&ts, to, history, &mut plan)?;
        self.plan_trajectories(&ts, &mut plan)?;
        self.plan_replaced_trajectories(&ts, &mut plan)?;
        plan.files.retain(|file| file.now != file.then);
        plan.files.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(plan)
    }

    fn plan_notes_and_beads(
        &self,
        ts: &str,
        to: Timestamp,
        history: &dyn History,
        plan: &mut RollbackPlan,
    ) -> Result<(), RollbackError> {
        let (disk, zones) = (self.disk, self.zones);
        let versions = Versions::of(disk, zones)?;
        let known = versions.at(ts)?;
        let commit = history.commit_at(to);
        let notes = zones.named(&zones.notes());
        let folder = zones.named(&zones.beads());
        let mut names = BTreeSet::from([notes.clone()]);
        for entry in disk.list_dir(&zones.real(disk, &zones.beads())?)? {
            let id = entry.name.to_str().and_then(BeadId::of_file);
            names.extend(id.map(|id| format!("{folder}/{}", id.file())));
        }
        let committed = commit
            .iter()
            .flat_map(|commit| history.files_of(commit, &folder));
        names.extend(committed.chain(known.keys().cloned()));
        names.retain(|name| *name == notes || is_bead(name, &folder));
        for file in names {
            let path = zones.real(disk, &zones.root.join(&file))?;
            let stat = disk.stat(&path)?;
            if stat
                .as_ref()
                .is_some_and(|stat| stat.kind != EntryKind::File)
            {
                plan.unknown.push(UnknownState {
                    file,
                    why: NOT_FILE,
                });
                continue;
            }
            let now = disk.read_if_there(&path)?;
            let kept = match known.get(&file) {
                Some(Some(sum)) => versions.content(sum)?.map(Some),
                Some(None) => Some(None),
                None => None,
            };
            let changed = stat.map(|stat| stat.modified);
            let of_commit = || {
                let commit = commit.as_ref()?;
                Some((history.file_of(commit, &file)?, commit.clone()))
            };
            let (then, from) = if let Some(then) = kept {
                (then, StateSource::Versions)
            } else if !known.contains_key(&file) && changed.is_some_and(|at| !is_later(at, to)) {
                // It has not changed since.
                continue;
            } else if let Some((then, commit)) = of_commit() {
                (Some(then), StateSource::Commit(commit))
            } else if now
                .as_deref()
                .is_some_and(|bytes| is_created_later(bytes, ts))
            {
                (None, StateSource::File)
            } else if now.is_none() {
                continue;
            } else {
                plan.unknown.push(UnknownState {
                    file,
                    why: CHANGED_SINCE,
                });
                continue;
            };
            plan.files.push(FileChange {
                file,
                now,
                then,
                from,
            });
        }
        Ok(())
    }

    fn plan_trajectories(&self, ts: &str, plan: &mut RollbackPlan) -> Result<(), RollbackError> {
        let day = ts.get(..10).unwrap_or_default();
        let files = day_files(self.disk, self.zones).map_err(SessionError::from)?;
        for day_file in files.into_iter().filter(|file| file.day.as_str() >= day) {
            let file = self.zones.named(&day_file.path);
            if !day_file.is_file {
                plan.unknown.push(UnknownState {
                    file,
                    why: NOT_FILE,
                });
                continue;
            }
            let is_later = day_file.day.as_str() > day;
            if day_file.is_archived && !is_later {
                plan.unknown.push(UnknownState {
                    file,
                    why: COMPRESSED,
                });
                continue;
            }
            let now = self.disk.read(&day_file.path)?;
            let then = (!is_later).then(|| up_to(&now, ts));
            plan.files.push(FileChange {
                file,
                now: Some(now),
                then: then.filter(|bytes| !bytes.is_empty()),
                from: StateSource::File,
            });
        }
        Ok(())
    }
}

impl Session<'_> {
    /// Plans trajectories that were replaced as a whole since: records of any time may have come from another project, or from
    /// git.
    fn plan_replaced_trajectories(
        &self,
        ts: &str,
        plan: &mut RollbackPlan,
    ) -> Result<(), RollbackError> {
        let (disk, zones) = (self.disk, self.zones);
        let versions = Versions::of(disk, zones)?;
        for (file, before) in versions.at(ts)? {
            if !is_trajectory(&file, &zones.named(&zones.trajectories())) {
                continue;
            }
            let then = match before {
                None => None,
                Some(sum) => match versions.content(&sum)? {
                    // Its records have times all the same.
                    None => continue,
                    Some(bytes) => Some(up_to(&bytes, ts)).filter(|bytes| !bytes.is_empty()),
                },
            };
            let now = disk.read_if_there(&zones.real(disk, &zones.root.join(&file))?)?;
            plan.files.retain(|change| change.file != file);
            plan.files.push(FileChange {
                file,
                now,
                then,
                from: StateSource::Versions,
            });
        }
        Ok(())
    }
}

/// Whether a path from the root is of a trajectory, compressed or not.
pub(super) fn is_trajectory(name: &str, folder: &str) -> bool {
    let file = name
        .strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('/'));
    let plain = file.map(|file| file.strip_prefix("archive/").unwrap_or(file));
    let plain = plain.map(|file| file.strip_suffix(".gz").unwrap_or(file));
    plain.is_some_and(|file| {
        !file.contains('/') && Kind::of(&format!("trajectory/{file}")) == Some(Kind::Trajectory)
    })
}

/// Whether a path from the root is of a bead.
pub(super) fn is_bead(name: &str, folder: &str) -> bool {
    let file = name
        .strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('/'));
    file.and_then(BeadId::of_file).is_some()
}

/// Whether a file was changed after a time.
fn is_later(modified: SystemTime, to: Timestamp) -> bool {
    let latest = to.checked_add(COARSE).unwrap_or(to);
    modified > SystemTime::from(latest)
}

/// Whether a bead says that it was created after a time.
fn is_created_later(bytes: &[u8], ts: &str) -> bool {
    let text = std::str::from_utf8(bytes).ok();
    let sheet = text.and_then(|text| Sheet::read(text).ok());
    let created = sheet.map(|sheet| Bead::of(sheet.members()).created);
    let at = created.and_then(|created| created.parse::<Timestamp>().ok());
    at.is_some_and(|at| second(at).as_str() > ts)
}

/// Returns the records of a trajectory up to a time. A line without a time belongs to the record
/// before it.
pub(super) fn up_to(bytes: &[u8], ts: &str) -> Vec<u8> {
    let mut is_kept = true;
    let mut kept = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if let Some(at) = time_of(line) {
            is_kept = at.as_str() <= ts;
        }
        if is_kept {
            kept.extend_from_slice(line);
        }
    }
    kept
}

/// Returns the time of a record, to the second; `None` if the line has none.
fn time_of(line: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Timed {
        ts: String,
    }
    let record: Timed = serde_json::from_slice(line).ok()?;
    record.ts.parse::<Timestamp>().ok().map(second)
}
