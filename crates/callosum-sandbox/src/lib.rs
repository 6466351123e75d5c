//! The sandbox of a process: what it may read, write and reach while it runs.
//!
//! Start with [`decide`], which determines from a [`Policy`] and the features of this [`System`]
//! how far a process is confined, or why it may not run. [`RequestedPaths`] lists the paths that a
//! caller grants, [`places`] turns them into mounts, and [`Protected`] names those that no process
//! may write. The way to permitted hosts leads through [`Proxy`], which reports each
//! [`Connection`].
//!
//! The mechanism is a program that gives up its rights before it starts another. [`SandboxSpec`]
//! lists the restrictions, and [`ForkServer`] has them applied. The controller starts this very
//! program again as a fork server; [`run`] recognizes that. Nothing is done between a fork and an
//! exec of the controller: large parents would pay for their size. The server is small and has one
//! thread, so it can be forked for each order: an order costs a fork, not the start of a program.
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
//! Deliberately not here: which folders and hosts a known client needs (that is the executor's),
//! and the reaction to a missing layer. An order is carried out completely or not at all.

mod exec;
mod fd_passing;
mod fork_server;
mod fork_server_process;
mod grants;
#[cfg(target_os = "linux")]
mod inner_listener;
mod linked;
#[cfg(target_os = "linux")]
mod linux;
mod mounts;
mod nested_repositories;
mod personal;
mod policy;
mod policy_decision;
mod probe;
mod protected_paths;
mod proxy;
mod reap;
mod report;
mod spec;
mod subreaper;

#[cfg(target_os = "linux")]
pub use self::inner_listener::{Gate, Listeners, MOST_PORTS};
pub use self::{
    fork_server::ForkServer,
    fork_server_process::run,
    grants::{LeadsOutside, leads_outside, led_elsewhere, resolve},
    linked::create_folder,
    mounts::{RequestedPaths, Surface, SystemFolders, places, wished},
    nested_repositories::{Nested, nested},
    personal::personal,
    policy::{ANY, InvalidHost, Policy, Whitelisted},
    policy_decision::{Level, Reached, Refused, decide},
    probe::{Missing, System},
    protected_paths::{DeniedPath, Protected},
    proxy::{Connection, Connections, Names, Proxy, Upstream, Verdict},
    report::{Outcome, Report, Step},
    spec::{Access, Layers, MountPoint, SandboxSpec},
};

#[cfg(test)]
mod tests;
