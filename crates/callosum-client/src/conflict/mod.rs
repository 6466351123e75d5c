//! Two agents that edit one file: notices it, tells both what the other changed, and helps to resolve it (Seed CALC §12,
//! phase 2).
//!
//! Start with [`Observer`], which a hook calls after an edit. [`versions()`] finds the versions of the file in the undo log,
//! [`unified`] shows a change in few lines, and [`resolve()`] decides what the file becomes. `callosum_mesh::conflict` has the
//! record and where it is kept.

mod diff;
mod observe;
mod records;
mod resolve;
mod text;
mod versions;

pub use self::{
    diff::{changed_lines, unified},
    observe::{Observer, ObserverError},
    resolve::{Choice, Known, Outcome, Refusal, is_lost, resolve},
    versions::{Kept, Versions, speaker_lines, versions},
};
