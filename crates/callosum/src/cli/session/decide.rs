//! Arguments and output of `callosum session decide`.
//!
//! The use case is [`mod@callosum_app::session::decide`].

use callosum_app::CommandError;
use callosum_app::session::decide::{DecideOutput, bead_id, decide};
use callosum_app::session::place;
use callosum_session::{EvidenceKind, NewDecision};
use clap::{Args, ValueEnum};

use super::AgentArgs;
use crate::cli::context::Context;

/// Record a decision in NOTES.md, the current bead and the trajectory
///
/// Each cited place is quoted from its file, with as many more lines as make the quote unique. When this command
/// returns, the decision is on disk in all three places. If it is killed earlier, the next process completes the
/// decision, or nothing of it is recorded.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session decide \"Use one pool\" --reason \"fewer sockets\" --source assumption
  $ callosum session decide \"Drop retries\" --source user --acceptance \"a failed call fails\"")]
pub(crate) struct DecideArgs {
    /// Decision to record
    #[arg(value_name = "DECISION")]
    decision: String,
    /// Reason for the decision
    #[arg(long, value_name = "WHY")]
    reason: Option<String>,
    /// Supporting place, such as `src/a.rs:12`; may be given several times
    #[arg(long = "cite", value_name = "PLACE")]
    places: Vec<String>,
    /// Scenario to try before it counts as done; may be given several times
    #[arg(long = "acceptance", value_name = "WORDS")]
    scenarios: Vec<String>,
    /// Title of at most twelve words [default: the first words of the decision]
    #[arg(long)]
    title: Option<String>,
    /// Bead of the decision [default: the current bead]
    #[arg(long, value_name = "ID")]
    bead: Option<String>,
    /// Source of a decision that cites no place
    #[arg(long, value_enum, conflicts_with = "places")]
    source: Option<DecisionSource>,
    /// Client's id of the session
    #[arg(long = "session", value_name = "ID")]
    session_id: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

/// Source of a decision without a cited place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DecisionSource {
    /// The user's own words
    User,
    /// An assumption, without evidence so far
    Assumption,
}

/// Prints what was written.
pub(super) fn print(context: &Context, output: &DecideOutput) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(output);
    }
    context.ui.read_by_all(&output.as_text())
}

pub(super) fn run(context: &Context, args: &DecideArgs) -> Result<(), CommandError> {
    let places = args.places.iter().map(|text| place(context, text));
    let ground = match args.source {
        Some(DecisionSource::Assumption) => EvidenceKind::Assumption,
        Some(DecisionSource::User) => EvidenceKind::UserInput,
        None => EvidenceKind::Nothing,
    };
    let new = NewDecision {
        decision: args.decision.clone(),
        title: args.title.clone(),
        rationale: args.reason.clone(),
        places: places.collect::<Result<_, _>>()?,
        scenarios: args.scenarios.clone(),
        bead: args.bead.as_deref().map(bead_id).transpose()?,
        ground,
        session_id: args.session_id.clone(),
        call: None,
    };
    print(context, &decide(context, args.agent.agent()?, &new)?)
}
