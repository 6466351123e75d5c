//! [`call_tool`]: one call of a tool of a server, with the arguments as they are.
//!
//! The process that speaks for us does it, under the same confinement and bounds as a question to the
//! server. No prompt is made, nothing is tried again, and nothing of it comes to the ledger.

use std::time::Duration;

use callosum_host::process::Ending;
use serde_json::{Map, Value};

use super::{job::Want, name::Transport, run_worker::have_asked};
use crate::{
    output_format::{CUT_OFF, DIALECT_QUIET, DIALECT_TOTAL, UNREADABLE},
    registry::Executor,
    runner::{ExecutionEnvironment, RunError, Timeouts},
    sanitize::{fit, with_causes},
};

/// A tool's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolAnswer {
    /// Its texts.
    pub text: String,
    /// Its structured content, if it has any.
    pub structured: Option<Value>,
    /// Whether the server reports that the tool failed; its texts give the reason.
    pub is_error: bool,
}

/// Reason why a call of a tool has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct CallError {
    /// The error, in words; masked.
    pub words: String,
    /// Whether the tool may have been at work all the same.
    pub may_have_happened: bool,
    /// Whether it took too long.
    pub took_too_long: bool,
}

/// Calls a tool of the executor's server, with just these arguments.
///
/// Takes at most as long as a task of the executor may, or `within` if that is shorter. Fails if
/// there is no server, if it has no such tool, or if it refuses or does not answer.
pub fn call_tool(
    executor: &Executor,
    tool: &str,
    arguments: Map<String, Value>,
    surroundings: &ExecutionEnvironment,
    within: Duration,
) -> Result<ToolAnswer, CallError> {
    let quiet = executor.quiet();
    let total = executor.total().or(surroundings.patience.total);
    let patience = Timeouts {
        quiet: quiet.unwrap_or(surroundings.patience.quiet.max(DIALECT_QUIET)),
        total: Some(total.unwrap_or(DIALECT_TOTAL).min(within)),
    };
    let called = Executor {
        tool: Some(tool.to_owned()),
        ..executor.clone()
    };
    let want = Want::Call(arguments);
    let result = have_asked(
        Transport::Mcp,
        want,
        &called,
        surroundings,
        patience,
        &mut |_| {},
    )
    .map_err(|error| of_run(&error))?;
    if let Some(answer) = result.called {
        return Ok(answer);
    }
    let failure = result.hearing.failure.as_ref();
    let words = match (failure, result.ending) {
        (Some(complaint), _) => fit(&complaint.words),
        (None, Ending::Exited(0)) => "its server did not answer".to_owned(),
        (None, _) => format!("its server ended: {}", result.complaint),
    };
    // A refusal is an answer: the server says itself what became of the call.
    let refused = failure
        .is_some_and(|complaint| !matches!(complaint.kind.as_deref(), Some(CUT_OFF | UNREADABLE)));
    Err(CallError {
        words,
        may_have_happened: result.begun && !refused,
        took_too_long: false,
    })
}

fn of_run(error: &RunError) -> CallError {
    CallError {
        words: with_causes(error),
        may_have_happened: !matches!(
            error,
            RunError::Template(_)
                | RunError::Unsupported { .. }
                | RunError::NotBuilt { .. }
                | RunError::Spawn { .. }
                | RunError::Unconfined { .. }
                | RunError::Temporary { .. }
        ),
        took_too_long: matches!(error, RunError::Quiet { .. } | RunError::Deadline { .. }),
    }
}
