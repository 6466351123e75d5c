//! Arguments and output of `callosum ledger cost`.
//!
//! The use case is [`mod@callosum_app::ledger::cost`].

use callosum_app::ledger::cost::{SpendingOutput, cost};
use callosum_app::ledger::filter::Filter;
use callosum_app::{CommandError, thousands};
use clap::Args;

use super::filter::FilterArgs;
use crate::cli::context::Context;
use crate::ui::Table;

/// Sum up tokens, money and time by day, executor and agent
///
/// Tokens and prices are those that executors report. The time of a task is known while its start is in the newest 32 MiB
/// of the audit journal. Days are in UTC.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger cost
  $ callosum ledger cost --since 7d --json")]
pub(crate) struct CostArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(super) fn run(context: &Context, args: &CostArgs) -> Result<(), CommandError> {
    let output = cost(context, &Filter::from(&args.filter))?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.total.entries == 0 {
        context.report.say("no entry matches");
        return Ok(());
    }
    let mut text = String::new();
    for (kind, sums) in [
        ("day", &output.days),
        ("executor", &output.executors),
        ("agent", &output.agents),
    ] {
        let mut table = Table::new(&[kind, "entries", "tokens", "usd", "seconds"]);
        for sum in sums {
            table.row(row(sum));
        }
        text.push_str(&table.render());
        text.push('\n');
    }
    let mut table = Table::new(&["sum", "entries", "tokens", "usd", "seconds"]);
    table.row(row(&output.total));
    text.push_str(&table.render());
    context.ui.data(&text)
}

/// Returns a row. `-` means that no entry states a price or has a known start.
fn row(sum: &SpendingOutput) -> [String; 5] {
    let known = |count: u64, text: String| if count > 0 { text } else { "-".to_owned() };
    [
        sum.name.clone(),
        thousands(sum.entries),
        thousands(sum.tokens_used),
        known(sum.priced, format!("{:.2}", sum.cost_usd)),
        known(sum.timed, format!("{:.1}", sum.seconds)),
    ]
}
