//! Steps: what a session changes in notes, bead and trajectory at once.
//!
//! Start with [`Session`]. What is to be done is written down first, in words of the change and not
//! as whole files, so that whoever comes after a process that was killed between two files does the
//! rest, and keeps what somebody else wrote meanwhile. Each part is done once however often it is
//! taken up again.

mod concurrent_edit;
mod intent_log;
mod session;

pub use self::session::{LockedSession, ResumedStep, Session, SessionError, Written};
pub(crate) use self::{
    intent_log::{BeadChange, BeadKey, Intent, NoteChange},
    session::{in_order, second, times_from},
};
