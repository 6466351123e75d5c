//! Arguments and output of `callosum intent tree`.
//!
//! The use case is [`callosum_app::intent::read`].

use std::fmt::Write as _;

use callosum_app::intent::link::LinkOutput;
use callosum_app::intent::output::TreeIntentOutput;
use callosum_app::intent::{IntentTreeOutput, LinkStates, find, read};
use callosum_app::{CommandError, many};
use callosum_intent::graph::TreeRow;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

/// Show intents as a tree of parts
///
/// Without ID, shows all intents that are not a part of another.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum intent tree
  $ callosum intent tree 0f3a --depth 1")]
pub(crate) struct TreeArgs {
    /// Id of the topmost intent, or its beginning
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Print at most N levels of parts
    #[arg(long, value_name = "N", default_value = "10")]
    depth: u16,
}

pub(super) fn run(context: &Context, args: &TreeArgs) -> Result<(), CommandError> {
    let graph = read(context)?;
    let roots = match &args.id {
        Some(id) => vec![find(&graph, id)?],
        None => graph.roots(),
    };
    let rows: Vec<TreeRow<'_>> = roots
        .into_iter()
        .flat_map(|root| graph.subtree(&root.id, args.depth.into()))
        .collect();
    let states = LinkStates::gather(context, &graph, rows.iter().map(|row| &row.intent.id));
    let output = IntentTreeOutput {
        intents: rows
            .iter()
            .map(|row| TreeIntentOutput::of(&graph, &states, row))
            .collect(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.intents.is_empty() {
        context
            .report
            .say("no intents yet: callosum intent add GOAL");
        return Ok(());
    }
    let mut text = String::new();
    for row in &output.intents {
        let indent = "  ".repeat(row.depth);
        let name = on_one_line(&row.name);
        let _ = write!(text, "{indent}{} {} {name}", row.id, row.status);
        let links: Vec<String> = row.links.iter().map(LinkOutput::line).collect();
        if !links.is_empty() {
            let _ = write!(text, " [{}]", links.join(", "));
        }
        if row.hidden > 0 {
            let _ = write!(text, " ({} below)", many(row.hidden as u64, "part"));
        }
        text.push('\n');
    }
    context.ui.read_by_all(&text)
}
