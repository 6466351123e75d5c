//! `delegate`: an analysis by an executor, of which only the checked summary comes back.

use serde_json::Value;

use super::{Effect, Tool, prepared, read, schema};
use crate::{
    cli::{
        Context,
        delegate::{Wanted, handed},
    },
    mcp::answer,
    ui::CommandError,
};

pub(super) const TOOL: Tool = Tool {
    name: "delegate",
    about: "Have an executor analyze the repository.",
    effect: Effect::AsksOthers,
    schema: schema::<Wanted>,
    call,
};

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let wanted: Wanted = read(arguments)?;
    prepared(context)?;
    let text = handed(context, wanted)?;
    Ok(answer::cut(&text, answer::MOST))
}
