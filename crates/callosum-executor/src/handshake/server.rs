//! The handshake of an executor that is asked through a transport: what can be found out without
//! asking a model.
//!
//! The steps are the protocol's four: its server answers, it says what it offers, what the entry
//! names is among that, and so it may be active.

use std::time::Duration;

use callosum_host::process::Ending;

use super::steps::{Handshake, HandshakeFault, steps};
use crate::{
    protocol::Spent,
    registry::{Capabilities, Executor},
    runner::{ExecutionEnvironment, RunError, Timeouts, cause_of},
    sanitize::fit_shortly,
    server_tool::ServerTool,
    transport::{
        Transport, Want,
        run_worker::{self, failed, have_asked},
    },
};

/// Longest time for a server to list its models or tools.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Longest time for a server that must be started first, if its entry allows no shorter silence; a
/// runtime may have to be loaded.
const START_WITHIN: Duration = Duration::from_secs(30);

/// Most names that an error lists.
const MOST_LISTED: usize = 8;

/// Result of a look at the server.
struct HandshakeResult {
    version: Option<String>,
    offers: Vec<String>,
    tools: Vec<ServerTool>,
    elapsed: Duration,
}

/// Shakes hands with an executor: one short run, which reaches no model.
pub(crate) fn handshake(
    transport: Transport,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Handshake {
    let found = look(transport, executor, surroundings);
    let elapsed = found.as_ref().ok().map(|found| found.elapsed);
    let version = found.as_ref().ok().and_then(|found| found.version.clone());
    let mut tools = Vec::new();
    let (ping, described, validated) = match found {
        Ok(found) => {
            let validated = validate(transport, executor, &found.offers);
            tools = found.tools;
            (Ok(()), Some(Ok(())), Some(validated))
        }
        Err(fault) => (Err(fault), None, None),
    };
    Handshake {
        steps: steps((ping, elapsed), (described, None), validated),
        capabilities: Capabilities {
            prompt_input: true,
            json_output: true,
            // A program that is started in the tree may look at it.
            filesystem_access: transport.speaker().is_some() && executor.endpoint.is_none(),
            checksum_support: false,
        },
        version,
        tools,
    }
}

/// Asks whether its server is there: the health check. Returns the time that it took.
pub(crate) fn ping(
    transport: Transport,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Result<Duration, HandshakeFault> {
    look(transport, executor, surroundings).map(|found| found.elapsed)
}

/// Returns what its server offers, regardless of what the entry names; `within` is the longest time
/// for that.
pub(crate) fn offers(
    transport: Transport,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
    within: Duration,
) -> Result<Vec<String>, HandshakeFault> {
    look_within(transport, executor, surroundings, within).map(|found| found.offers)
}

fn look(
    transport: Transport,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> Result<HandshakeResult, HandshakeFault> {
    let within = if transport.speaker().is_some() {
        executor.quiet().unwrap_or(START_WITHIN).min(START_WITHIN)
    } else {
        ANSWER_WITHIN
    };
    look_within(transport, executor, surroundings, within)
}

fn look_within(
    transport: Transport,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
    within: Duration,
) -> Result<HandshakeResult, HandshakeFault> {
    found(transport, Want::Look, executor, surroundings, within)
}

/// Waits until the server of an entry has loaded its model; `within` is the longest that it may take.
///
/// # Errors
/// The server is not ready by then, or answers with an error, or `surroundings.cancel` was asked for.
pub fn wait_until_ready(
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
    within: Duration,
) -> Result<(), HandshakeFault> {
    let transport = Transport::of(executor).unwrap_or(Transport::OpenAi);
    found(transport, Want::Ready, executor, surroundings, within).map(drop)
}

fn found(
    transport: Transport,
    want: Want,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
    within: Duration,
) -> Result<HandshakeResult, HandshakeFault> {
    let within = within.max(surroundings.slowest_handshake);
    let patience = Timeouts {
        quiet: within,
        total: Some(within),
    };
    let result = have_asked(
        transport,
        want,
        executor,
        surroundings,
        patience,
        &mut |_| {},
    )?;
    if let Some(complaint) = &result.hearing.failure {
        return Err(failed(
            executor,
            surroundings,
            complaint.classify(),
            &result.complaint,
            (None, Spent::default()),
        )
        .into());
    }
    match result.found {
        Some(run_worker::ServerOffer {
            version,
            offers,
            tools,
        }) => Ok(HandshakeResult {
            version,
            offers,
            tools,
            elapsed: result.elapsed,
        }),
        None => Err(RunError::Crashed {
            executor: executor.id.clone(),
            ending: match result.ending {
                // A program that ended well without a report is not the one that the entry should
                // start.
                Ending::Exited(0) => Ending::Exited(-1),
                ending => ending,
            },
            cause: cause_of(executor, &result.complaint),
            complaint: result.complaint,
        }
        .into()),
    }
}

/// Whether what the entry names is among what the server offers.
fn validate(
    transport: Transport,
    executor: &Executor,
    offers: &[String],
) -> Result<(), HandshakeFault> {
    let named = match transport {
        Transport::OpenAi | Transport::Ollama | Transport::Callosum | Transport::Hosted => {
            executor.model.as_deref()
        }
        // Its tools are called one by one; it takes no tasks.
        Transport::Mcp if executor.tool.is_none() => return Ok(()),
        Transport::Mcp => executor.tool.as_deref(),
        // An agent is what it is.
        Transport::Acp => return Ok(()),
    };
    let named = named.unwrap_or_default();
    let is_it = |offer: &String| {
        offer == named
            || (transport == Transport::Ollama && offer.strip_suffix(":latest") == Some(named))
    };
    if offers.iter().any(is_it) {
        return Ok(());
    }
    let mut offered: Vec<String> = offers
        .iter()
        .take(MOST_LISTED)
        .map(|offer| fit_shortly(offer))
        .collect();
    if offers.len() > MOST_LISTED {
        offered.push("…".to_owned());
    }
    Err(HandshakeFault::NotOffered {
        named: fit_shortly(named),
        offered,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-EXE-1: a server without a named tool passes with any tools.
    #[test]
    fn a_server_of_tools_need_not_have_one_that_takes_tasks() {
        let executor = Executor::remote_tools("w", "http://127.0.0.1:1/mcp");
        assert!(!executor.takes_tasks());
        for offers in [vec![], vec!["a".to_owned()]] {
            assert!(validate(Transport::Mcp, &executor, &offers).is_ok());
        }
    }

    /// CAL-EXE-1: a model that its server does not have is named, with those that it has.
    #[test]
    fn a_missing_model_is_reported_with_the_existing_ones() {
        let executor = Executor::http("m", "http://127.0.0.1:1", "qwen3");
        let offers = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let latest = offers(&["qwen3:latest"]);
        assert!(validate(Transport::Ollama, &executor, &latest).is_ok());
        assert!(validate(Transport::OpenAi, &executor, &latest).is_err());
        assert!(validate(Transport::OpenAi, &executor, &offers(&["a", "qwen3"])).is_ok());
        let fault = validate(Transport::OpenAi, &executor, &offers(&["a", "b"])).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "its server does not offer `qwen3`, but `a`, `b`"
        );
        let none = validate(Transport::OpenAi, &executor, &[]).unwrap_err();
        assert_eq!(
            none.to_string(),
            "its server does not offer `qwen3`, nor anything else"
        );
    }
}
