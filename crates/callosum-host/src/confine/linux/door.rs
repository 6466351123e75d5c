//! [`enter`]: makes the namespaces, starts the keeper in them, and waits for it.

use std::{fs::OpenOptions, io::Write, process::Command};

use nix::sched::{CloneFlags, unshare};
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
    process::{getegid, geteuid, getppid},
};

use super::{
    super::{
        order::{KEEPER, Order},
        report::{Failed, Outcome, Step, Writer},
        start::outcome_of,
    },
    rights,
};
use crate::process::end_with_parent;

pub(in super::super) fn enter(order: &Order, report: &Writer) -> Result<Outcome, Failed> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut spaces = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC;
    spaces.set(CloneFlags::CLONE_NEWNET, order.layers.network);
    unshare(spaces).map_err(Failed::at(Step::Namespaces))?;
    for (file, content) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ] {
        // The files of the system's that this is about take one whole write.
        OpenOptions::new()
            .write(true)
            .open(file)
            .and_then(|mut file| file.write_all(content.as_bytes()))
            .map_err(Failed::at(Step::Users))?;
    }
    rights::pass_on().map_err(Failed::at(Step::Capabilities))?;
    // Only now: a change of rights takes the wish back.
    end_with_parent().map_err(Failed::at(Step::Order))?;
    let is_orphan = getppid()
        .is_none_or(|parent| parent.as_raw_nonzero().get().cast_unsigned() != order.controller);
    if is_orphan {
        return Err(Failed::at(Step::Order)(Errno::SRCH));
    }
    // Held as long as this process lives, which the keeper cannot ask the system.
    flock(report.file(), FlockOperation::NonBlockingLockExclusive)
        .map_err(Failed::at(Step::Order))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "environment and pipes are those that the controller gave this process to pass on"
    )]
    let status = Command::new("/proc/self/exe")
        .args(order.words(KEEPER))
        .status()
        .map_err(Failed::at(Step::Namespaces))?;
    Ok(outcome_of(status))
}
