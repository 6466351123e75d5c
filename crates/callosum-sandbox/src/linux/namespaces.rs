//! [`enter`]: makes the namespaces, forks the keeper into them, and waits for it.

use std::{fs::OpenOptions, io::Write};

use nix::sched::{CloneFlags, unshare};
use rustix::process::{WaitOptions, getegid, geteuid};

use super::{
    super::{
        exec::{Stdio, reap},
        fork_server_process::{Forked, fork},
        report::{Failed, Line, Outcome, Step},
        spec::SandboxSpec,
    },
    init::keep,
};

/// Returns in two processes: in the keeper, at the end, with the result to report; and in the
/// calling process, with `None`, once the keeper and all processes that it started are gone.
pub(crate) fn enter(
    order: &SandboxSpec,
    line: &Line,
    stdio: Stdio,
) -> Result<Option<Outcome>, Failed> {
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
    match fork().map_err(Failed::at(Step::Namespaces))? {
        Forked::Child => keep(order, line, stdio),
        Forked::Parent(keeper) => {
            drop(stdio);
            line.guard(keeper).map_err(Failed::at(Step::Order))?;
            // The system reports its end when all that it was the first process of is gone.
            while reap(WaitOptions::empty())
                .map_err(Failed::at(Step::Order))?
                .is_some()
            {}
            Ok(None)
        }
    }
}
