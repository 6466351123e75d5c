//! Arguments and output of `callosum executor list`.
//!
//! The use case is [`callosum_app::executor::list`].

use callosum_app::CommandError;
use callosum_app::executor::list::{ExecutorOutput, ListOutput, next_line};
use callosum_app::executor_pool::Roster;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;
use crate::ui::Table;

/// List the registered executors
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor list
  $ callosum executor list --json")]
pub(crate) struct ListArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    let roster = Roster::load(context)?;
    // A list should be readable even if nothing can be run.
    let surroundings = context.surroundings().ok();
    let executors: Vec<ExecutorOutput> = roster
        .registry()
        .executors()
        .iter()
        .map(|executor| ExecutorOutput::of(executor, &roster, surroundings.as_ref()))
        .collect();
    let choice = roster.choice();
    if context.ui.json {
        let (next_executor, next_reason) = choice.next().map(|next| (next.id, next.why)).unzip();
        return context.ui.json_data(&ListOutput {
            executors,
            next_executor,
            next_reason,
        });
    }
    let mut table = Table::new(&[
        "id", "type", "status", "enabled", "priority", "version", "confined", "command",
    ]);
    for executor in executors {
        let enabled = if executor.enabled { "yes" } else { "no" };
        let command = on_one_line(&executor.way);
        table.row([
            executor.id,
            executor.r#type,
            if executor.trusted {
                executor.status
            } else {
                "not trusted".to_owned()
            },
            enabled.to_owned(),
            executor.priority.to_string(),
            executor.version,
            executor.confinement.level,
            command,
        ]);
    }
    context.ui.data(&table.render())?;
    context.report.say(&next_line(&choice));
    Ok(())
}
