//! [`LockedSession::roll_back`]: writes a rollback down, then makes it, one file after the other.

use std::path::Path;

use jiff::Timestamp;
use serde_json::json;

use super::{
    History, RollbackError, RollbackPlan,
    plan::{is_bead, is_trajectory},
    record::{self, FORMAT, PENDING, RollbackRecord, RolledFile},
    versions::{Versions, checksum},
};
use crate::{
    notes::Notes,
    timestamp::second,
    transaction::{LockedSession, SessionError},
    zones::ZoneError,
};

/// The phase of a record of a rollback.
const PHASE: &str = "rollback";

/// Our files that say which decisions, notes and transcripts were seen already. Without them, the
/// records decide, which now are earlier ones.
const SEEN: [&str; 3] = ["seen", "notes.mark", "contexts"];

impl LockedSession<'_> {
    /// Brings back the state of a time. Returns what was done. A process that is killed meanwhile
    /// leaves the rest to the next one that locks the session.
    ///
    /// # Errors
    ///
    /// Fails for a time in the future, and if a file cannot be read or written.
    pub fn roll_back(
        &self,
        to: Timestamp,
        history: &dyn History,
    ) -> Result<RollbackPlan, RollbackError> {
        let plan = self.session.plan_rollback(to, history)?;
        self.apply(&plan, history)?;
        Ok(plan)
    }

    /// Undoes the last rollback. What changed since stays, as far as both can be had.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or what it replaced is gone, and if a file cannot be read or written.
    pub fn undo_rollback(&self, history: &dyn History) -> Result<RollbackPlan, RollbackError> {
        let plan = self.session.plan_undo()?;
        self.apply(&plan, history)?;
        Ok(plan)
    }

    fn apply(&self, plan: &RollbackPlan, history: &dyn History) -> Result<(), RollbackError> {
        if plan.files.is_empty() {
            return Ok(());
        }
        let session = &self.session;
        let versions = Versions::of(session.disk, session.zones)?;
        let mut files = Vec::new();
        for change in &plan.files {
            let keep = |bytes: &Option<Vec<u8>>| match bytes {
                Some(bytes) => Ok(Some(versions.store(bytes, true)?.0)),
                None => Ok::<_, RollbackError>(None),
            };
            files.push(RolledFile {
                before: keep(&change.now)?,
                after: keep(&change.then)?,
                head: history.file(&change.file).map(|bytes| checksum(&bytes)),
                file: change.file.clone(),
            });
        }
        let record = RollbackRecord {
            format: FORMAT,
            ts: second(session.clock.now()),
            agent: session.agent.to_string(),
            to: plan.to.clone(),
            is_undo: plan.is_undo,
            files,
        };
        let own = session.zones.real(session.disk, &session.zones.own())?;
        let bytes = serde_json::to_vec(&record).unwrap_or_default();
        session.disk.replace(&own.join(PENDING), &bytes, 0o644)?;
        self.finish_rollback()?;
        Ok(())
    }

    /// Makes the rest of a rollback that has begun. Costs one look at a file if there is none.
    pub(crate) fn finish_rollback(&self) -> Result<bool, SessionError> {
        let session = &self.session;
        let own = session.zones.real(session.disk, &session.zones.own())?;
        let Some(record) = record::pending(session.disk, &own)? else {
            return Ok(false);
        };
        if record.format > FORMAT {
            return Err(SessionError::Newer {
                format: record.format,
            });
        }
        let versions = Versions::of(session.disk, session.zones)?;
        for file in &record.files {
            self.put_back(file, &versions, &record.ts)?;
        }
        for name in SEEN {
            session.disk.remove_file(&own.join(name))?;
        }
        record::add(session.disk, &own, &record)?;
        session.disk.remove_file(&own.join(PENDING))?;
        session.disk.sync_dir(&own)?;
        let names: Vec<&str> = record.files.iter().map(|file| file.file.as_str()).collect();
        let done = json!({
            "ts": record.ts, "agent": record.agent, "phase": PHASE, "to": record.to,
            "is_undo": record.is_undo, "files": names,
        });
        self.tell(record.agent.clone(), &record.ts, vec![done])?;
        Ok(true)
    }

    /// Gives a file the content that a rollback wants.
    fn put_back(
        &self,
        rolled: &RolledFile,
        versions: &Versions<'_>,
        ts: &str,
    ) -> Result<(), SessionError> {
        let session = &self.session;
        let (disk, zones) = (session.disk, session.zones);
        let notes = zones.named(&zones.notes());
        let beads = zones.named(&zones.beads());
        let is_notes = rolled.file == notes;
        let is_record = is_trajectory(&rolled.file, &zones.named(&zones.trajectories()));
        // The file is read from disk, where a cloned repository may have put one of its own.
        if !is_notes && !is_bead(&rolled.file, &beads) && !is_record {
            return Ok(());
        }
        let path = zones.real(disk, &zones.root.join(&rolled.file))?;
        let there = disk.read_if_there(&path)?;
        if there.as_deref().map(checksum) == rolled.after {
            return Ok(());
        }
        let wanted = match &rolled.after {
            None => None,
            // Without its content the file stays: this one is not to be removed.
            Some(sum) => match versions.content(sum)? {
                None => return Ok(()),
                content => content,
            },
        };
        // Of the notes, `edit_notes` keeps what it finds.
        if !is_notes || wanted.is_none() {
            versions.keep(ts, &rolled.file, there.as_deref())?;
        }
        match wanted {
            None => {
                disk.remove_file(&path)?;
                sync_folder_of(&path, self)?;
            }
            Some(bytes) if is_notes => {
                let made = Notes::read(bytes);
                self.edit_notes(|_| made.clone())?;
            }
            Some(bytes) => {
                if let Some(folder) = path.parent() {
                    disk.create_dir_all(folder)?;
                }
                disk.rewrite(&path, &bytes, 0o644)?;
            }
        }
        Ok(())
    }
}

fn sync_folder_of(path: &Path, held: &LockedSession<'_>) -> Result<(), ZoneError> {
    if let Some(folder) = path.parent() {
        held.session.disk.sync_dir(folder)?;
    }
    Ok(())
}
