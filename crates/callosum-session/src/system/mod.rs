//! Installation and status of a project's three zones: the system zone, which is ours, the state
//! zone and the beads (Seed LOA §2.3, §9.1).
//!
//! Start with [`survey`], which returns the status of each file, and
//! [`LockedSession::lay`](crate::LockedSession::lay), which creates missing ones;
//! [`LockedSession::lift`](crate::LockedSession::lift) removes the system zone again. Files that
//! someone changed are reported and left alone. Files that existed before are added to, if the seed
//! does so, and never replaced.
//!
//! The texts are under `zone/`. They are thin: each calls the program.

mod file_status;
mod inspect;
mod install;
mod record;
mod system_files;
mod uninstall;

pub use self::{
    file_status::FileStatus,
    inspect::{Surveyed, survey},
    uninstall::{Lifted, RemovalOutcome, to_lift},
};
