//! The mesh of this machine, opened; and what the bridge file brought.

use std::fmt::Write as _;
use std::path::PathBuf;

use callosum_client::presence::presence_source;
use callosum_config::{MeshSettings, MeshSettingsError, OutputFolders};
use callosum_host::process::Identity;
use callosum_mesh::board::{BoardError, Command, NewTask, Task};
use callosum_mesh::bridge::{Bridge, Synced};
use callosum_mesh::event::Event;
use callosum_mesh::journal::JournalError;
use callosum_mesh::{Author, Mesh, MeshError, mesh_store};
use callosum_redact::terminal_escape::on_one_line;

use crate::context::Context;
use crate::{CommandError, Exit, many};

/// Hint for a command that may not write, as in an agent's sandbox.
const BY_TOOLS: &str =
    "in a sandbox, use the tools task, message, discovery and lease of the MCP server callosum";

/// The mesh of this machine, which is made where there is none yet.
pub fn mesh(context: &Context) -> Result<Mesh, CommandError> {
    mesh_with(
        context,
        settings(context).map_err(|error| unusable(&error))?,
    )
}

/// The same for who does not ask who does what: a configuration that cannot be used is warned of, and its defaults hold.
pub fn mesh_anyway(context: &Context) -> Result<Mesh, CommandError> {
    mesh_with(context, settings_or_warning(context).0)
}

/// The same without a word, for who was warned before.
pub fn mesh_again(context: &Context) -> Result<Mesh, CommandError> {
    mesh_with(context, settings(context).unwrap_or_default())
}

/// Returns the settings. If they cannot be used, warns, and returns the defaults with the fault.
fn settings_or_warning(context: &Context) -> (MeshSettings, Option<MeshSettingsError>) {
    match settings(context) {
        Ok(settings) => (settings, None),
        Err(error) => {
            let what = unusable(&error).one_line();
            context.report.warn(&what, Some("callosum doctor"));
            (MeshSettings::default(), Some(error))
        }
    }
}

/// Whether what the user configured can be used.
pub fn is_known_who_does_what(context: &Context) -> bool {
    settings(context).is_ok()
}

fn settings(context: &Context) -> Result<MeshSettings, MeshSettingsError> {
    MeshSettings::load(&context.disk, &context.project.homes.user_config)
}

fn mesh_with(context: &Context, settings: MeshSettings) -> Result<Mesh, CommandError> {
    let folder = context.project.homes.mesh();
    let (clock, ids) = (&context.clock, &context.ids);
    let mesh = mesh_store::open(&context.disk, clock, ids, &folder);
    let mesh = mesh.map_err(|error| explain(&error))?;
    let presence = presence_source(&context.disk, &context.project.homes);
    Ok(mesh.with_matrix(settings.matrix).with_presence(presence))
}

/// Says that what the user configured of the mesh cannot be used.
pub fn unusable(error: &MeshSettingsError) -> CommandError {
    let what = "cannot use the mesh configuration";
    CommandError::because(Exit::Environment, what, error)
}

/// The same, after due work was done and edits of the bridge file were applied. On a full disk the
/// mesh has the state of the log; an append then fails with the log's own error.
pub fn synced(context: &Context) -> Result<Mesh, CommandError> {
    let mut mesh = mesh(context)?;
    look_at_bridge(context, &mut mesh)?;
    Ok(mesh)
}

/// The same for who does not ask who does what: a configuration that cannot be used is warned of, and what is due and was written
/// waits for who does what to be known.
pub fn synced_anyway(context: &Context) -> Result<Mesh, CommandError> {
    let (settings, fault) = settings_or_warning(context);
    let mut mesh = mesh_with(context, settings)?;
    if fault.is_none() {
        look_at_bridge(context, &mut mesh)?;
    }
    Ok(mesh)
}

