//! [`run`]: starts one child and hears it out.
//!
//! The child leads a process group of its own; when it must go, the group goes.

use std::{
    io,
    os::{
        fd::OwnedFd,
        unix::process::{CommandExt, ExitStatusExt},
    },
    path::PathBuf,
    process::{Child, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{
    cancel::Cancel,
    heartbeat::Heartbeat,
    launch::Launch,
    supervise::{Ends, Leader, Terms, follow},
};

/// One of a child's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// Ending of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited by itself with this code.
    Exited(i32),
    /// A signal that was not ours ended it.
    Signalled(i32),
    /// Its guard was ended, so that it was ended too and its own result is unknown.
    Unguarded,
    /// It was ended for saying nothing for `limits.quiet`.
    Quiet,
    /// It was ended after `limits.total`.
    Deadline,
    /// It was ended because of a cancellation.
    Cancelled,
    /// It was ended for writing more than `limits.output_bytes`.
    TooMuchOutput,
}

/// Result of a child.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its ending.
    pub ending: Ending,
    /// All that it wrote to standard output, up to `limits.output_bytes`.
    pub output: Vec<u8>,
    /// The last `limits.error_bytes` that it wrote to standard error.
    pub error: Vec<u8>,
    /// Time from its start to its end.
    pub elapsed: Duration,
}

/// Reason that a child could not be started or followed.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("the program `{}` was not found", program.display())]
    NotFound {
        /// The requested program.
        program: PathBuf,
    },
    /// The folder that it was to start in is not there.
    #[error("the folder `{}` to start in was not found", folder.display())]
    NoFolder {
        /// The requested folder.
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
        /// The program's file.
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
    run_with(launch, cancel, &Heartbeat::default(), heard)
}

/// Runs a child as [`run`] does. A beat of `pulse` counts as life, too, and so do the programs that
/// it says the child waits for.
pub fn run_with(
    launch: &Launch,
    cancel: &Cancel,
    pulse: &Heartbeat,
    heard: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Run, SpawnError> {
    let started = Instant::now();
    let mut child = spawn(launch).map_err(|source| explain(launch, source))?;
    let ends = Ends {
        input: child.stdin.take().map(OwnedFd::from),
        output: child.stdout.take().map(OwnedFd::from),
        error: child.stderr.take().map(OwnedFd::from),
    };
    let mut group = Group {
        child,
        reaped: None,
    };
    let terms = Terms {
        limits: launch.limits,
        cancel,
        pulse,
    };
    follow(&mut group, ends, &launch.input, &terms, heard, started).map_err(|source| {
        SpawnError::System {
            program: launch.program.clone(),
            source,
        }
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that starts a program"
)]
fn spawn(launch: &Launch) -> io::Result<Child> {
    let file = launch.file().ok_or(io::ErrorKind::NotFound)?;
    std::process::Command::new(file)
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

/// Determines which requirement of a start failed.
fn explain(launch: &Launch, source: io::Error) -> SpawnError {
    let program = launch.program.clone();
    match source.kind() {
        io::ErrorKind::NotFound if !launch.folder.is_dir() => SpawnError::NoFolder {
            folder: launch.folder.clone(),
        },
        // The file exists, so the interpreter that its first line names is missing.
        io::ErrorKind::NotFound if program.is_absolute() && program.exists() => {
            SpawnError::NoInterpreter { program }
        }
        io::ErrorKind::NotFound => SpawnError::NotFound { program },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { program },
        io::ErrorKind::ArgumentListTooLong => SpawnError::ArgumentsTooLong { program },
        _ => SpawnError::System { program, source },
    }
}

/// A child and its group, ended when dropped: no way out of [`follow`] leaves one behind.
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
            // It fails only if no process is left to kill.
            let _ = kill_process_group(pid, Signal::KILL);
        }
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

impl Leader for Group {
    #[cfg(target_os = "linux")]
    fn exit_descriptor(&self) -> Option<OwnedFd> {
        use rustix::process::{PidfdFlags, pidfd_open};
        self.pid()
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
    }

    #[cfg(not(target_os = "linux"))]
    fn exit_descriptor(&self) -> Option<OwnedFd> {
        None
    }

    fn ancestor(&self) -> Option<u32> {
        Some(self.child.id())
    }

    /// Looks without reaping: as long as the leader is a zombie its number names this group only.
    fn has_exited(&mut self) -> io::Result<bool> {
        let Some(pid) = self.pid() else {
            return Ok(true);
        };
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(pid), how)?.is_some())
    }

    fn end(&mut self) -> io::Result<Ending> {
        self.kill();
        Ok(ending_of(self.reap()?))
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

pub(super) fn ending_of(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signalled(signal),
        (None, None) => Ending::Exited(-1),
    }
}
