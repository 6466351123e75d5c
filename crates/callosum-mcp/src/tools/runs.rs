//! `runs`: delegations that were detached: which there are, what came of them, and their end.

use std::time::Duration;

use callosum_redact::quote::{self, NOTICE};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, prepared, read, schema};
use crate::output_budget;
use callosum_app::context::Context;
use callosum_app::executor::runs;
use callosum_app::{CommandError, Exit};

pub(super) const TOOL: Tool = Tool {
    name: "runs",
    about: "Detached runs: list, wait, fetch, cancel.",
    effect: Effect::AsksOthers,
    schema: schema::<Arguments>,
    call,
};

/// Maximum time that one call waits: clients give up on calls that take longer.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    run: Option<String>,
    action: Option<Action>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Wait,
    Fetch,
    Cancel,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let arguments: Arguments = read(arguments)?;
    prepared(context)?;
    let text = match (&arguments.run, arguments.action) {
        (None, None) => listed(context)?,
        (None, Some(_)) => {
            return Err(CommandError::new(Exit::Usage, "name the `run`"));
        }
        (Some(run), Some(Action::Cancel)) => {
            let output = runs::cancel(context, run)?;
            format!("[run {} is {}]\n", output.run, output.state)
        }
        (Some(run), Some(Action::Wait)) => {
            runs::wait(context, run, Some(LONGEST_WAIT))?;
            fetched(context, run)?
        }
        (Some(run), Some(Action::Fetch) | None) => fetched(context, run)?,
    };
    Ok(output_budget::cut(&text, output_budget::MOST))
}

fn listed(context: &Context) -> Result<String, CommandError> {
    let runs = runs::listed(context)?.runs;
    if runs.is_empty() {
        return Ok("[no detached runs]\n".to_owned());
    }
    let mut text = NOTICE.to_owned();
    for run in &runs {
        let prompt = quote::inline(&run.prompt);
        for part in [&run.run, " ", &run.state, ": ", &prompt, "\n"] {
            text.push_str(part);
        }
    }
    Ok(text)
}

/// The summaries of a run; the failure of one that failed.
fn fetched(context: &Context, run: &str) -> Result<String, CommandError> {
    let output = runs::fetched(context, run)?;
    let text = match runs::text(&output) {
        text if text.is_empty() => text,
        text => format!("{NOTICE}{}", quote::lines(&text)),
    };
    match runs::failure(&output) {
        Some(failed) if text.is_empty() => Err(failed),
        Some(failed) => Ok(format!(
            "{text}[not all succeeded: {}]\n",
            failed.one_line()
        )),
        None => Ok(text),
    }
}
