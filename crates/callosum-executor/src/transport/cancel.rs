//! Cancellation: before the process that speaks for us is ended, it notifies its server that no one
//! waits any more.
//!
//! Protocols have a message for that, and a killed process cannot send it. So the controller holds
//! the end of a named pipe in the run's own folder, which the process opens, and never writes
//! anything. Once the time is up, or someone cancels, it closes its end, which the process sees at
//! once. [`GRACE`] later it is ended in any case.
//!
//! It is no socket, because a confined process can make none that has a path.

use std::{
    fs::File,
    future::pending,
    io,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use callosum_host::{
    named_pipe,
    process::{Cancel, Ending, Heartbeat, Run},
};
use tokio::{io::AsyncReadExt as _, net::unix::pipe::Receiver as Pipe};

use crate::runner::{ExecutionEnvironment, RunError, Sign, Timeouts};

/// Time that the process has to notify its server.
const GRACE: Duration = Duration::from_millis(700);

/// Part of that time that it may wait for its server.
pub(crate) const LEAVE_WITHIN: Duration = Duration::from_millis(300);

/// The pipe's name in the run's own folder.
const NAME: &str = "farewell";

/// The controller's side.
#[derive(Debug)]
pub(super) struct CancelNotice {
    pipe: File,
    /// The path that the process opens.
    pub(super) path: PathBuf,
}

/// Events for the watching thread.
enum News {
    /// The process gave a sign of life.
    Heard,
    /// The caller canceled.
    Cancelled,
    /// The process has ended.
    Over,
}

impl CancelNotice {
    /// Creates the pipe in the folder of a run.
    pub(super) fn open(folder: &Path) -> Option<Self> {
        let path = folder.join(NAME);
        let pipe = named_pipe::create(&path).ok()?;
        Some(Self { pipe, path })
    }

    /// Runs a process with `run`, in the surroundings that it passes, to its end. Also returns the
    /// reason for which the process got notice to leave, if it did. Fails if the system gives no
    /// thread to watch it.
    pub(super) fn attend(
        self,
        surroundings: &ExecutionEnvironment,
        patience: Timeouts,
        heard: &mut dyn FnMut(Sign<'_>),
        no_thread: impl Fn(io::Error) -> RunError,
        run: impl FnOnce(
            &ExecutionEnvironment,
            Timeouts,
            &mut dyn FnMut(Sign<'_>),
        ) -> Result<Run, RunError>,
    ) -> Result<(Run, Option<Ending>), RunError> {
        let (Ok(end), Ok(over)) = (Cancel::new(), Cancel::new()) else {
            return run(surroundings, patience, heard).map(|run| (run, None));
        };
        let held = ExecutionEnvironment {
            cancel: end.clone(),
            ..surroundings.clone()
        };
        // It is the watch that ends the process.
        let more = 2 * GRACE;
        let last_resort = Timeouts {
            quiet: patience.quiet + more,
            total: patience.total.map(|total| total + more),
        };
        let (tell, news) = channel();
        thread::scope(|scope| {
            let (end, over, cancelled) = (&end, &over, tell.clone());
            let pulse = surroundings.connections.pulse();
            let watch = thread::Builder::new()
                .spawn_scoped(scope, move || self.watch(&news, patience, pulse, end));
            let watch = watch.map_err(&no_thread)?;
            let passing = thread::Builder::new().spawn_scoped(scope, move || {
                pass_cancel_on(&surroundings.cancel, over, &cancelled);
            });
            if let Err(error) = passing {
                // The scope waits for the watch, which this ends.
                drop(tell.send(News::Over));
                return Err(no_thread(error));
            }
            let run = run(&held, last_resort, &mut |sign| {
                drop(tell.send(News::Heard));
                heard(sign);
            });
            drop(tell.send(News::Over));
            over.cancel();
            let why = watch.join().unwrap_or(None);
            run.map(|run| (run, why))
        })
    }

    /// Closes the pipe for the first reason that comes up, and ends the process if that is not
    /// enough.
    fn watch(
        self,
        news: &Receiver<News>,
        patience: Timeouts,
        pulse: &Heartbeat,
        end: &Cancel,
    ) -> Option<Ending> {
        let started = Instant::now();
        let deadline = patience.total.map(|total| started + total);
        let mut silent_since = started;
        let why = loop {
            silent_since = silent_since.max(pulse.last());
            let quiet = silent_since + patience.quiet;
            let until = deadline.map_or(quiet, |deadline| deadline.min(quiet));
            match news.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(News::Heard) => silent_since = Instant::now(),
                Ok(News::Cancelled) => break Ending::Cancelled,
                Ok(News::Over) | Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if Some(until) == deadline => {
                    break Ending::Deadline;
                }
                Err(RecvTimeoutError::Timeout) if pulse.last() > silent_since => {}
                Err(RecvTimeoutError::Timeout) => {
                    let sign = deadline.and_then(|_| pulse.sign_after(silent_since));
                    let Some(sign) = sign else {
                        break Ending::Quiet;
                    };
                    silent_since = sign;
                }
            }
        };
        drop(self.pipe);
        let until = Instant::now() + GRACE;
        loop {
            match news.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(News::Heard | News::Cancelled) => {}
                Ok(News::Over) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    end.cancel();
                    break;
                }
            }
        }
        Some(why)
    }
}

