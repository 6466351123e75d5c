//! [`hear_out`]: starts an executor's program, listens until it ends, and says how it did.
//!
//! What the output means is a [`Listener`]'s; what an ending means that was not the program's own is
//! decided here, for everybody.

use std::time::Duration;

use callosum_host::{
    disk::Scratch,
    process::{Ending, Run, Stream},
};

use super::{
    execution_environment::ExecutionEnvironment,
    limits::{HEARD_COMPLAINT, Timeouts},
    output::Sign,
    run_error::{RunError, cause_of},
    spawn::{SpawnSpec, start},
};
use crate::{
    registry::Executor,
    sanitize::{fit, fit_end},
};

/// Bytes of an executor's complaint that are kept.
const KEPT_COMPLAINT: usize = 4 * 1024;

/// Longest line that is passed on as one sign, in bytes.
const LONGEST_LINE: usize = 8 * 1024;

/// Receiver of a program's standard output.
pub(crate) trait Listener {
    /// Processes the next bytes, and passes on the sign of life in them.
    fn hear(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Sign<'_>));

    /// Returns the part of an answer so far, if it is worth keeping when no more comes.
    fn partial(&self) -> Option<String>;

    /// Processes a line of standard error, masked.
    fn hear_error(&mut self, _line: &str) {}

    /// Returns an observation that may explain why there is no answer.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// Listener that counts bytes, and keeps none of them.
#[derive(Debug, Default)]
pub(crate) struct Counting(usize);

impl Listener for Counting {
    fn hear(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Sign<'_>)) {
        self.0 += bytes.len();
        heard(Sign::Answering { bytes: self.0 });
    }

    fn partial(&self) -> Option<String> {
        None
    }
}

/// A program that ended by itself.
#[derive(Debug)]
pub(crate) struct Ended {
    /// An exit code, or a signal that was not ours.
    pub(crate) ending: Ending,
    /// All that it wrote to standard output.
    pub(crate) output: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub(crate) error: Vec<u8>,
    /// The same, masked and fit to be shown.
    pub(crate) complaint: String,
    /// From its start to its end.
    pub(crate) elapsed: Duration,
}

/// Starts an executor's program and reads its output to the end.
///
/// Fails if we ended it.
pub(crate) fn hear_out(
    executor: &Executor,
    errand: SpawnSpec,
    surroundings: &ExecutionEnvironment,
    temporary: &Scratch,
    patience: Timeouts,
    listener: &mut dyn Listener,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<Ended, RunError> {
    let run = listen(
        executor,
        errand,
        surroundings,
        temporary,
        patience,
        listener,
        heard,
    )?;
    judge_ending(executor, run, patience, listener)
}

/// Starts an executor's program and listens until it ends, however that is.
pub(crate) fn listen(
    executor: &Executor,
    errand: SpawnSpec,
    surroundings: &ExecutionEnvironment,
    temporary: &Scratch,
    patience: Timeouts,
    listener: &mut dyn Listener,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<Run, RunError> {
    let mut complaints = Complaints::default();
    start(
        executor,
        errand,
        surroundings,
        temporary,
        patience,
        &mut |stream, bytes| match stream {
            Stream::Output => listener.hear(bytes, heard),
            Stream::Error => complaints.pass_on(bytes, &mut |sign| {
                if let Sign::Line(line) = sign {
                    listener.hear_error(line);
                }
                heard(sign);
            }),
        },
    )
}

/// Returns how a program ended by itself. It is an error if we ended it or if its end is unknown;
/// the error holds the part of its answer so far.
pub(crate) fn judge_ending(
    executor: &Executor,
    run: Run,
    patience: Timeouts,
    listener: &dyn Listener,
) -> Result<Ended, RunError> {
    let mut complaint = last_words(&run.error);
    if let Some(remark) = listener.remark() {
        if !complaint.is_empty() {
            complaint.push('\n');
        }
        complaint.push_str(&remark);
    }
    let executor_id = executor.id.clone();
    let cause = cause_of(executor, &complaint);
    match run.ending {
        ending @ (Ending::Exited(_) | Ending::Signalled(_)) => Ok(Ended {
            ending,
            output: run.output,
            error: run.error,
            complaint,
            elapsed: run.elapsed,
        }),
        // What it had written by then may be half an answer.
        ending @ Ending::Unguarded => Err(RunError::Crashed {
            executor: executor_id,
            ending,
            cause,
            complaint,
        }),
        Ending::Quiet => Err(RunError::Quiet {
            executor: executor_id,
            after: patience.quiet,
            cause,
            complaint,
            partial: listener.partial(),
        }),
        Ending::Deadline => Err(RunError::Deadline {
            executor: executor_id,
            after: patience.total.unwrap_or(run.elapsed),
            cause,
            complaint,
            partial: listener.partial(),
        }),
        Ending::Cancelled => Err(RunError::Cancelled {
            executor: executor_id,
        }),
        Ending::TooMuchOutput => Err(RunError::TooMuchOutput {
            executor: executor_id,
        }),
    }
}

/// Returns the end of standard error, fit to be shown.
///
/// If there was more than is read, the first line has lost its beginning, and with it perhaps the
/// part by which a key in it is recognized. So this line is dropped.
pub(crate) fn last_words(heard: &[u8]) -> String {
    let first_end = heard.iter().position(|byte| *byte == b'\n');
    let whole_lines = match first_end {
        Some(end) if heard.len() >= HEARD_COMPLAINT => &heard[end + 1..],
        _ => heard,
    };
    fit_end(&String::from_utf8_lossy(whole_lines), KEPT_COMPLAINT)
}

/// Turns standard error into signs of life: a line is passed on when it is whole.
#[derive(Default)]
struct Complaints {
    /// Bytes that were not reported yet: the beginning of a line, except while it is reported.
    line: Vec<u8>,
}

impl Complaints {
    fn pass_on(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Sign<'_>)) {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        self.line.extend_from_slice(&bytes[..whole]);
        if whole > 0 {
            self.tell(heard);
        }
        for piece in bytes[whole..].chunks(LONGEST_LINE) {
            self.line.extend_from_slice(piece);
            if self.line.len() >= LONGEST_LINE {
                self.tell(heard);
            }
        }
    }

    /// Passes the collected lines on. All are masked at once: each search for secrets costs more
    /// than a short line is long.
    fn tell(&mut self, heard: &mut dyn FnMut(Sign<'_>)) {
        for line in fit(&String::from_utf8_lossy(&self.line)).split('\n') {
            heard(Sign::Line(line.trim()));
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines that are reported for these pieces.
    fn reported_lines(pieces: &[&str]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut complaints = Complaints::default();
        for piece in pieces {
            complaints.pass_on(piece.as_bytes(), &mut |sign| {
                if let Sign::Line(line) = sign {
                    lines.push(line.to_owned());
                }
            });
        }
        lines
    }

    /// LOA-SEC-1: a line is reported when it is whole, in any pieces, with its secrets masked.
    #[test]
    fn lines_are_reported_whole_and_masked_in_any_pieces() {
        assert_eq!(reported_lines(&["a\nb\nbegun"]), ["a", "b"]);
        assert_eq!(
            reported_lines(&["be", "gun\nand", " on\n"]),
            ["begun", "and on"]
        );
        assert_eq!(reported_lines(&["\u{1b}[31mred\u{1b}[0m\n"]), ["red"]);
        let masked = reported_lines(&["one\npassword=hunter2hun", "ter2\ntwo\n"]);
        assert_eq!(masked.len(), 3, "{masked:?}");
        assert!(!masked.concat().contains("hunter2"), "{masked:?}");
        let long = "x".repeat(3 * LONGEST_LINE);
        let lines = reported_lines(&[&long]);
        assert!(lines.len() >= 2, "a line without an end is life, too");
        assert!(lines.iter().all(|line| line.len() <= 2 * LONGEST_LINE));
    }
}
