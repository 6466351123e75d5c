//! [`run()`]: starts a program, and passes bytes, signals, the window size and the exit code on.
//!
//! This thread waits for signals, keys and the ends of the pumps in one `poll`; bytes of the program move on the threads
//! of [`Pump`]s, so that a caller who reads nothing cannot hold up a signal.

use std::{
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt as _},
    path::PathBuf,
    process::{Child, ExitStatus},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    time::{Duration, Instant},
};

use callosum_host::process::{Spawn, spawn};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    pipe::{PipeFlags, pipe_with},
    process::{Pid, Signal, getpid, kill_process, kill_process_group},
    termios::{isatty, tcgetpgrp, tcgetwinsize, tcsetwinsize},
};

use crate::{
    caller::{CallerStreams, Mode},
    exit::{Ending, Exit, RunError},
    input::{InputEnd, InputFilter, Keyboard},
    pump::{Pump, PumpControl, PumpEnd},
    raw_mode::RawMode,
    signals::{SignalNotice, Signals},
    tap::{Stream, Tap, TapFeed, TapThread},
    terminal_pair::{TerminalPair, set_nonblocking},
    wake::Wake,
};

/// Shortest time between two window sizes that the program sees: a storm of them becomes one.
const RESIZE_INTERVAL: Duration = Duration::from_millis(20);

/// A program to run and everything it will see.
#[derive(Clone, Debug)]
pub struct Run {
    /// A path, or a name that the system looks up in `PATH` of `environment`.
    pub program: OsString,
    /// Arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The program and first arguments of a process that calls
    /// [`become_session_leader_and_exec`](crate::child::become_session_leader_and_exec) with the rest of its arguments.
    /// Needed for [`Mode::Pty`] only.
    pub launcher: Vec<OsString>,
}

/// Runs a program to its end between the caller and itself, while `tap` sees a copy of what it prints.
///
/// With [`Mode::Pty`], the program has a terminal of its own with the settings and size of the caller's, and the caller's
/// is raw until the run ends. `filter` sees what is typed; with [`Mode::Pipes`], the program reads the caller's input
/// itself, and there is nothing to filter. Standard error has a stream of its own unless it is the same file as
/// standard output.
///
/// Signals to this process are the run's while it lasts, so a process has one run at a time. The run ends at most about
/// 200 ms after the program, even if a process that it left behind holds a stream open.
pub fn run<T: Tap + 'static>(
    run: &Run,
    mode: Mode,
    caller: CallerStreams,
    tap: T,
    filter: Option<Box<dyn InputFilter>>,
) -> Result<Exit<T>, RunError> {
    let signals = Signals::take(mode).map_err(RunError::of_system("handle signals"))?;
    let tap = TapThread::start(tap).map_err(RunError::of_system("start a thread"))?;
    let mut pumps = Pumps::new(tap.feed()).map_err(RunError::of_system("open a pipe"))?;
    let (child, screen) = match mode {
        Mode::Pipes => (start_on_pipes(run, caller, &mut pumps)?, None),
        Mode::Pty => {
            let (child, screen) = start_on_terminal(run, caller, filter, &mut pumps)?;
            (child, Some(screen))
        }
    };
    let mut watch = Watch {
        program: Program {
            child,
            status: None,
        },
        signals,
        pumps,
        screen,
    };
    let status = watch
        .follow()
        .map_err(RunError::of_system("wait for the program"))?;
    let output_error = watch.pumps.output_error.take().map(io::Error::from);
    let has_filter_panicked = watch
        .screen
        .as_ref()
        .is_some_and(|screen| screen.keyboard.has_filter_panicked());
    // Restores the terminal and the signals, so that a person can interrupt the wait for the tap.
    drop(watch);
    let (tap, skipped_bytes) = tap.finish();
    Ok(Exit {
        ending: ending_of(status),
        skipped_bytes,
        output_error,
        tap,
        has_filter_panicked,
    })
}

fn ending_of(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (_, Some(signal)) => Ending::Signaled(signal),
        (code, None) => Ending::Exited(code.unwrap_or(-1)),
    }
}

