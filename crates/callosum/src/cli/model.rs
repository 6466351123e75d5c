//! Arguments and output of `callosum model`.
//!
//! The use case is [`callosum_app::model`].

use callosum_app::model::{check, list};
use callosum_app::{CommandError, Exit};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use super::context::Context;
use crate::ui::Table;

/// List and check the models that plans can ask
///
/// A model is one of your configuration (`[models.NAME]`), or an executor that takes tasks: Claude Code, Codex, Gemini
/// CLI, Ollama, a server with OpenAI's interface.
/// `callosum do` asks them for plans and votes, and plans call them with `:llm.infer` and `:nlp.*`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    List(ListArgs),
    Check(CheckArgs),
}

/// List the models, those first that are asked without being named
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum model list
  $ callosum model list --json")]
pub(crate) struct ListArgs {}

/// Ask models a short question
///
/// This uses a few tokens of each model. Without a name, all ready models are asked.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum model check echo")]
pub(crate) struct CheckArgs {
    /// Ids of models
    #[arg(value_name = "MODEL")]
    models: Vec<String>,
}

pub(super) fn run(context: &Context, command: &ModelCommand) -> Result<(), CommandError> {
    match command {
        ModelCommand::List(ListArgs {}) => {
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
        ModelCommand::Check(args) => {
            let output = check(context, &args.models)?;
            let silent = output.models.iter().filter(|model| !model.answered).count();
            if context.ui.json {
                context.ui.json_data(&output)?;
            } else {
                for model in &output.models {
                    let seconds = model.milliseconds / 1000;
                    let tenths = model.milliseconds / 100 % 10;
                    let how = if model.answered { "answered" } else { "failed" };
                    let id = on_one_line(&model.id);
                    let text = on_one_line(&model.text);
                    let tokens = callosum_app::many(model.tokens, "token");
                    let line = format!("{id}: {how} in {seconds}.{tenths} s, {tokens}: {text}\n");
                    context.ui.foreign(&line)?;
                }
            }
            match silent {
                0 => Ok(()),
                _ if context.ui.json => Err(CommandError::told(Exit::No)),
                silent => {
                    let count = callosum_app::many(silent as u64, "model");
                    Err(
                        CommandError::new(Exit::No, format!("{count} gave no answer"))
                            .hint("callosum executor check"),
                    )
                }
            }
        }
    }
}
