//! `delegate`: an analysis by an executor, of which only the checked summary comes back.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, prepared, read, schema};
use crate::{
    cli::{
        Context,
        delegate::{KindArg, Wanted, handed},
    },
    mcp::answer,
    ui::CommandError,
};

pub(super) const TOOL: Tool = Tool {
    name: "delegate",
    about: "Have another executor analyse the repository; its summary comes back with checked citations.",
    effect: Effect::AsksOthers,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    prompt: String,
    kind: Option<KindArg>,
    /// Only here
    #[serde(default)]
    paths: Vec<String>,
    executor: Option<String>,
    /// Ledger tasks to build on
    #[serde(default)]
    links: Vec<String>,
    budget: Option<u64>,
    /// Ask anew
    #[serde(default)]
    fresh: bool,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let arguments: Arguments = read(arguments)?;
    prepared(context)?;
    let text = handed(
        context,
        Wanted {
            prompt: arguments.prompt,
            kind: arguments.kind,
            paths: arguments.paths,
            executor: arguments.executor,
            links: arguments.links,
            budget: arguments.budget,
            fresh: arguments.fresh,
            plan_call: None,
        },
    )?;
    Ok(answer::cut(&text, answer::MOST))
}