/// The streams on their way to the caller.
struct Pumps {
    feed: TapFeed,
    controls: Vec<Arc<PumpControl>>,
    sender: Sender<PumpEnd>,
    ends: Receiver<PumpEnd>,
    done: Arc<Wake>,
    running: usize,
    output_error: Option<Errno>,
}

impl Pumps {
    fn new(feed: TapFeed) -> io::Result<Self> {
        let (sender, ends) = channel();
        Ok(Self {
            feed,
            controls: Vec::new(),
            sender,
            ends,
            done: Arc::new(Wake::new()?),
            running: 0,
            output_error: None,
        })
    }

    fn start(&mut self, stream: Stream, source: Arc<OwnedFd>, target: OwnedFd) -> io::Result<()> {
        let control = Arc::new(PumpControl::new()?);
        let pump = Pump {
            source,
            target,
            stream,
            feed: self.feed.clone(),
            control: Arc::clone(&control),
        };
        pump.start(self.sender.clone(), Arc::clone(&self.done))?;
        self.controls.push(control);
        self.running += 1;
        Ok(())
    }

    /// Starts a stream to `target` and returns the end that the program writes to.
    fn start_pipe(&mut self, stream: Stream, target: OwnedFd) -> io::Result<OwnedFd> {
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        set_nonblocking(&read_end)?;
        #[cfg(target_os = "linux")]
        {
            // A user's pipes together have a limit. A smaller pipe only costs speed.
            let _ = rustix::pipe::fcntl_setpipe_size(&read_end, crate::pump::PIPE_BYTES);
        }
        self.start(stream, Arc::new(read_end), target)?;
        Ok(write_end)
    }

    /// Counts the pumps that ended. Returns whether the first could not write to the caller: the terminal's, if there is
    /// one.
    fn collect(&mut self) -> bool {
        self.done.clear();
        let mut is_caller_gone = false;
        while let Ok(end) = self.ends.try_recv() {
            self.running -= 1;
            let Some(error) = end.write_error else {
                continue;
            };
            is_caller_gone |= end.stream == Stream::Merged;
            if !matches!(error, Errno::PIPE | Errno::CONNRESET) {
                self.output_error.get_or_insert(error);
            }
        }
        is_caller_gone
    }

    fn note_exit(&self) {
        self.controls.iter().for_each(|control| control.note_exit());
    }
}

fn start_on_pipes(run: &Run, caller: CallerStreams, pumps: &mut Pumps) -> Result<Child, RunError> {
    let open = RunError::of_system("open a pipe");
    let is_merged = caller.is_error_merged();
    let ends = || -> io::Result<(OwnedFd, OwnedFd)> {
        if is_merged {
            let both = pumps.start_pipe(Stream::Merged, caller.stdout)?;
            return Ok((both.try_clone()?, both));
        }
        let output = pumps.start_pipe(Stream::Stdout, caller.stdout)?;
        Ok((output, pumps.start_pipe(Stream::Stderr, caller.stderr)?))
    };
    let (stdout, stderr) = ends().map_err(open)?;
    Ok(spawn(Spawn {
        program: &run.program,
        arguments: &run.arguments,
        folder: &run.folder,
        environment: &run.environment,
        stdin: caller.stdin,
        stdout,
        stderr,
    })?)
}

