//! Arguments and output of `callosum intent list`.
//!
//! The use case is [`callosum_app::intent::read`].

use std::cmp::Reverse;

use callosum_app::intent::output::ListedIntentOutput;
use callosum_app::intent::{IntentListOutput, LinkStates, read};
use callosum_app::{CommandError, many};
use callosum_intent::graph::Status;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::cli::context::Context;
use crate::ui::{Table, shown_time};

/// List intents, the most urgent first
///
/// Lists those that have not ended, unless --all or --status is given.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum intent list
  $ callosum intent list --status executing --json")]
pub(crate) struct ListArgs {
    /// Only intents with this status (may be repeated)
    #[arg(long, value_parser = PossibleValuesParser::new(Status::ALL.map(Status::as_str)))]
    status: Vec<String>,
    /// Also those that are completed, failed, aborted or archived
    #[arg(long)]
    all: bool,
}

pub(super) fn run(context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    let graph = read(context)?;
    let is_wanted = |status: Status| match args.status.as_slice() {
        [] => args.all || !status.is_closed(),
        wanted => wanted.iter().any(|one| one == status.as_str()),
    };
    let mut intents = graph.intents();
    intents.retain(|intent| is_wanted(intent.status));
    // The order of creation decides between two of the same priority.
    intents.sort_by_key(|intent| {
        (
            Reverse(intent.status.is_current()),
            Reverse(intent.priority),
        )
    });
    let states = if context.ui.json {
        LinkStates::gather(context, &graph, intents.iter().map(|intent| &intent.id))
    } else {
        // The table has no column for them.
        LinkStates::default()
    };
    let output = IntentListOutput {
        hidden: graph.len() - intents.len(),
        intents: intents
            .into_iter()
            .map(|intent| ListedIntentOutput::of(&graph, &states, intent))
            .collect(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.intents.is_empty() {
        let what = match output.hidden {
            0 => "no intents yet: callosum intent add GOAL".to_owned(),
            hidden => format!(
                "no intent to list, {} hidden: callosum intent list --all",
                many(hidden as u64, "other")
            ),
        };
        context.report.say(&what);
        return Ok(());
    }
    let mut table = Table::new(&["intent", "status", "priority", "updated", "name"]);
    for intent in output.intents {
        let mut name = on_one_line(&intent.name);
        if !intent.waits_for.is_empty() {
            name = format!("{name} (waits for {})", intent.waits_for.join(", "));
        }
        table.row([
            intent.id,
            intent.status,
            intent.priority.to_string(),
            shown_time(&intent.updated),
            name,
        ]);
    }
    context.ui.read_by_all(&table.render())
}
