//! [`Loan`]: an intent that is lent to the capability that works on it (CCOS-DEL-4).
//!
//! Two things make a loan: a lock in the machine's home, which ends with its process, and a record in the journal, which
//! has the holder and the time. An open record without a held lock is the loan of a process that died.

use std::path::PathBuf;

use callosum_host::{FileLock, LockFile};
use callosum_intent::graph::IntentId;

use super::trail::{GoalRecord, Trail, record};
use crate::context::Context;
use crate::{CommandError, Exit, disk_errors};

/// A lent intent. Without [`returned`](Loan::returned) it counts as lent to a process that died.
pub struct Loan {
    intent: IntentId,
    holder: String,
    path: PathBuf,
    _lock: FileLock,
}

impl Loan {
    /// Lends an intent to a capability, for a run. Refuses one that is lent, with its holder.
    ///
    /// A loan of a process that died is returned first, with a notice.
    pub fn lend(
        context: &Context,
        intent: &IntentId,
        holder: &str,
        run: &str,
    ) -> Result<Self, CommandError> {
        let failed = |error| disk_errors::disk_failed(&error);
        let (disk, homes) = (&context.disk, &context.project.homes);
        let folder = homes.plan_locks(context.state());
        homes.create_machine(disk).map_err(failed)?;
        disk.create_private_dir(&folder).map_err(failed)?;
        let path = folder.join(format!("{intent}.loan"));
        let lock = LockFile::private().try_acquire(disk, &path);
        let lock = lock.map_err(failed)?;
        let open = Trail::read(context)?.loans.remove(intent.as_str());
        let Some(lock) = lock else {
            let what = match &open {
                Some(open) => format!(
                    "the intent {intent} is lent to {} since {}",
                    open.holder, open.since
                ),
                None => format!("another process works on the intent {intent}"),
            };
            let error = CommandError::new(Exit::Environment, what);
            return Err(match open {
                Some(open) => error.hint(format!("callosum plan show {}", open.run)),
                None => error.hint(format!("callosum intent show {intent}")),
            });
        };
        if let Some(open) = open {
            let what = format!("the process that had lent the intent {intent} died");
            context.report.note(&what, None);
            let returned = GoalRecord::Returned {
                intent: intent.to_string(),
                holder: open.holder,
                reason: "its process was found dead".to_owned(),
            };
            record(context, &returned)?;
        }
        let lent = GoalRecord::Lent {
            intent: intent.to_string(),
            holder: holder.to_owned(),
            run: run.to_owned(),
        };
        record(context, &lent)?;
        Ok(Self {
            intent: intent.clone(),
            holder: holder.to_owned(),
            path,
            _lock: lock,
        })
    }

    /// Passes the intent on to another capability.
    pub fn pass_on(
        &mut self,
        context: &Context,
        holder: &str,
        (run, reason): (&str, &str),
    ) -> Result<(), CommandError> {
        record(context, &self.return_record(reason))?;
        holder.clone_into(&mut self.holder);
        let lent = GoalRecord::Lent {
            intent: self.intent.to_string(),
            holder: self.holder.clone(),
            run: run.to_owned(),
        };
        record(context, &lent)
    }

    /// Returns the intent. If that cannot be recorded, it is found returned when it is lent again.
    pub fn returned(self, context: &Context, reason: &str) {
        if let Err(error) = record(context, &self.return_record(reason)) {
            let what = format!("cannot record a returned intent: {}", error.one_line());
            context.report.warn(&what, None);
        }
        // Left behind it is an empty file, and does no harm.
        drop(context.disk.remove_file(&self.path));
    }

    fn return_record(&self, reason: &str) -> GoalRecord {
        GoalRecord::Returned {
            intent: self.intent.to_string(),
            holder: self.holder.clone(),
            reason: reason.to_owned(),
        }
    }
}
