//! [`ForkServer`]: the controller's side of a small process that forks a guard for each order.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags},
    process::{Pid, Signal, kill_process_group},
};

use super::{
    fd_passing,
    fork_server_process::SERVER,
    reap,
    report::{Outcome, Report},
    spec::SandboxSpec,
};
use callosum_host::process::{
    Cancel, Ending, Heartbeat, Limits, Run, SpawnError, Stream,
    supervise::{EXIT_CHECK, Ends, Leader, Terms, follow, wait_until},
};

/// Time for a guard to end the processes that its program started, before the guard itself is
/// killed.
const SWEEP: Duration = Duration::from_millis(500);

/// Time for the server to end a guard's leftovers, before the server itself is killed. Together
/// with [`SWEEP`] it is less than the second within which all is to be gone.
const LEFTOVERS: Duration = Duration::from_millis(300);

/// Time for the server to end on request, before it is killed.
const FAREWELL: Duration = Duration::from_secs(1);

/// Timeout for the server to accept an order.
const TAKING: Duration = Duration::from_secs(10);

/// Variable with the path of a program's own temporary folder, which no other program has.
const OWN_FOLDER: &str = "TMPDIR";

/// A process that forks a guard for each order, started with the first one.
///
/// It ends when this is dropped, or its controller is gone. Programs end with their own order;
/// orders that run at that moment are not disturbed. A guard whose order restricted nothing takes
/// the next such order when it is done: then no new process is needed but the program.
#[derive(Debug)]
pub struct ForkServer {
    program: PathBuf,
    /// Lines to guards that wait for an order which gives nothing away. Before the server in this list,
    /// which waits for them at its end.
    ready: Mutex<Vec<UnixStream>>,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    socket: UnixStream,
    child: Child,
}

