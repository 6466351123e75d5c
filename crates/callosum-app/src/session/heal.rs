//! `callosum session heal`: repairs missing and broken files of a session.

use std::time::Duration;

use callosum_client::renames::Renames;
use callosum_client::session_git::Committed;
use callosum_redact::terminal_escape::harmless;
use callosum_session::heal::{Healed, RepairSource};
use callosum_session::trajectory::{Agent, Pruned};
use callosum_session::{LockedSession, Session, Zones};
use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;
use crate::context::Context;
use crate::session::{explain, session};

/// Timeout of git when it shows a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// `callosum session heal --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct HealOutput {
    /// Each file that was not as it should be.
    pub healed: Vec<HealedOutput>,
    /// Trajectories that were compressed.
    pub archived: Vec<String>,
    /// Compressed trajectories that were removed, being too old.
    pub removed: Vec<String>,
}

/// A file that was not as it should be.
#[derive(Debug, JsonSchema, Serialize)]
pub struct HealedOutput {
    /// The file, from the root.
    pub file: String,
    /// Fault of the file.
    pub was: String,
    /// Its source: `git`, `template`, `trajectory`, `beads`, `notes`, `both sides`, `anew` or `not healed`.
    pub from: String,
    /// The path of the broken file now.
    pub backup_path: Option<String>,
}

impl HealedOutput {
    /// Returns what is printed about a repaired file.
    pub fn of(healed: Healed) -> Self {
        Self {
            file: healed.file,
            was: healed.was,
            from: healed.from.to_string(),
            backup_path: healed.aside,
        }
    }

    /// Returns the repair as a line.
    pub fn line(&self) -> String {
        let aside = self
            .backup_path
            .as_ref()
            .map(|aside| format!("; the broken file is now {aside}"));
        let aside = aside.unwrap_or_default();
        let is_left = [RepairSource::Nobody, RepairSource::Denied].map(|healer| healer.to_string());
        if is_left.contains(&self.from) {
            return format!("{}: {}, not repaired{aside}\n", self.file, self.was);
        }
        let how = if self.from == RepairSource::Anew.to_string() {
            "recreated".to_owned()
        } else {
            format!("repaired from {}", self.from)
        };
        format!("{}: {}, {how}{aside}\n", self.file, self.was)
    }
}

/// Says what became of old trajectories.
pub fn tell_pruned(context: &Context, pruned: &Pruned) {
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

/// Returns the session files as of git's HEAD.
pub fn committed(context: &Context) -> Committed<'_> {
    Committed {
        environment: &context.environment,
        root: context.sessions(),
        patience: PATIENCE,
        cancel: &context.cancel,
        may_be_merging: context.may_be_merging(),
    }
}

/// The renames of the tree, by which moved files are followed.
pub fn renames(context: &Context) -> Renames<'_> {
    Renames::new(Committed {
        root: context.tree(),
        ..committed(context)
    })
}

/// Tells who holds the session which merges git has not ended: a checkpoint blocks by them.
pub fn look_for_merges(
    context: &Context,
    held: &mut LockedSession<'_>,
) -> Result<(), CommandError> {
    let unfinished = held.look_for_merges(&committed(context));
    unfinished.map_err(|error| explain(&error))
}

/// The files in which git has not ended a merge, and that do not say so.
pub fn unfinished(context: &Context, session: &Session<'_>) -> Result<Vec<String>, CommandError> {
    let unfinished = session.unfinished(&committed(context));
    unfinished.map_err(|error| explain(&error))
}

/// Makes good the current bead, before something is to be written to it, and says so.
pub fn heal_current_bead(context: &Context, held: &LockedSession<'_>) -> Result<(), CommandError> {
    let healed = held
        .heal_current_bead(&committed(context))
        .map_err(|error| explain(&error))?;
    tell_healed(context, held, healed.into_iter().collect())
}

/// Makes notes good that a torn write has left, before something is added to them, and says so.
pub fn heal_torn_notes(context: &Context, held: &LockedSession<'_>) -> Result<(), CommandError> {
    let healed = held
        .heal_torn_notes(&committed(context))
        .map_err(|error| explain(&error))?;
    tell_healed(context, held, healed)
}

/// Repairs all missing files, if everything that was committed is lost, and reports it.
pub fn heal_all(context: &Context, held: &LockedSession<'_>) -> Result<(), CommandError> {
    let healed = held
        .heal(&committed(context))
        .map_err(|error| explain(&error))?;
    tell_healed(context, held, healed)
}

/// Repairs all missing files of another project before something is delivered to it, and reports
/// it.
pub fn heal_other(context: &Context, zones: &Zones) -> Result<(), CommandError> {
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
    held: &LockedSession<'_>,
    mut healed: Vec<Healed>,
) -> Result<(), CommandError> {
    healed.retain(|healed| healed.from.has_healed());
    held.note_healed(&healed).map_err(|error| explain(&error))?;
    say_healed(context, healed);
    Ok(())
}

/// Reports the repairs that were made before something else was done.
pub fn say_healed(context: &Context, healed: Vec<Healed>) {
    for healed in healed {
        let line = HealedOutput::of(healed).line();
        context.report.say(&harmless(line.trim_end()));
    }
}
