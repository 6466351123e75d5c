//! [`exchange`] and [`run`]: starts the program, hears it out, and explains what went wrong.

use std::{ffi::OsString, io, path::PathBuf, sync::Arc, time::Duration};

use callosum_host::{
    Clock, Disk, DiskError,
    process::{Cancel, Ending, SpawnError},
};
use callosum_ledger::ErrorCode;

use super::{
    spawn::{SpawnSpec, own_folder},
    supervise::{Counting, Ended, hear_out},
    unread::{judge_output, refused, without_output},
};
use crate::{
    client::Client,
    output_format::{self, ClientError, Dialect},
    protocol::{Answer, AnswerError, Request, Spent, parse_answer},
    registry::{Executor, Kind},
    sandbox::{Confiner, LastTranscript},
    sanitize::fit_shortly,
    stderr_summary,
    template::{Template, TemplateError},
    transport::{self, Transport},
};
use callosum_sandbox::{Connections, Reached};

/// Longest silence of an executor whose entry says nothing else (REQ-COM-003).
pub const QUIET: Duration = Duration::from_secs(5);

/// Most bytes of an answer; one more is E006.
pub const LARGEST_ANSWER: usize = 4 * 1024 * 1024;

/// Bytes of an executor's complaint that are read.
pub(crate) const HEARD_COMPLAINT: usize = 64 * 1024;

/// Explanation for a program whose output explains nothing.
pub(crate) const NOTHING_TELLING: &str = "printed nothing that explains it";

/// Longest piece of a complaint that a message quotes, in bytes.
const LONGEST_QUOTED: usize = 200;

/// Environment that an executor runs in.
#[derive(Clone, Debug)]
pub struct ExecutionEnvironment {
    /// The folder that it starts in: the tree that it is asked about.
    pub root: PathBuf,
    /// This program, for `{self}`.
    pub self_program: PathBuf,
    /// The environment from which some may be passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// A private folder in which each run gets a folder of its own, removed afterwards.
    pub temporary: PathBuf,
    /// Confines executors as their entries require; without it they run with the caller's rights.
    pub confiner: Option<Arc<Confiner>>,
    /// Receives the connections that confined executors ask for.
    pub connections: Connections,
    /// Storage for the end of a sandboxed client's transcript, before its folder is removed.
    pub transcript: LastTranscript,
    /// Ends the run when asked.
    pub cancel: Cancel,
    /// Time limits of an executor whose entry sets none.
    pub patience: Timeouts,
    /// Least time for an answer to a handshake; zero if its own limits apply.
    pub slowest_handshake: Duration,
    /// Number of waits for a server that refuses for now, before its refusal is the answer.
    pub waits: u32,
    /// The longest time that a client may wait for rate limits in one run, all its waits added up.
    pub client_wait: Duration,
    /// The disk.
    pub disk: Disk,
    /// Decides whether a login that a sandboxed client renewed was about to expire.
    pub clock: Clock,
}

impl ExecutionEnvironment {
    /// Returns how far an executor that runs here is confined, as it is stored with its answer.
    pub fn reach(&self, executor: &Executor) -> Option<Reached> {
        match &self.confiner {
            Some(confiner) => confiner.reach(executor, &self.environment, &self.disk).ok(),
            None => Some(Reached::without_means(
                executor.confinement.unwrap_or_default(),
            )),
        }
    }
}

/// Time limits of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Longest silence: no byte on either output, nor from a host by way of the proxy.
    pub quiet: Duration,
    /// Longest time in all, if there is a bound.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            quiet: QUIET,
            total: None,
        }
    }
}