impl ForkServer {
    /// One for which `program` is started, which must be this one: its `main` has to call
    /// [`run`](super::run) first.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            ready: Mutex::default(),
            running: Mutex::new(None),
        }
    }

    /// Has an order carried out, and hears its program out.
    ///
    /// `heard` sees each piece of output as it comes; a beat of `pulse` counts as life as that does. Returns within a fraction of a second of a
    /// deadline or a cancellation, with all that was started ended. The error is about the server;
    /// why a program was not started is in the report.
    pub fn run(
        &self,
        order: &SandboxSpec,
        input: &[u8],
        limits: Limits,
        cancel: &Cancel,
        pulse: &Heartbeat,
        heard: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<(Run, Report), SpawnError> {
        let started = Instant::now();
        let failed = |source| SpawnError::System {
            program: order.program.clone(),
            source,
        };
        let (mut line, ends) = self.submit(order).map_err(failed)?;
        let terms = Terms {
            limits,
            cancel,
            pulse,
        };
        let run = follow(&mut line, ends, input, &terms, heard, started);
        let report = line.report();
        if is_left_alone(order, &report) {
            self.end_what_is_left(order, &report);
        }
        let run = run.map_err(failed)?;
        if report.ready && !line.is_closed {
            self.ready().push(line.stream);
        }
        Ok((run, report))
    }

    /// Ends the processes of an order whose guard was ended, possibly because it did not answer.
    fn end_what_is_left(&self, order: &SandboxSpec, report: &Report) {
        if let Some(group) = report.program.and_then(Pid::from_raw) {
            // It fails only if the group is empty.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = running.as_mut()
            && !server.sweep(report.guard).is_ok_and(|swept| swept)
        {
            // It fails only if it is gone already.
            drop(server.child.kill());
            *running = None;
        }
        drop(running);
        let folder = order
            .environment
            .iter()
            .find(|(name, _)| name == OWN_FOLDER);
        if let Some((name, value)) = folder {
            reap::end_all_with(name, value);
        }
    }

    fn ready(&self) -> MutexGuard<'_, Vec<UnixStream>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an order in; what comes back is the line to its guard, and the program's pipes.
    fn submit(&self, order: &SandboxSpec) -> io::Result<(Line, Ends)> {
        let (input, to_input) = io::pipe()?;
        let (from_output, output) = io::pipe()?;
        let (from_error, error) = io::pipe()?;
        let program_ends = [input.as_fd(), output.as_fd(), error.as_fd()];
        let known = if order.gives_nothing_away() {
            self.hand_to_a_guard(order, &program_ends)?
        } else {
            None
        };
        let ours = match known {
            Some(line) => line,
            None => self.hand_to_the_server(order, program_ends)?,
        };
        drop((input, output, error));
        ours.set_nonblocking(true)?;
        let ends = Ends {
            input: Some(to_input.into()),
            output: Some(from_output.into()),
            error: Some(from_error.into()),
        };
        Ok((Line::new(ours), ends))
    }

    /// Hands an order to a guard that waits for one, if there is any.
    fn hand_to_a_guard(
        &self,
        order: &SandboxSpec,
        program_ends: &[BorrowedFd<'_>],
    ) -> io::Result<Option<UnixStream>> {
        loop {
            let Some(mut line) = self.ready().pop() else {
                return Ok(None);
            };
            line.set_nonblocking(false)?;
            let sent = fd_passing::send(&line, program_ends).and_then(|()| order.write(&mut line));
            match sent {
                Ok(()) => return Ok(Some(line)),
                // The process ended in between.
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Hands an order to the server, which forks a guard for it.
    fn hand_to_the_server(
        &self,
        order: &SandboxSpec,
        [input, output, error]: [BorrowedFd<'_>; 3],
    ) -> io::Result<UnixStream> {
        let (mut ours, theirs) = UnixStream::pair()?;
        self.pass(&[theirs.as_fd(), input, output, error])?;
        drop(theirs);
        ours.set_write_timeout(Some(TAKING))?;
        order.write(&mut ours)?;
        Ok(ours)
    }

    /// Passes descriptors to the server, which is started if necessary.
    fn pass(&self, ends: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = running.as_ref() {
            match fd_passing::send(&known.socket, ends) {
                Err(error) if is_gone(&error) => {}
                done => return done,
            }
        }
        let begun = Running::start(&self.program)?;
        fd_passing::send(&begun.socket, ends)?;
        *running = Some(begun);
        Ok(())
    }
}

/// Whether neither the guard nor the system reported that all processes of an order have ended.
fn is_left_alone(order: &SandboxSpec, report: &Report) -> bool {
    let is_reported = report.outcome.is_some() || report.swept;
    // With the first process of a namespace the system ends all that is inside.
    let is_the_systems = order.layers.namespaces && report.guard.is_some();
    !is_reported && !is_the_systems
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}

impl Running {
    #[expect(
        clippy::disallowed_methods,
        reason = "a fork server has no pipes, deadline or end of its own"
    )]
    fn start(program: &PathBuf) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let child = Command::new(program)
            .arg(SERVER)
            .current_dir("/")
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { socket, child })
    }

    /// Has what a guard left ended; whether that was done in time.
    fn sweep(&mut self, guard: Option<i32>) -> io::Result<bool> {
        let (mut ours, theirs) = UnixStream::pair()?;
        ours.write_all(&guard.unwrap_or_default().to_le_bytes())?;
        fd_passing::send(&self.socket, &[theirs.as_fd()])?;
        drop(theirs);
        let until = Instant::now() + LEFTOVERS;
        let mut ends = [PollFd::new(&ours, PollFlags::IN)];
        while Instant::now() < until {
            wait_until(&mut ends, Some(until))?;
            if !ends[0].revents().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for the end of the server, which was asked to end.
    fn ends_in_time(&mut self) -> io::Result<bool> {
        let exit = descriptor_of(self.child.id().cast_signed());
        let until = Instant::now() + FAREWELL;
        while Instant::now() < until {
            if self.child.try_wait()?.is_some() {
                return Ok(true);
            }
            let mut ends: Vec<PollFd<'_>> = exit
                .iter()
                .map(|exit| PollFd::new(exit, PollFlags::IN))
                .collect();
            let look_again = exit.is_none().then(|| Instant::now() + EXIT_CHECK);
            wait_until(&mut ends, Some(look_again.unwrap_or(until)))?;
        }
        Ok(false)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails only where the server is gone already.
        drop(self.socket.shutdown(Shutdown::Both));
        if !self.ends_in_time().is_ok_and(|ended| ended) {
            // It may have been stopped by a signal.
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}

/// The line to a guard: carries its messages, and closing it ends what it guards.
#[derive(Debug)]
struct Line {
    stream: UnixStream,
    heard: Vec<u8>,
    is_closed: bool,
    guard: Option<OwnedFd>,
}

impl Line {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            heard: Vec::new(),
            is_closed: false,
            guard: None,
        }
    }

    fn report(&self) -> Report {
        Report::read(&String::from_utf8_lossy(&self.heard))
    }

    /// Whether nothing of the order is left: its guard is ready for another one, or gone.
    fn is_done(&self) -> bool {
        self.is_closed || self.report().ready
    }

    /// Reads the guard's messages; the guard is gone once no more can come.
    fn hear(&mut self) -> io::Result<()> {
        let mut buffer = [0; 256];
        while !self.is_closed {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.is_closed = true,
                Ok(count) => self.heard.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_gone(&error) => self.is_closed = true,
                Err(error) => return Err(error),
            }
        }
        if self.guard.is_none() && !self.is_done() {
            // Taken while it runs, so that the number is still its own.
            self.guard = self.report().guard.and_then(descriptor_of);
        }
        Ok(())
    }
}

impl Leader for Line {
    fn exit_descriptor(&self) -> Option<OwnedFd> {
        self.stream.as_fd().try_clone_to_owned().ok()
    }

    fn ancestor(&self) -> Option<u32> {
        self.report().guard.and_then(|guard| guard.try_into().ok())
    }

    fn has_exited(&mut self) -> io::Result<bool> {
        self.hear()?;
        Ok(self.is_done())
    }

    fn end(&mut self) -> io::Result<Ending> {
        self.hear()?;
        if !self.is_done() {
            // It fails only where the guard is gone already.
            drop(self.stream.shutdown(Shutdown::Write));
        }
        let until = Instant::now() + SWEEP;
        while !self.is_done() && Instant::now() < until {
            let mut ends = [PollFd::new(&self.stream, PollFlags::IN)];
            wait_until(&mut ends, Some(until))?;
            self.hear()?;
        }
        if let Some(guard) = self.guard.as_ref().filter(|_| !self.is_done()) {
            end_at_once(guard);
        }
        Ok(match self.report().outcome {
            Some(Outcome::Exited(code)) => Ending::Exited(code),
            Some(Outcome::Signalled(signal)) => Ending::Signalled(signal),
            None => Ending::Unguarded,
            // What never began.
            Some(Outcome::Unstarted(_) | Outcome::Failed(..)) => {
                Ending::Signalled(Signal::KILL.as_raw())
            }
        })
    }
}

#[cfg(target_os = "linux")]
fn descriptor_of(pid: i32) -> Option<OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    // It fails if the process is gone, and then there is nothing to end.
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

#[cfg(target_os = "linux")]
fn end_at_once(guard: &OwnedFd) {
    // It fails if it is gone.
    let _ = rustix::process::pidfd_send_signal(guard, Signal::KILL);
}

#[cfg(not(target_os = "linux"))]
fn descriptor_of(_pid: i32) -> Option<OwnedFd> {
    None
}

#[cfg(not(target_os = "linux"))]
fn end_at_once(_guard: &OwnedFd) {}
