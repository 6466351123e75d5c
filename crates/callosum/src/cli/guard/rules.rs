//! Arguments and output of `callosum guard rules`.
//!
//! The use case is [`callosum_app::guard::rules`].

use callosum_app::guard::rules::{RulesOutput, all};
use callosum_app::{CommandError, Exit};
use clap::Args;

use super::gather_facts::StrictnessArgs;
use crate::cli::context::Context;
use crate::ui::Table;

/// List the guard's rules and their decisions
///
/// Without WORDS, lists all rules. WORDS select rules whose id or reason contains each of them.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard rules
  $ callosum guard rules git
  $ callosum guard rules --set")]
pub(crate) struct RulesArgs {
    #[command(flatten)]
    strictness: StrictnessArgs,
    /// Only rules whose id or reason contains these words
    words: Vec<String>,
    /// Only rules whose decision a person has set
    #[arg(long)]
    set: bool,
}

pub(super) fn run(context: &Context, args: &RulesArgs) -> Result<(), CommandError> {
    let policy = args.strictness.policy(context)?;
    let mut rules = all(context, &policy)?;
    rules.retain(|rule| {
        let mut words = args.words.iter();
        let is_meant = words.all(|word| {
            let word = word.to_lowercase();
            rule.id.contains(&word) || rule.reason.to_lowercase().contains(&word)
        });
        is_meant && (!args.set || rule.set_for.is_some())
    });
    if context.ui.json {
        return context.ui.json_data(&RulesOutput { rules });
    }
    if rules.is_empty() {
        return Err(CommandError::new(Exit::No, "no rule matches").hint("callosum guard rules"));
    }
    let mut table = Table::new(&["rule", "decision", "reason"]);
    for rule in &rules {
        let decision = match &rule.set_for {
            Some(whose) => format!("{} (set for {whose})", rule.decision),
            None => rule.decision.clone(),
        };
        table.row([rule.id.clone(), decision, rule.reason.clone()]);
    }
    context.ui.data(&table.render())
}
