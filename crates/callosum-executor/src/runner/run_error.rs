//! [`RunError`]: reasons why a run has no valid answer, and their messages.

use std::{io, time::Duration};

use callosum_host::{
    DiskError,
    process::{Ending, SpawnError},
};
use callosum_ledger::ErrorCode;

use super::limits::LARGEST_ANSWER;
use crate::{
    client::Client,
    output_format::ClientError,
    protocol::{AnswerError, Spent},
    registry::Executor,
    stderr_summary::{self, NOTHING_TELLING},
    template::TemplateError,
};

/// Longest piece of a complaint that a message quotes, in bytes.
const LONGEST_QUOTED: usize = 200;

/// Reason why there is no valid answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The entry's template, or this prompt in it, cannot be used.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The entry needs a way of talking that is not there.
    #[error("cannot run `{executor}`: this version does not support {how}")]
    Unsupported {
        /// The executor.
        executor: String,
        /// Its type or protocol.
        how: String,
    },
    /// The entry needs a part that this build was made without.
    #[error(
        "cannot run `{executor}`: this build does not include `{feature}`; to add it: cargo build \
         --release --features {feature}"
    )]
    NotBuilt {
        /// The executor.
        executor: String,
        /// The feature of the build.
        feature: &'static str,
    },
    /// The program could not be started.
    #[error("cannot start `{executor}`")]
    Spawn {
        /// The executor.
        executor: String,
        /// The cause.
        source: SpawnError,
    },
    /// It may not run unconfined, and cannot be confined as its entry requires.
    #[error("`{executor}` was not started: {reason}{}", helped(advice.as_deref()))]
    Unconfined {
        /// The executor.
        executor: String,
        /// The obstacle.
        reason: String,
        /// A remedy for the user.
        advice: Option<String>,
    },
    /// There is no folder for its temporary files.
    #[error("`{executor}` has no folder for its temporary files")]
    Temporary {
        /// The executor.
        executor: String,
        /// The cause.
        source: DiskError,
    },
    /// It ended with a non-zero exit code or by a signal.
    #[error("`{executor}` {}{}", crash(*ending), because(cause.as_deref(), complaint))]
    Crashed {
        /// The executor.
        executor: String,
        /// The way in which it ended.
        ending: Ending,
        /// The explaining part of its output, on one line, if there is any.
        cause: Option<String>,
        /// Its last output, on standard error or in its answer; masked.
        complaint: String,
    },
    /// It kept silent for too long and was ended.
    #[error("`{executor}` was silent for {} ms and was stopped{}", after.as_millis(), because(cause.as_deref(), complaint))]
    Quiet {
        /// The executor.
        executor: String,
        /// The silence that was allowed.
        after: Duration,
        /// The explanation, on one line, if there is any.
        cause: Option<String>,
        /// Its last output on standard error; masked.
        complaint: String,
        /// The part of an answer so far, as it came.
        partial: Option<String>,
    },
    /// It took too long in all and was ended.
    #[error("`{executor}` took longer than {} ms and was stopped{}", after.as_millis(), because(cause.as_deref(), complaint))]
    Deadline {
        /// The executor.
        executor: String,
        /// The time that was allowed.
        after: Duration,
        /// The explanation, on one line, if there is any.
        cause: Option<String>,
        /// Its last output on standard error; masked.
        complaint: String,
        /// The part of an answer so far, as it came.
        partial: Option<String>,
    },
    /// The run was canceled.
    #[error("`{executor}` was canceled")]
    Cancelled {
        /// The executor.
        executor: String,
    },
    /// It wrote more than [`LARGEST_ANSWER`] and was ended.
    #[error("`{executor}` wrote more than {LARGEST_ANSWER} bytes and was stopped")]
    TooMuchOutput {
        /// The executor.
        executor: String,
    },
    /// A client reports why it has no answer, or broke off.
    #[error("`{executor}` {fault}{}", helped(advice.as_deref()))]
    Client {
        /// The executor.
        executor: String,
        /// The reason.
        fault: Box<ClientError>,
        /// A remedy for the user.
        advice: Option<String>,
        /// Its last output on standard error; masked.
        complaint: String,
        /// The part of an answer so far, as it came.
        partial: Option<String>,
        /// The usage that it reports all the same.
        spent: Box<Spent>,
    },
    /// Its output is not a valid answer.
    #[error(
        "`{executor}` gave an invalid answer: {source}{}",
        last_output(complaint)
    )]
    Answer {
        /// The executor.
        executor: String,
        /// The problem.
        source: Box<AnswerError>,
        /// Its last output on standard error; masked.
        complaint: String,
        /// Its unreadable output; masked.
        unread: Option<String>,
    },
    /// The system gave no thread to attend to it.
    #[error("`{executor}` was not started: cannot create a thread")]
    Thread {
        /// The executor.
        executor: String,
        /// The cause.
        source: io::Error,
    },
}

