//! `recover`: the state of things, for a context that begins.

use callosum_redact::quote;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, prepared, read, schema};
use crate::output_budget;
use callosum_app::context::Context;
use callosum_app::session::{RecoverOptions, recover};
use callosum_app::{CommandError, Exit};

pub(super) const TOOL: Tool = Tool {
    name: "recover",
    about: "Task, next step, checked decisions.",
    effect: Effect::Reads,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Only decisions on this
    about: Option<String>,
    /// 1 brief to 3 full
    level: Option<u8>,
    budget: Option<u64>,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let Arguments {
        about,
        level,
        budget,
    } = read(arguments)?;
    prepared(context)?;
    let level = level.unwrap_or(if about.is_some() { 2 } else { 1 });
    if !(1..=3).contains(&level) {
        let what = format!("there is no level {level} (allowed: 1, 2, 3)");
        return Err(CommandError::new(Exit::Usage, what));
    }
    let wanted = RecoverOptions {
        level,
        budget,
        query: about.clone(),
        repo: None,
        quoted: level < 3,
    };
    let text = recover(context, &wanted)?.text;
    if text.is_empty() {
        return Ok(match about {
            Some(about) => format!("no decision matches {}\n", quote::inline(&about)),
            None => "no session notes yet\n".to_owned(),
        });
    }
    // The levels below keep to their own budget.
    Ok(if level == 3 {
        output_budget::cut(
            &quote::attributed("Session notes of this project", &text),
            budget.map_or(output_budget::MOST, |most| {
                output_budget::budget(Some(most))
            }),
        )
    } else {
        text
    })
}
