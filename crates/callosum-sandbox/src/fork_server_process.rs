//! [`run`]: the fork server itself, which is this program started once more.
//!
//! It has one thread and holds nothing, so that a fork of it is cheap and safe: what its controller
//! had open and let be inherited is closed before the first fork. Each request on its
//! standard input is one byte with four descriptors: the line to the controller, by which the
//! order itself comes, and the three pipes of the program that is to be started. With one descriptor it is
//! asked to end what a guard left that was ended itself: such orphans become this process's children.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::{self, Read},
    os::{fd::RawFd, unix::net::UnixStream},
    path::Path,
    time::{Duration, Instant},
};

use rustix::{
    fs::{Mode, OFlags},
    process::{Pid, Resource, Signal, WaitOptions, getrlimit, kill_process, setsid, waitpid},
};

use super::{
    exec::{Children, Stdio, has_children, reap},
    fd_passing::receive,
    report::{Failed, Line, Step},
    spec::SandboxSpec,
    subreaper::{self, adopt_orphans},
};
use callosum_host::disk::Disk;

/// The command line of a fork server.
pub(super) const SERVER: &str = "confined";

/// The command line of a program that does nothing, to try an order with.
const NOTHING: &str = "confined-nothing";

/// Serves forks where the command line `words`, this program's name first, asks for it.
///
/// Returns the code to exit with, or `None` where the command line asks for something else. Must
/// be called before a second thread is started.
pub fn run(words: &[OsString]) -> Option<u8> {
    if words.len() != 2 {
        return None;
    }
    match words[1].to_str()? {
        NOTHING => Some(0),
        SERVER => Some(u8::from(serve().is_err())),
        _ => None,
    }
}

impl SandboxSpec {
    /// Words for [`SandboxSpec::program`] set to this program, which then does nothing and ends well.
    pub fn nothing() -> Vec<OsString> {
        vec![NOTHING.into()]
    }
}

/// Time for guards to end what they guard, and themselves, once the controller is gone.
const FAREWELL: Duration = Duration::from_millis(500);

/// Request of the controller.
enum ServerRequest {
    /// A fork.
    Fork(Request),
    /// The end of what a guard left; who asks sees that it came when this is closed.
    Sweep(UnixStream),
}

/// An order for a fork.
struct Request {
    line: UnixStream,
    stdio: Stdio,
}

/// Serves until the controller closes its end of the socket, or is gone.
fn serve() -> io::Result<()> {
    close_inherited()?;
    // Signals typed at the controller's terminal are not for the processes that are started here.
    setsid()?;
    let socket = UnixStream::from(rustix::io::dup(rustix::stdio::stdin())?);
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    adopt_orphans()?;
    let mut guards = BTreeSet::new();
    while let Some(asked) = ServerRequest::receive(&socket)? {
        let request = match asked {
            ServerRequest::Fork(request) => request,
            ServerRequest::Sweep(asking) => {
                // Who asks waits no longer than it takes to see this close.
                drop(sweep(asking, &mut guards));
                continue;
            }
        };
        match fork() {
            Ok(Forked::Child) => {
                drop(socket);
                request.carry_out();
                // At once: what this program does at its end is for its own end, not a fork's.
                signal_hook::low_level::exit(0);
            }
            Ok(Forked::Parent(guard)) => {
                guards.insert(guard);
            }
            Err(error) => {
                let failed = Failed::at(Step::Order)(error);
                // Who does not hear it sees the line close.
                drop(Line(request.line).outcome(failed.outcome()));
            }
        }
        forget_ended(&mut guards)?;
    }
    take_leave(guards)
}

/// Reaps who has ended.
fn forget_ended(guards: &mut BTreeSet<i32>) -> io::Result<()> {
    while let Some((ended, _)) = reap(WaitOptions::NOHANG)? {
        guards.remove(&ended);
    }
    Ok(())
}

/// Ends the leftovers of a guard that was ended: by then its orphans are children of this process,
/// as only guards are otherwise.
fn sweep(mut asking: UnixStream, guards: &mut BTreeSet<i32>) -> io::Result<()> {
    let mut ended = [0; size_of::<i32>()];
    asking.read_exact(&mut ended)?;
    let ended = i32::from_le_bytes(ended);
    if let Some(guard) = Pid::from_raw(ended).filter(|_| guards.contains(&ended)) {
        // Its line closes a moment before its children get a new parent.
        waitpid(Some(guard), WaitOptions::empty())?;
        guards.remove(&ended);
    }
    end_orphans(guards)
}

#[cfg(target_os = "linux")]
fn end_orphans(guards: &mut BTreeSet<i32>) -> io::Result<()> {
    loop {
        forget_ended(guards)?;
        let mut orphans = subreaper::children();
        orphans.retain(|child| !guards.contains(&child.as_raw_nonzero().get()));
        if orphans.is_empty() {
            return Ok(());
        }
        for orphan in &orphans {
            // It may be gone already.
            let _ = kill_process(*orphan, Signal::KILL);
        }
        // What these leave is found at the next look.
        waitpid(orphans.first().copied(), WaitOptions::empty())?;
    }
}

