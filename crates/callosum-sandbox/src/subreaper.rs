//! Without namespaces: orphans become this process's children, and end before it does.
//!
//! A guard that restricted nothing carries out one order after another ([`serve`]): nothing that it
//! started is left when it reports that it is ready, and nothing of an order stays with it.

use std::{io, os::fd::OwnedFd};

use rustix::process::{Pid, Signal, WaitOptions, getpid};

use super::{
    exec::{Children, Started, Stdio, has_children, reap, start},
    fd_passing,
    report::{Failed, Line, Outcome, Step},
    spec::SandboxSpec,
};

/// Carries out an order that gives nothing away, and those that come by the same line after it, until
/// the controller closes the line, or is gone, or one of them is cut short.
pub(super) fn serve(first: SandboxSpec, line: &mut Line, stdio: Stdio) -> Result<(), Failed> {
    let children = Children::listen().map_err(Failed::at(Step::Order))?;
    let mut next = Some((first, stdio));
    while let Some((order, stdio)) = next.take() {
        let Some(outcome) = carry_out(&order, line, stdio, &children)? else {
            return Ok(());
        };
        // Who does not hear it sees the line close.
        if line.outcome(outcome).and_then(|()| line.ready()).is_err() {
            return Ok(());
        }
        next = another(line).map_err(Failed::at(Step::Order))?;
    }
    Ok(())
}

/// Returns the next order and its program's descriptors; `None` if no more will come.
fn another(line: &mut Line) -> io::Result<Option<(SandboxSpec, Stdio)>> {
    let passed = loop {
        match fd_passing::receive(&line.0) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            passed => break passed?,
        }
    };
    let Some(passed) = passed else {
        return Ok(None);
    };
    let [input, output, error]: [OwnedFd; 3] = passed
        .try_into()
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    let order = SandboxSpec::receive(&mut line.0)?;
    if !order.gives_nothing_away() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let stdio = Stdio {
        input,
        output,
        error,
    };
    Ok(Some((order, stdio)))
}

/// Starts the program and waits for its end, or for the controller's message or death.
///
/// Returns the program's outcome, or `None` if it was ended before its end.
pub(super) fn run(
    order: &SandboxSpec,
    line: &Line,
    stdio: Stdio,
) -> Result<Option<Outcome>, Failed> {
    let children = Children::listen().map_err(Failed::at(Step::Order))?;
    carry_out(order, line, stdio, &children)
}

fn carry_out(
    order: &SandboxSpec,
    line: &Line,
    stdio: Stdio,
    children: &Children,
) -> Result<Option<Outcome>, Failed> {
    let pid = getpid().as_raw_nonzero().get();
    line.guard(pid).map_err(Failed::at(Step::Order))?;
    adopt_orphans().map_err(Failed::at(Step::Order))?;
    if order.gives_nothing_away() {
        super::exec::limit()?;
    } else {
        restrict(order, line)?;
    }
    let started = match start(order, stdio, children) {
        Ok(started) => started,
        Err(outcome) => return Ok(Some(outcome)),
    };
    // Who does not hear it sees to it that the line closes.
    drop(line.program(started.child));
    let outcome = started.wait(line).map_err(Failed::at(Step::Order))?;
    sweep(&started).map_err(Failed::at(Step::Order))?;
    if outcome.is_none() {
        // The controller may be gone.
        drop(line.swept());
    }
    Ok(outcome)
}

#[cfg(target_os = "linux")]
use super::linux::restrict;

/// Applies the restrictions that this system supports without namespaces, which are none of these.
#[cfg(not(target_os = "linux"))]
fn restrict(_order: &SandboxSpec, _line: &Line) -> Result<(), Failed> {
    Err(super::fork_server_process::unsupported(Step::Landlock))
}

/// Ends every child, and those that become children by that, until there are none.
fn sweep(started: &Started<'_>) -> io::Result<()> {
    while has_children()? {
        end_children(started);
        if reap(WaitOptions::empty())?.is_none() {
            break;
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn end_children(_started: &Started<'_>) {
    for child in children() {
        // It may be gone already.
        let _ = rustix::process::kill_process(child, Signal::KILL);
    }
}

/// Orphans go elsewhere on this system; the program's group is all that is known.
#[cfg(not(target_os = "linux"))]
fn end_children(started: &Started<'_>) {
    if let Some(group) = Pid::from_raw(started.child) {
        // It fails only if the group is empty.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// The children of this process, which has one thread only.
#[cfg(target_os = "linux")]
pub(super) fn children() -> Vec<Pid> {
    let me = getpid().as_raw_nonzero();
    let list = std::path::PathBuf::from(format!("/proc/self/task/{me}/children"));
    let text = callosum_host::disk::Disk::real()
        .read(&list)
        .unwrap_or_default();
    String::from_utf8_lossy(&text)
        .split_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

/// Becomes the parent of all orphans.
#[cfg(target_os = "linux")]
pub(super) fn adopt_orphans() -> io::Result<()> {
    use rustix::process::set_child_subreaper;
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// This system knows no such thing.
#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature is that of the other"
)]
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}