fn start_on_terminal(
    run: &Run,
    caller: CallerStreams,
    filter: Option<Box<dyn InputFilter>>,
    pumps: &mut Pumps,
) -> Result<(Child, Screen), RunError> {
    let [launcher, first_arguments @ ..] = run.launcher.as_slice() else {
        return Err(RunError::NoLauncher);
    };
    let is_shown = isatty(&caller.stdout);
    let raw = RawMode::enter(&caller.stdin, is_shown).map_err(RunError::Terminal)?;
    let is_output_final = raw.is_some() && is_shown;
    let settings = raw.as_ref().map(RawMode::original);
    let pair = TerminalPair::open(caller.size(), settings, is_output_final);
    let pair = pair.map_err(RunError::Terminal)?;
    let ours = Arc::new(pair.ours);
    let size_source = caller
        .terminal()
        .map_err(RunError::of_system("duplicate a stream"))?;
    let is_merged = caller.is_error_merged();
    let ends = || -> io::Result<[OwnedFd; 3]> {
        pumps.start(Stream::Merged, Arc::clone(&ours), caller.stdout)?;
        let stderr = if is_merged {
            pair.theirs.try_clone()?
        } else {
            pumps.start_pipe(Stream::Stderr, caller.stderr)?
        };
        Ok([pair.theirs.try_clone()?, pair.theirs.try_clone()?, stderr])
    };
    let [stdin, stdout, stderr] = ends().map_err(RunError::of_system("open a pipe"))?;
    // Before the program starts: from its first output on, the caller may leave, and a terminal that is gone no longer
    // counts as one.
    let keyboard = Keyboard::new(caller.stdin, filter);
    let mut arguments = first_arguments.to_vec();
    arguments.push(run.program.clone());
    arguments.extend_from_slice(&run.arguments);
    let child = spawn(Spawn {
        program: launcher,
        arguments: &arguments,
        folder: &run.folder,
        environment: &run.environment,
        stdin,
        stdout,
        stderr,
    })?;
    let screen = Screen {
        ours: Some(ours),
        theirs: Some(pair.theirs),
        raw,
        size_source,
        last_resize: None,
        resize_due: None,
        keyboard,
    };
    Ok((child, screen))
}

/// The started program, ended when dropped before its end: no failure here leaves one behind.
struct Program {
    child: Child,
    status: Option<ExitStatus>,
}

