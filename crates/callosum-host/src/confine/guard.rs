//! Without namespaces: orphans become this process's children, and end before it does.

use std::io;

use rustix::process::{Pid, Signal, WaitOptions, getpid};

use super::{
    order::{Layers, Order},
    report::{Failed, Line, Outcome, Step},
    start::{Started, Stdio, reap, start},
};

/// Starts the program and waits for its end, or for the controller's word or death.
///
/// Returns how the program ended, or `None` where it was not let end by itself.
pub(super) fn run(order: &Order, line: &Line, stdio: Stdio) -> Result<Option<Outcome>, Failed> {
    let pid = getpid().as_raw_nonzero().get();
    line.guard(pid).map_err(Failed::at(Step::Order))?;
    adopt_orphans().map_err(Failed::at(Step::Order))?;
    if order.layers == Layers::default() {
        super::start::limit()?;
    } else {
        restrict(order, line)?;
    }
    let started = match start(order, stdio) {
        Ok(started) => started,
        Err(outcome) => return Ok(Some(outcome)),
    };
    let outcome = started.wait(line).map_err(Failed::at(Step::Order))?;
    sweep(&started).map_err(Failed::at(Step::Order))?;
    Ok(outcome)
}

#[cfg(target_os = "linux")]
use super::linux::restrict;

/// Gives away what this system can without namespaces, which is nothing of these.
#[cfg(not(target_os = "linux"))]
fn restrict(_order: &Order, _line: &Line) -> Result<(), Failed> {
    Err(super::server::unsupported(Step::Landlock))
}

/// Ends every child, and those that become children by that, until there are none.
fn sweep(started: &Started) -> io::Result<()> {
    loop {
        end_children(started);
        if reap(WaitOptions::empty())?.is_none() {
            return Ok(());
        }
    }
}

#[cfg(target_os = "linux")]
fn end_children(_started: &Started) {
    for child in children() {
        // It may be gone already.
        let _ = rustix::process::kill_process(child, Signal::KILL);
    }
}

/// Orphans go elsewhere on this system; the program's group is all that is known.
#[cfg(not(target_os = "linux"))]
fn end_children(started: &Started) {
    if let Some(group) = Pid::from_raw(started.child) {
        // It fails only where nobody is left in it.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// The children of this process, which has one thread only.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let me = getpid().as_raw_nonzero();
    let list = std::path::PathBuf::from(format!("/proc/self/task/{me}/children"));
    let text = crate::disk::Disk::real().read(&list).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .split_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

/// Becomes the parent of all orphans.
#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    use rustix::process::set_child_subreaper;
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// This system knows no such thing.
#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature is that of the other"
)]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}
