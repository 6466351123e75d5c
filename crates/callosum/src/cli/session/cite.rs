//! `callosum session cite`: evidence for a decision that was made before.

use callosum_app::CommandError;
use callosum_app::session::decide::DecideOutput;
use callosum_app::session::{
    heal, place, say_moved, session, tell_mended, tell_redacted, undecided,
};
use callosum_redact::terminal_escape::harmless;
use callosum_session::ClaimScope;
use clap::{Args, ValueEnum};

use super::{AgentArgs, decide};
use crate::cli::context::Context;

/// Add evidence to a decision, identified by its time
///
/// Earlier evidence of the decision that is no longer valid does not count from then on. It is removed from NOTES.md,
/// and stays in the records of bead and trajectory.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session cite 2026-01-02T03:04:05Z src/a.rs:12
  $ callosum session cite 2026-01-02T03:04:05Z --source assumption")]
pub(crate) struct CiteArgs {
    /// Time of the decision, as in NOTES.md
    #[arg(value_name = "TIME")]
    ts: String,
    /// Places that support the decision, such as `src/a.rs:12`
    #[arg(value_name = "PLACE", required_unless_present = "source")]
    places: Vec<String>,
    /// Source of a decision that no longer has evidence
    #[arg(long, value_enum, conflicts_with = "places")]
    source: Option<CitedSource>,
    #[command(flatten)]
    agent: AgentArgs,
}

/// Source of a decision in place of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CitedSource {
    /// An assumption
    Assumption,
}

pub(super) fn run(context: &Context, args: &CiteArgs) -> Result<(), CommandError> {
    let places: Vec<_> = args
        .places
        .iter()
        .map(|text| place(context, text))
        .collect::<Result<_, _>>()?;
    let zones = context.zones();
    let session = session(context, &zones, args.agent.agent()?);
    let renames = heal::renames(context);
    let mut held = session
        .hold()
        .map_err(|error| callosum_app::session::explain(&error))?;
    tell_mended(context, &held);
    heal::heal_torn_notes(context, &held)?;
    // Otherwise what the decision cites of a moved file would count as replaced.
    held.set_history(&renames);
    let moved = held.follow_moves(ClaimScope::Everyone);
    say_moved(
        context,
        &moved.map_err(|error| callosum_app::session::explain(&error))?,
    );
    let cited = if args.source == Some(CitedSource::Assumption) {
        held.assume(&args.ts)
    } else {
        held.cite(&args.ts, &places)
    };
    let cited = cited.map_err(|error| undecided(&error))?;
    tell_redacted(context, &cited.redacted);
    for (gone, standing) in &cited.replaced {
        let what = format!("no longer relies on {}: {standing}", gone.identifier());
        context.report.say(&harmless(&what));
    }
    decide::print(context, &DecideOutput::of(&cited))
}