impl RunError {
    /// Returns the seed's code, if it has one.
    ///
    /// An executor that never started has none: nothing crashed, and trying again would change
    /// nothing.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Template(_)
            | Self::Unsupported { .. }
            | Self::NotBuilt { .. }
            | Self::Spawn { .. }
            | Self::Unconfined { .. }
            | Self::Thread { .. }
            | Self::Cancelled { .. } => None,
            Self::Temporary { .. } => Some(ErrorCode::DiskFailure),
            Self::Crashed { .. } => Some(ErrorCode::ExecutorCrash),
            Self::Quiet { .. } | Self::Deadline { .. } => Some(ErrorCode::Timeout),
            Self::TooMuchOutput { .. } => Some(ErrorCode::MemoryOverflow),
            Self::Client { fault, .. } => Some(fault.code()),
            Self::Answer { source, .. } => Some(source.code()),
        }
    }

    /// Whether trying again within a minute may help.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Client { fault, .. } => fault.may_pass(),
            other => other.code().is_some(),
        }
    }

    /// When the limit that refused is lifted, in the client's words, if it names a time.
    pub fn resets(&self) -> Option<&str> {
        match self {
            Self::Client { fault, .. } => fault.resets(),
            _ => None,
        }
    }

    /// Whether the failure does not predict how the executor would do with another request, or is
    /// one that the user has to fix, with a remedy in the error.
    pub fn spares_executor(&self) -> bool {
        matches!(self, Self::Client { fault, .. } if fault.spares_executor())
    }

    /// Returns the usage that the executor reports, though there is no usable answer.
    pub fn spent(&self) -> Spent {
        match self {
            Self::Client { spent, .. } => **spent,
            Self::Answer { source, .. } => match &**source {
                AnswerError::TooLong { answer, .. } => answer.spent(),
                _ => Spent::default(),
            },
            _ => Spent::default(),
        }
    }

    /// Returns the executor's last output, on standard error or in its answer, if there is any;
    /// masked.
    pub fn complaint(&self) -> Option<&str> {
        let (Self::Crashed { complaint, .. }
        | Self::Quiet { complaint, .. }
        | Self::Deadline { complaint, .. }
        | Self::Client { complaint, .. }
        | Self::Answer { complaint, .. }) = self
        else {
            return None;
        };
        let complaint = complaint.trim();
        (!complaint.is_empty()).then_some(complaint)
    }

    /// Returns the part of an answer before it broke off: no answer, but worth keeping.
    pub fn partial(&self) -> Option<&str> {
        match self {
            Self::Quiet { partial, .. }
            | Self::Deadline { partial, .. }
            | Self::Client { partial, .. } => partial.as_deref(),
            Self::Answer { unread, .. } => unread.as_deref(),
            _ => None,
        }
    }
}

fn crash(ending: Ending) -> String {
    match ending {
        Ending::Signalled(signal) => format!("was ended by signal {signal}"),
        Ending::Exited(code) => format!("ended with exit code {code}"),
        Ending::Unguarded => {
            "was stopped with all its processes, since another program killed its guard".to_owned()
        }
        other => format!("ended: {other:?}"),
    }
}

/// Text between a failure and its remedy in an error message.
pub(crate) const HELPS: &str = "; what helps: ";

fn helped(advice: Option<&str>) -> String {
    advice
        .map(|advice| format!("{HELPS}{advice}"))
        .unwrap_or_default()
}

fn last_output(complaint: &str) -> String {
    let quoted = quoted(stderr_summary::last_line(complaint).unwrap_or_default());
    if quoted.is_empty() {
        quoted
    } else {
        format!("; last output{quoted}")
    }
}

/// Returns the explanation of a failure; if no output explains it, a remark about that.
fn because(cause: Option<&str>, complaint: &str) -> String {
    match cause {
        Some(cause) => quoted(cause),
        None if complaint.trim().is_empty() => String::new(),
        None => format!(", and {NOTHING_TELLING}"),
    }
}

/// Returns the line of a complaint that explains a failure. A client's last line is often a banner,
/// so it is used only for an unknown program.
pub(crate) fn cause_of(executor: &Executor, complaint: &str) -> Option<String> {
    let last =
        || stderr_summary::last_line(complaint).filter(|_| Client::behind(executor).is_none());
    stderr_summary::telling(complaint).or_else(|| last().map(str::to_owned))
}

fn quoted(line: &str) -> String {
    let line = line.trim();
    if line.is_empty() {
        return String::new();
    }
    // The details have all of it; here it must fit on a line with the rest.
    if line.len() <= LONGEST_QUOTED {
        return format!(": {line}");
    }
    format!(": {}…", &line[..line.floor_char_boundary(LONGEST_QUOTED)])
}
