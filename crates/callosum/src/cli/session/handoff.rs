//! Arguments and output of `callosum session handoff`.
//!
//! The use case is [`callosum_app::session::handoff`].

use callosum_app::session::handoff::{
    HandoffOutput, ReceivedOutput, deliver, hold_other, shown, tell_bd,
};
use callosum_app::session::recipient::recipient;
use callosum_app::session::{
    check, explain, heal, repos, say_moved, session, tell_faults, tell_mended, tell_redacted,
};
use callosum_app::{CommandError, Exit};
use callosum_redact::terminal_escape::harmless;
use callosum_session::grounding::Threshold;
use callosum_session::trajectory::Agent;
use callosum_session::{Config, HandoffError, NewHandoff};
use clap::Args;

use super::WhoseArgs;
use crate::cli::context::Context;

/// End the session: write the handoff to bead, trajectory and NOTES.md
///
/// The handoff starts a new count of claims, so it is written only if `callosum session check` permits it. With --force
/// it is written anyway; the record marks that, and names the decisions that lack evidence. With --repo, the handoff
/// goes to another project that this machine knows. The next session there gets it: a session of the agent that --to
/// names, or of any agent. Exits with 1 if the checkpoint blocks and nothing was written.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session handoff --agent reviewing-code
  $ callosum session handoff --repo ../server --force --reason \"the pool is theirs\"
  $ callosum session handoff --force --to codex --reason \"the pool is too small\"")]
pub(crate) struct HandoffArgs {
    /// Agent to continue: a client, or an executor of the registry
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// Project whose next session continues [default: this project]
    #[arg(long, value_name = "PATH")]
    repo: Option<String>,
    /// Reasoning in progress
    #[arg(long, value_name = "WORDS")]
    reason: Option<String>,
    /// Client's id of the session
    #[arg(long = "session", value_name = "ID")]
    session_id: Option<String>,
    /// Write the handoff even if the checkpoint blocks
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    whose: WhoseArgs,
}

pub(super) fn run(context: &Context, args: &HandoffArgs) -> Result<(), CommandError> {
    let zones = context.zones();
    let (agent, whose) = args.whose.whose()?;
    let to = args.to.as_deref();
    let to = to.map(|name| recipient(context, name)).transpose()?;
    let other = args.repo.as_deref();
    let other = other
        .map(|path| repos::receiving(context, path))
        .transpose()?;
    let sender = agent.clone();
    let session = session(context, &zones, agent);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let new = NewHandoff {
        to,
        repository: other.as_ref().map(|other| shown(&other.root)),
        reasoning: args.reason.clone(),
        session_id: args.session_id.clone(),
        whose,
        is_forced: args.force,
        bead: None,
    };
    let renames = heal::renames(context);
    let mut held = session.hold().map_err(|error| explain(&error))?;
    tell_mended(context, &held);
    heal::heal_torn_notes(context, &held)?;
    heal::look_for_merges(context, &mut held)?;
    held.set_history(&renames);
    // Held before anything is written, so that both sessions get the record or neither.
    let receiving = match &other {
        Some(other) => Some(hold_other(context, other, &sender)?),
        None => None,
    };
    let handed = match held.hand_off(&new, &config) {
        Ok(handed) => handed,
        Err(error) => return Err(not_handed(context, &error)),
    };
    tell_redacted(context, &handed.redacted);
    say_moved(context, &handed.checked.moved);
    let received = receiving
        .map(|receiving| deliver(context, &receiving, &new, &sender, &handed))
        .transpose()?;
    let pruned = held
        .prune(&config.retention)
        .map_err(|error| explain(&error))?;
    heal::tell_pruned(context, &pruned);
    drop(held);
    tell_bd(context, &handed);
    let repo = other
        .zip(received)
        .map(|(other, trajectory)| ReceivedOutput {
            root: shown(&other.root),
            trajectory,
        });
    let output = HandoffOutput {
        repo,
        ..HandoffOutput::of(&handed)
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if let Some(repo) = &output.repo {
        let what = format!("the next session of {} will see the hand-off", repo.root);
        context.report.say(&harmless(&what));
    }
    let to = new.to.as_ref().map_or("the next session", Agent::as_str);
    let grounding = &handed.checked.grounding;
    let decisions = decisions(grounding.total(), grounding.grounded());
    let numbers = if context.ui.verbose {
        let HandoffOutput {
            ts,
            session_id,
            grounding_ratio,
            ..
        } = &output;
        format!("{ts} {session_id} grounding {grounding_ratio}\n")
    } else {
        String::new()
    };
    context
        .ui
        .data(&format!("handed off to {to}: {decisions}\n{numbers}"))
}

/// Returns how many decisions are handed off, and how many of them have evidence.
fn decisions(total: usize, grounded: usize) -> String {
    match (total, grounded) {
        (0, _) => "no new decisions".to_owned(),
        (1, 1) => "1 decision, with evidence".to_owned(),
        (1, _) => "1 decision, without evidence".to_owned(),
        _ if total == grounded => format!("{total} decisions, all with evidence"),
        _ => format!("{total} decisions, {grounded} with evidence"),
    }
}

/// Explains why nothing was handed off: if the checkpoint blocks, prints its steps.
pub(crate) fn not_handed(context: &Context, error: &HandoffError) -> CommandError {
    let checked = match error {
        HandoffError::Session(error) => return explain(error),
        HandoffError::Blocked(checked) => checked,
    };
    let output = check::CheckpointOutput::of(checked, &Threshold::default());
    let printed = if context.ui.json {
        context.ui.json_data(&output)
    } else {
        context.ui.read_by_all(&check::shown(&output.steps))
    };
    if let Err(error) = printed {
        return error;
    }
    let what = "not handed off: the checkpoint blocks it";
    CommandError::new(Exit::No, what)
        .hint("add evidence, or hand off without it: callosum session handoff --force")
}
