//! `callosum session handoff`: the end of a session, and who is to go on.

use callosum_session::{Config, HandedOff, HandoffError, NewHandoff, grounding::Threshold};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    WhoseArgs, check, explain, heal, recipient::recipient, session, tell_faults, tell_mended,
    tell_redacted, zones,
};
use crate::{
    cli::{bead::mirror, context::Context},
    ui::{CommandError, Exit},
};

/// End the session: write the hand-off to bead, trajectory and NOTES.md
///
/// What is claimed from then on counts anew, so it is written only where `callosum session check`
/// permits it. With --force it is written all the same: the record says so, and names the decisions
/// that lack evidence. Ends with 1 where nothing was written because the checkpoint blocks.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session handoff --agent reviewing-code
  $ callosum session handoff --force --to codex --reasoning \"the pool is too small\"")]
pub(crate) struct HandoffArgs {
    /// The agent that is to go on: a client, or an executor of the registry
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// What was being thought about
    #[arg(long, value_name = "WORDS")]
    reasoning: Option<String>,
    /// The client's name of the session
    #[arg(long = "session", value_name = "ID")]
    session_id: Option<String>,
    /// Write it although the checkpoint blocks
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    whose: WhoseArgs,
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
    /// Whether the checkpoint blocked, and it was written all the same.
    pub(crate) forced: bool,
    /// Whether every gate of the checkpoint was in order.
    pub(crate) next_session_ready: bool,
    /// Where the session's decisions stand in NOTES.md.
    pub(crate) notes_refs: Vec<String>,
    /// Where the record stands in the trajectory: `file:line`.
    pub(crate) trajectory: String,
}

pub(super) fn run(context: &Context, args: &HandoffArgs) -> Result<(), CommandError> {
    let zones = zones(context);
    let (agent, whose) = args.whose.whose()?;
    let to = args.to.as_deref();
    let to = to.map(|name| recipient(context, name)).transpose()?;
    let session = session(context, &zones, agent);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let new = NewHandoff {
        to,
        reasoning: args.reasoning.clone(),
        session_id: args.session_id.clone(),
        whose,
        is_forced: args.force,
    };
    let held = session.hold().map_err(|error| explain(&error))?;
    tell_mended(context, &held);
    let handed = match held.hand_off(&new, &config) {
        Ok(handed) => handed,
        Err(HandoffError::Session(error)) => return Err(explain(&error)),
        Err(HandoffError::Blocked(checked)) => {
            let output = check::CheckpointOutput::of(&checked, &Threshold::default());
            if context.ui.json {
                context.ui.json_data(&output)?;
            } else {
                context.ui.read_by_all(&check::shown(&output.steps))?;
            }
            let what = "nothing was handed off, since the checkpoint blocks";
            return Err(CommandError::new(Exit::No, what)
                .hint("add the evidence, or say so: callosum session handoff --force"));
        }
    };
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
            forced: !handed.checked.permits(),
            next_session_ready: handed.checked.is_in_order(),
            notes_refs: handed.notes_refs.clone(),
            trajectory: handed.written.trajectory.clone(),
        }
    }
}
