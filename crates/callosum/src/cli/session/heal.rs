//! `callosum session heal`: missing and broken files of a session, made good.

use std::time::Duration;

use callosum_evidence::terminal::harmless;
use callosum_session::{
    Config, Held, Session, SessionError, ZoneError, Zones,
    heal::{Healed, Healer},
    trajectory::{Agent, Pruned},
};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{explain, session, tell_faults, tell_mended, zones};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit},
};
use callosum_client::committed::Committed;
use callosum_client::renames::Renames;

/// How long git may take to show a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// Repair missing, empty or corrupt NOTES.md and bead files
///
/// For an unfinished merge, takes both sides. Otherwise takes the last committed version, or the template. Decisions
/// that NOTES.md lost come back from trajectories and beads, committed or not. Each broken file is moved aside, next to
/// the original. Content that cannot be determined stays as it is.
///
/// Compresses trajectories that are older than the limit in .loa.config.yaml, and removes them after a year. Exits with
/// 0, even without git. Exits with 1 if a file could not be written: that is reported, and everything else is repaired.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session heal
  $ callosum session heal --check-only
  $ callosum session heal --json")]
pub(crate) struct HealArgs {
    /// List what would be repaired, write nothing, and exit with 1 if there is anything
    #[arg(long)]
    check_only: bool,
}

/// `callosum session heal --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct HealOutput {
    /// Each file that was not as it should be.
    pub(crate) healed: Vec<HealedOutput>,
    /// Trajectories that were compressed.
    pub(crate) archived: Vec<String>,
    /// Compressed trajectories that were removed, being too old.
    pub(crate) removed: Vec<String>,
}

/// A file that was not as it should be.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct HealedOutput {
    /// The file, from the root.
    pub(crate) file: String,
    /// What was wrong with it.
    pub(crate) was: String,
    /// Where it was taken from: `git`, `template`, `trajectory`, `beads`, `notes`, `both sides`, `anew` or `not healed`.
    pub(crate) from: String,
    /// Where the broken one stands now.
    pub(crate) backup_path: Option<String>,
}

impl HealedOutput {
    fn of(healed: Healed) -> Self {
        Self {
            file: healed.file,
            was: healed.was,
            from: healed.from.to_string(),
            backup_path: healed.aside,
        }
    }

    fn line(&self) -> String {
        let aside = self
            .backup_path
            .as_ref()
            .map(|aside| format!("; the broken file is now {aside}"));
        let aside = aside.unwrap_or_default();
        let is_left = [Healer::Nobody, Healer::Denied].map(|healer| healer.to_string());
        if is_left.contains(&self.from) {
            return format!("{}: {}, not repaired{aside}\n", self.file, self.was);
        }
        let how = if self.from == Healer::Anew.to_string() {
            "recreated".to_owned()
        } else {
            format!("repaired from {}", self.from)
        };
        format!("{}: {}, {how}{aside}\n", self.file, self.was)
    }
}

/// Says what became of old trajectories.
pub(super) fn tell_pruned(context: &Context, pruned: &Pruned) {
    for (done, names) in [
        ("compressed", &pruned.archived),
        ("removed", &pruned.removed),
    ] {
        if !names.is_empty() {
            context
                .report
                .say(&format!("{done} because of age: {}", names.join(" ")));
        }
    }
    for (name, why) in &pruned.left {
        context
            .report
            .warn(&format!("{name} is not compressed: {why}"), None);
    }
}

pub(super) fn committed(context: &Context) -> Committed<'_> {
    Committed {
        environment: &context.environment,
        root: context.sessions(),
        patience: PATIENCE,
        cancel: &context.cancel,
        may_be_merging: context.may_be_merging(),
    }
}

/// The renames of the tree, by which moved files are followed.
pub(in crate::cli) fn renames(context: &Context) -> Renames<'_> {
    Renames::new(Committed {
        root: context.tree(),
        ..committed(context)
    })
}

/// Tells who holds the session which merges git has not ended: a checkpoint blocks by them.
pub(in crate::cli) fn look_for_merges(
    context: &Context,
    held: &mut Held<'_>,
) -> Result<(), CommandError> {
    let unfinished = held.look_for_merges(&committed(context));
    unfinished.map_err(|error| explain(&error))
}

/// The files in which git has not ended a merge, and that do not say so.
pub(super) fn unfinished(
    context: &Context,
    session: &Session<'_>,
) -> Result<Vec<String>, CommandError> {
    let unfinished = session.unfinished(&committed(context));
    unfinished.map_err(|error| explain(&error))
}

/// Makes good the current bead, before something is to be written to it, and says so.
pub(super) fn heal_current_bead(context: &Context, held: &Held<'_>) -> Result<(), CommandError> {
    let healed = held
        .heal_current_bead(&committed(context))
        .map_err(|error| explain(&error))?;
    tell_healed(context, held, healed.into_iter().collect())
}

