//! [`handed`]: one delegation for an agent that asks by another way than the command line.

use std::path::PathBuf;

use callosum_arbiter::delegation::{StartMark, TaskReport, TaskStatus};
use callosum_redact::quote;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::Context;
use crate::delegate::detached::detach;
use crate::delegate::options::{DelegateOptions, KindName, LEAST_BUDGET};
use crate::delegate::output::Handed;
use crate::delegate::{delegate, render};
use crate::{CommandError, Exit, auto_checkpoint};

// Models read the docs of this type in the schema of a tool, so that each word counts.
#[expect(
    missing_docs,
    reason = "documentation of these names would be sent to models"
)]
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    pub prompt: String,
    pub kind: Option<KindName>,
    #[serde(default)]
    pub paths: Vec<String>,
    pub executor: Option<String>,
    /// Ledger tasks to build on
    #[serde(default)]
    pub links: Vec<String>,
    pub budget: Option<u64>,
    #[serde(default)]
    pub fresh: bool,
    /// Return a run id
    #[serde(default)]
    pub detach: bool,
    /// Nothing more is started once executors have used so many tokens.
    #[serde(skip)]
    pub max_tokens: Option<u64>,
    /// The same, of US dollars that they say they cost.
    #[serde(skip)]
    pub max_cost: Option<f64>,
    /// The key of the plan's call that it is for.
    #[serde(skip)]
    pub plan_call: Option<String>,
    /// Mark that its executor was about to be started.
    #[serde(skip)]
    pub start_mark: Option<StartMark>,
}

/// Delegates one task, and gives back its summary, and on the last line what there is to know of it.
///
/// What was written is signed, as after the command.
pub fn handed(context: &Context, wanted: Wanted) -> Result<String, CommandError> {
    let is_detached = wanted.detach;
    let options = options(wanted)?;
    if is_detached {
        return Ok(format!("[run {}]\n", detach(context, &options)?));
    }
    let report = delegate(context, &options);
    auto_checkpoint::after(context);
    match report?.tasks.first() {
        Some(task) => text(task, options.budget),
        None => Err(CommandError::new(Exit::Internal, "the run has no result")),
    }
}

/// Returns what is wanted as options of a delegation.
pub fn options(wanted: Wanted) -> Result<DelegateOptions, CommandError> {
    if wanted.prompt == "-" {
        // On a command line it means standard input.
        return Err(CommandError::new(Exit::Usage, "the prompt is empty"));
    }
    Ok(DelegateOptions {
        prompt: Some(wanted.prompt),
        kind: wanted.kind.map(Into::into),
        paths: wanted.paths.into_iter().map(PathBuf::from).collect(),
        executor: wanted.executor,
        links: wanted.links,
        budget: wanted.budget.map(|most| most.max(LEAST_BUDGET)),
        no_cache: wanted.fresh,
        max_tokens: wanted.max_tokens,
        max_cost: wanted.max_cost,
        plan_call: wanted.plan_call,
        start_mark: wanted.start_mark,
        ..DelegateOptions::default()
    })
}

fn text(task: &TaskReport, budget: Option<u64>) -> Result<String, CommandError> {
    let TaskStatus::Committed {
        entry,
        citations,
        tokens_returned,
        reused,
    } = &task.status
    else {
        let (error, details) = render::failure(task, "");
        // The lines are the executor's.
        let details = quote::lines(&details);
        return Err(details.lines().fold(error, CommandError::cause));
    };
    let handed = Handed::of(entry, *tokens_returned, budget);
    let (id, executor) = (&entry.task_id, quote::one_line(&entry.executor));
    let mut last = format!("[{id} by {executor}, {citations}");
    if reused.is_some() {
        last.push_str(", answered earlier for the same tree");
    }
    if let Some(left_out) = handed.left_out {
        last = format!(
            "{last}; left out: {left_out}; call ledger_query with the task id for the full answer"
        );
    }
    let source = format!("Answer of {executor}");
    let answer = quote::attributed(&source, handed.text.trim_end());
    Ok(format!("{answer}{last}]\n"))
}
