//! Without namespaces: orphans become this process's children, and end before it does.

use std::io;

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait},
};
use signal_hook::{
    consts::{SIGCHLD, SIGTERM},
    iterator::Signals,
};

use super::{
    order::Order,
    report::{Failed, Outcome, Step, Writer},
    start::{restrict_without_namespaces, start, unstarted},
};
use crate::disk::Disk;

/// Starts the program and waits for its end, or for the controller's word or death.
///
/// Returns how the program ended, or `None` where it was not let end by itself.
pub(super) fn run(order: &Order, report: &Writer) -> Result<Option<Outcome>, Failed> {
    let mut signals = Signals::new([SIGCHLD, SIGTERM]).map_err(Failed::at(Step::Order))?;
    adopt(order).map_err(Failed::at(Step::Order))?;
    restrict_without_namespaces(order, report)?;
    let child = match start(order) {
        Ok(child) => child.id().cast_signed(),
        Err(error) => {
            let outcome = unstarted(&error);
            report.outcome(outcome).map_err(Failed::at(Step::Order))?;
            return Ok(Some(outcome));
        }
    };
    // A child that ended before the signals were listened to has left one all the same.
    for signal in &mut signals {
        if signal == SIGTERM {
            sweep().map_err(Failed::at(Step::Order))?;
            return Ok(None);
        }
        while let Some((pid, status)) =
            reap(WaitOptions::NOHANG).map_err(Failed::at(Step::Order))?
        {
            let Some(outcome) = outcome(status).filter(|_| pid == child) else {
                continue;
            };
            report.outcome(outcome).map_err(Failed::at(Step::Order))?;
            sweep().map_err(Failed::at(Step::Order))?;
            return Ok(Some(outcome));
        }
    }
    Ok(None)
}

fn outcome(status: WaitStatus) -> Option<Outcome> {
    let exited = status.exit_status().map(Outcome::Exited);
    exited.or_else(|| status.terminating_signal().map(Outcome::Signalled))
}

/// Reaps a child, if there is one; which, and how it ended.
fn reap(how: WaitOptions) -> io::Result<Option<(i32, WaitStatus)>> {
    loop {
        match wait(how) {
            Ok(found) => return Ok(found.map(|(pid, status)| (pid.as_raw_nonzero().get(), status))),
            Err(Errno::CHILD) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends every child, and those that become children by that, until there are none.
fn sweep() -> io::Result<()> {
    loop {
        for child in children() {
            // It may be gone already.
            let _ = kill_process(child, Signal::KILL);
        }
        if reap(WaitOptions::empty())?.is_none() {
            return Ok(());
        }
    }
}

/// The children of this process, which has one thread only.
fn children() -> Vec<Pid> {
    let me = std::process::id();
    let list = std::path::PathBuf::from(format!("/proc/self/task/{me}/children"));
    let text = Disk::real().read(&list).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .split_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

/// Becomes the parent of all orphans, and hears of the controller's end.
#[cfg(target_os = "linux")]
fn adopt(order: &Order) -> io::Result<()> {
    use rustix::process::{getpid, getppid, set_child_subreaper, set_parent_process_death_signal};
    set_child_subreaper(Some(getpid()))?;
    set_parent_process_death_signal(Some(Signal::TERM))?;
    let parent = getppid().map(|parent| parent.as_raw_nonzero().get().cast_unsigned());
    if parent == Some(order.controller) {
        Ok(())
    } else {
        Err(Errno::SRCH.into())
    }
}

/// This system has neither; the process group is all there is.
#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature is that of the others"
)]
fn adopt(_order: &Order) -> io::Result<()> {
    Ok(())
}