/// The same for who only looks; where nothing may be written, as in a sandbox, it is as the log has it. Whether
/// it may be written.
pub fn readable(context: &Context) -> Result<(Mesh, bool), CommandError> {
    let (mesh, is_writable, _) = readable_anyway(context)?;
    Ok((mesh, is_writable))
}

/// The same. An unusable configuration does not keep a reader from reading: it is a warning, and is
/// returned with the mesh, which has the state of the log. Due work waits until the configuration
/// can be used.
pub fn readable_anyway(
    context: &Context,
) -> Result<(Mesh, bool, Option<MeshSettingsError>), CommandError> {
    let (settings, fault) = settings_or_warning(context);
    let mut mesh = mesh_with(context, settings)?;
    let is_writable = mesh.is_writable().map_err(|error| explain(&error))?;
    if is_writable && fault.is_none() {
        match bring_in_line(context, &mut mesh) {
            // A process that holds the lock all the time must not block a reader.
            Err(error) if error.is_busy() => {
                let bridge = Bridge::of(&context.disk, &mesh);
                warn_of_bridge(context, &bridge, &error);
            }
            done => done.map_err(|error| explain(&error))?,
        }
    }
    Ok((mesh, is_writable, fault))
}

fn look_at_bridge(context: &Context, mesh: &mut Mesh) -> Result<(), CommandError> {
    bring_in_line(context, mesh).map_err(|error| explain(&error))
}

