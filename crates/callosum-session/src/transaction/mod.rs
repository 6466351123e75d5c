//! Steps: changes of a session to notes, bead and trajectory at once.
//!
//! Start with [`Session`]. The changes are written down first, as edits and not as whole files. If
//! a process is killed between two files, the next one finishes the step and keeps what others
//! wrote in the meantime. Each part is done once, however often it is taken up again. `lock` takes
//! the lock, `commit` makes a step, and `concurrent_edit` writes notes that others write too.

mod commit;
mod concurrent_edit;
mod intent_log;
mod lock;
mod session;
mod session_error;

pub(crate) use self::intent_log::{BeadChange, BeadKey, Intent, NoteChange};
pub use self::{
    session::{LockedSession, ResumedStep, Session, Written},
    session_error::SessionError,
};
