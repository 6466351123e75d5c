//! Arguments and output of `callosum bead create`.
//!
//! The use case is [`callosum_app::bead::change`].

use callosum_app::CommandError;
use callosum_app::bead::change::{Said, ids};
use callosum_app::bead::show::BeadOutput;
use callosum_app::bead::{mirror, nobody, unchanged, uncreated};
use callosum_app::session::{
    bead_id, explain, heal_torn_notes, look_for_merges, renames, say_moved, session, tell_bd,
    tell_bd_decided, tell_faults, tell_mended, tell_redacted, undecided,
};
use callosum_session::bead::{BeadUpdate, LAST_PRIORITY, NewBead, STATUSES};
use callosum_session::{Config, NewDecision, NewHandoff, Redaction};
use clap::builder::{PossibleValuesParser, RangedI64ValueParser};
use clap::{ArgGroup, Args};

use crate::cli::context::Context;
use crate::cli::session::not_handed;

/// Create a bead and print its id
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum bead create \"Rotate refresh tokens\"
  $ callosum bead create \"Say why\" --priority 0 --type bug")]
pub(crate) struct CreateArgs {
    /// Title of the task
    #[arg(value_name = "TITLE")]
    title: String,
    /// Id of the bead [default: generated]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Kind of task
    #[arg(long = "type", value_name = "KIND", default_value = "task")]
    kind: String,
    /// Priority, from 0 (most urgent) to 4
    #[arg(long, short, value_name = "NUMBER", default_value_t = 2, value_parser = priorities())]
    priority: i64,
    /// Bead that must be closed first; may be given several times
    #[arg(long = "add-dep", value_name = "ID")]
    needs: Vec<String>,
}

/// Change a bead
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("change").required(true).multiple(true).args([
    "title", "status", "priority", "assignee", "next_steps", "clear_next", "needs", "needs_no_more", "decision",
    "handoff", "current",
])))]
#[command(after_long_help = "\
Examples:
  $ callosum bead update bd-x7y8 --status in_progress --current
  $ callosum bead update bd-x7y8 --clear-next --next \"Blacklist on logout\"")]
pub(crate) struct UpdateArgs {
    /// Id of the bead
    #[arg(value_name = "ID")]
    id: String,
    /// New title
    #[arg(long)]
    title: Option<String>,
    /// New status
    #[arg(long, value_parser = PossibleValuesParser::new(STATUSES))]
    status: Option<String>,
    /// New priority, from 0 (most urgent) to 4
    #[arg(long, short, value_name = "NUMBER", value_parser = priorities())]
    priority: Option<i64>,
    /// New assignee
    #[arg(long, value_name = "NAME")]
    assignee: Option<String>,
    /// Next step to add; may be given several times
    #[arg(long = "next", value_name = "WORDS")]
    next_steps: Vec<String>,
    /// Remove all earlier next steps
    #[arg(long)]
    clear_next: bool,
    /// Bead that must be closed first; may be given several times
    #[arg(long = "add-dep", value_name = "ID")]
    needs: Vec<String>,
    /// Bead that no longer needs to be closed first; may be given several times
    #[arg(long = "remove-dep", value_name = "ID")]
    needs_no_more: Vec<String>,
    /// Decision to record in the bead, NOTES.md and the trajectory
    #[arg(long, value_name = "WORDS")]
    decision: Option<String>,
    /// End the session with a handoff in this bead
    ///
    /// WORDS is the reasoning in progress. `callosum session handoff` does the same in the current bead.
    #[arg(long, value_name = "WORDS")]
    handoff: Option<String>,
    /// Make it the current bead in NOTES.md
    #[arg(long)]
    current: bool,
}

/// Close a bead
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum bead close bd-x7y8")]
pub(crate) struct CloseArgs {
    /// Id of the bead
    #[arg(value_name = "ID")]
    id: String,
}

fn priorities() -> RangedI64ValueParser<i64> {
    clap::value_parser!(i64).range(0..=LAST_PRIORITY)
}

