//! `find`: passages of the tree and of stored texts.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, noted, read, schema};
use crate::output_budget;
use callosum_app::CommandError;
use callosum_app::context::Context;
use callosum_app::find::{Narrowing, passages};

pub(super) const TOOL: Tool = Tool {
    name: "find",
    about: "Search code, documents, decisions and answers.",
    effect: Effect::Reads,
    schema: schema::<Arguments>,
    call,
};

/// Most passages of an answer.
const MOST: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Words, or "exact text"
    query: String,
    #[serde(default)]
    paths: Vec<String>,
    limit: Option<usize>,
    #[serde(default)]
    full: bool,
    budget: Option<u64>,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let arguments: Arguments = read(arguments)?;
    let narrowing = Narrowing {
        paths: &arguments.paths,
        limit: arguments.limit.unwrap_or(10).clamp(1, MOST),
        whole: arguments.full,
    };
    let found = passages(context, &arguments.query, &narrowing)?;
    if found.is_empty() {
        return Ok("no matches\n".to_owned());
    }
    let budget = output_budget::budget(arguments.budget);
    Ok(noted(&found, budget, "passages"))
}
