//! [`Replicator`]: a thread that replicates while a daemon runs.
//!
//! After a failure it waits, twice as long after each, with jitter so that machines do not come back all at once. The longest
//! wait is short, since work waits for the end of it after a partition. A refusal of the credentials waits for longer.

use std::{
    io,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use super::FleetError;

/// Time that a round waits for events of other machines, which delays the events of this one.
pub const WAIT: Duration = Duration::from_millis(200);

/// The pause after the first failure; each that follows doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// The longest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The pause after a refusal of the credentials.
const REFUSED_PAUSE: Duration = Duration::from_secs(30);

/// Time after which a connection counts as one that held.
const LONG: Duration = Duration::from_secs(30);

/// Interval of looks at whether to end, during a pause.
const LOOK: Duration = Duration::from_millis(100);

/// One connection after the other: runs rounds until one fails or the function that it gets says to end.
pub type Session = Box<dyn FnMut(&dyn Fn() -> bool) -> Result<(), FleetError> + Send>;

/// The thread; it is asked to end, and waited for, when this is dropped.
pub struct Replicator {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Replicator {
    /// Starts the thread. `session` connects and runs rounds, and is called again after each failure.
    pub fn start(mut session: Session) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = thread::Builder::new()
            .name("fleet".to_owned())
            .spawn(move || {
                let is_over = || !matches!(stopped.try_recv(), Err(mpsc::TryRecvError::Empty));
                let mut failures = 0;
                while !is_over() {
                    let begun = Instant::now();
                    let Err(error) = session(&is_over) else {
                        return;
                    };
                    tracing::warn!(%error, "the fleet cannot be reached");
                    // A connection that held for a while was a good one.
                    failures = if begun.elapsed() > LONG {
                        1
                    } else {
                        failures + 1
                    };
                    let pause = pause(failures, error.is_refusal(), fastrand::f64());
                    let until = Instant::now() + pause;
                    while Instant::now() < until {
                        if is_over() {
                            return;
                        }
                        thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
                    }
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Replicator {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Returns the pause after so many failures in a row: between half of it and all, by a number from 0 to 1.
fn pause(failures: u32, is_refusal: bool, jitter: f64) -> Duration {
    let doubled = FIRST_PAUSE * 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
    let full = if is_refusal {
        REFUSED_PAUSE
    } else {
        doubled.min(LONGEST_PAUSE)
    };
    full.mul_f64(0.5 + jitter / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_grows_to_a_limit_and_has_jitter() {
        assert_eq!(pause(1, false, 1.0), FIRST_PAUSE);
        assert_eq!(pause(1, false, 0.0), FIRST_PAUSE / 2);
        assert_eq!(pause(3, false, 1.0), FIRST_PAUSE * 4);
        assert_eq!(pause(40, false, 1.0), LONGEST_PAUSE);
        assert_eq!(pause(1, true, 1.0), REFUSED_PAUSE);
    }
}
