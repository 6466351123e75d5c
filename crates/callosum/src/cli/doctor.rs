//! `callosum doctor`: what works here, what is missing, and how to mend it.

use std::{fmt::Write as _, ops::ControlFlow, path::Path};

use callosum_agents::{
    confinement::{Missing, Policy, System, decide},
    discover::{Known, Speaks, find_in_path, undecided},
    registry::Status,
};
use callosum_evidence::terminal::on_one_line;
use callosum_host::{DiskError, OpenHow, confine::Step, machine};
use callosum_ledger::{Ledger, LedgerVersion, OpenError, verify::Scope, verify_within};
use callosum_search::find::Model;
use clap::Args;
use owo_colors::OwoColorize as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    context::Context, continuity, find, guarding, init::ROOM_NEEDED, kept_tools::KeptTools,
    lack::Lack, meshing, roster::Roster, serving, store, witness, zoning,
};
use crate::{
    ck::Ck,
    ui::{CommandError, Exit, Progress, many},
};

/// Say what works here, what is missing, and how to mend it
///
/// Changes nothing but for a probe file that it removes again. Exits with 1 where something that
/// the main job needs does not work.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum doctor
  $ callosum doctor --json")]
pub(crate) struct DoctorArgs {}

/// `callosum doctor --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DoctorOutput {
    /// Whether everything works that the main job needs.
    pub(crate) works: bool,
    /// What was looked at, in order.
    pub(crate) checks: Vec<CheckLine>,
}

/// One thing that was looked at.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct CheckLine {
    /// What.
    pub(crate) name: String,
    /// `ok`, `warning` or `failed`.
    pub(crate) outcome: String,
    /// What was found.
    pub(crate) found: String,
    /// How to mend it.
    pub(crate) hint: Option<String>,
}

/// How a check came out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Warning,
    Failed,
}

#[derive(Default)]
pub(super) struct Checks(Vec<CheckLine>);

impl Checks {
    pub(super) fn add(
        &mut self,
        name: &str,
        outcome: Outcome,
        found: impl Into<String>,
        hint: Option<&str>,
    ) {
        let outcome = match outcome {
            Outcome::Ok => "ok",
            Outcome::Warning => "warning",
            Outcome::Failed => "failed",
        };
        self.0.push(CheckLine {
            name: name.to_owned(),
            outcome: outcome.to_owned(),
            found: found.into(),
            hint: hint.map(str::to_owned),
        });
    }
}

pub(super) fn run(context: &Context, _args: &DoctorArgs) -> Result<(), CommandError> {
    let progress = Progress::start(context.ui, "looking around");
    let mut checks = Checks::default();
    check_root(context, &mut checks);
    check_homes(context, &mut checks);
    check_configuration(context, &mut checks);
    check_ledger(context, &mut checks);
    check_executors(context, &mut checks);
    check_confinement(context, &mut checks);
    guarding::check(context, &mut checks);
    serving::check(context, &mut checks);
    continuity::check(context, &mut checks);
    zoning::check(context, &mut checks);
    meshing::check(context, &mut checks);
    check_finding(context, &mut checks);
    check_needs(&mut checks);
    drop(progress);
    let output = DoctorOutput {
        works: checks.0.iter().all(|check| check.outcome != "failed"),
        checks: checks.0,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&as_text(&output))?;
    }
    if output.works {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

/// What executors can be held with here. Nothing that is missing keeps the main job from working.
fn check_confinement(context: &Context, checks: &mut Checks) {
    const NAME: &str = "confinement";
    let surroundings = match context.surroundings() {
        Ok(surroundings) => surroundings,
        Err(error) => {
            checks.add(NAME, Outcome::Warning, error.one_line(), None);
            return;
        }
    };
    let Some(confiner) = &surroundings.confiner else {
        return;
    };
    match decide(Policy::Required, &[], confiner.system()) {
        Ok(reached) => {
            let landlock = reached.landlock.unwrap_or_default();
            let found = format!("full: namespaces, Landlock {landlock}, filter of system calls");
            checks.add(NAME, Outcome::Ok, found, None);
        }
        Err(refused) => {
            let hint = hint_of(confiner.system());
            let found = format!("lacks {}", refused.missing.join("; "));
            checks.add(NAME, Outcome::Warning, found, hint);
        }
    }
}

/// What helps where executors cannot be held as they could be.
fn hint_of(system: &System) -> Option<&'static str> {
    if cfg!(not(target_os = "linux")) {
        return Some("executors that you would not run yourself belong on a Linux machine");
    }
    match &system.namespaces {
        Ok(()) => None,
        // AppArmor lets the namespaces be made and refuses what one wants them for.
        Err(Missing::Step {
            step: Step::Users | Step::Mounts | Step::Network | Step::Capabilities,
            ..
        }) => Some(
            "allow it to this program: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, \
             or an AppArmor profile for it with the rule `userns,`",
        ),
        Err(_) => Some(
            "allow user namespaces: sysctl -w user.max_user_namespaces=15000 (on Debian also \
             kernel.unprivileged_userns_clone=1); in a container, a seccomp profile that allows \
             unshare, as docker run --security-opt seccomp=unconfined",
        ),
    }
}

