//! `callosum uninstall`: takes our hooks and our server of tools out of the settings of clients, and the system zone out of
//! the project; with `--purge` its state too, which [`state_inventory`](super::state_inventory) lists.

use callosum_client::registration::{Registrar, SettingsFile};
use callosum_host::DiskError;
use callosum_ledger::locks::ExclusiveLedger;
use callosum_session::system::{Lifted, RemovalOutcome};
use callosum_session::trajectory::Agent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::client_settings::ClientOutput;
use crate::context::Context;
use crate::init::by_folder;
use crate::instructions::InstructionsOutput;
use crate::state_inventory::{Group, GroupOutput, Inventory};
use crate::{CommandError, client_settings, disk_errors, session};

/// `callosum uninstall --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct UninstallOutput {
    /// Whether nothing was done but to say what would be.
    pub dry_run: bool,
    /// Changes of clients' settings; clients without anything of ours are left out.
    pub clients: Vec<ClientOutput>,
    /// The same for files that have our server of tools and no hooks.
    pub servers: Vec<ClientOutput>,
    /// Changes of the files of the system zone.
    pub zone: Vec<LiftedOutput>,
    /// Changes of files that `init --instructions` added to or created.
    pub instructions: Vec<InstructionsOutput>,
    /// The project's state that was removed.
    pub removed: Vec<GroupOutput>,
    /// The project's state that stays.
    pub remaining: Vec<GroupOutput>,
    /// Files in folders of ours that are not Callosum's, which stay.
    pub foreign: Vec<String>,
    /// Number of files that were moved to the machine's folder.
    pub moved: u64,
    /// Number of lines that were removed from .git/info/exclude.
    pub unexcluded: u64,
}

/// A file of the system zone.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LiftedOutput {
    /// Path, relative to the root.
    pub path: String,
    /// `removed`, `restored` if our block was removed from it, or `kept` if our part was edited.
    pub change: String,
}

impl LiftedOutput {
    /// Returns what is printed about a removed registration.
    pub fn of(lifted: &Lifted) -> Self {
        let change = match lifted.fate {
            RemovalOutcome::Removed => "removed",
            RemovalOutcome::Restored(_) => "restored",
            RemovalOutcome::Stays => "kept",
        };
        Self {
            path: lifted.path.clone(),
            change: change.to_owned(),
        }
    }
}

/// Converts groups of files.
pub fn outputs_of<'g>(groups: impl Iterator<Item = &'g Group>) -> Vec<GroupOutput> {
    let groups = groups.filter(|group| !group.is_empty());
    groups.map(Group::output).collect()
}

/// Removes the project's state, in its tree and on the machine.
pub fn purge(context: &Context, inventory: &Inventory) -> Result<(), CommandError> {
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let has = |what: &str| inventory.tree.iter().any(|group| group.what == what);
    let paths = context.ledger_paths();
    // No process writes to what is being removed.
    let is_there = context.disk.exists(&paths.locks).map_err(failed)?;
    let ledger = is_there.then(|| ExclusiveLedger::acquire(&context.disk, &paths));
    let ledger = ledger
        .transpose()
        .map_err(|error| disk_errors::unlocked(&error))?;
    let zones = context.zones();
    let session = session::session(context, &zones, Agent::default());
    let held = has("session files").then(|| session.hold());
    let held = held.transpose().map_err(|error| session::explain(&error))?;
    for group in inventory.tree.iter().chain(&inventory.machine) {
        group.remove(&context.disk).map_err(failed)?;
    }
    drop(held);
    drop(ledger);
    Ok(())
}

/// Reports groups of files.
pub fn tell_groups(context: &Context, groups: &[GroupOutput]) {
    for group in groups {
        context.report.say(&group.line());
    }
}

impl UninstallOutput {
    /// Whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        let are_clients_clean = self.clients.is_empty() && self.servers.is_empty();
        let is_state_kept = self.removed.is_empty() && self.moved == 0 && self.unexcluded == 0;
        let are_files_clean = self.zone.is_empty() && self.instructions.is_empty();
        are_clients_clean && are_files_clean && is_state_kept
    }
}

/// Takes what a client has noted itself of the gate out of its own folder.
pub fn forget_gate(
    context: &Context,
    registrar: &Registrar,
    places: &[SettingsFile],
) -> Result<(), CommandError> {
    let gated = places.iter().find(|place| place.hooks.gate.is_some());
    let own = gated.and_then(|place| client_settings::own_folder(context, place.client));
    let Some(own) = own else {
        return Ok(());
    };
    registrar
        .forget_gate(&own)
        .map_err(|error| disk_errors::disk_failed(&error))
}

/// Reports the files below .claude/.
pub fn tell_zone(context: &Context, zone: &[LiftedOutput], would: bool) {
    let of = |change: &str| {
        let all = zone.iter().filter(|lifted| lifted.change == change);
        all.map(|lifted| lifted.path.as_str()).collect::<Vec<_>>()
    };
    let (removed, restored) = (of("removed"), of("restored"));
    let verb = if would { "would remove" } else { "removed" };
    if !removed.is_empty() {
        let files = by_folder(&removed);
        context
            .report
            .say(&format!("{verb} from the project: {files}"));
        context.report.detail(&format!("  {}", removed.join(" ")));
    }
    for path in restored {
        context
            .report
            .say(&format!("{verb} Callosum's lines from {path}"));
    }
    for path in of("kept") {
        let what = format!("kept `{path}`: it was edited");
        context.report.warn(&what, None);
    }
}
