//! [`start`]: starts the program itself after confinement, and observes its end.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, Command},
    time::Instant,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Resource, Rlimit, WaitOptions, WaitStatus, getrlimit, setrlimit, wait},
};
use signal_hook::{consts::SIGCHLD, low_level::pipe};

use super::{
    report::{Failed, Line, Outcome, Step},
    spec::SandboxSpec,
};
use callosum_host::process::supervise::wait_until;

/// The child's ends of the pipes that a program is given.
pub(super) struct Stdio {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) error: OwnedFd,
}

/// Source of notifications about ended children.
pub(super) struct Children(UnixStream);

/// A program that was started, and the source of notifications about ended children.
pub(super) struct Started<'c> {
    pub(super) child: i32,
    children: &'c Children,
}

/// Starts the program in a group of its own; this process keeps none of its files open.
pub(super) fn start<'c>(
    order: &SandboxSpec,
    stdio: Stdio,
    children: &'c Children,
) -> Result<Started<'c>, Outcome> {
    match spawn(order, stdio) {
        Ok(child) => Ok(Started {
            child: child.id().cast_signed(),
            children,
        }),
        Err(error) => Err(Outcome::Unstarted(error.raw_os_error().unwrap_or(0))),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "pipes and environment are those that the controller's order brought"
)]
fn spawn(order: &SandboxSpec, stdio: Stdio) -> io::Result<Child> {
    let environment = order.environment.iter();
    Command::new(&order.program)
        .args(&order.arguments)
        .current_dir(&order.folder)
        .env_clear()
        .envs(environment.map(|(name, value)| (name, value)))
        .stdin(stdio.input)
        .stdout(stdio.output)
        .stderr(stdio.error)
        .process_group(0)
        .spawn()
}

impl Children {
    /// Listens from now on: before there is a child that could end.
    pub(super) fn listen() -> io::Result<Self> {
        let (read_end, write_end) = UnixStream::pair()?;
        read_end.set_nonblocking(true)?;
        pipe::register(SIGCHLD, write_end)?;
        Ok(Self(read_end))
    }

    /// Waits until a child has ended, or until then.
    pub(super) fn wait(&self, until: Instant) -> io::Result<()> {
        let mut ends = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        wait_until(&mut ends, Some(until))?;
        self.forget_signals()
    }

    fn forget_signals(&self) -> io::Result<()> {
        let mut signals = [0; 64];
        match rustix::io::read(&self.0, &mut signals) {
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Started<'_> {
    /// Waits for the program's end, and reaps all other children that end. Returns `None` if the
    /// controller closed the line, or is gone, before that.
    pub(super) fn wait(&self, line: &Line) -> io::Result<Option<Outcome>> {
        loop {
            while let Some((pid, status)) = reap(WaitOptions::NOHANG)? {
                if let Some(outcome) = outcome(status).filter(|_| pid == self.child) {
                    return Ok(Some(outcome));
                }
            }
            let mut ends = [
                PollFd::from_borrowed_fd(self.children.0.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(line.0.as_fd(), PollFlags::IN),
            ];
            match poll(&mut ends, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if !ends[1].revents().is_empty() {
                return Ok(None);
            }
            self.children.forget_signals()?;
        }
    }
}

fn outcome(status: WaitStatus) -> Option<Outcome> {
    let exited = status.exit_status().map(Outcome::Exited);
    exited.or_else(|| status.terminating_signal().map(Outcome::Signalled))
}

/// Reaps a child, if there is one; which, and how it ended.
pub(super) fn reap(how: WaitOptions) -> io::Result<Option<(i32, WaitStatus)>> {
    loop {
        match wait(how) {
            Ok(found) => return Ok(found.map(|(pid, status)| (pid.as_raw_nonzero().get(), status))),
            Err(Errno::CHILD) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether there is any child; those that have ended are reaped.
pub(super) fn has_children() -> io::Result<bool> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Ok(true),
            Err(Errno::CHILD) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}

/// A crash leaves no copy of the executor's memory behind.
pub(super) fn limit() -> Result<(), Failed> {
    at_most(Resource::Core, 0).map_err(Failed::at(Step::Limits))
}

/// Lowers a limit, for good; one that is lower already stays.
pub(super) fn at_most(resource: Resource, most: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let least = |known: Option<u64>| Some(known.map_or(most, |known| known.min(most)));
    let lowered = Rlimit {
        current: least(now.current),
        maximum: least(now.maximum),
    };
    Ok(setrlimit(resource, lowered)?)
}
