//! Arguments and output of `callosum model`.
//!
//! The use case is [`callosum_app::model`].

#[cfg(feature = "plans")]
mod list;

use callosum_app::model::check;
use callosum_app::{CommandError, Exit};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use super::context::Context;

/// List and check the models that plans can ask
///
/// A model is one of your configuration (`[models.NAME]`), or an executor that takes tasks: Claude Code, Codex, Gemini
/// CLI, Ollama, a server with OpenAI's interface.
/// `callosum do` asks them for plans and votes, and plans call them with `:llm.infer` and `:nlp.*`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    #[cfg(feature = "plans")]
    List(list::ListArgs),
    Check(CheckArgs),
}

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
        #[cfg(feature = "plans")]
        ModelCommand::List(list::ListArgs {}) => list::run(context),
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
