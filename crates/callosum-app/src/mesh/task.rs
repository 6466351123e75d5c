//! `callosum mesh task`: work that one agent leaves for another.

use callosum_intent::graph::Graph;
use callosum_mesh::agent::{AgentName, US};
use callosum_mesh::board::{Command, NewTask, Status, Task};
use callosum_mesh::route::{CATEGORY, REASSIGNED};
use callosum_mesh::{Author, Mesh, output_file};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::intent::journal;
use crate::mesh::task_output::{MeshTaskOutput, MeshTasksOutput};
use crate::mesh::{open, route};
use crate::{CommandError, Exit, shell_word};

/// Most agents that a warning names.
const MOST_NAMED: usize = 20;

/// Returns the agent for a task, from its category if none is named, and the fields to store about
/// that.
pub fn meant(
    context: &Context,
    to: Option<AgentName>,
    category: Option<&str>,
) -> Result<(Option<AgentName>, Map<String, Value>), CommandError> {
    let mut other = Map::new();
    let Some(category) = category else {
        return Ok((to, other));
    };
    let mesh = open::mesh(context)?;
    let routes = &mesh.matrix().routes;
    let primary = match mesh.matrix().route(category) {
        Some(route) => route.primary.clone(),
        // Without any category configured each is a label, which routes nothing.
        None if routes.is_empty() && to.is_some() => {
            other.insert(CATEGORY.to_owned(), category.into());
            return Ok((to, other));
        }
        None => return Err(route::unknown(category, routes)),
    };
    other.insert(CATEGORY.to_owned(), category.into());
    Ok((Some(to.unwrap_or(primary)), other))
}

/// Returns a warning about a task for an agent that this machine does not know; `None` if it is
/// known.
pub fn nobody_there(context: &Context, to: &AgentName) -> Result<Option<String>, CommandError> {
    let mut mesh = open::mesh(context)?;
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    if board.has_heard_of(to) {
        return Ok(None);
    }
    let mut known: Vec<&str> = board.heard_of().filter(|name| *name != US).collect();
    known.sort_unstable();
    known.dedup();
    known.truncate(MOST_NAMED);
    Ok(Some(format!(
        "no agent named {to} is known on this machine: the task waits until one claims it (known \
         agents: {})",
        known.join(", ")
    )))
}

/// Returns a warning if the result of a task with this output file cannot be written there; `None` if it can.
pub fn output_warning(context: &Context, path: &str) -> Option<String> {
    let cwd = context.folder.to_string_lossy();
    let folders = open::output_folders(context, Some(&cwd));
    let fault = output_file::resolve(&context.disk, path, Some(&context.folder), &folders).err()?;
    Some(format!(
        "the result will not be written to the output file: {fault}"
    ))
}

/// Writes the result of a complete task to its output file again, and returns the task.
pub fn written(
    context: &Context,
    voice: &Author,
    task: &str,
    is_forced: bool,
) -> Result<MeshTaskOutput, CommandError> {
    let mut mesh = open::synced_anyway(context)?;
    let voice = open::with_session(context, &mut mesh, voice)?;
    let folders = |task: &Task| open::output_folders(context, task.cwd.as_deref());
    let receipt = mesh.write_output(task, &voice, is_forced, &folders);
    let receipt = receipt.map_err(|error| open::explain(&error))?;
    if let Some(reason) = receipt.reason {
        let what = format!("the result of task `{task}` was not written: {reason}");
        return Err(CommandError::new(Exit::No, what));
    }
    known(context, &mut mesh, task)
}

/// Does what is wanted, and gives the task that it was about: the one that is named, else the one that
/// an event tells of.
pub fn done(
    context: &Context,
    voice: &Author,
    order: Command,
    task: Option<&str>,
) -> Result<Option<MeshTaskOutput>, CommandError> {
    let mut mesh = open::synced(context)?;
    let is_new = matches!(order, Command::Add(_));
    let events = open::given_to(context, &mut mesh, order, voice)?;
    let is_there_already = is_new && events.is_empty();
    let event_task = events
        .first()
        .and_then(|event| event.payload.get("task")?.as_str());
    let task = task.or(event_task).map(str::to_owned);
    let task = task
        .map(|task| known(context, &mut mesh, &task))
        .transpose()?;
    if is_there_already && let Some(MeshTaskOutput { id, status, .. }) = &task {
        let status = status.replace('_', " ");
        context.report.say(&format!(
            "task `{id}` already exists and is {status}; nothing was added"
        ));
    }
    Ok(task)
}