/// Makes notes good that a torn write has left, before something is added to them, and says so.
pub(in crate::cli) fn heal_torn_notes(
    context: &Context,
    held: &Held<'_>,
) -> Result<(), CommandError> {
    let healed = held
        .heal_torn_notes(&committed(context))
        .map_err(|error| explain(&error))?;
    tell_healed(context, held, healed)
}

/// Makes good whatever is missing, where all that was committed is lost, and says so.
pub(super) fn heal_all(context: &Context, held: &Held<'_>) -> Result<(), CommandError> {
    let healed = held
        .heal(&committed(context))
        .map_err(|error| explain(&error))?;
    tell_healed(context, held, healed)
}

/// Makes good whatever is missing in another project, before it is told something, and says so.
pub(super) fn heal_other(context: &Context, zones: &Zones) -> Result<(), CommandError> {
    let held = session(context, zones, Agent::default()).hold();
    let held = held.map_err(|error| explain(&error))?;
    let past = Committed {
        root: &zones.root,
        ..committed(context)
    };
    let healed = held.heal(&past).map_err(|error| explain(&error))?;
    tell_healed(context, &held, healed)
}

fn tell_healed(
    context: &Context,
    held: &Held<'_>,
    mut healed: Vec<Healed>,
) -> Result<(), CommandError> {
    healed.retain(|healed| healed.from.has_healed());
    held.note_healed(&healed).map_err(|error| explain(&error))?;
    say_healed(context, healed);
    Ok(())
}

/// Says what was made good before something else was done.
pub(super) fn say_healed(context: &Context, healed: Vec<Healed>) {
    for healed in healed {
        let line = HealedOutput::of(healed).line();
        context.report.say(&harmless(line.trim_end()));
    }
}

pub(super) fn run(context: &Context, args: &HealArgs) -> Result<(), CommandError> {
    let zones = zones(context);
    let session = session(context, &zones, Agent::default());
    if args.check_only {
        let ailing = session.ailing(&committed(context));
        return list_damage(context, ailing.map_err(|error| explain(&error))?);
    }
    let held = match session.hold() {
        Ok(held) => held,
        Err(error @ (SessionError::Zone(_) | SessionError::Unwritable(_))) => {
            let what = format!(
                "cannot repair anything here: {}",
                explain(&error).one_line()
            );
            context.report.warn(&what, None);
            let ailing = match session.ailing(&committed(context)) {
                // It has been said already.
                Err(SessionError::Zone(ZoneError::Outside { .. })) => Vec::new(),
                ailing => ailing.map_err(|error| explain(&error))?,
            };
            return tell(context, ailing, Pruned::default());
        }
        Err(error) => return Err(explain(&error)),
    };
    tell_mended(context, &held);
    let mut healed = held
        .finish_merges(&committed(context))
        .map_err(|error| explain(&error))?;
    let others = held.heal(&committed(context));
    healed.extend(others.map_err(|error| explain(&error))?);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let kept = held
        .note_healed(&healed)
        .and_then(|()| held.prune(&config.retention));
    let pruned = match kept {
        Err(SessionError::Zone(error @ ZoneError::Outside { .. })) => {
            context.report.warn(&harmless(&error.to_string()), None);
            Pruned::default()
        }
        // What was healed is told all the same.
        Err(error) if error.is_denied() || healed.iter().any(|one| one.from == Healer::Denied) => {
            let what = explain(&error).one_line();
            context.report.warn(
                &format!("the repair is not recorded in a trajectory: {what}"),
                None,
            );
            Pruned::default()
        }
        kept => kept.map_err(|error| explain(&error))?,
    };
    tell(context, healed, pruned)
}

/// Lists what a repair would do, and fails if that is anything.
fn list_damage(context: &Context, damaged: Vec<Healed>) -> Result<(), CommandError> {
    let output = HealOutput {
        healed: damaged.into_iter().map(HealedOutput::of).collect(),
        archived: Vec::new(),
        removed: Vec::new(),
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let lines = output.healed.iter();
        let lines: Vec<String> = lines
            .map(|one| format!("{}: {}\n", one.file, one.was))
            .collect();
        context.ui.read_by_all(&lines.concat())?;
    }
    let what = match output.healed.len() {
        0 => return Ok(()),
        1 => "1 file needs repair".to_owned(),
        many => format!("{many} files need repair"),
    };
    Err(CommandError::new(Exit::No, what).hint("callosum session heal"))
}

fn tell(context: &Context, healed: Vec<Healed>, pruned: Pruned) -> Result<(), CommandError> {
    tell_pruned(context, &pruned);
    let denied = healed.iter().filter(|one| one.from == Healer::Denied);
    let denied = denied.count();
    let output = HealOutput {
        healed: healed.into_iter().map(HealedOutput::of).collect(),
        archived: pruned.archived,
        removed: pruned.removed,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let lines: Vec<String> = output.healed.iter().map(HealedOutput::line).collect();
        context.ui.read_by_all(&lines.concat())?;
    }
    if denied == 0 {
        return Ok(());
    }
    let what = format!(
        "files not repaired, because they cannot be written: {denied} of {}",
        output.healed.len()
    );
    Err(CommandError::new(Exit::No, what))
}
