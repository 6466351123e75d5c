//! `callosum session decide`: a decision, kept in notes, bead and trajectory.

use callosum_evidence::terminal::harmless;
use callosum_session::{Decided, Ground, NewDecision, bead::BeadId, trajectory::Agent};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::{AgentArgs, heal, place, session, tell_mended, tell_redacted, undecided, zones};
use crate::{
    cli::{bead::mirror, context::Context},
    ui::{CommandError, Exit},
};

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

/// `callosum session decide --json` and `callosum session cite --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DecideOutput {
    /// The time of the decision, which is its name.
    pub(crate) ts: String,
    /// Its title.
    pub(crate) title: String,
    /// The bead that has it.
    pub(crate) bead: Option<String>,
    /// The current bead, where it could not be written to.
    pub(crate) passed_over: Option<String>,
    /// What it cites, as it is written in NOTES.md.
    pub(crate) evidence: Vec<String>,
    /// The places of the same, without what stands there.
    #[serde(skip)]
    pub(crate) cited: Vec<String>,
    /// Places that it leans on no more, since they did not hold any more.
    pub(crate) replaced: Vec<String>,
    /// Where it stands in the trajectory: `file:line`.
    pub(crate) trajectory: String,
    /// Kinds of secrets that were taken out.
    pub(crate) redacted: Vec<String>,
}

impl DecideOutput {
    pub(super) fn of(decided: &Decided) -> Self {
        let evidence = decided.decision.evidence.iter();
        Self {
            ts: decided.decision.ts.clone(),
            title: decided.decision.title.clone(),
            bead: decided.bead.as_ref().map(ToString::to_string),
            passed_over: decided.passed_over.as_ref().map(|(id, _)| id.clone()),
            evidence: evidence
                .filter_map(callosum_session::evidence::Evidence::written)
                .collect(),
            cited: decided
                .decision
                .evidence
                .iter()
                .map(callosum_session::evidence::Evidence::identifier)
                .collect(),
            replaced: decided
                .replaced
                .iter()
                .map(|(gone, _)| gone.identifier())
                .collect(),
            trajectory: decided.written.trajectory.clone(),
            redacted: decided
                .redacted
                .iter()
                .map(|kind| kind.name().to_owned())
                .collect(),
        }
    }

    /// The decision's name and title, and a line for each place that it cites.
    pub(crate) fn as_text(&self) -> String {
        let mut text = format!("{}\n", self.name());
        for cited in &self.evidence {
            text.push_str("- ");
            text.push_str(cited);
            text.push('\n');
        }
        text
    }

    /// Returns the decision's name with its title.
    pub(crate) fn name(&self) -> String {
        // Of two decisions of one time, the name has the title.
        if self.ts.ends_with(&format!(" - {}", self.title)) {
            self.ts.clone()
        } else {
            format!("{} - {}", self.ts, self.title)
        }
    }
}

/// The id of a bead as a person types it.
pub(crate) fn bead_id(text: &str) -> Result<BeadId, CommandError> {
    BeadId::new(text).ok_or_else(|| {
        CommandError::new(Exit::Usage, format!("`{text}` is not a bead id"))
            .hint("an id is letters, then `-`, then letters, digits or dots: bd-x7y8")
    })
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
        Some(DecisionSource::Assumption) => Ground::Assumption,
        Some(DecisionSource::User) => Ground::UserInput,
        None => Ground::Nothing,
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

/// Tells `bd` of a decision.
pub(crate) fn tell_bd_decided(context: &Context, decided: &Decided) {
    if let Some(id) = &decided.bead {
        let made = &decided.decision;
        let words = format!("Decision of {}: {}", made.ts, made.decision);
        mirror::tell(context, id, &words);
    }
}

/// The decision that a call of a plan made, by its key, once what a killed process had begun is done.
pub(crate) fn decided_by(
    context: &Context,
    agent: Agent,
    call: &str,
) -> Result<Option<DecideOutput>, CommandError> {
    let zones = zones(context);
    let session = session(context, &zones, agent);
    let held = session.hold().map_err(|error| super::explain(&error))?;
    tell_mended(context, &held);
    let made = held
        .decided_by(call)
        .map_err(|error| super::explain(&error))?;
    Ok(made.as_ref().map(DecideOutput::of))
}

/// Keeps a decision of this agent's. What there is to say of it beside what it is, is said.
pub(crate) fn decide(
    context: &Context,
    agent: Agent,
    new: &NewDecision,
) -> Result<DecideOutput, CommandError> {
    let zones = zones(context);
    let session = session(context, &zones, agent);
    let held = session.hold().map_err(|error| super::explain(&error))?;
    tell_mended(context, &held);
    heal::heal_torn_notes(context, &held)?;
    match &new.bead {
        None => heal::heal_current_bead(context, &held)?,
        Some(id) => mirror::adopt(context, &held, id)?,
    }
    let decided = held.decide(new).map_err(|error| undecided(&error))?;
    tell_redacted(context, &decided.redacted);
    drop(held);
    if let Some((id, why)) = &decided.passed_over {
        let what = format!("the decision is not part of the current bead `{id}`: {why}");
        context
            .report
            .warn(&harmless(&what), Some("callosum bead update ID --current"));
    }
    tell_bd_decided(context, &decided);
    if new.places.is_empty() && new.ground == Ground::Nothing {
        let hint = format!("callosum session cite {} src/a.rs:12", decided.decision.ts);
        context
            .report
            .warn("this decision has no evidence yet", Some(&hint));
    }
    Ok(DecideOutput::of(&decided))
}