/// Does due work, and applies edits of the bridge file. On a full disk, or if the bridge file or
/// its companion files cannot be used, warns that this has to wait: the log is complete.
fn bring_in_line(context: &Context, mesh: &mut Mesh) -> Result<(), MeshError> {
    let bridge = Bridge::of(&context.disk, mesh);
    match mesh.settle().and_then(|()| bridge.sync(mesh)) {
        Ok(synced) => {
            tell(context, &bridge, &synced);
            write_outputs(context, mesh);
        }
        Err(error) if error.is_full() || matches!(error, MeshError::Disk(_)) => {
            warn_of_bridge(context, &bridge, &error);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Returns the folders that the output file of a task of this folder may be in.
pub fn output_folders(context: &Context, cwd: Option<&str>) -> Vec<PathBuf> {
    let settings = settings(context).unwrap_or_default();
    let Context {
        disk, environment, ..
    } = context;
    OutputFolders::new(disk, environment, &context.project.homes, &settings).of(cwd)
}

/// Writes results to the output files of their tasks. A failure is a warning: the results are in the log.
fn write_outputs(context: &Context, mesh: &mut Mesh) {
    let folders = |task: &Task| output_folders(context, task.cwd.as_deref());
    if let Err(error) = mesh.write_outputs(&folders) {
        let why = CommandError::from_error(Exit::Environment, &error).one_line();
        let what = format!("cannot write the output files of tasks: {why}");
        context.report.warn(&what, Some("callosum doctor"));
    }
}

/// Writes what was just done to the bridge file. The log has it already, so a bridge file that
/// cannot be written is no reason to do it again, only for a warning. If the configuration cannot
/// be used, which was warned about before, the file is left as it is.
pub fn show_done(context: &Context, mesh: &mut Mesh) {
    if !is_known_who_does_what(context) {
        return;
    }
    let bridge = Bridge::of(&context.disk, mesh);
    match bridge.sync(mesh) {
        Ok(synced) => tell(context, &bridge, &synced),
        Err(error) => warn_of_bridge(context, &bridge, &error),
    }
}

fn warn_of_bridge(context: &Context, bridge: &Bridge, error: &MeshError) {
    let why = CommandError::from_error(Exit::Environment, error).one_line();
    let path = bridge.path().display();
    let what = format!("{path} is out of sync with the log: {why}");
    context.report.warn(&what, Some("callosum mesh bridge"));
}

/// Says on stderr what could not be taken over.
pub fn tell(context: &Context, bridge: &Bridge, synced: &Synced) {
    if synced.is_no_file {
        let path = bridge.path().display();
        let what = format!("{path} is not a regular file, so it is neither read nor written");
        let hint = format!("rm {}", on_one_line(&path.to_string()));
        context.report.warn(&what, Some(&hint));
    }
    for displaced in &synced.displaced {
        let path = displaced.display();
        let what = format!("moved what was in the place of one of Callosum's files to {path}");
        context.report.warn(&what, Some("callosum doctor"));
    }
    for conflict in &synced.conflicts {
        let mut what = format!("bridge file: {} {}", conflict.item, conflict.reason);
        if let Some(kept) = &conflict.kept {
            let _ = write!(what, "; the edit is saved as {}", kept.display());
        }
        context.report.warn(&what, None);
    }
    for rejected in &synced.rejected {
        let what = format!(
            "{} was not applied: {}; it is saved as {}",
            rejected.path.display(),
            rejected.error,
            rejected.kept.display()
        );
        context.report.warn(&what, None);
    }
    if synced.edits > 0 {
        let edits = many(synced.edits as u64, "edit");
        context
            .report
            .detail(&format!("applied {edits} of the bridge file"));
    }
}

/// Carries out a command, between two syncs of the bridge file.
pub fn given(
    context: &Context,
    order: Command,
    voice: &Author,
) -> Result<Vec<Event>, CommandError> {
    let mut mesh = match order {
        Command::Add(_) | Command::Claim { .. } | Command::Change { .. } => synced(context),
        _ => synced_anyway(context),
    }?;
    given_to(context, &mut mesh, order, voice)
}

/// Returns the author with their session. If the client does not name its session, it is found by
/// the client's process. A client that asks by a tool and has no known session gets one per server
/// that it starts.
pub fn with_session(
    context: &Context,
    mesh: &mut Mesh,
    voice: &Author,
) -> Result<Author, CommandError> {
    let mut voice = voice.clone();
    if voice.session_id.is_none() {
        let ancestors = Identity::ancestors();
        let above = mesh.session_above(&voice, &ancestors);
        voice.session_id = above.map_err(|error| explain(&error))?;
        // Where no process is looked at, its hooks may know the session by another name.
        let is_known_by_process = !ancestors.is_empty() && context.is_asked_by_tool();
        if voice.session_id.is_none() && is_known_by_process {
            voice.session_id = Some(format!("mcp-{}", std::process::id()));
        }
    }
    Ok(voice)
}

/// The same, to a mesh that is open.
pub fn given_to(
    context: &Context,
    mesh: &mut Mesh,
    order: Command,
    voice: &Author,
) -> Result<Vec<Event>, CommandError> {
    let voice = with_session(context, mesh, voice)?;
    let verb = verb_of(&order);
    let events = super::fleet::claim::give(context, mesh, order, &voice)?;
    let events = events.map_err(|error| match own_other(&error, &voice) {
        Some(own) => own,
        None => explain_verb(&error, verb),
    })?;
    write_outputs(context, mesh);
    show_done(context, mesh);
    Ok(events)
}

/// Adds a task, unless an equivalent one exists; returns the id of the task that exists then.
pub fn left(
    context: &Context,
    mesh: &mut Mesh,
    task: NewTask,
    stands_for: impl Fn(&Task) -> bool,
    voice: &Author,
) -> Result<String, CommandError> {
    let voice = with_session(context, mesh, voice)?;
    let id = mesh.leave(task, stands_for, &voice);
    let id = id.map_err(|error| explain(&error))?;
    show_done(context, mesh);
    Ok(id)
}

/// Returns the error for an agent that is blocked by another session of its own; `None` for other
/// errors.
fn own_other(error: &MeshError, voice: &Author) -> Option<CommandError> {
    let MeshError::Refused(refusal) = error else {
        return None;
    };
    let what = match refusal {
        BoardError::ClaimedBy { task, by, until } if *by == voice.agent => {
            format!("task `{task}` is claimed by another session of {by}, until {until}")
        }
        BoardError::LeasedBy {
            path, by, until, ..
        } if *by == voice.agent => {
            format!("another session of {by} works on {path} until {until}")
        }
        _ => return None,
    };
    let failure = CommandError::new(exit_of(refusal), what);
    Some(match hint_of(refusal, "claim") {
        Some(hint) => failure.hint(hint),
        None => failure,
    })
}

/// Explains why the mesh did not do what it was asked.
pub fn explain(error: &MeshError) -> CommandError {
    explain_verb(error, "claim")
}

/// Returns the command-line verb of a command for a task.
fn verb_of(order: &Command) -> &'static str {
    match order {
        Command::Complete { .. } => "done",
        _ => "claim",
    }
}

/// The same, where this verb was asked for.
fn explain_verb(error: &MeshError, verb: &str) -> CommandError {
    match error {
        MeshError::Refused(refusal) => {
            let failure = CommandError::from_error(exit_of(refusal), refusal);
            match hint_of(refusal, verb) {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
        MeshError::Faults(faults) => CommandError::because(Exit::Usage, "invalid event", faults),
        MeshError::Journal(JournalError::TooLong { .. }) => {
            CommandError::from_error(Exit::Usage, error)
        }
        MeshError::Journal(JournalError::Reused { seq, .. }) => {
            let before = seq.unwrap_or_default().saturating_sub(1);
            let hint = format!("callosum mesh tail --since {before}");
            CommandError::from_error(Exit::No, error).hint(hint)
        }
        MeshError::Journal(_) | MeshError::Disk(_) => {
            let failure = CommandError::because(Exit::Environment, "cannot use the mesh", error);
            if error.is_unwritable() {
                failure.hint(BY_TOOLS)
            } else {
                failure.hint("callosum doctor")
            }
        }
    }
}

fn exit_of(refusal: &BoardError) -> Exit {
    match refusal {
        BoardError::NoId { .. }
        | BoardError::SecretId { .. }
        | BoardError::SaysNothing { .. }
        | BoardError::TooLong { .. }
        | BoardError::TooManyNeeds
        | BoardError::NoTtl { .. }
        | BoardError::NoValue { .. } => Exit::Usage,
        _ => Exit::No,
    }
}

fn hint_of(refusal: &BoardError, verb: &str) -> Option<String> {
    Some(match refusal {
        BoardError::NoSuchTask { .. } => "callosum mesh task list --all".to_owned(),
        BoardError::SaysOther { what, .. } if what.ends_with("discovery") => {
            "callosum mesh discovery list".to_owned()
        }
        BoardError::NoSuchMessage { .. } | BoardError::SaysOther { .. } => {
            "callosum mesh message list --all".to_owned()
        }
        BoardError::MeantFor { task, .. } => format!("callosum mesh task {verb} {task} --force"),
        BoardError::ClaimedBy { task, .. }
        | BoardError::DoneBy { task, .. }
        | BoardError::IsOver { task, .. }
        | BoardError::Lost { task, .. } => format!("callosum mesh task show {task}"),
        BoardError::NeedsWhatIsGone { task, .. } => format!("callosum mesh task cancel {task}"),
        BoardError::WaitsFor { .. } | BoardError::NothingToDo => {
            "callosum mesh task list".to_owned()
        }
        BoardError::LeasedBy { .. } => "callosum mesh lease list".to_owned(),
        BoardError::Full { what, .. } if what.starts_with("tasks") => {
            "callosum mesh task list".to_owned()
        }
        BoardError::Full { .. } => "callosum mesh message list".to_owned(),
        BoardError::NotDead { .. } => "callosum mesh message list --dead".to_owned(),
        BoardError::Unreachable { message, .. } => {
            format!("callosum mesh message drop {message}")
        }
        _ => return None,
    })
}