/// Writes a file into a folder, and removes it.
fn write_probe(context: &Context, folder: &Path) -> Result<(), DiskError> {
    // A name of its own, so that two doctors at once do not meet.
    let probe = folder.join(format!(".cal_probe_{}", std::process::id()));
    let written = context
        .disk
        .open(&probe, OpenHow::CREATE_NEW)
        .and_then(|file| file.write_at(b"probe", 0))
        .and_then(|()| context.disk.remove_file(&probe));
    if written.is_err() {
        // What could not be written is not there to be removed; a full disk leaves it empty.
        drop(context.disk.remove_file(&probe));
    }
    written.map(drop)
}

fn check_root(context: &Context, checks: &mut Checks) {
    let root = context.state();
    checks.add("root", Outcome::Ok, root.display().to_string(), None);
    if context.project.roots.is_linked() {
        checks.add(
            "tree",
            Outcome::Ok,
            format!("{} (linked worktree)", context.tree().display()),
            None,
        );
    }
    let audit = context.ledger_paths().audit;
    let mut folders = vec![(root, "the root")];
    if context.disk.exists(&audit).unwrap_or(false) {
        folders.push((&audit, "the audit journal's folder"));
    }
    for (folder, what) in folders {
        match write_probe(context, folder) {
            Ok(()) => checks.add(
                "writing",
                Outcome::Ok,
                format!("{what} can be written"),
                None,
            ),
            Err(error) => {
                let found = CommandError::from_error(Exit::No, &error).one_line();
                let hint = "delegating needs to write here; reading the ledger does not";
                checks.add("writing", Outcome::Failed, found, Some(hint));
            }
        }
    }
    check_room(checks, "room", root);
    check_folders(context, checks);
}

/// How much room there is on the disk of a folder.
fn check_room(checks: &mut Checks, name: &str, folder: &Path) {
    match machine::free_bytes(folder) {
        Ok(free) if free >= ROOM_NEEDED => {
            checks.add(name, Outcome::Ok, format!("{} MB free", free >> 20), None);
        }
        Ok(free) => {
            let found = match free >> 20 {
                0 => "less than 1 MB free".to_owned(),
                megabytes => format!("{megabytes} MB free, 500 MB are recommended"),
            };
            let hint = format!("make room on the disk of {}", folder.display());
            checks.add(name, Outcome::Warning, found, Some(&hint));
        }
        Err(error) => checks.add(name, Outcome::Warning, error.to_string(), None),
    }
}

/// The folders of Seed CAL §14.3 (REQ-DEP-005).
fn check_folders(context: &Context, checks: &mut Checks) {
    let paths = context.ledger_paths();
    let missing: Vec<String> = [&paths.audit, &paths.history, &paths.locks]
        .into_iter()
        .filter(|folder| !context.disk.exists(folder).unwrap_or(false))
        .map(|folder| folder.strip_prefix(context.state()).unwrap_or(folder))
        .map(|folder| folder.display().to_string())
        .collect();
    if missing.is_empty() {
        checks.add("folders", Outcome::Ok, "all there", None);
    } else {
        let found = format!("not there yet: {}", missing.join(" "));
        let hint = "the first delegate creates them, or `callosum init`";
        checks.add("folders", Outcome::Ok, found, Some(hint));
    }
}

/// What other installations need and this one does not (REQ-DEP-001).
fn check_needs(checks: &mut Checks) {
    checks.add(
        "python",
        Outcome::Ok,
        "not needed: this is one program without an interpreter",
        None,
    );
}

