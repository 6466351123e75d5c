//! Conflicts of two agents that edit one file: notices them, sends each the other's change, and
//! helps to resolve them (Seed CALC §12, phase 2).
//!
//! Start with [`Observer`], which a hook calls after an edit. [`versions()`] finds the versions of
//! the file in the undo log, [`unified`] shows a change in few lines, and [`resolve()`] decides
//! what the file becomes. `callosum_mesh::conflict` has the record and its storage.

mod diff;
mod observe;
mod records;
mod resolve;
mod text;
mod versions;

pub use self::{
    diff::{changed_lines, unified},
    observe::{Observer, ObserverError},
    resolve::{Choice, Known, Outcome, ResolveError, is_lost, resolve},
    versions::{StoredVersions, Versions, speaker_lines, versions},
};
