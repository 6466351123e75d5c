//! Runs one child to its end, whatever that end is.
//!
//! One thread, one `poll` over the child's three pipes, its exit and the [`Cancel`]: no thread
//! per pipe, no sleeping loop. The child leads a process group of its own; when it must go, the
//! group goes, and reading stops, so that a grandchild which kept a pipe open holds up nobody.

use std::{
    collections::VecDeque,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::{CommandExt, ExitStatusExt},
    },
    path::PathBuf,
    process::{Child, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid},
};

use super::{cancel::Cancel, launch::Launch};

/// How long the outputs may stay open after the child itself has exited.
const AFTER_EXIT: Duration = Duration::from_millis(200);

/// How often a child is asked whether it has exited where the system has no descriptor for that.
const EXIT_CHECK: Duration = Duration::from_millis(20);

/// One of a child's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// How a child came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited by itself with this code.
    Exited(i32),
    /// A signal that was not ours ended it.
    Signalled(i32),
    /// It was ended for saying nothing for `limits.quiet`.
    Quiet,
    /// It was ended after `limits.total`.
    Deadline,
    /// It was ended because somebody cancelled.
    Cancelled,
    /// It was ended for writing more than `limits.output_bytes`.
    TooMuchOutput,
}

/// What a child left.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub ending: Ending,
    /// All that it wrote to standard output, up to `limits.output_bytes`.
    pub output: Vec<u8>,
    /// The last `limits.error_bytes` that it wrote to standard error.
    pub error: Vec<u8>,
    /// Time from its start to its end.
    pub elapsed: Duration,
}

