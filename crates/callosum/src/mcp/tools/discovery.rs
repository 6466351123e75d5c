//! `discovery`: what one agent found out and tells all.

use callosum_mesh::board::Order;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{DATA, Effect, Tool, behind_marks, read, schema};
use crate::{
    cli::{
        Context,
        mesh::{asking, discovery::listed, open},
    },
    mcp::answer,
    ui::CommandError,
};

pub(super) const TOOL: Tool = Tool {
    name: "discovery",
    about: "Tell all agents what you found, or list it.",
    effect: Effect::Adds,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    text: Option<String>,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let Arguments { text } = read(arguments)?;
    if let Some(content) = text {
        let id = context.new_id();
        let order = Order::Share {
            id: id.clone(),
            content,
        };
        open::given(context, order, &asking(context))?;
        return Ok(format!("{id} is told to all\n"));
    }
    let mut all = listed(context)?.discoveries;
    if all.is_empty() {
        return Ok("nobody has told anything\n".to_owned());
    }
    all.reverse();
    let all: Vec<String> = all
        .iter()
        .map(|found| {
            let content = behind_marks(&found.content);
            format!("{} at {}:\n{content}", found.source, found.timestamp)
        })
        .collect();
    let told = answer::fitted(&all, answer::USUAL, "discoveries");
    Ok(format!("{DATA}{told}"))
}
