//! [`read`]: from the bytes of a task file to a [`Submission`].

use std::{
    collections::{HashMap, HashSet},
    fmt,
    path::{Path, PathBuf},
};

use callosum_executor::json::read_value;
use callosum_ledger::TaskId;
use serde_json::Value;

use super::fields::{Fields, Problem};
use crate::{
    mode::Mode,
    priority::Priority,
    submission::Submission,
    suggest::nearest,
    task::{Kind, Link, Scope, Task, TaskIndex},
    truncate::excerpt,
};

const FILE_KEYS: &[&str] = &["tasks"];

const TASK_KEYS: &[&str] = &[
    "id",
    "prompt",
    "kind",
    "paths",
    "executor",
    "links",
    "scope_type",
    "estimated_io_ops",
    "priority",
    "require_citations",
];

/// The longest id of a task in a file, in characters.
const LONGEST_ID: usize = 64;

/// Values of keys that a task does not set.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Kind among the four analyses; `None` for a plain question.
    pub kind: Option<Kind>,
    /// The executor; `None` leaves the choice to the priority.
    pub executor: Option<String>,
    /// Priority among the tasks that wait.
    pub priority: Priority,
    /// The mode, which a file cannot say.
    pub mode: Option<Mode>,
}

/// Reads a task file. `file` is the name that errors give it; `in_ledger` says whether a task is
/// in the ledger, and is asked only for links that lead to no task of the file.
///
/// A task that gives paths and no `scope_type` concerns a module, one without paths the whole
/// tree. A byte order mark before the JSON is passed over.
pub fn read(
    file: &Path,
    bytes: &[u8],
    defaults: &Defaults,
    in_ledger: &dyn Fn(&TaskId) -> bool,
) -> Result<Submission, TaskFileError> {
    let failed = |task, problem| TaskFileError {
        file: file.to_owned(),
        task,
        problem: Box::new(problem),
    };
    let records = records_of(bytes).map_err(|problem| failed(None, problem))?;
    let mut drafts = Vec::with_capacity(records.len());
    let mut places = HashMap::with_capacity(records.len());
    for (at, record) in records.into_iter().enumerate() {
        let mut place = TaskPlace {
            number: at + 1,
            id: None,
        };
        let draft = draft_of(record, defaults, &mut place)
            .and_then(
                |draft| match places.insert(draft.task.local_id.clone(), at) {
                    None => Ok(draft),
                    Some(first) => Err(Problem::SameId { first: first + 1 }),
                },
            )
            .map_err(|problem| failed(Some(place.clone()), problem))?;
        drafts.push((place, draft));
    }
    let mut tasks = Vec::with_capacity(drafts.len());
    for (place, Draft { mut task, links }) in drafts {
        task.links =
            resolve(&links, &places, in_ledger).map_err(|problem| failed(Some(place), problem))?;
        tasks.push(task);
    }
    Submission::new(tasks).map_err(|error| failed(None, error.into()))
}

/// A task whose links are still names.
struct Draft {
    task: Task,
    links: Vec<String>,
}

fn records_of(bytes: &[u8]) -> Result<Vec<Value>, Problem> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    // Refuses what readers disagree about, duplicate keys above all, and names its position.
    Fields::of(read_value(bytes)?, FILE_KEYS)?.list("tasks", "a list of at least one task")
}

fn draft_of(record: Value, defaults: &Defaults, place: &mut TaskPlace) -> Result<Draft, Problem> {
    if let Value::Object(map) = &record {
        place.id = map.get("id").and_then(Value::as_str).map(excerpt);
    }
    let mut fields = Fields::of(record, TASK_KEYS)?;
    let local_id = fields.text(
        "id",
        "1 to 64 characters, not all blank, without control characters, and not in the form of a \
         ledger task id",
        is_local_id,
    )?;
    let prompt = fields.text("prompt", "text that is not blank", is_not_blank)?;
    let paths = fields.texts("paths", "a list of paths from the root")?;
    let scope = fields.one_of("scope_type", &Scope::ALL, Scope::as_str)?;
    let task = Task {
        kind: fields
            .one_of("kind", &Kind::ALL, Kind::as_str)?
            .or(defaults.kind),
        executor: fields
            .optional_text("executor", "an executor's id", is_not_blank)?
            .or_else(|| defaults.executor.clone()),
        links: Vec::new(),
        scope: scope.unwrap_or(if paths.is_empty() {
            Scope::Repo
        } else {
            Scope::Module
        }),
        estimated_io_ops: fields.count("estimated_io_ops")?,
        priority: fields
            .one_of("priority", &Priority::ALL, Priority::as_str)?
            .unwrap_or(defaults.priority),
        mode: defaults.mode,
        require_citations: fields.share("require_citations")?,
        local_id,
        prompt,
        paths,
        plan_call: None,
    };
    Ok(Draft {
        task,
        links: fields.texts("links", "a list of ids")?,
    })
}

fn resolve(
    links: &[String],
    places: &HashMap<String, usize>,
    in_ledger: &dyn Fn(&TaskId) -> bool,
) -> Result<Vec<Link>, Problem> {
    let mut seen = HashSet::with_capacity(links.len());
    links
        .iter()
        .map(|name| {
            if !seen.insert(name) {
                return Err(Problem::SameLink {
                    link: excerpt(name),
                });
            }
            if let Some(&at) = places.get(name) {
                return Ok(Link::Local(TaskIndex(at)));
            }
            match name.parse::<TaskId>() {
                Ok(id) if in_ledger(&id) => Ok(Link::Ledger(id)),
                _ => Err(Problem::UnknownLink {
                    link: excerpt(name),
                    nearest: nearest_id(name, places),
                }),
            }
        })
        .collect()
}

/// The id of the file that was probably meant; in the file's order where several are as near.
fn nearest_id(name: &str, places: &HashMap<String, usize>) -> Option<String> {
    let mut ids: Vec<(&String, &usize)> = places.iter().collect();
    ids.sort_by_key(|(_, at)| **at);
    nearest(name, ids.into_iter().map(|(id, _)| id.as_str())).map(str::to_owned)
}

fn is_local_id(text: &str) -> bool {
    is_not_blank(text)
        && text.chars().count() <= LONGEST_ID
        && !text.contains(char::is_control)
        && text.parse::<TaskId>().is_err()
}

fn is_not_blank(text: &str) -> bool {
    !text.trim().is_empty()
}

/// A task file that cannot be taken over: which file, which task, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`{}: {problem}", file.display(), task.as_ref().map_or_else(String::new, |task| format!(", {task}")))]
pub struct TaskFileError {
    /// The file, as the caller named it.
    pub file: PathBuf,
    /// The task; `None` where it is the file as a whole.
    pub task: Option<TaskPlace>,
    /// The fault.
    pub problem: Box<Problem>,
}

/// Task of a file that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its id, where it has one that can be read; cut where it is long.
    pub id: Option<String>,
}

impl fmt::Display for TaskPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.number)?;
        match &self.id {
            Some(id) => write!(f, " (`{id}`)"),
            None => Ok(()),
        }
    }
}
