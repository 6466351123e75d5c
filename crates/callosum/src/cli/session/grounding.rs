//! Arguments and output of `callosum session grounding`.
//!
//! The use case is [`callosum_app::session::grounding`].

use callosum_app::session::grounding::{GroundingOutput, unknown};
use callosum_app::session::{agent, mend, session};
use callosum_app::{CommandError, Exit, shell_word};
use callosum_session::ClaimScope;
use callosum_session::evidence::Tree;
use callosum_session::grounding::{Grounding, Threshold};
use callosum_session::trajectory::DEFAULT_AGENT;
use clap::Args;

use crate::cli::context::Context;

/// Print the share of claims whose quotes are in the tree
///
/// Counts claims since the last handoff. Prints the same lines as grounding-check.sh, and each claim that is not
/// grounded on stderr. Exits with 0 if the share reaches the threshold, and with 1 if not. Exits with 2 for an invalid
/// argument, or if the share cannot be determined.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session grounding reviewing-code
  $ callosum session grounding reviewing-code 0.9 --json")]
pub(crate) struct GroundingArgs {
    /// Agent whose trajectory is read
    #[arg(value_name = "AGENT", default_value = DEFAULT_AGENT)]
    agent: String,
    /// Minimum share, from 0 to 1
    #[arg(
        value_name = "THRESHOLD",
        default_value = "0.95",
        allow_hyphen_values = true
    )]
    threshold: String,
}

pub(super) fn run(context: &Context, args: &GroundingArgs) -> Result<(), CommandError> {
    judge(context, args).map_err(unknown)
}

fn judge(context: &Context, args: &GroundingArgs) -> Result<(), CommandError> {
    let agent = agent(&args.agent)?;
    let threshold = Threshold::parse(&args.threshold)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    let zones = context.zones();
    let session = session(context, &zones, agent);
    mend(context, &session);
    let read = session.recorded_since_handoff(ClaimScope::Own);
    let read = read.map_err(|error| callosum_app::session::explain(&error))?;
    if let Some(file) = read.recorded.not_files.first() {
        let what = format!("{file} is not a file, so its claims are unknown");
        let hint = format!(
            "inspect it, move it away, and check again: ls -ld {}",
            shell_word(file)
        );
        return Err(CommandError::new(Exit::Usage, what).hint(hint));
    }
    let tree = Tree::new(&context.disk, &zones.tree);
    let grounding = Grounding::of(&read, &tree);
    let output = GroundingOutput::of(&grounding, &threshold);
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&grounding.lines(&threshold))?;
        for (file, bad) in &read.recorded.bad {
            context
                .report
                .say(&callosum_redact::terminal_escape::harmless(&format!(
                    "{file}: lines that are not records: {}",
                    bad.count
                )));
        }
        for claim in &output.ungrounded {
            let line = format!("{}: {} ({})", claim.at, claim.claim, claim.why);
            context
                .report
                .say(&callosum_redact::terminal_escape::harmless(&line));
        }
    }
    if grounding.passes(&threshold) {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