/// Why a child could not be started or followed.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("the program `{}` was not found", program.display())]
    NotFound {
        /// What was looked for.
        program: PathBuf,
    },
    /// The folder that it was to start in is not there.
    #[error("the folder `{}` to start in was not found", folder.display())]
    NoFolder {
        /// What was looked for.
        folder: PathBuf,
    },
    /// The program is a script whose interpreter is not there.
    #[error("the interpreter that `{}` names in its first line was not found", program.display())]
    NoInterpreter {
        /// The script.
        program: PathBuf,
    },
    /// The file is there but may not be run.
    #[error("the program `{}` may not be executed", program.display())]
    NotExecutable {
        /// What was found.
        program: PathBuf,
    },
    /// The arguments are longer than the system takes.
    #[error("the arguments of `{}` are longer than the system takes", program.display())]
    ArgumentsTooLong {
        /// The program.
        program: PathBuf,
    },
    /// Another failure of the system.
    #[error("cannot run `{}`", program.display())]
    System {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Starts `launch` and waits for its end.
///
/// `heard` sees each piece of output as it comes. Returns within a fraction of a second of a
/// deadline or a cancellation, with the child's process group killed, even where a descendant
/// holds a pipe open.
pub fn run(
    launch: &Launch,
    cancel: &Cancel,
    heard: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Run, SpawnError> {
    run_and_end(launch, cancel, None, heard)
}

/// The same for a program that ends what it started when it gets the signal TERM.
///
/// Where it must go it is asked first, and has `sweep` to do so. Its group is killed afterwards in
/// any case.
pub fn run_guarded(
    launch: &Launch,
    cancel: &Cancel,
    sweep: Duration,
    heard: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Run, SpawnError> {
    run_and_end(launch, cancel, Some(sweep), heard)
}

fn run_and_end(
    launch: &Launch,
    cancel: &Cancel,
    sweep: Option<Duration>,
    heard: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Run, SpawnError> {
    let started = Instant::now();
    let child = spawn(launch).map_err(|source| explain(launch, source))?;
    follow(child, launch, cancel, sweep, heard, started).map_err(|source| SpawnError::System {
        program: launch.program.clone(),
        source,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that starts a program"
)]
fn spawn(launch: &Launch) -> io::Result<Child> {
    std::process::Command::new(&launch.program)
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .env_clear()
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Says in which of the things that a start needs the failure lies.
fn explain(launch: &Launch, source: io::Error) -> SpawnError {
    let program = launch.program.clone();
    match source.kind() {
        io::ErrorKind::NotFound if !launch.folder.is_dir() => SpawnError::NoFolder {
            folder: launch.folder.clone(),
        },
        // The file is there, so what is missing is the interpreter that its first line names.
        io::ErrorKind::NotFound if program.is_absolute() && program.exists() => {
            SpawnError::NoInterpreter { program }
        }
        io::ErrorKind::NotFound => SpawnError::NotFound { program },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { program },
        io::ErrorKind::ArgumentListTooLong => SpawnError::ArgumentsTooLong { program },
        _ => SpawnError::System { program, source },
    }
}

/// Ends the child's group when dropped, so that no way out of [`follow`] leaves one behind.
struct Group {
    child: Child,
    reaped: Option<ExitStatus>,
}

impl Group {
    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }

    fn kill(&self) {
        if let Some(pid) = self.pid() {
            // It fails only where nobody is left to be killed.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    /// Sends TERM to the child alone, and waits for its end, but not longer than `sweep`.
    fn ask_to_end(&self, exit: Option<&OwnedFd>, sweep: Duration) -> io::Result<()> {
        let until = Instant::now() + sweep;
        if let Some(pid) = self.pid() {
            // It fails only where nobody is left to be asked.
            let _ = kill_process(pid, Signal::TERM);
        }
        while !self.has_exited()? && Instant::now() < until {
            let mut ends: Vec<_> = exit
                .map(|exit| PollFd::new(exit, PollFlags::IN))
                .into_iter()
                .collect();
            let wake_at = if exit.is_some() {
                until
            } else {
                Instant::now() + EXIT_CHECK
            };
            wait_until(&mut ends, Some(wake_at))?;
        }
        Ok(())
    }

    /// Looks without reaping: as long as the leader is a zombie its number names this group only.
    fn has_exited(&self) -> io::Result<bool> {
        let Some(pid) = self.pid() else {
            return Ok(true);
        };
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(pid), how)?.is_some())
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.reaped {
            return Ok(status);
        }
        let status = self.child.wait()?;
        self.reaped = Some(status);
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.reaped.is_none() {
            self.kill();
            drop(self.reap());
        }
    }
}

/// The child's ends of the pipes that are still open, and what came through them.
struct Pipes<'a> {
    input: Option<OwnedFd>,
    unsent: &'a [u8],
    output: Option<OwnedFd>,
    error: Option<OwnedFd>,
    kept_output: Vec<u8>,
    kept_error: VecDeque<u8>,
}

fn follow(
    mut child: Child,
    launch: &Launch,
    cancel: &Cancel,
    sweep: Option<Duration>,
    heard: &mut dyn FnMut(Stream, &[u8]),
    started: Instant,
) -> io::Result<Run> {
    let mut pipes = Pipes {
        input: child.stdin.take().map(OwnedFd::from),
        unsent: &launch.input,
        output: child.stdout.take().map(OwnedFd::from),
        error: child.stderr.take().map(OwnedFd::from),
        kept_output: Vec::new(),
        kept_error: VecDeque::new(),
    };
    let mut group = Group {
        child,
        reaped: None,
    };
    for pipe in [&pipes.input, &pipes.output, &pipes.error]
        .into_iter()
        .flatten()
    {
        let flags = rustix::fs::fcntl_getfl(pipe)?;
        rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
    }
    let exit = exit_descriptor(&group);
    let mut last_sign = started;
    let mut exited_at: Option<Instant> = None;
    let mut buffer = vec![0; 64 * 1024];

    let ended_by_us = loop {
        if exited_at.is_none() && group.has_exited()? {
            exited_at = Some(Instant::now());
        }
        if exited_at.is_some() && pipes.output.is_none() && pipes.error.is_none() {
            break None;
        }
        let now = Instant::now();
        if cancel.is_cancelled() {
            break Some(Ending::Cancelled);
        }
        if let Some(exited_at) = exited_at {
            // The child is done; who still holds its pipes is not the one we waited for.
            if now >= exited_at + AFTER_EXIT {
                break None;
            }
        } else if launch
            .limits
            .total
            .is_some_and(|total| now >= started + total)
        {
            break Some(Ending::Deadline);
        } else if launch
            .limits
            .quiet
            .is_some_and(|quiet| now >= last_sign + quiet)
        {
            break Some(Ending::Quiet);
        }
        let wake_at = [
            exited_at.map(|at| at + AFTER_EXIT),
            launch.limits.total.map(|total| started + total),
            launch.limits.quiet.map(|quiet| last_sign + quiet),
            (exit.is_none() && exited_at.is_none()).then(|| now + EXIT_CHECK),
        ]
        .into_iter()
        .flatten()
        .min();
        wait_for_something(
            &pipes,
            exit.as_ref().filter(|_| exited_at.is_none()),
            cancel,
            wake_at,
        )?;

        pipes.send()?;
        // One buffer from each and back to the deadlines: a child that never stops writing must
        // not keep us reading. What is left makes the next wait return at once.
        for stream in [Stream::Output, Stream::Error] {
            if let Some(count) = pipes.receive(stream, &mut buffer)? {
                last_sign = Instant::now();
                heard(stream, &buffer[..count]);
                pipes.keep(stream, &buffer[..count], launch);
            }
        }
        if pipes.kept_output.len() > launch.limits.output_bytes {
            pipes.kept_output.truncate(launch.limits.output_bytes);
            break Some(Ending::TooMuchOutput);
        }
    };

    if let Some(sweep) = sweep.filter(|_| ended_by_us.is_some()) {
        group.ask_to_end(exit.as_ref(), sweep)?;
    }
    group.kill();
    let status = group.reap()?;
    Ok(Run {
        ending: ended_by_us.unwrap_or_else(|| ending_of(status)),
        output: pipes.kept_output,
        error: pipes.kept_error.into(),
        elapsed: started.elapsed(),
    })
}

fn ending_of(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signalled(signal),
        (None, None) => Ending::Exited(-1),
    }
}

fn wait_for_something(
    pipes: &Pipes<'_>,
    exit: Option<&OwnedFd>,
    cancel: &Cancel,
    wake_at: Option<Instant>,
) -> io::Result<()> {
    let cancelled = cancel.readable();
    let mut waiting = vec![PollFd::from_borrowed_fd(cancelled, PollFlags::IN)];
    for pipe in [&pipes.output, &pipes.error].into_iter().flatten() {
        waiting.push(PollFd::new(pipe, PollFlags::IN));
    }
    if let Some(input) = &pipes.input {
        waiting.push(PollFd::new(input, PollFlags::OUT));
    }
    if let Some(exit) = exit {
        waiting.push(PollFd::from_borrowed_fd(exit.as_fd(), PollFlags::IN));
    }
    wait_until(&mut waiting, wake_at)
}

fn wait_until(waiting: &mut [PollFd<'_>], wake_at: Option<Instant>) -> io::Result<()> {
    let timeout = wake_at.map(|at| {
        let left = at.saturating_duration_since(Instant::now());
        Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        }
    });
    match poll(waiting, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Pipes<'_> {
    /// Hands the child what its input pipe takes now; closes the pipe when all is sent.
    fn send(&mut self) -> io::Result<()> {
        while let Some(input) = &self.input {
            if self.unsent.is_empty() {
                self.input = None;
                break;
            }
            match rustix::io::write(input, self.unsent) {
                Ok(count) => self.unsent = &self.unsent[count..],
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                // A child that does not want its input is free to close it.
                Err(Errno::PIPE) => self.input = None,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads what is there now; `None` when nothing is, or no more will come.
    fn receive(&mut self, stream: Stream, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let pipe = match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        while let Some(open) = pipe {
            match rustix::io::read(&*open, &mut *buffer) {
                Ok(0) => *pipe = None,
                Ok(count) => return Ok(Some(count)),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    fn keep(&mut self, stream: Stream, bytes: &[u8], launch: &Launch) {
        match stream {
            Stream::Output => self.kept_output.extend_from_slice(bytes),
            Stream::Error => {
                self.kept_error.extend(bytes);
                let too_many = self
                    .kept_error
                    .len()
                    .saturating_sub(launch.limits.error_bytes);
                self.kept_error.drain(..too_many);
            }
        }
    }
}

/// A descriptor that is readable once the child has exited, where the system has such a thing.
#[cfg(target_os = "linux")]
fn exit_descriptor(group: &Group) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    group
        .pid()
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
}

#[cfg(not(target_os = "linux"))]
fn exit_descriptor(_group: &Group) -> Option<OwnedFd> {
    None
}
