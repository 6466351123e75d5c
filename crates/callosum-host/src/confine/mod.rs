//! A program that gives up its rights before it starts another.
//!
//! Start with [`SandboxSpec`], which lists the restrictions, and [`ForkServer`], which has them
//! applied. The controller starts this very program again as a fork server; [`run`] recognizes
//! that. Nothing is done between a fork and an exec of the controller: large parents would pay for
//! their size. The server is small and has one thread, so it can be forked for each order: an order
//! costs a fork, not the start of a program.
//!
//! The fork is the *guard*. Each holds one end of a *line* to the controller, which carries the
//! order and the [`Report`]. When the controller closes its end, or is gone, the guard ends all
//! processes that it started. With namespaces it is split in two. The *door* makes them, and waits.
//! Inside them the *keeper*, the first process of the new PID namespace, arranges the file system,
//! applies the other restrictions, starts the program and reaps its orphans. When the keeper ends,
//! the system ends everything inside. Without namespaces, orphans become the guard's children;
//! those of a guard that was ended itself become the fork server's, which ends them when the
//! controller asks. A guard that restricted nothing takes another such order when nothing is left
//! of the one before; any other ends with its order.
//!
//! Deliberately not here: the needs of each program, and the reaction to a missing layer. The
//! caller decides; an order is carried out completely or not at all.

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
