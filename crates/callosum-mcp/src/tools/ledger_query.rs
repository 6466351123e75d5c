//! `ledger_query`: earlier results.

use callosum_redact::quote::NOTICE;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, noted, prepared, read, schema};
use crate::output_budget;
use callosum_app::CommandError;
use callosum_app::context::Context;
use callosum_app::ledger::{Filter, as_text, entries, entry_of};

pub(super) const TOOL: Tool = Tool {
    name: "ledger_query",
    about: "Past delegations, newest first.",
    effect: Effect::Reads,
    schema: schema::<Arguments>,
    call,
};

/// Most entries of an answer.
const MOST: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Only this, whole
    task: Option<String>,
    text: Option<String>,
    executor: Option<String>,
    /// A date, or 2h, 7d ago
    since: Option<String>,
    limit: Option<usize>,
    budget: Option<u64>,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let arguments: Arguments = read(arguments)?;
    prepared(context)?;
    if let Some(task) = &arguments.task {
        let text = as_text(&entry_of(context, task)?, true);
        let budget = arguments.budget.map_or(output_budget::MOST, |most| {
            output_budget::budget(Some(most))
        });
        return Ok(output_budget::cut(&format!("{NOTICE}{text}"), budget));
    }
    let since = arguments.since.as_deref();
    let filter = Filter::of(arguments.executor, arguments.text, since)?;
    let limit = arguments.limit.unwrap_or(10).clamp(1, MOST);
    let found = entries(context, &filter, limit)?;
    if found.is_empty() {
        return Ok("no entry matches\n".to_owned());
    }
    let pieces: Vec<String> = found.iter().map(|entry| as_text(entry, false)).collect();
    Ok(noted(
        &pieces,
        output_budget::budget(arguments.budget),
        "entries",
    ))
}
