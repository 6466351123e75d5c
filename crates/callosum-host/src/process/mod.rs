//! Child processes: a clean environment, deadlines that hold, and no survivor in the group.
//!
//! Start with [`run`]. A child gets exactly the arguments, environment and folder of its
//! [`Launch`]: nothing is inherited, and no shell ever stands between. What its output means is
//! the caller's business. [`Talk`] is for a process that was started so, and speaks to one of its own;
//! [`leave`] for what goes on by itself; [`page`] for a pager on this process's own terminal;
//! [`spawn()`] for a command that a person asked this process to run. [`table`] lists what runs.

mod cancel;
mod descendants;
mod file_size;
pub(crate) mod follow;
pub mod git;
mod identity;
mod launch;
mod leave;
mod output;
mod page;
mod parent;
mod pulse;
#[cfg(target_os = "linux")]
mod received;
mod run;
mod spawn;
pub mod table;
mod talk;

pub use self::{
    cancel::Cancel,
    file_size::survive_file_size_limit,
    identity::Identity,
    launch::{Launch, Limits},
    leave::leave,
    output::output_is_thrown_away,
    page::page,
    parent::end_with_parent,
    pulse::Pulse,
    run::{Ending, Run, SpawnError, Stream, run, run_with},
    spawn::{Spawn, replace, spawn},
    talk::Talk,
};

#[cfg(test)]
mod tests;
