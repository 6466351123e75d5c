//! The three zones of a project, laid and looked at: the system zone, which is ours, the state zone
//! and the beads (Seed LOA §2.3, §9.1).
//!
//! Start with [`survey`], which says how each file stands, and [`LockedSession::lay`](crate::Held::lay), which
//! creates what is missing; [`LockedSession::lift`](crate::Held::lift) takes the system zone out again. What somebody changed is named and left alone; what somebody had before
//! is added to, where the seed adds to it, and never replaced.
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
