//! Arguments and output of `callosum model list`.

use callosum_app::CommandError;
use callosum_app::model::list;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;
use crate::ui::Table;

/// List the models, those first that are asked without being named
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum model list
  $ callosum model list --json")]
pub(crate) struct ListArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    let output = list(context)?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut table = Table::new(&[
        "model",
        "ready",
        "kind",
        "source",
        "place",
        "trust",
        "at its server",
    ]);
    for model in &output.models {
        table.row([
            on_one_line(&model.id),
            if model.ready { "yes" } else { "no" }.to_owned(),
            model.kind.clone(),
            model.source.clone(),
            model.place.clone(),
            model.trust_tier.to_string(),
            on_one_line(model.model.as_deref().unwrap_or("-")),
        ]);
    }
    for model in &output.models {
        if let Some(problem) = &model.problem {
            context.ui.warn(problem, None);
        }
    }
    context.ui.read_by_all(&table.render())
}
