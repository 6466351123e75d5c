//! `callosum memory` and `callosum find --sessions`: the memory of past sessions on this machine.
//!
//! Start with [`find`], which brings the index in line and searches it. `records` adds what Callosum itself keeps: the ledger,
//! decisions, the mesh and plans. `settings` says whether the user turned the memory
//! on; nothing is read before that. [`output`] is what `--json` prints.

mod graph;
mod install_model;
pub mod output;
mod records;
mod related;
mod server;
mod settings;
mod verify;

pub use callosum_memory::{Origin, RankBy};

pub use self::{
    graph::GraphOutput,
    install_model::{ModelInstallOutput, install_model},
    output::{
        MemoryChangeOutput, MemoryStatusOutput, SessionHitOutput, SessionsFoundOutput,
        StoredTurnOutput,
    },
    records::known_projects,
    related::related_at_start,
    server::{MemoryServer, QueryOutput},
    settings::{ForgottenSession, MemorySettings},
};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use callosum_config::{Environment, Homes};
use callosum_executor::client::Client as ExecutorClient;
use callosum_executor::output_format::Dialect;
use callosum_host::{Disk, process::Cancel};
use callosum_memory::{
    Client, ClientFolder, Memory, MemoryError, MemoryScope, SessionSearch, UpdateReport, remove,
};
use callosum_search::Model;
use jiff::Timestamp;

use crate::context::Context;
use crate::report::Reporter;
use crate::{CommandError, Exit, many, thousands};

/// The name of the index.
const INDEX: &str = "turns.db";

/// The command that turns the memory on.
pub const ON: &str = "callosum memory on";

/// The machine whose past sessions are read, and the receiver of reports. It needs no project.
#[derive(Clone)]
pub struct MemoryMachine {
    /// Its files.
    pub disk: Disk,
    /// Its folders of ours.
    pub homes: Homes,
    /// The environment variables of the process.
    pub environment: Environment,
    /// Receives warnings and progress.
    pub report: Arc<dyn Reporter>,
    /// Ends an update when it is requested.
    pub cancel: Cancel,
    /// The folders of the current project, whose records are read beside those of the known ones.
    pub project: Vec<PathBuf>,
}

impl From<&Context> for MemoryMachine {
    fn from(context: &Context) -> Self {
        Self {
            disk: context.disk.clone(),
            homes: context.project.homes.clone(),
            environment: context.environment.clone(),
            report: Arc::clone(&context.report),
            cancel: context.cancel.clone(),
            project: current_project(context),
        }
    }
}

/// A search in past sessions, as a person or an agent asks for it.
#[derive(Clone, Debug)]
pub struct SessionQuestion<'q> {
    /// The question.
    pub question: &'q str,
    /// Only sessions in these folders and those inside them.
    pub folders: Option<Vec<PathBuf>>,
    /// Only turns since then.
    pub since: Option<Timestamp>,
    /// Only sessions of this client, or records of this kind.
    pub origin: Option<Origin>,
    /// The methods.
    pub by: RankBy,
    /// Most sessions.
    pub limit: usize,
}

/// Brings the index in line, and returns the sessions that answer a question, the best first.
///
/// # Errors
/// The memory is off, or its index cannot be used.
pub fn find(
    machine: &MemoryMachine,
    question: &SessionQuestion<'_>,
) -> Result<SessionsFoundOutput, CommandError> {
    let settings = turned_on(machine)?;
    let (memory, report) = updated(machine, &settings)?;
    if question.by == RankBy::Meaning && !memory.has_model() {
        let missing = CommandError::new(Exit::Environment, "no model is installed");
        return Err(missing.hint("callosum memory model install"));
    }
    let search = SessionSearch {
        question: crate::find::asked(question.question)?,
        folders: question.folders.clone(),
        since: question.since,
        origin: question.origin,
        by: question.by,
        limit: question.limit,
    };
    let hits = memory.search(&search).map_err(|error| unusable(&error))?;
    let sessions = hits.into_iter().map(|hit| output::hit(&machine.disk, hit));
    Ok(SessionsFoundOutput {
        sessions: sessions.collect(),
        added_turns: report.added,
    })
}

/// Returns the settings of a memory that is on.
fn turned_on(machine: &MemoryMachine) -> Result<MemorySettings, CommandError> {
    let settings = MemorySettings::read(machine)?;
    if settings.on {
        return Ok(settings);
    }
    let what = "the memory of past sessions is off";
    Err(CommandError::new(Exit::Usage, what).hint(ON))
}

