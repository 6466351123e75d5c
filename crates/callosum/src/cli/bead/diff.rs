//! Arguments and output of `callosum bead diff`.
//!
//! The use case is [`callosum_app::bead::diff`].

use callosum_app::bead::diff::{BeadDiffOutput, ForkOutput};
use callosum_app::bead::mirror;
use callosum_app::session::{bead_id, explain, mend, session};
use callosum_app::{CommandError, Exit};
use callosum_session::bead::Bead;
use callosum_session::divergence::{Source, forks};
use callosum_session::evidence::Tree;
use callosum_session::grounding::{Claim, Grounding};
use callosum_session::notes::Notes;
use clap::Args;

use crate::cli::context::Context;
use crate::cli::session::WhoseArgs;

/// Show where a bead, NOTES.md, the trajectory and the code disagree
///
/// Exits with 1 if they disagree. Changes nothing.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum bead diff bd-x7y8")]
pub(crate) struct DiffArgs {
    /// Id of the bead
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    whose: WhoseArgs,
}

pub(super) fn run(context: &Context, args: &DiffArgs) -> Result<(), CommandError> {
    let id = bead_id(&args.id)?;
    let zones = context.zones();
    let (agent, whose) = args.whose.whose()?;
    let session = session(context, &zones, agent);
    mend(context, &session);
    let failed = |error: callosum_session::SessionError| explain(&error);
    let sheet = session.bead(&id).map_err(failed)?;
    let notes = session.notes().map_err(failed)?;
    let notes = notes.unwrap_or_else(|| Notes::read(Vec::new()));
    let read = session.since_handoff(whose).map_err(failed)?;
    let tree = Tree::new(&context.disk, &zones.tree);
    let bead = Bead::of(sheet.members());
    let named = [(id.to_string(), bead)];
    let of_this = |claim: &Claim| match claim.bead.as_deref() {
        Some(of) => of == id.as_str(),
        None => claim.said_in == Source::Trajectory,
    };
    let claimed = Grounding::of(&read, &tree).claims.into_iter();
    let claimed = claimed.map(|found| found.claim).filter(of_this);
    let claimed: Vec<Claim> = claimed.collect();
    let found = forks(&named, &notes, &claimed, &tree);
    let [(_, bead)] = &named;
    let output = BeadDiffOutput {
        id: id.to_string(),
        forks: found
            .into_iter()
            .map(ForkOutput::of)
            .chain(mirror::forks(context, &id, bead))
            .collect(),
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let lines = output.forks.iter().map(ForkOutput::line);
        context
            .ui
            .read_by_all(&lines.collect::<Vec<_>>().concat())?;
    }
    if output.forks.is_empty() {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
