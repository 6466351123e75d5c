//! The four steps of a handshake, and the decision over the answers.

use std::{fmt, time::Duration};

use callosum_ledger::ErrorCode;
use jiff::Timestamp;

use super::{client, server};
use crate::{
    client::Version,
    protocol::{AnswerError, Request, Unreadable, parse_answer, parse_capabilities},
    registry::{Capabilities, Executor},
    runner::{ExecutionEnvironment, Reply, RunError, Timeouts, exchange},
    sanitize::with_causes,
    server_tool::ServerTool,
    transport::Transport,
};

/// Longest time that an executor may take to answer each question (seed CAL §6.2).
pub const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Result of a handshake.
#[derive(Debug)]
pub struct Handshake {
    /// The four steps, in their order.
    pub steps: [Step; 4],
    /// Capabilities that the executor reports; empty if its report was not understood.
    pub capabilities: Capabilities,
    /// Its version, if it reports one.
    pub version: Option<String>,
    /// The tools of a tool server; empty for any other executor.
    pub tools: Vec<ServerTool>,
}

/// One step of a handshake.
#[derive(Debug)]
pub struct Step {
    /// Name of the step.
    pub name: StepName,
    /// Outcome of the step.
    pub outcome: Outcome,
    /// Time that the executor took to answer, if it was asked and did.
    pub elapsed: Option<Duration>,
}

/// The steps of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepName {
    /// It answers `ping` at all, in time.
    Ping,
    /// It reports its capabilities.
    Capabilities,
    /// Its report is consistent and sufficient.
    Validation,
    /// It may be active.
    Registration,
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ping => "ping",
            Self::Capabilities => "capabilities",
            Self::Validation => "validation",
            Self::Registration => "registration",
        })
    }
}

/// Outcome of a step.
#[derive(Debug)]
pub enum Outcome {
    /// As it should.
    Passed,
    /// Not as it should.
    Failed(HandshakeFault),
    /// It was not tried, because an earlier step failed.
    Skipped,
}

/// Reason why a step failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeFault {
    /// It did not answer at all.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It answered something that is no answer.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// Its description of itself is none.
    #[error(transparent)]
    Description(#[from] Unreadable),
    /// It reports that it cannot do what every executor must.
    #[error("it reports no `{capability}`, which every executor needs")]
    Lacks {
        /// The missing capability.
        capability: &'static str,
    },
    /// It promises checksums, but its answer to `ping` had none.
    #[error("it reports `checksum_support`, but its answer to `ping` had no checksum")]
    NoChecksum,
    /// A client does not report its version.
    #[error("it does not report its version")]
    NoVersion,
    /// A client is older than the oldest supported version.
    #[error("its version is {found}, but the oldest supported version is {oldest}")]
    TooOld {
        /// Its version.
        found: Version,
        /// The oldest that will do.
        oldest: Version,
    },
    /// A server does not have what the entry names.
    #[error("its server does not offer `{named}`, {}", instead(offered))]
    NotOffered {
        /// The model or tool.
        named: String,
        /// The models or tools that it has.
        offered: Vec<String>,
    },
    /// A client has no such option.
    #[error(
        "its description of its options does not have `{option}`, which its command template uses{}",
        of_version(*version)
    )]
    NoOption {
        /// The option.
        option: String,
        /// Its version, if it reports one.
        version: Option<Version>,
    },
}

impl HandshakeFault {
    /// Returns the seed's code, if it has one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Run(error) => error.code(),
            Self::Answer(error) => Some(error.code()),
            Self::Description(_) => Some(ErrorCode::MalformedAnswer),
            Self::Lacks { .. }
            | Self::NoChecksum
            | Self::NoVersion
            | Self::TooOld { .. }
            | Self::NotOffered { .. }
            | Self::NoOption { .. } => None,
        }
    }

    /// Returns the executor's standard error, as far as it is kept; masked.
    pub fn complaint(&self) -> Option<&str> {
        match self {
            Self::Run(error) => error.complaint(),
            _ => None,
        }
    }
}

fn of_version(version: Option<Version>) -> String {
    let suffix = version.map(|version| format!("; its version is {version}"));
    suffix.unwrap_or_default()
}

fn instead(offered: &[String]) -> String {
    if offered.is_empty() {
        return "nor anything else".to_owned();
    }
    let quoted: Vec<String> = offered.iter().map(|name| format!("`{name}`")).collect();
    format!("but {}", quoted.join(", "))
}

impl Handshake {
    /// Whether the executor may be active.
    pub fn passed(&self) -> bool {
        self.fault().is_none()
    }

    /// The first thing that went wrong.
    pub fn fault(&self) -> Option<(StepName, &HandshakeFault)> {
        self.steps.iter().find_map(|step| match &step.outcome {
            Outcome::Failed(fault) => Some((step.name, fault)),
            Outcome::Passed | Outcome::Skipped => None,
        })
    }

