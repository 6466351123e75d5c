//! A program that gives away its rights before it starts another.
//!
//! Start with [`SandboxSpec`], which says what is to be given away, and [`ForkServer`], which has it carried
//! out. The controller starts this very program again as a fork server; [`run`] recognises that.
//! Nothing is done between a fork and an exec of the controller: large parents would pay for their
//! size. The server is small and has one thread, so it can be forked for each order: what an order
//! costs is a fork, not the start of a program.
//!
//! The fork is the *guard*. Each holds one end of a *line* to the controller, by which the order
//! comes and the [`Report`] goes; when the controller closes its end, or is gone, the guard ends all
//! that it started. Where there are namespaces it is parted in two: the *door* makes them, and waits;
//! inside them the *keeper*, the first process of the new PID namespace, arranges the file system,
//! gives away the rest, starts the program and reaps what it leaves. When the keeper ends, the system
//! ends all that is inside. Where there are no namespaces, orphans become the guard's children; those of a guard that was ended
//! itself become the fork server's, which ends them when the controller asks. A guard that gave nothing away
//! takes another such order when nothing is left of the one before; any other ends with its order.
//!
//! What is deliberately not here: which folders or programs need what, and what happens where
//! something cannot be had. The caller decides; an order is carried out whole or not at all.

mod exec;
mod fd_passing;
mod fork_server;
mod fork_server_process;
#[cfg(target_os = "linux")]
mod inner_listener;
mod linked;
mod reap;
mod report;
mod spec;
mod subreaper;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub use self::inner_listener::{Gate, Listeners, MOST_PORTS};
pub use self::{
    fork_server::ForkServer,
    fork_server_process::run,
    linked::create_folder,
    report::{Outcome, Report, Step},
    spec::{Access, Layers, MountPoint, SandboxSpec},
};

#[cfg(test)]
mod tests;
