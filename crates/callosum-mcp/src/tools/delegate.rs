//! `delegate`: an analysis by an executor. Only its checked summary comes back.

use serde_json::Value;

use super::{Effect, Tool, prepared, read, schema};
use crate::output_budget;
use callosum_app::CommandError;
use callosum_app::context::Context;
use callosum_app::delegate::{Wanted, handed};

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
    Ok(output_budget::cut(&text, output_budget::MOST))
}