    /// Writes the outcome into an entry.
    ///
    /// The embedded executor stays active after any outcome: it is this program itself.
    pub fn apply(&self, executor: &mut Executor, now: Timestamp) {
        if let Some(version) = &self.version {
            executor.version.clone_from(version);
        }
        if self.passed() {
            executor.activate();
            executor.capabilities = self.capabilities;
            executor.last_validated = Some(now.to_string());
        } else if let Some((step, fault)) = self.fault()
            && !executor.is_embedded()
        {
            let reason = format!("its handshake failed at {step}: {}", with_causes(fault));
            executor.deactivate(&reason);
        }
    }
}

/// Shakes hands with an executor: two short runs, at most [`ANSWER_WITHIN`] each.
///
/// A client with a dialect is asked for its version and its options instead.
pub fn handshake(executor: &Executor, surroundings: &ExecutionEnvironment) -> Handshake {
    if let Some(dialect) = executor.dialect() {
        return client::handshake(dialect, executor, surroundings);
    }
    if let Some(transport) = Transport::of(executor) {
        return server::handshake(transport, executor, surroundings);
    }
    let ping = ask(executor, surroundings, "ping");
    let capabilities = ping
        .is_ok()
        .then(|| ask(executor, surroundings, "capabilities"));
    judge(ping, capabilities)
}