/// Turns the memory on, and reads the sessions of the clients on this machine.
///
/// # Errors
/// The settings or the index cannot be written.
pub fn turn_on(machine: &MemoryMachine) -> Result<UpdateReport, CommandError> {
    let mut settings = MemorySettings::read(machine)?;
    settings.on = true;
    settings.write(machine)?;
    let (_, report) = updated(machine, &settings)?;
    Ok(report)
}

/// Turns the memory off. The index stays, and is not updated.
///
/// # Errors
/// The settings cannot be written.
pub fn turn_off(machine: &MemoryMachine) -> Result<(), CommandError> {
    let mut settings = MemorySettings::read(machine)?;
    settings.on = false;
    settings.write(machine)
}

/// Leaves the sessions in a folder out from here on, or ends that. Updates the index, if the memory is on.
///
/// # Errors
/// The settings or the index cannot be written.
pub fn exclude(
    machine: &MemoryMachine,
    folder: PathBuf,
    ends: bool,
) -> Result<UpdateReport, CommandError> {
    let mut settings = MemorySettings::read(machine)?;
    let before = settings.excluded.len();
    settings.excluded.retain(|other| *other != folder);
    if ends && settings.excluded.len() == before {
        let what = format!("{} is not excluded", folder.display());
        return Err(CommandError::new(Exit::Usage, what).hint("callosum memory status"));
    }
    if !ends {
        settings.excluded.push(folder);
    }
    settings.write(machine)?;
    if !settings.on {
        return Ok(UpdateReport::default());
    }
    Ok(updated(machine, &settings)?.1)
}

/// Forgets a session: its turns go, and its file is not read again. Says how many turns went.
///
/// # Errors
/// There is no such session in the index, or it cannot be written.
pub fn forget_session(machine: &MemoryMachine, session: &str) -> Result<u64, CommandError> {
    let mut settings = MemorySettings::read(machine)?;
    let memory = open(machine)?;
    let origins = memory
        .origins_of(session)
        .map_err(|error| unusable(&error))?;
    if origins.is_empty() {
        let what = format!("no session `{session}` in the memory");
        return Err(CommandError::new(Exit::No, what).hint("callosum find --sessions QUESTION"));
    }
    for origin in origins {
        let client = origin.name().to_owned();
        let session = session.to_owned();
        settings
            .forgotten
            .push(ForgottenSession { client, session });
    }
    settings.write(machine)?;
    drop(memory);
    Ok(updated(machine, &settings)?.1.removed)
}

/// Removes the whole index, and turns the memory off. Says whether there was an index.
///
/// # Errors
/// A file cannot be removed or written.
pub fn forget_all(machine: &MemoryMachine) -> Result<bool, CommandError> {
    turn_off(machine)?;
    remove(&machine.disk, &file(machine))
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))
}

/// Removes the index and reads all sessions again.
///
/// # Errors
/// The memory is off, or its index cannot be written.
pub fn rebuild(machine: &MemoryMachine) -> Result<UpdateReport, CommandError> {
    let settings = turned_on(machine)?;
    remove(&machine.disk, &file(machine))
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    Ok(updated(machine, &settings)?.1)
}

/// Calls `each` with every turn of the index, session by session.
///
/// # Errors
/// The index cannot be read, or `each` fails.
pub fn export(
    machine: &MemoryMachine,
    each: &mut dyn FnMut(&StoredTurnOutput) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let memory = open(machine)?;
    let mut failure = None;
    let read = memory.each_turn(&mut |turn| {
        let result = each(&output::stored(turn));
        let goes_on = result.is_ok();
        failure = result.err();
        goes_on
    });
    read.map_err(|error| unusable(&error))?;
    failure.map_or(Ok(()), Err)
}

/// Returns the state of the memory.
///
/// # Errors
/// The settings or the index cannot be read.
pub fn status(machine: &MemoryMachine) -> Result<MemoryStatusOutput, CommandError> {
    let settings = MemorySettings::read(machine)?;
    let is_there = machine.disk.exists(&file(machine));
    let is_there = is_there.map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    let memory = is_there.then(|| open(machine)).transpose()?;
    output::status(machine, settings, memory.as_ref(), &folders(machine))
}

fn file(machine: &MemoryMachine) -> PathBuf {
    machine.homes.memory().join(INDEX)
}

