//! [`Session::plan_undo`]: what undoing the last rollback changes.

use super::{
    FileChange, RollbackError, RollbackPlan, StateSource, record,
    versions::{Versions, checksum},
};
use crate::{
    merge::{Kind, merged},
    transaction::Session,
};

impl Session<'_> {
    /// Finds what undoing the last rollback would change. Changes nothing.
    ///
    /// # Errors
    ///
    /// Fails if there is no rollback to undo, or what it replaced is gone, and if the files cannot
    /// be read.
    pub fn plan_undo(&self) -> Result<RollbackPlan, RollbackError> {
        let (disk, zones) = (self.disk, self.zones);
        let own = zones.real(disk, &zones.own())?;
        let last = record::records(disk, &own)?.pop();
        let last = last.filter(|record| !record.is_undo);
        let last = last.ok_or(RollbackError::NothingToUndo)?;
        let versions = Versions::of(disk, zones)?;
        let mut files = Vec::new();
        for rolled in last.files {
            let content = |sum: &Option<String>| match sum {
                None => Ok(None),
                Some(sum) => match versions.content(sum)? {
                    None => Err(RollbackError::Lost {
                        file: rolled.file.clone(),
                    }),
                    content => Ok(content),
                },
            };
            let path = zones.real(disk, &zones.root.join(&rolled.file))?;
            let now = disk.read_if_there(&path)?;
            let is_as_left = now.as_deref().map(checksum) == rolled.after;
            let before = content(&rolled.before)?;
            let then = if is_as_left {
                before
            } else {
                both(&rolled.file, content(&rolled.after)?, before, now.clone())
            };
            files.push(FileChange {
                file: rolled.file,
                now,
                then,
                from: StateSource::Rollback,
            });
        }
        files.retain(|file| file.now != file.then);
        Ok(RollbackPlan {
            to: last.to,
            is_undo: true,
            files,
            unknown: Vec::new(),
        })
    }
}

/// Returns what a rollback replaced together with what was written since. Where only one can be
/// had, that is what it replaced; the other stays among the versions.
fn both(
    file: &str,
    base: Option<Vec<u8>>,
    before: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let (Some(ours), Some(theirs)) = (&before, &now) else {
        // A file that was created since the rollback stays; so does one that it brought back.
        return before.or(now);
    };
    let made = Kind::of(file).and_then(|kind| {
        let made = merged(kind, base.as_deref(), ours, theirs).ok()?;
        Some(made.bytes)
    });
    made.or(before)
}
