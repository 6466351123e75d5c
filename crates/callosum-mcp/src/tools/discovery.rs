//! `discovery`: findings that one agent shares with all others.

use callosum_mesh::board::Command;
use callosum_redact::quote::{self, NOTICE};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, needed, read, schema};
use crate::output_budget;
use callosum_app::context::Context;
use callosum_app::mesh::discovery::listed;
use callosum_app::mesh::{asking, open};
use callosum_app::{CommandError, Exit};

pub(super) const TOOL: Tool = Tool {
    name: "discovery",
    about: "Share what you found, or list it.",
    effect: Effect::Adds,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Taken as the other tools have it; what is given says as much, so that the list does without it.
    #[schemars(skip)]
    r#do: Option<Deed>,
    text: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Deed {
    List,
    Share,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let Arguments { r#do: deed, text } = read(arguments)?;
    if deed == Some(Deed::List) && text.is_some() {
        let what = "`text` is only for `share`";
        return Err(CommandError::new(Exit::Usage, what));
    }
    if deed == Some(Deed::Share) || text.is_some() {
        let content = needed(text, "text", "what you found")?;
        let id = context.new_id();
        let order = Command::Share {
            id: id.clone(),
            content,
        };
        open::given(context, order, &asking(context))?;
        return Ok(format!("{id} is shared with all agents\n"));
    }
    let mut all = listed(context)?.discoveries;
    if all.is_empty() {
        return Ok("no discoveries\n".to_owned());
    }
    all.reverse();
    let all: Vec<String> = all
        .iter()
        .map(|found| {
            let content = quote::lines(&found.content);
            let at = quote::one_line(&found.timestamp);
            format!("{} at {at}:\n{content}", found.source)
        })
        .collect();
    let text = output_budget::fitted(&all, output_budget::USUAL, "discoveries");
    Ok(format!("{NOTICE}{text}"))
}