pub(super) fn create(context: &Context, args: &CreateArgs) -> Result<(), CommandError> {
    let new = NewBead {
        id: args.id.as_deref().map(bead_id).transpose()?,
        title: args.title.clone(),
        kind: args.kind.clone(),
        priority: args.priority,
        needs: ids(&args.needs)?,
    };
    let mut redaction = Redaction::default();
    let new = new.redacted(&mut redaction);
    let zones = context.zones();
    let session = session(context, &zones, nobody());
    let held = session.hold().map_err(|error| explain(&error))?;
    tell_mended(context, &held);
    let random = || {
        let id = context.ids.uuid_v4().replace('-', "");
        id[id.len() - 4..].to_owned()
    };
    let id = held
        .create_bead(&new, random)
        .map_err(|error| uncreated(&error))?;
    drop(held);
    tell_redacted(context, &redaction.kinds);
    mirror::create(context, &id, &new);
    let sheet = session.bead(&id).map_err(|error| explain(&error))?;
    if context.ui.json {
        return context.ui.json_data(&BeadOutput::of(context, &id, &sheet));
    }
    context.ui.data(&format!("{id}\n"))
}

pub(super) fn update(context: &Context, args: &UpdateArgs) -> Result<(), CommandError> {
    let update = BeadUpdate {
        title: args.title.clone(),
        status: args.status.clone(),
        priority: args.priority,
        assignee: args.assignee.clone(),
        next_steps: args.next_steps.clone(),
        clears_next_steps: args.clear_next,
        needs: ids(&args.needs)?,
        needs_no_more: ids(&args.needs_no_more)?,
        is_current: args.current,
    };
    let additions = Said {
        decision: args.decision.as_deref(),
        handoff: args.handoff.as_deref(),
    };
    changed(context, &args.id, &update, &additions)
}

pub(super) fn close(context: &Context, args: &CloseArgs) -> Result<(), CommandError> {
    let update = BeadUpdate {
        status: Some("closed".to_owned()),
        ..BeadUpdate::default()
    };
    changed(context, &args.id, &update, &Said::default())
}

fn changed(
    context: &Context,
    id: &str,
    update: &BeadUpdate,
    additions: &Said<'_>,
) -> Result<(), CommandError> {
    let id = bead_id(id)?;
    let mut redaction = Redaction::default();
    let update = update.redacted(&mut redaction);
    let zones = context.zones();
    let session = session(context, &zones, nobody());
    let renames = renames(context);
    let mut held = session.hold().map_err(|error| explain(&error))?;
    tell_mended(context, &held);
    mirror::adopt(context, &held, &id)?;
    if update.is_current || additions.decision.is_some() || additions.handoff.is_some() {
        heal_torn_notes(context, &held)?;
    }
    let mut decided = None;
    if let Some(decision) = additions.decision {
        let new = NewDecision {
            decision: decision.to_owned(),
            bead: Some(id.clone()),
            ..NewDecision::default()
        };
        let made = held.decide(&new).map_err(|error| undecided(&error))?;
        redaction.kinds.extend(made.redacted.clone());
        decided = Some(made);
    }
    held.update_bead(&id, &update)
        .map_err(|error| unchanged(&error))?;
    let handed = match additions.handoff {
        Some(reasoning) => {
            let config = Config::load(&session).map_err(|error| explain(&error))?;
            tell_faults(context, &config);
            look_for_merges(context, &mut held)?;
            held.set_history(&renames);
            let new = NewHandoff {
                bead: Some(id.clone()),
                reasoning: Some(reasoning.to_owned()),
                ..NewHandoff::default()
            };
            Some(held.hand_off(&new, &config))
        }
        None => None,
    };
    drop(held);
    if let Some(Ok(handed)) = &handed {
        redaction.kinds.extend(handed.redacted.clone());
        say_moved(context, &handed.checked.moved);
    }
    tell_redacted(context, &redaction.kinds);
    mirror::change(context, &id, &update);
    if let Some(decided) = &decided {
        tell_bd_decided(context, decided);
    }
    match handed {
        Some(Ok(handed)) => tell_bd(context, &handed),
        Some(Err(error)) => return Err(not_handed(context, &error)),
        None => {}
    }
    let sheet = session.bead(&id).map_err(|error| explain(&error))?;
    let output = BeadOutput::of(context, &id, &sheet);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.read_by_all(&output.line())
}
