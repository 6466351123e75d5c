//! [`follow`]: supervises one child to its end, in every case.
//!
//! One thread, one `poll` over the child's three pipes, its exit and the [`Cancel`]: no thread per
//! pipe, no sleeping loop. When the child must go, reading stops, so that a grandchild that kept a
//! pipe open causes no delay. A [`Leader`] knows how to detect and to force a child's end.

use std::{
    collections::VecDeque,
    io,
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::{
    cancel::Cancel,
    heartbeat::Heartbeat,
    launch::Limits,
    run::{Ending, Run, Stream},
};

/// Time for which the outputs may stay open after the child itself has exited.
const AFTER_EXIT: Duration = Duration::from_millis(200);

/// Interval of checks for a child's exit on systems without a descriptor for that.
pub const EXIT_CHECK: Duration = Duration::from_millis(20);

/// A started process, and all that goes with it when it goes.
pub trait Leader {
    /// Returns a descriptor that becomes readable when it is time to check whether it has exited,
    /// if there is one.
    fn exit_descriptor(&self) -> Option<OwnedFd>;

    /// The number of a process from which it and all that it started descend, itself or one above it, once that is known.
    fn ancestor(&self) -> Option<u32>;

    /// Whether it has exited; it is not waited for.
    fn has_exited(&mut self) -> io::Result<bool>;

    /// Ends it and all processes that it started, and returns its own ending if it has one.
    fn end(&mut self) -> io::Result<Ending>;
}

/// The controller's ends of a child's pipes.
pub struct Ends {
    /// Pipe to its standard input.
    pub input: Option<OwnedFd>,
    /// Pipe from its standard output.
    pub output: Option<OwnedFd>,
    /// Pipe from its standard error.
    pub error: Option<OwnedFd>,
}

/// Conditions under which a child is ended.
pub struct Terms<'a> {
    /// Its limits.
    pub limits: Limits,
    /// Ends it when asked.
    pub cancel: &'a Cancel,
    /// Signs of life that are none of its pipes'.
    pub pulse: &'a Heartbeat,
}

/// Sends `input`, reads all output, and ends the child if it does not end in time.
pub fn follow(
    leader: &mut impl Leader,
    ends: Ends,
    input: &[u8],
    terms: &Terms<'_>,
    heard: &mut dyn FnMut(Stream, &[u8]),
    started: Instant,
) -> io::Result<Run> {
    let Terms {
        limits,
        cancel,
        pulse,
    } = *terms;
    let mut pipes = Pipes::new(ends, input)?;
    pulse.begin(started);
    let exit = leader.exit_descriptor();
    let mut last_sign = started;
    let mut exited_at: Option<Instant> = None;
    let mut buffer = vec![0; 64 * 1024];

    let ended_by_us = loop {
        if exited_at.is_none() && leader.has_exited()? {
            exited_at = Some(Instant::now());
        }
        if exited_at.is_some() && pipes.output.is_none() && pipes.error.is_none() {
            break None;
        }
        let now = Instant::now();
        last_sign = last_sign.max(pulse.last());
        if cancel.is_cancelled() {
            break Some(Ending::Cancelled);
        }
        if let Some(exited_at) = exited_at {
            // The child is done; who still holds its pipes is not the one we waited for.
            if now >= exited_at + AFTER_EXIT {
                break None;
            }
        } else if limits.total.is_some_and(|total| now >= started + total) {
            break Some(Ending::Deadline);
        } else if limits.quiet.is_some_and(|quiet| now >= last_sign + quiet) {
            // This may be the first chance to learn it, if no output came before.
            pulse.is_below(leader.ancestor());
            // Without an end in sight, a program that hangs would keep it alive for ever.
            let sign = limits.total.and_then(|_| pulse.sign_after(last_sign));
            let Some(sign) = sign else {
                break Some(Ending::Quiet);
            };
            last_sign = sign;
        }
        let wake_at = [
            exited_at.map(|at| at + AFTER_EXIT),
            limits.total.map(|total| started + total),
            limits.quiet.map(|quiet| last_sign + quiet),
            (exit.is_none() && exited_at.is_none()).then(|| now + EXIT_CHECK),
        ]
        .into_iter()
        .flatten()
        .min();
        let exit = exit.as_ref().filter(|_| exited_at.is_none());
        wait_for_something(&pipes, exit, cancel, wake_at)?;

        pipes.send()?;
        // One buffer from each and back to the deadlines: a child that never stops writing must not
        // keep us reading. The rest makes the next wait return at once.
        for stream in [Stream::Output, Stream::Error] {
            if let Some(count) = pipes.receive(stream, &mut buffer)? {
                last_sign = Instant::now();
                pulse.is_below(leader.ancestor());
                heard(stream, &buffer[..count]);
                pipes.keep(stream, &buffer[..count], limits);
            }
        }
        if pipes.kept_output.len() > limits.output_bytes {
            pipes.kept_output.truncate(limits.output_bytes);
            break Some(Ending::TooMuchOutput);
        }
    };

    let ending = leader.end()?;
    Ok(Run {
        ending: ended_by_us.unwrap_or(ending),
        output: pipes.kept_output,
        error: pipes.kept_error.into(),
        elapsed: started.elapsed(),
    })
}

/// The ends that are still open, and what came through them.
struct Pipes<'a> {
    input: Option<OwnedFd>,
    unsent: &'a [u8],
    output: Option<OwnedFd>,
    error: Option<OwnedFd>,
    kept_output: Vec<u8>,
    kept_error: VecDeque<u8>,
}

impl<'a> Pipes<'a> {
    fn new(ends: Ends, unsent: &'a [u8]) -> io::Result<Self> {
        let Ends {
            input,
            output,
            error,
        } = ends;
        for pipe in [&input, &output, &error].into_iter().flatten() {
            let flags = rustix::fs::fcntl_getfl(pipe)?;
            rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self {
            input,
            unsent,
            output,
            error,
            kept_output: Vec::new(),
            kept_error: VecDeque::new(),
        })
    }

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

    /// Reads the available bytes; `None` if there are none, or no more will come.
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

    fn keep(&mut self, stream: Stream, bytes: &[u8], limits: Limits) {
        match stream {
            Stream::Output => self.kept_output.extend_from_slice(bytes),
            Stream::Error => {
                self.kept_error.extend(bytes);
                let too_many = self.kept_error.len().saturating_sub(limits.error_bytes);
                self.kept_error.drain(..too_many);
            }
        }
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

/// Waits until one of them is ready, or until then.
pub fn wait_until(waiting: &mut [PollFd<'_>], wake_at: Option<Instant>) -> io::Result<()> {
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