/// What `find` asks beside its own index. Without any of it things are found all the same.
fn check_finding(context: &Context, checks: &mut Checks) {
    const NAME: &str = "finding";
    let homes = &context.project.homes;
    let model = Model::open(&context.disk, &homes.model());
    let model = match &model {
        Ok(Some(_)) => "a model of words",
        Ok(None) => "no model of words",
        Err(error) => {
            let found = CommandError::from_error(Exit::No, error).one_line();
            let hint = format!("mend it, or remove {}", homes.model().display());
            checks.add(NAME, Outcome::Warning, found, Some(&hint));
            "a model of words that cannot be used"
        }
    };
    let ck = find::configured_ck(context);
    let version = ck.and_then(|ck| ck.as_ref().map(Ck::version).transpose());
    match version {
        Ok(None) => checks.add(NAME, Outcome::Ok, format!("{model}, no ck"), None),
        Ok(Some(version)) => {
            let found = format!("{model}, and {} is asked", on_one_line(&version));
            checks.add(NAME, Outcome::Ok, found, None);
        }
        Err(error) => {
            let said = CommandError::from_error(Exit::No, &error).one_line();
            let found = format!("{model}, and ck does not work: {said}");
            let hint = format!("mend it, or remove {}", homes.ck().display());
            checks.add(NAME, Outcome::Warning, found, Some(&hint));
        }
    }
}

fn check_homes(context: &Context, checks: &mut Checks) {
    let homes = &context.project.homes;
    match homes.create_machine(&context.disk) {
        Ok(_) => checks.add(
            "machine home",
            Outcome::Ok,
            homes.machine.display().to_string(),
            None,
        ),
        Err(error) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            let hint = "set CALLOSUM_HOME to a folder that can be written";
            checks.add("machine home", Outcome::Failed, found, Some(hint));
            return;
        }
    }
    let device = |folder: &Path| {
        let stat = context.disk.stat(folder).ok().flatten();
        stat.and_then(|stat| stat.id).map(|id| id.device)
    };
    if device(&homes.machine) != device(context.state()) {
        check_room(checks, "machine home, room", &homes.machine);
    }
}

fn check_configuration(context: &Context, checks: &mut Checks) {
    let settings = &context.project.settings;
    if settings.warnings.is_empty() {
        checks.add("configuration", Outcome::Ok, "in order", None);
    }
    for warning in &settings.warnings {
        let hint = Some("callosum config show --origin");
        checks.add("configuration", Outcome::Warning, warning.to_string(), hint);
    }
    for waiting in &context.project.waiting {
        let found = format!(".calrc `{}` waits to be trusted", waiting.key.name());
        checks.add(
            "trust",
            Outcome::Warning,
            found,
            Some("callosum trust --list"),
        );
    }
}

fn check_ledger(context: &Context, checks: &mut Checks) {
    let version = match store::reader(context) {
        Ok(reader) => reader.version(),
        Err(_) if store::is_gone(context) => {
            let hint = Some("callosum init");
            checks.add("ledger", Outcome::Failed, store::GONE, hint);
            return;
        }
        Err(error) => {
            let hint = Some("callosum ledger verify");
            checks.add("ledger", Outcome::Failed, error.one_line(), hint);
            return;
        }
    };
    let Some(version) = version else {
        checks.add(
            "ledger",
            Outcome::Ok,
            "none yet; the first delegate begins it",
            None,
        );
        return;
    };
    if check_writing_ledger(context, checks).is_break() {
        return;
    }
    let kept = witness::kept(context);
    if let Err(error) = &kept {
        checks.add(
            "checkpoints",
            Outcome::Failed,
            error.one_line(),
            error.hint_text(),
        );
    }
    let witness = witness::of(context);
    let scope = Scope {
        archives: true,
        witness: kept.is_ok().then_some(&witness),
    };
    match verify_within(&context.disk, &context.ledger_paths(), scope) {
        Ok(found) if found.is_sound() => {
            let text = format!(
                "version {version}, {}, {}, sound",
                many(found.entries, "entry"),
                many(found.records, "audit record")
            );
            checks.add("ledger", Outcome::Ok, text, None);
        }
        Ok(found) => {
            let text = many(found.problems.len() as u64, "problem").to_string();
            checks.add(
                "ledger",
                Outcome::Failed,
                text,
                Some("callosum ledger verify"),
            );
        }
        Err(error) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            checks.add(
                "ledger",
                Outcome::Failed,
                found,
                Some("callosum ledger verify"),
            );
        }
    }
}