/// A sign of life from a running executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign<'a> {
    /// So many bytes of its answer have come so far.
    Answering {
        /// Bytes of it so far.
        bytes: usize,
    },
    /// A line that it wrote to standard error, masked and fit for a terminal.
    Line(&'a str),
    /// Its current activity as it reports it, masked and fit for a terminal, on one line.
    Doing(&'a str),
    /// Length and reason of a wait for its server, likewise.
    Waiting(&'a str),
    /// The next piece of its answer, as it came: neither masked nor fit for a terminal.
    Text(&'a str),
    /// The answer begins again: its pieces so far are discarded.
    Anew,
    /// Result of one of its tools that does more than read, as it came: neither masked nor fit for
    /// a terminal.
    Tool(&'a str),
}

/// Output of an executor that ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its standard output.
    pub output: Vec<u8>,
    /// The end of its standard error, masked.
    pub complaint: String,
    /// From its start to its end.
    pub elapsed: Duration,
}

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

/// Runs an executor once and judges its answer.
pub fn run(
    executor: &Executor,
    request: &Request,
    surroundings: &ExecutionEnvironment,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<Answer, RunError> {
    if let Some(dialect) = Dialect::of(executor) {
        return output_format::ask(dialect, executor, request, surroundings, heard);
    }
    if let Some(transport) = Transport::of(executor) {
        return transport::ask(transport, executor, request, surroundings, heard);
    }
    let patience = patience_with(executor, surroundings.patience);
    let reply = exchange(executor, request, surroundings, patience, heard)?;
    let environment = &surroundings.environment;
    if let Some(error) = without_output(executor, environment, &reply) {
        return Err(error);
    }
    judge_output(executor, reply)
}

/// Runs an executor once and returns its output, if it ended well.
pub fn exchange(
    executor: &Executor,
    request: &Request,
    surroundings: &ExecutionEnvironment,
    patience: Timeouts,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<Reply, RunError> {
    refuse_unsupported(executor)?;
    let template = Template::parse(&executor.command_template)?;
    let command = template.fill(&surroundings.self_program, &request.spoken())?;
    let temporary = own_folder(executor, surroundings)?;
    let errand = SpawnSpec {
        input: if template.takes_prompt() {
            Vec::new()
        } else {
            request.to_bytes()
        },
        output_bytes: LARGEST_ANSWER,
        ..SpawnSpec::plain(command)
    };
    let ended = hear_out(
        executor,
        errand,
        surroundings,
        &temporary,
        patience,
        &mut Counting::default(),
        heard,
    )?;
    judge_exit(executor, &surroundings.environment, ended)
}

fn refuse_unsupported(executor: &Executor) -> Result<(), RunError> {
    let how = match (executor.kind, &executor.protocol) {
        (Kind::Cli, None) => return Ok(()),
        (Kind::Cli, Some(protocol)) => format!("protocol `{}`", fit_shortly(protocol)),
        (kind, _) => format!("type `{kind}`"),
    };
    Err(RunError::Unsupported {
        executor: executor.id.clone(),
        how,
    })
}

fn patience_with(executor: &Executor, common: Timeouts) -> Timeouts {
    Timeouts {
        quiet: executor.quiet().unwrap_or(common.quiet),
        total: executor.total().or(common.total),
    }
}

/// Interprets an exit. A crash that left an error answer is reported in its words.
fn judge_exit(
    executor: &Executor,
    environment: &[(OsString, OsString)],
    ended: Ended,
) -> Result<Reply, RunError> {
    match ended.ending {
        Ending::Exited(0) => Ok(Reply {
            output: ended.output,
            complaint: ended.complaint,
            elapsed: ended.elapsed,
        }),
        ending => {
            let complaint = match parse_answer(&ended.output, executor.capabilities) {
                Err(AnswerError::Failed { words, .. }) => words,
                _ => ended.complaint,
            };
            // A limit lasts longer than the pauses between tries.
            if let Some(limit @ ClientError::RateLimited { .. }) =
                output_format::named_in(&complaint)
            {
                return Err(refused(executor, environment, limit, &complaint));
            }
            Err(RunError::Crashed {
                executor: executor.id.clone(),
                ending,
                cause: cause_of(executor, &complaint),
                complaint,
            })
        }
    }
}