/// Pings an executor: the health check (seed CAL §11.3). Returns the time that it took.
pub fn ping(
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Result<Duration, HandshakeFault> {
    if executor.dialect().is_some() {
        return client::ping(executor, surroundings);
    }
    if let Some(transport) = Transport::of(executor) {
        return server::ping(transport, executor, surroundings);
    }
    let reply = ask(executor, surroundings, "ping")?;
    parse_answer(&reply.output, executor.capabilities)?;
    Ok(reply.elapsed)
}

fn ask(
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
    question: &str,
) -> Result<Reply, RunError> {
    let within = ANSWER_WITHIN.max(surroundings.slowest_handshake);
    let patience = Timeouts {
        quiet: within,
        total: Some(within),
    };
    let request = Request::bare(question);
    exchange(executor, &request, surroundings, patience, &mut |_| {})
}

/// Evaluates the replies. Pure.
///
/// `capabilities` is `None` if they were not requested because `ping` had failed.
pub fn judge(
    ping: Result<Reply, RunError>,
    capabilities: Option<Result<Reply, RunError>>,
) -> Handshake {
    let (greeted, ping_elapsed) = heard(ping, |output| {
        parse_answer(output, Capabilities::default())?;
        Ok(output.to_vec())
    });
    let (described, capabilities_elapsed) = match capabilities {
        Some(reply) => {
            let (described, elapsed) = heard(reply, |output| Ok(parse_capabilities(output)?));
            (Some(described), elapsed)
        }
        None => (None, None),
    };
    let validated = match (&greeted, &described) {
        (Ok(greeting), Some(Ok(described))) => Some(validate(greeting, described.capabilities)),
        _ => None,
    };
    let (capabilities, version) = match &described {
        Some(Ok(described)) => (described.capabilities, described.version.clone()),
        _ => (Capabilities::default(), None),
    };
    Handshake {
        steps: steps(
            (greeted.map(drop), ping_elapsed),
            (
                described.map(|described| described.map(drop)),
                capabilities_elapsed,
            ),
            validated,
        ),
        capabilities,
        version,
        tools: Vec::new(),
    }
}

/// Applies `read` to a reply, and returns the time that the reply took.
fn heard<T>(
    reply: Result<Reply, RunError>,
    read: impl FnOnce(&[u8]) -> Result<T, HandshakeFault>,
) -> (Result<T, HandshakeFault>, Option<Duration>) {
    match reply {
        Ok(reply) => (read(&reply.output), Some(reply.elapsed)),
        Err(fault) => (Err(fault.into()), None),
    }
}

/// Builds the four steps from the results of the first three; `None` if one was not tried. An
/// executor that passes the third may be active.
pub(crate) fn steps(
    (greeted, greeted_in): (Result<(), HandshakeFault>, Option<Duration>),
    (described, described_in): (Option<Result<(), HandshakeFault>>, Option<Duration>),
    validated: Option<Result<(), HandshakeFault>>,
) -> [Step; 4] {
    let registered = matches!(validated, Some(Ok(()))).then_some(Ok(()));
    [
        step(StepName::Ping, Some(greeted), greeted_in),
        step(StepName::Capabilities, described, described_in),
        step(StepName::Validation, validated, None),
        step(StepName::Registration, registered, None),
    ]
}

fn step(
    name: StepName,
    result: Option<Result<(), HandshakeFault>>,
    elapsed: Option<Duration>,
) -> Step {
    let outcome = match result {
        Some(Ok(())) => Outcome::Passed,
        Some(Err(fault)) => Outcome::Failed(fault),
        None => Outcome::Skipped,
    };
    Step {
        name,
        outcome,
        elapsed,
    }
}

fn validate(ping_output: &[u8], capabilities: Capabilities) -> Result<(), HandshakeFault> {
    if !capabilities.prompt_input {
        return Err(HandshakeFault::Lacks {
            capability: "prompt_input",
        });
    }
    if !capabilities.json_output {
        return Err(HandshakeFault::Lacks {
            capability: "json_output",
        });
    }
    match parse_answer(ping_output, capabilities) {
        Ok(_) => Ok(()),
        Err(AnswerError::Unreadable(Unreadable::Missing { .. })) => Err(HandshakeFault::NoChecksum),
        Err(other) => Err(other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Status;

    const PONG: &str = r#"{"summary":"pong","tokens_used":0,"status":"success"}"#;

    fn reply(output: &str) -> Reply {
        Reply {
            output: output.as_bytes().to_vec(),
            complaint: String::new(),
            elapsed: Duration::from_millis(3),
        }
    }

    fn able(prompt: bool, checksum: bool) -> String {
        format!(
            r#"{{"capabilities":{{"prompt_input":{prompt},"json_output":true,
                "filesystem_access":false,"checksum_support":{checksum}}},"version":"4.6"}}"#
        )
    }

    fn describe(handshake: &Handshake) -> String {
        let steps = handshake.steps.iter().map(|step| match &step.outcome {
            Outcome::Passed => format!("{} passed", step.name),
            Outcome::Failed(fault) => format!("{} failed ({fault})", step.name),
            Outcome::Skipped => format!("{} skipped", step.name),
        });
        steps.collect::<Vec<_>>().join(", ")
    }

    /// CAL-EXE-1: the four steps of §6.2, and what they leave in the entry.
    #[test]
    fn an_executor_that_answers_as_it_should_becomes_active() {
        let handshake = judge(Ok(reply(PONG)), Some(Ok(reply(&able(true, false)))));
        assert_eq!(
            describe(&handshake),
            "ping passed, capabilities passed, validation passed, registration passed"
        );
        let mut executor = Executor::cli("a", "a");
        handshake.apply(&mut executor, "2026-01-02T03:04:05Z".parse().unwrap());
        assert_eq!(executor.status, Status::Active);
        assert_eq!(executor.version, "4.6");
        assert_eq!(
            executor.last_validated.as_deref(),
            Some("2026-01-02T03:04:05Z")
        );
        assert!(executor.capabilities.json_output);
    }

    /// REQ-COM-005, REQ-EXE-003: any failure makes it inactive, and is named.
    #[test]
    fn any_failure_makes_the_executor_inactive() {
        let cancelled = || {
            Err(RunError::Cancelled {
                executor: "a".to_owned(),
            })
        };
        for (handshake, expected) in [
            (
                judge(cancelled(), None),
                "ping failed (`a` was canceled), capabilities skipped, validation skipped, \
                 registration skipped",
            ),
            (
                judge(Ok(reply("pong")), Some(Ok(reply(&able(true, false))))),
                "ping failed (the answer is not JSON: expected a value at line 1, column 1), \
                 capabilities passed, validation skipped, registration skipped",
            ),
            (
                judge(Ok(reply(PONG)), Some(Ok(reply(PONG)))),
                "ping passed, capabilities failed (the answer has no `capabilities`), \
                 validation skipped, registration skipped",
            ),
            (
                judge(Ok(reply(PONG)), Some(Ok(reply(&able(false, false))))),
                "ping passed, capabilities passed, validation failed (it reports no `prompt_input`, which every executor needs), registration skipped",
            ),
            (
                judge(Ok(reply(PONG)), Some(Ok(reply(&able(true, true))))),
                "ping passed, capabilities passed, validation failed (it reports `checksum_support`, but its answer to `ping` had no checksum), registration \
                 skipped",
            ),
        ] {
            assert_eq!(describe(&handshake), expected);
            let mut executor = Executor::cli("a", "a");
            executor.status = Status::Active;
            handshake.apply(&mut executor, Timestamp::UNIX_EPOCH);
            assert_eq!(executor.status, Status::Inactive);
            assert_eq!(executor.last_validated, None);
        }
    }

    /// CAL-EXE-3: scout is always active.
    #[test]
    fn the_embedded_executor_stays_active() {
        let mut scout = Executor::embedded();
        judge(Ok(reply("")), None).apply(&mut scout, Timestamp::UNIX_EPOCH);
        assert_eq!(scout, Executor::embedded());
    }
}