fn open(machine: &MemoryMachine) -> Result<Memory, CommandError> {
    Memory::open(&machine.disk, &file(machine)).map_err(|error| unusable(&error))
}

/// Opens the index with the installed model.
fn open_with_model(machine: &MemoryMachine) -> Result<Memory, CommandError> {
    let kept = machine.homes.memory().join("pieces");
    let model = match Model::open_kept(&machine.disk, &machine.homes.model(), &kept) {
        Ok(model) => model,
        Err(error) => {
            let hint = "searched by words; see `callosum doctor`";
            machine.report.warn(&error.to_string(), Some(hint));
            None
        }
    };
    open(machine)?
        .with_model(model)
        .map_err(|error| unusable(&error))
}

/// Opens the index with the installed model, and brings it in line.
fn updated(
    machine: &MemoryMachine,
    settings: &MemorySettings,
) -> Result<(Memory, UpdateReport), CommandError> {
    let mut memory = open_with_model(machine)?;
    let scope = MemoryScope {
        folders: folders(machine),
        excluded: settings.excluded.clone(),
        forgotten: settings.forgotten(),
    };
    let progress = machine.report.progress("looking for new sessions");
    let update = memory.update(&machine.disk, &scope, &mut |done| {
        let percent = done.bytes * 100 / done.of.max(1);
        let turns = thousands(done.turns);
        progress.now(format!("reading past sessions: {percent} %, {turns} turns"));
        !machine.cancel.is_cancelled()
    });
    let mut report = update.map_err(|error| unusable(&error))?;
    progress.now("looking for new records".to_owned());
    let records = records::update(machine, &mut memory, &scope);
    drop(progress);
    let records = records.map_err(|error| unusable(&error))?;
    report.added += records.added;
    report.removed += records.removed;
    if report.added + report.removed > 0 {
        let added = many(report.added, "turn");
        machine
            .report
            .detail(&format!("{added} read, {} removed", report.removed));
    }
    Ok((memory, report))
}

fn unusable(error: &MemoryError) -> CommandError {
    if matches!(error, MemoryError::Interrupted) {
        let what = "interrupted while past sessions were read";
        return CommandError::new(Exit::Interrupted, what).hint("callosum memory on");
    }
    let failed = CommandError::because(
        Exit::Environment,
        "cannot use the memory of past sessions",
        error,
    );
    if error.is_damage() {
        failed.hint("callosum memory rebuild")
    } else {
        failed
    }
}

/// Returns the folders of the clients on this machine.
fn folders(machine: &MemoryMachine) -> Vec<ClientFolder> {
    let folder = |client: Client| {
        let dialect = match client {
            Client::ClaudeCode => Dialect::Claude,
            Client::Codex => Dialect::Codex,
            Client::Gemini => Dialect::Gemini,
            Client::Qwen => Dialect::Qwen,
            Client::Opencode => Dialect::Opencode,
        };
        let data = || {
            let data = machine.environment.path("XDG_DATA_HOME");
            let data = data.filter(|_| client == Client::Opencode);
            Some(data.filter(|path| path.is_absolute())?.join("opencode"))
        };
        let own = ExecutorClient::of(dialect)?;
        let path = data().or_else(|| client_folder(machine, own))?;
        Some(ClientFolder { client, path })
    };
    Client::ALL.into_iter().filter_map(folder).collect()
}

/// Returns a client's own folder on this machine.
fn client_folder(machine: &MemoryMachine, client: &ExecutorClient) -> Option<PathBuf> {
    let value = |name: &str| machine.environment.get(name).map(Path::new);
    let home = value("HOME")?;
    Some(client.folder(home, client.home.variable.and_then(value)))
}

/// Returns the folders of the current project that have records of ours; none of a folder in which nothing was prepared.
fn current_project(context: &Context) -> Vec<PathBuf> {
    if !context.is_prepared().unwrap_or(false) {
        return Vec::new();
    }
    let mut folders = vec![context.state().to_owned(), context.sessions().to_owned()];
    folders.dedup();
    folders
}

/// Returns the folders whose sessions are of this project: its tree, and its main work tree.
pub fn project_folders(context: &Context) -> Vec<PathBuf> {
    let mut all = vec![context.tree().to_owned()];
    for other in [context.state(), context.sessions()] {
        if other.is_absolute()
            && !other.starts_with(&context.project.homes.machine)
            && !all.iter().any(|one| one == other)
        {
            all.push(other.to_owned());
        }
    }
    all
}