/// Orphans go elsewhere on this system.
#[cfg(not(target_os = "linux"))]
fn end_orphans(guards: &mut BTreeSet<i32>) -> io::Result<()> {
    forget_ended(guards)
}

/// Waits until the guards have ended everything and themselves, since the controller is gone. Those
/// that do not are killed, with their leftovers.
fn take_leave(mut guards: BTreeSet<i32>) -> io::Result<()> {
    let children = Children::listen()?;
    let until = Instant::now() + FAREWELL;
    forget_ended(&mut guards)?;
    while has_children()? && Instant::now() < until {
        children.wait(until)?;
        forget_ended(&mut guards)?;
    }
    for guard in guards.iter().filter_map(|guard| Pid::from_raw(*guard)) {
        // It may be gone already.
        let _ = kill_process(guard, Signal::KILL);
    }
    for guard in std::mem::take(&mut guards) {
        waitpid(Pid::from_raw(guard), WaitOptions::empty())?;
    }
    end_orphans(&mut guards)
}

/// Closes all but standard input, output and error: the program that started the controller may
/// have left files open that no executor may read or write.
///
/// Must be called before this process opens anything itself.
fn close_inherited() -> io::Result<()> {
    let listed = Disk::real().list_dir(Path::new("/dev/fd"));
    let numbers: Vec<RawFd> = match listed {
        Ok(open) => open
            .iter()
            .filter_map(|entry| entry.name.to_str()?.parse().ok())
            .collect(),
        // If nothing lists them, all possible ones are tried.
        Err(_) => (3..most_open()).collect(),
    };
    for number in numbers.into_iter().filter(|number| *number > 2) {
        match nix::unistd::close(number) {
            // The listing had one of its own, which is closed already.
            Ok(()) | Err(nix::errno::Errno::EBADF) => {}
            Err(error) => return Err(io::Error::from_raw_os_error(error as i32)),
        }
    }
    Ok(())
}

/// The number below which all descriptors of this process are.
fn most_open() -> RawFd {
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    RawFd::try_from(most).unwrap_or(RawFd::MAX).min(1 << 20)
}

impl ServerRequest {
    /// Waits for a request; `None` if no more will come.
    fn receive(socket: &UnixStream) -> io::Result<Option<Self>> {
        let passed = loop {
            match receive(socket) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                passed => break passed?,
            }
        };
        let Some(passed) = passed else {
            return Ok(None);
        };
        let mut passed = passed.into_iter();
        let asked = match [(); 5].map(|()| passed.next()) {
            [Some(line), Some(input), Some(output), Some(error), None] => Self::Fork(Request {
                line: line.into(),
                stdio: Stdio {
                    input,
                    output,
                    error,
                },
            }),
            [Some(asking), None, ..] => Self::Sweep(asking.into()),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        Ok(Some(asked))
    }
}

impl Request {
    fn carry_out(self) {
        let mut line = self.line;
        let order = SandboxSpec::receive(&mut line).map_err(Failed::at(Step::Order));
        let mut line = Line(line);
        let done = order.and_then(|order| {
            if order.gives_nothing_away() {
                subreaper::serve(order, &mut line, self.stdio).map(|()| None)
            } else if order.layers.namespaces {
                enter(&order, &line, self.stdio)
            } else {
                subreaper::run(&order, &line, self.stdio)
            }
        });
        let outcome = match done {
            Ok(outcome) => outcome,
            Err(failed) => Some(failed.outcome()),
        };
        if let Some(outcome) = outcome {
            // Who does not hear it sees the line close.
            drop(line.outcome(outcome));
        }
    }
}

/// In which of two processes one is.
pub(super) enum Forked {
    Child,
    /// The child's number.
    Parent(i32),
}

/// Makes a second process of this one, which must have one thread only.
#[expect(
    unsafe_code,
    reason = "forking a process with other threads is unsafe: their locks would stay locked"
)]
pub(super) fn fork() -> io::Result<Forked> {
    // SAFETY: only the fork server and its forks call this; none of them starts a thread.
    match unsafe { nix::unistd::fork() } {
        Ok(nix::unistd::ForkResult::Child) => Ok(Forked::Child),
        Ok(nix::unistd::ForkResult::Parent { child }) => Ok(Forked::Parent(child.as_raw())),
        Err(error) => Err(io::Error::from_raw_os_error(error as i32)),
    }
}

#[cfg(target_os = "linux")]
use super::linux::enter;

#[cfg(not(target_os = "linux"))]
fn enter(
    _order: &SandboxSpec,
    _line: &Line,
    _stdio: Stdio,
) -> Result<Option<super::report::Outcome>, Failed> {
    Err(unsupported(Step::Namespaces))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn unsupported(step: Step) -> Failed {
    Failed::at(step)(io::Error::from_raw_os_error(
        rustix::io::Errno::NOSYS.raw_os_error(),
    ))
}