/// Assigns a pending task to an agent, or to any, and returns the task.
///
/// A task of a category stays with this agent: the time limit of the category ends.
///
/// # Errors
/// If the task does not exist, is claimed or is over.
pub fn assigned(
    context: &Context,
    voice: &Author,
    task: &str,
    to: Option<&AgentName>,
) -> Result<MeshTaskOutput, CommandError> {
    let mut mesh = open::synced(context)?;
    let found = known(context, &mut mesh, task)?;
    if found.status != Status::Pending.as_str() {
        let status = found.status.replace('_', " ");
        let what = format!("task `{task}` is {status}; only a pending task can be assigned");
        let error = CommandError::new(Exit::No, what);
        return Err(if found.claimed_by.is_some() {
            let task = shell_word(task);
            error.hint(format!("callosum mesh task release {task} --force"))
        } else {
            error
        });
    }
    let to = to.map_or(Value::Null, |to| to.as_str().into());
    let mut set = Map::from_iter([("assigned_to".to_owned(), to)]);
    if found.category.is_some() {
        let by = format!("assigned by {}", voice.agent);
        set.insert(REASSIGNED.to_owned(), by.into());
    }
    let task = task.to_owned();
    let order = Command::Change {
        task: task.clone(),
        set,
    };
    open::given_to(context, &mut mesh, order, voice)?;
    known(context, &mut mesh, &task)
}

/// Adds a task, unless one exists that `stands_for` it, or it itself, with the same id and prompt:
/// then an earlier call was interrupted before its caller got the result. Returns the id of the
/// task that exists then.
pub fn add_once(
    context: &Context,
    voice: &Author,
    new: NewTask,
    stands_for: impl Fn(&Task) -> bool,
) -> Result<String, CommandError> {
    let (id, prompt) = (new.id.clone(), new.prompt.clone());
    let is_it = |task: &Task| task.id == id && task.prompt == prompt || stands_for(task);
    // Where nothing may be written it may be there all the same.
    let (mut mesh, _) = open::readable(context)?;
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    if let Some(there) = board.tasks.iter().find(|task| is_it(task)) {
        return Ok(there.id.clone());
    }
    let mut mesh = open::synced(context)?;
    open::left(context, &mut mesh, new, is_it, voice)
}

/// The tasks that this agent may claim or has, or all; those that are over only where `all` are wanted.
pub fn listed(
    context: &Context,
    all: bool,
    to: Option<&AgentName>,
) -> Result<MeshTasksOutput, CommandError> {
    let (mut mesh, _) = open::readable(context)?;
    let now = context.clock.now();
    let graph = intents(context);
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let is_theirs = |task: &&Task| {
        to.is_none_or(|agent| match task.claim_at(now).map(|claim| &claim.by) {
            Some(by) => by == agent,
            None => task.assigned_to.as_ref().is_none_or(|meant| meant == agent),
        })
    };
    let tasks = board.tasks.iter();
    let tasks = tasks.filter(|task| all || !task.status.is_over());
    let mut tasks: Vec<&Task> = tasks.filter(is_theirs).collect();
    tasks.sort_by_key(|task| task.priority);
    let tasks = tasks
        .into_iter()
        .map(|task| MeshTaskOutput::of(board, task, &graph, now));
    Ok(MeshTasksOutput {
        tasks: tasks.collect(),
    })
}

/// The intents of the project; none if they cannot be read, since a task is shown all the same.
fn intents(context: &Context) -> Graph {
    journal::read(context).unwrap_or_default().graph
}

/// A task of this id, with the intents of the project that it works for.
pub fn known(context: &Context, mesh: &mut Mesh, id: &str) -> Result<MeshTaskOutput, CommandError> {
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let Some(task) = board.task(id) else {
        let what = format!("there is no task `{id}`");
        return Err(CommandError::new(Exit::No, what).hint("callosum mesh task list --all"));
    };
    let (graph, now) = (intents(context), context.clock.now());
    Ok(MeshTaskOutput::of(board, task, &graph, now))
}
