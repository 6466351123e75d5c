//! Arguments and output of `callosum session decisions`.
//!
//! The use case is [`mod@callosum_app::session::decisions`].

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use callosum_app::CommandError;
use callosum_app::session::decisions::decisions;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;
use crate::ui::at_least_one;

/// List decisions and the status of their citations, newest first
///
/// With --json, also prints the hand-offs of the last days and the open questions.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session decisions
  $ callosum session decisions --limit 100 --json")]
pub(crate) struct DecisionsArgs {
    /// Print at most N decisions
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: NonZeroUsize,
}

pub(super) fn run(context: &Context, args: &DecisionsArgs) -> Result<(), CommandError> {
    let output = decisions(context, args.limit.get())?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.decisions.is_empty() {
        context.report.say("no decisions");
    }
    let mut text = String::new();
    for made in &output.decisions {
        let (title, status) = (on_one_line(&made.title), &made.status);
        let _ = writeln!(text, "{} {title} [{status}]", on_one_line(&made.ts));
        for cited in &made.citations {
            let (path, line) = (on_one_line(&cited.path), cited.first_line);
            let _ = writeln!(text, "  {path}:{line} {}: {}", cited.status, cited.meaning);
        }
    }
    if output.older > 0 {
        context
            .report
            .say(&format!("older decisions: {} (see --limit)", output.older));
    }
    context.ui.read_by_all(&text)
}