/// Whether entries can be added to the ledger that is there; where not, verifying it is beside
/// the point.
fn check_writing_ledger(context: &Context, checks: &mut Checks) -> ControlFlow<()> {
    let opened = Ledger::open(
        context.disk.clone(),
        context.ledger_paths(),
        context.clock.clone(),
        context.ids.clone(),
    );
    let Err(error) = opened else {
        return ControlFlow::Continue(());
    };
    if let OpenError::Newer { found, .. } = &error {
        let found = format!(
            "version {found}, and this program writes {}: a newer callosum wrote it, with what \
             this one does not know and would drop. It can be read, and nothing is added",
            LedgerVersion::OURS
        );
        let hint = "use the newer callosum; reading works: callosum ledger query";
        checks.add("ledger", Outcome::Failed, found, Some(hint));
        return ControlFlow::Break(());
    }
    let found = store::unopened(&error).one_line();
    let hint = Some("callosum ledger verify");
    checks.add("ledger", Outcome::Failed, found, hint);
    // What is wrong with the files themselves is found by verifying them.
    ControlFlow::Continue(())
}

fn check_executors(context: &Context, checks: &mut Checks) {
    let roster = match Roster::load(context) {
        Ok(roster) => roster,
        Err(error) => {
            let hint = Some("mend registry.json, or move it away and run `callosum init`");
            checks.add("registry", Outcome::Failed, error.one_line(), hint);
            return;
        }
    };
    let path = context.environment.get("PATH").unwrap_or_default();
    let installed = find_in_path(&context.disk, path);
    let kept_tools = KeptTools::of_project(context);
    for executor in roster.registry().executors() {
        let name = format!("executor {}", executor.id);
        let program = installed.iter().find(|found| found.known.id == executor.id);
        let place = program.map(|found| format!(" at {}", found.program.display()));
        let place = place.unwrap_or_default();
        if !roster.is_trusted(executor) {
            let found = if roster.has_changed(executor) {
                "changed since it was trusted: a file that its command names"
            } else {
                "comes with the repository and was not trusted here"
            };
            checks.add(
                &name,
                Outcome::Warning,
                found,
                Some("callosum trust --list"),
            );
        } else if let Some(left) = roster.left_alone(&executor.id) {
            let found = format!(
                "failed again and again, and is left alone for {} s more: until then no task is handed to it{place}",
                left.as_secs().max(1)
            );
            let hint = format!("callosum executor check {}", executor.id);
            checks.add(&name, Outcome::Warning, found, Some(&hint));
        } else if executor.status == Status::Active {
            match Lack::of(context, executor) {
                None => match kept_tools.unfit(executor) {
                    Ok(unfit) if unfit.is_empty() => {
                        checks.add(&name, Outcome::Ok, format!("active{place}"), None);
                    }
                    Ok(unfit) => {
                        let found = format!("active{place}; its tool {}", unfit.join("; "));
                        let hint = format!(
                            "once its server tells of it: callosum executor check {}",
                            executor.id
                        );
                        checks.add(&name, Outcome::Warning, found, Some(&hint));
                    }
                    Err(error) => checks.add(&name, Outcome::Warning, error.one_line(), None),
                },
                Some(lack) => {
                    let found = format!("active{place}; {}", lack.what);
                    checks.add(&name, Outcome::Warning, found, lack.hint.as_deref());
                }
            }
        } else {
            let hint = format!("callosum executor check {}", executor.id);
            let why = executor.inactive_reason();
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let found = format!("inactive{place}{why}");
            let hint = undecided(executor).is_none().then_some(hint.as_str());
            checks.add(&name, Outcome::Warning, found, hint);
        }
    }
    for found in &installed {
        // A client that speaks another protocol as well is told of once.
        let is_told =
            found.known.speaks == Speaks::Acp && Known::named(found.known.program).is_some();
        if !is_told && roster.registry().get(found.known.id).is_none() {
            let name = format!("executor {}", found.known.id);
            let text = format!("installed at {}, not registered", found.program.display());
            checks.add(&name, Outcome::Ok, text, Some("callosum executor discover"));
        }
    }
}

fn as_text(output: &DoctorOutput) -> String {
    let mut text = String::new();
    for check in &output.checks {
        let outcome = match check.outcome.as_str() {
            "ok" => "ok     ".green().to_string(),
            "warning" => "warning".yellow().to_string(),
            _ => "failed ".red().to_string(),
        };
        let _ = writeln!(text, "{outcome} {}: {}", check.name, check.found);
        if let Some(hint) = &check.hint {
            let _ = writeln!(text, "        {} {hint}", "hint:".cyan());
        }
    }
    text
}