fn pass_cancel_on(cancel: &Cancel, over: &Cancel, news: &Sender<News>) {
    // If this wait fails, the deadlines still apply.
    if cancel.wait_here_or(over).is_ok() && cancel.is_cancelled() {
        drop(news.send(News::Cancelled));
    }
}

/// The side of the process: opens the pipe at once, and then returns once it is to take its leave.
///
/// Never does if there is nothing to open. It is awaited on a runtime.
pub(crate) fn leaving(path: Option<&Path>) -> impl Future<Output = ()> + use<> {
    let pipe = path.and_then(|path| named_pipe::open(path).ok());
    async move {
        match pipe.and_then(|pipe| Pipe::from_file(pipe).ok()) {
            // No one writes to the pipe: any result means that the other end is closed.
            Some(mut pipe) => drop(pipe.read(&mut [0]).await),
            None => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that is closed is seen by the process that opened it.
    #[test]
    fn a_process_that_waits_sees_the_pipe_close() {
        let folder = tempfile::tempdir().unwrap();
        let farewell = CancelNotice::open(folder.path()).unwrap();
        let leaving = leaving(Some(&farewell.path));
        drop(farewell);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let waited = async { tokio::time::timeout(Duration::from_mins(1), leaving).await };
        runtime.block_on(waited).unwrap();
    }

    fn patience(quiet_ms: u64, total_ms: u64) -> Timeouts {
        Timeouts {
            quiet: Duration::from_millis(quiet_ms),
            total: Some(Duration::from_millis(total_ms)),
        }
    }

    /// CAL-ERR-2: each reason for a cancellation is reported as what it is, and a process that does
    /// not leave by itself is ended.
    #[test]
    fn a_farewell_has_a_reason_and_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let watched = |patience: Timeouts, all: Vec<News>| {
            let own = tempfile::tempdir_in(folder.path()).unwrap();
            let (tell, news) = channel();
            for one in all {
                tell.send(one).unwrap();
            }
            let end = Cancel::new().unwrap();
            let farewell = CancelNotice::open(own.path()).unwrap();
            let why = farewell.watch(&news, patience, &Heartbeat::default(), &end);
            (why, end.is_cancelled())
        };
        let long = patience(60_000, 60_000);
        for (patience, all, why, is_ended) in [
            (long, vec![News::Heard, News::Over], None, false),
            (
                long,
                vec![News::Cancelled, News::Over],
                Some(Ending::Cancelled),
                false,
            ),
            (
                long,
                vec![News::Cancelled, News::Heard],
                Some(Ending::Cancelled),
                true,
            ),
            (
                patience(10, 60_000),
                vec![News::Heard],
                Some(Ending::Quiet),
                true,
            ),
            (
                patience(60_000, 10),
                vec![News::Heard],
                Some(Ending::Deadline),
                true,
            ),
        ] {
            assert_eq!(watched(patience, all), (why, is_ended));
        }
    }
}
