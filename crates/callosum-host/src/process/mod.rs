//! Child processes: a clean environment, deadlines that hold, and no survivor in the group.
//!
//! Start with [`run`]. A child gets exactly the arguments, environment and folder of its
//! [`Launch`]: nothing is inherited, and no shell is ever in between. The caller interprets its
//! output. [`InteractiveChild`] is for a process that was started so, and speaks to one of its own;
//! [`leave`] for one that continues by itself; [`page`] for a pager on this process's own terminal;
//! [`spawn()`] for a command that a person asked this process to run. [`table`] lists running
//! processes.

mod cancel;
mod descendants;
mod detach;
mod file_size;
pub mod git;
mod heartbeat;
mod identity;
mod interactive;
mod launch;
mod output;
mod page;
mod parent_death;
mod run;
mod spawn;
pub mod supervise;
pub mod table;
#[cfg(target_os = "linux")]
mod tcp_activity;

pub use self::{
    cancel::Cancel,
    detach::leave,
    file_size::survive_file_size_limit,
    heartbeat::Heartbeat,
    identity::Identity,
    interactive::InteractiveChild,
    launch::{Launch, Limits},
    output::output_is_thrown_away,
    page::page,
    parent_death::end_with_parent,
    run::{Ending, Run, SpawnError, Stream, run, run_with},
    spawn::{Spawn, replace, spawn},
};

#[cfg(test)]
mod tests;
