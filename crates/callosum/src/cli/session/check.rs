//! `callosum session check` and `handoff`: the checkpoint before a context is cleared, and the end of
//! a session.

use callosum_session::{
    Config, HandedOff, NewHandoff,
    checkpoint::{Checked, Outcome},
    grounding::Threshold,
};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AgentArgs, agent, explain, grounding::GroundingOutput, heal, session, tell_mended,
    tell_redacted, zones,
};
use crate::{
    cli::{bead::mirror, context::Context},
    ui::{CommandError, Exit},
};

/// Go through the seven steps before a context is cleared
///
/// Ends with 0 where it may be cleared, and 1 where decisions lack evidence or a feature was called
/// missing without being looked for; .loa.config.yaml may make that a warning. The hand-off is
/// written by `callosum session handoff`.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session check --agent reviewing-code
  $ callosum session check --agent reviewing-code --threshold 0.9")]
pub(crate) struct CheckArgs {
    /// The share of claims that must be grounded, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.95")]
    threshold: String,
    #[command(flatten)]
    agent: AgentArgs,
}

/// `callosum session check --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct CheckpointOutput {
    /// Whether the context may be cleared.
    pub(crate) permitted: bool,
    /// The seven steps.
    pub(crate) steps: Vec<StepOutput>,
    /// The claims.
    pub(crate) grounding: GroundingOutput,
}

/// A step of the checkpoint.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct StepOutput {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// Its name.
    pub(crate) name: String,
    /// `pass`, `done`, `warn`, `block` or `skip`.
    pub(crate) outcome: String,
    /// What there is to say.
    pub(crate) said: Vec<String>,
}

/// End the session: write the hand-off to bead, trajectory and NOTES.md
///
/// What is claimed from then on counts anew. It is written whatever the checkpoint says; decisions
/// that lack evidence are named in it.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session handoff
  $ callosum session handoff --to reviewing-code --reasoning \"the pool is too small\"")]
pub(crate) struct HandoffArgs {
    /// The agent that is to go on
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// What was being thought about
    #[arg(long, value_name = "WORDS")]
    reasoning: Option<String>,
    /// The client's name of the session
    #[arg(long = "session", value_name = "ID")]
    session_id: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

/// `callosum session handoff --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct HandoffOutput {
    /// When.
    pub(crate) ts: String,
    /// The session's name.
    pub(crate) session_id: String,
    /// The bead that has it.
    pub(crate) bead: Option<String>,
    /// The share of claims that are grounded, with two decimals, cut.
    pub(crate) grounding_ratio: String,
    /// Where the session's decisions stand in NOTES.md.
    pub(crate) notes_refs: Vec<String>,
    /// Where the record stands in the trajectory: `file:line`.
    pub(crate) trajectory: String,
}

pub(super) fn check(context: &Context, args: &CheckArgs) -> Result<(), CommandError> {
    let threshold = Threshold::parse(&args.threshold)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    let zones = zones(context);
    let session = session(context, &zones, args.agent.agent()?);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    for fault in &config.faults {
        context.ui.warn(&format!(".loa.config.yaml: {fault}"), None);
    }
    let held = session.hold().map_err(|error| explain(&error))?;
    tell_mended(context, &held);
    let checked = held
        .check(&config, &threshold)
        .map_err(|error| explain(&error))?;
    let output = CheckpointOutput::of(&checked, &threshold);
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let mut text = String::new();
        for step in &output.steps {
            text.push_str(&step.line());
        }
        context.ui.foreign(&text)?;
    }
    if output.permitted {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

impl CheckpointOutput {
    fn of(checked: &Checked, threshold: &Threshold) -> Self {
        let steps = checked
            .steps
            .iter()
            .zip(1..)
            .map(|(step, number)| StepOutput {
                number,
                name: step.name.to_owned(),
                outcome: step.outcome.to_string(),
                said: match step.outcome {
                    Outcome::Skipped => Vec::new(),
                    _ => step.said.clone(),
                },
            });
        Self {
            permitted: checked.permits(),
            steps: steps.collect(),
            grounding: GroundingOutput::of(&checked.grounding, threshold),
        }
    }
}

impl StepOutput {
    fn line(&self) -> String {
        let mut text = format!("{}. {}: {}\n", self.number, self.name, self.outcome);
        for said in &self.said {
            text.push_str("   ");
            text.push_str(said);
            text.push('\n');
        }
        text
    }
}

pub(super) fn hand_off(context: &Context, args: &HandoffArgs) -> Result<(), CommandError> {
    let zones = zones(context);
    let session = session(context, &zones, args.agent.agent()?);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    let new = NewHandoff {
        to: args.to.as_deref().map(agent).transpose()?,
        reasoning: args.reasoning.clone(),
        session_id: args.session_id.clone(),
        scenarios: config.scenarios,
    };
    let held = session.hold().map_err(|error| explain(&error))?;
    tell_mended(context, &held);
    let handed = held.hand_off(&new).map_err(|error| explain(&error))?;
    tell_redacted(context, &handed.redacted);
    let pruned = held
        .prune(&config.retention)
        .map_err(|error| explain(&error))?;
    heal::tell_pruned(context, &pruned);
    drop(held);
    if let Some(id) = &handed.bead {
        let (ts, session) = (&handed.ts, &handed.session_id);
        let words = format!("Hand-off of {ts}, {session}: grounding {}", handed.ratio);
        mirror::tell(context, id, &words);
    }
    let output = HandoffOutput::of(&handed);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let ratio = &output.grounding_ratio;
    context.ui.data(&format!(
        "{} {} grounding {ratio}\n",
        output.ts, output.session_id
    ))
}

impl HandoffOutput {
    fn of(handed: &HandedOff) -> Self {
        Self {
            ts: handed.ts.clone(),
            session_id: handed.session_id.clone(),
            bead: handed.bead.as_ref().map(ToString::to_string),
            grounding_ratio: handed.ratio.clone(),
            notes_refs: handed.notes_refs.clone(),
            trajectory: handed.written.trajectory.clone(),
        }
    }
}
