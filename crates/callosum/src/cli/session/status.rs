//! Arguments and output of `callosum session status`.
//!
//! The use case is [`callosum_app::session::status`].

use std::collections::HashSet;

use callosum_app::bead::{ForkOutput, mirror};
use callosum_app::session::status::{SessionStatusOutput, current_intent, notes, shown};
use callosum_app::session::{explain, faults_of, heal, mend, session};
use callosum_app::{CommandError, disk_errors};
use callosum_session::Config;
use callosum_session::bead::{Bead, BeadId};
use callosum_session::divergence::forks;
use callosum_session::evidence::Tree;
use callosum_session::grounding::Grounding;
use callosum_session::notes::Notes;
use clap::Args;

use super::WhoseArgs;
use crate::cli::context::Context;

/// Show the state of a session, and where its files disagree
///
/// Also lists the parts of its files that could not be read. If code, bead, notes and trajectory disagree, the trusted
/// source is named first. The same goes for design documents next to the notes that cite code that has changed. Changes
/// nothing.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session status
  $ callosum session status --json")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    whose: WhoseArgs,
}

pub(super) fn run(context: &Context, args: &StatusArgs) -> Result<(), CommandError> {
    let zones = context.zones();
    let (agent, whose) = args.whose.whose()?;
    let session = session(context, &zones, agent);
    mend(context, &session);
    let (read_notes, mut faults) = notes(&session, &zones)?;
    let are_notes_read = read_notes.is_some();
    let notes = read_notes.unwrap_or_else(|| Notes::read(Vec::new()));
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    faults.extend(faults_of(&config));
    let listing = session.beads().list(context.clock.now());
    let listing = listing.map_err(|error| explain(&error.into()))?;
    let unread = listing.unread.iter();
    faults.extend(unread.map(|unread| format!("{}: {}", unread.file, unread.problem)));
    let odd = session.beads().oddities(&listing);
    let odd = odd.map_err(|error| explain(&error.into()))?;
    let odd = odd.iter();
    faults.extend(odd.map(|odd| format!("{}:{}: {}", odd.file, odd.line, odd.what)));
    let read = session
        .since_handoff(whose)
        .map_err(|error| explain(&error))?;
    for (file, bad) in &read.recorded.bad {
        faults.extend(
            bad.lines
                .iter()
                .map(|line| format!("{file}:{line}: not a record")),
        );
    }
    let are_used = zones.are_used(&context.disk);
    if !are_used.map_err(|error| disk_errors::disk_failed(&error))? && context.commit_sessions() {
        let lost = "all committed session files are missing from the working tree: callosum \
            session heal";
        faults.push(lost.to_owned());
    }
    let unfinished = heal::unfinished(context, &session)?.into_iter();
    faults.extend(unfinished.map(|file| format!("{file}: an unfinished merge")));
    let tree = Tree::new(&context.disk, &zones.tree);
    let grounding = Grounding::of(&read, &tree);
    let claims: Vec<_> = grounding
        .claims
        .iter()
        .map(|found| found.claim.clone())
        .collect();
    let designs = session.designs().map_err(|error| explain(&error))?;
    faults.extend(designs.left.iter().cloned());
    let of_designs = session
        .design_forks(&designs, &tree)
        .map_err(|error| explain(&error))?;
    let active = notes.active();
    let id = active.bead.as_deref().and_then(BeadId::new);
    let bead = id.as_ref().and_then(|id| session.bead(id).ok());
    let bead = bead.map(|sheet| Bead::of(sheet.members()));
    if let (Some(id), None) = (&active.bead, &bead) {
        faults.push(format!("cannot read the current bead `{id}`"));
    }
    let claimed: HashSet<&str> = claims
        .iter()
        .filter_map(|claim| claim.bead.as_deref())
        .collect();
    // Of the others nothing is compared but what the listing knows.
    let beads = session.beads().open(&listing, |row| {
        !row.decided.is_empty() || claimed.contains(row.id.as_str())
    });
    let mut beads = beads.map_err(|error| explain(&error.into()))?;
    if let (Some(id), Some(bead)) = (&id, bead)
        && beads.iter().all(|(open, _)| open != id.as_str())
    {
        beads.insert(0, (id.to_string(), bead));
    }
    let of_bd = mirror::forks_of(context, &beads, id.as_ref());
    // Unread notes cannot disagree with the others.
    let found = if are_notes_read {
        forks(&beads, &notes, &claims, &tree)
    } else {
        Vec::new()
    };
    let (intent, unread) = current_intent(context);
    faults.extend(unread);
    let output = SessionStatusOutput {
        intent,
        bead: active.bead,
        checkpoint: active.checkpoint,
        decisions: notes.decisions().len(),
        claims: grounding.total(),
        grounded: grounding.grounded(),
        faults,
        forks: found
            .into_iter()
            .chain(of_designs)
            .map(ForkOutput::of)
            .chain(of_bd)
            .collect(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.read_by_all(&shown(&output))
}