impl Program {
    fn look(&mut self) -> io::Result<()> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(())
    }

    fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        if let (Some(pid), None) = (pid, self.status) {
            // It fails only if the program is another user's, as of `sudo`; then that one decides.
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.status.is_none() {
            // Either fails only if it has ended and was waited for.
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

/// The program's terminal, and the caller's.
struct Screen {
    /// Our end; none once the caller is gone, which hangs the terminal up.
    ours: Option<Arc<OwnedFd>>,
    /// The program's end, held open until its exit: a program may close its streams and open its terminal again.
    theirs: Option<OwnedFd>,
    raw: Option<RawMode>,
    /// The caller's terminal, if it has one.
    size_source: Option<OwnedFd>,
    last_resize: Option<Instant>,
    resize_due: Option<Instant>,
    keyboard: Keyboard,
}

impl Screen {
    /// Passes the size on, or notes when to: the last of a storm always arrives.
    fn resize(&mut self, now: Instant) {
        let next = self.last_resize.map(|last| last + RESIZE_INTERVAL);
        if let Some(next) = next.filter(|next| *next > now) {
            self.resize_due = Some(next);
            return;
        }
        self.resize_due = None;
        self.last_resize = Some(now);
        if let (Some(ours), Some(source)) = (&self.ours, &self.size_source) {
            // The system signals the program, and only if the size differs.
            let _ = tcgetwinsize(source).and_then(|size| tcsetwinsize(ours, size));
        }
    }

    fn heed(&mut self, signal: Signal, now: Instant) {
        match signal {
            Signal::WINCH => self.resize(now),
            Signal::TSTP => {
                if let Some(raw) = &self.raw {
                    raw.pause();
                }
                // Execution goes on here when someone continues this process.
                let _ = kill_process(getpid(), Signal::STOP);
                self.resume(now);
            }
            Signal::CONT => self.resume(now),
            _ => {}
        }
    }

    fn send_to_foreground(&self, signal: Signal, program: &Program) {
        let foreground = self.ours.as_ref().and_then(|ours| tcgetpgrp(ours).ok());
        match foreground {
            // It fails only if no process is left there.
            Some(group) => drop(kill_process_group(group, signal)),
            None => program.send(signal),
        }
    }

    fn resume(&mut self, now: Instant) {
        if let Some(raw) = &self.raw {
            // It fails only on a terminal that is gone, which the next read shows.
            drop(raw.resume());
        }
        self.resize(now);
    }

    /// Hangs the terminal up: the system sends SIGHUP to the program, and its reads and writes end.
    fn hang_up(&mut self, pumps: &Pumps) {
        self.ours = None;
        self.theirs = None;
        pumps
            .controls
            .iter()
            .take(1)
            .for_each(|control| control.hang_up());
    }
}

/// A run under way.
struct Watch {
    program: Program,
    pumps: Pumps,
    screen: Option<Screen>,
    signals: Signals,
}

/// The events that a wait found.
struct Ready {
    signals: bool,
    pumps: bool,
    keys: bool,
    room_for_keys: bool,
}

impl Watch {
    fn follow(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let (Some(status), 0) = (self.program.status, self.pumps.running) {
                return Ok(status);
            }
            let ready = self.wait()?;
            let now = Instant::now();
            if ready.signals {
                for notice in self.signals.pending() {
                    if let (Some(status), true) = (self.program.status, notice.is_request_to_end())
                    {
                        // Only a caller who reads nothing can hold up a pump now.
                        return Ok(status);
                    }
                    self.heed(notice, now)?;
                }
            }
            let is_caller_gone = ready.pumps && self.pumps.collect();
            let Some(screen) = &mut self.screen else {
                continue;
            };
            if is_caller_gone {
                screen.hang_up(&self.pumps);
            }
            if screen.resize_due.is_some_and(|due| due <= now) {
                screen.resize(now);
            }
            let Some(ours) = screen.ours.clone() else {
                continue;
            };
            if ready.keys {
                let (end, shown) = screen.keyboard.receive(&ours, self.program.child.id());
                if let (false, Some(control)) = (shown.is_empty(), self.pumps.controls.first()) {
                    control.show(&shown);
                }
                if end == InputEnd::HungUp {
                    screen.hang_up(&self.pumps);
                }
            }
            if ready.keys || ready.room_for_keys {
                screen.keyboard.flush(&ours);
            }
        }
    }

    fn heed(&mut self, notice: SignalNotice, now: Instant) -> io::Result<()> {
        if notice.signal == Signal::CHILD {
            self.program.look()?;
            if self.program.status.is_some() {
                if let Some(screen) = &mut self.screen {
                    screen.theirs = None;
                }
                self.pumps.note_exit();
            }
        } else if notice.is_passed_on() {
            match &self.screen {
                // A key of the caller's terminal means every program in the foreground.
                Some(screen) if notice.is_from_keyboard => {
                    screen.send_to_foreground(notice.signal, &self.program);
                }
                // On pipes the program is in this process's group, and the key has reached it.
                None if notice.is_from_keyboard => {}
                _ => self.program.send(notice.signal),
            }
        } else if let Some(screen) = &mut self.screen {
            screen.heed(notice.signal, now);
        }
        Ok(())
    }

    /// Waits for a signal, the end of a pump, keys, room for keys, or the time to pass a size on.
    fn wait(&self) -> io::Result<Ready> {
        let mut ends = vec![
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::new(&*self.pumps.done, PollFlags::IN),
        ];
        let mut keys = None;
        let mut room = None;
        let mut timeout = None;
        if let (Some(screen), None) = (&self.screen, self.program.status)
            && let Some(ours) = &screen.ours
        {
            if let Some(source) = screen.keyboard.source() {
                keys = Some(ends.len());
                ends.push(PollFd::new(source, PollFlags::IN));
            }
            if screen.keyboard.has_pending() {
                room = Some(ends.len());
                ends.push(PollFd::new(&**ours, PollFlags::OUT));
            }
            let left = screen
                .resize_due
                .map(|due| due.saturating_duration_since(Instant::now()));
            timeout = left.and_then(|left| Timespec::try_from(left).ok());
        }
        match poll(&mut ends, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |index: Option<usize>| {
            index
                .and_then(|index| ends.get(index))
                .is_some_and(|end| !end.revents().is_empty())
        };
        Ok(Ready {
            signals: is_ready(Some(0)),
            pumps: is_ready(Some(1)),
            keys: is_ready(keys),
            room_for_keys: is_ready(room),
        })
    }
}
