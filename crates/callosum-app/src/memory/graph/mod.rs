//! [`graph`]: what the turns of an answer are connected with: files, sessions, decisions, tasks, beads and intents.
//!
//! A walk of a few steps, not a search: from the turns to the files that they name, from those to the sessions, decisions,
//! tasks, beads and intents that name them too, and from tasks and beads to the intents that they work for. [`walk`] has the
//! nodes and edges within their bounds, [`project`] what a project says.

mod project;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use callosum_intent::graph::{Link, LinkKind};
use callosum_memory::{Memory, MemoryError, Origin, RecordKind};
use callosum_mesh::board::{Board, Task};
use schemars::JsonSchema;
use serde::Serialize;

use self::project::Project;
use self::walk::{GraphEdgeOutput, GraphNodeOutput, Walk};
use super::MemoryMachine;
use super::output::SessionHitOutput;

/// Most files of an answer.
const MOST_FILES: usize = 10;

/// Most sessions of a file.
const MOST_SESSIONS: usize = 10;

/// Most projects whose decisions, beads and intents are read.
const MOST_PROJECTS: usize = 3;

/// Connections of turns.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GraphOutput {
    /// Files that the turns name, those named most often first.
    pub files: Vec<GraphFileOutput>,
    /// Sessions, files, records and intents, in the order in which they were met; at most 80.
    pub nodes: Vec<GraphNodeOutput>,
    /// Connections between them; at most 200.
    pub edges: Vec<GraphEdgeOutput>,
    /// Whether more was found than is shown.
    pub truncated: bool,
}

/// A file, with the sessions that touched it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GraphFileOutput {
    /// The path, as the turns name it.
    pub path: String,
    /// Sessions whose tool calls name it, the latest first: `AGENT:ID`.
    pub touched_by: Vec<String>,
}

/// Finds what the turns of hits are connected with.
pub(super) fn graph(
    machine: &MemoryMachine,
    memory: &Memory,
    hits: &[SessionHitOutput],
) -> Result<GraphOutput, MemoryError> {
    let mut walk = Walk::default();
    let folders: BTreeSet<&str> = hits
        .iter()
        .filter_map(|hit| hit.folder.as_deref())
        .collect();
    let projects = Project::read_all(machine, &folders, MOST_PROJECTS);
    let mut board = project::board(machine).unwrap_or_default();
    // The latest come first where not all have room.
    board.tasks.reverse();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sources = Vec::new();
    for hit in hits {
        let Some(id) = hit_node(&mut walk, hit, &projects) else {
            break;
        };
        for turn in &hit.turns {
            let named: BTreeSet<&str> = paths(&turn.text).collect();
            for path in named {
                *counts.entry(path).or_default() += 1;
                sources.push((
                    id.clone(),
                    hit.folder.as_deref(),
                    path,
                    turn.speaker == "call",
                ));
            }
        }
    }
    let mut named: Vec<(&str, usize)> = counts.into_iter().collect();
    named.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    named.truncate(MOST_FILES);
    let mut files = Vec::new();
    for (path, _) in named {
        let touched = memory.sessions_with_call(path, MOST_SESSIONS)?;
        // A path of a hit without a project is still one file.
        let of: BTreeSet<Option<&str>> = sources
            .iter()
            .filter(|(_, _, named, _)| *named == path)
            .map(|(_, folder, ..)| project::root_of(&projects, *folder).or(*folder))
            .collect();
        for folder in of {
            let Some(file) = walk.node("file", path, folder, None) else {
                break;
            };
            for (id, source, named, is_call) in &sources {
                let root = project::root_of(&projects, *source).or(*source);
                if *named == path && root == folder {
                    walk.edge(id, if *is_call { "touched" } else { "names" }, &file);
                }
            }
            let project = projects
                .iter()
                .find(|project| Some(project.root()) == folder);
            if let Some(project) = project {
                connect(&mut walk, project, path, &file);
            }
            let tasks = board
                .tasks
                .iter()
                .filter(|task| is_within(task.cwd.as_deref(), folder) && task_names(task, path));
            for task in tasks {
                if let Some(id) = task_node(&mut walk, &board, task, &projects, 0) {
                    walk.edge(&id, "names", &file);
                }
            }
            for (origin, session) in &touched {
                let kind = kind_of(*origin);
                let name = name_of(*origin, session);
                if let Some(id) = walk.node(kind, &name, None, None) {
                    walk.edge(&id, "touched", &file);
                }
            }
        }
        let touched_by = touched
            .into_iter()
            .map(|(origin, session)| format!("{origin}:{session}"));
        files.push(GraphFileOutput {
            path: path.to_owned(),
            touched_by: touched_by.collect(),
        });
    }
    for hit in hits.iter().filter(|hit| hit.agent == "task") {
        if let Some(task) = board.task(&hit.session) {
            task_node(&mut walk, &board, task, &projects, 0);
        }
    }
    let (nodes, edges, truncated) = walk.end();
    Ok(GraphOutput {
        files,
        nodes,
        edges,
        truncated,
    })
}

/// Adds the session or record of a hit.
fn hit_node(walk: &mut Walk, hit: &SessionHitOutput, projects: &[Project]) -> Option<String> {
    let origin = Origin::of(&hit.agent)?;
    let folder = project::root_of(projects, hit.folder.as_deref()).or(hit.folder.as_deref());
    let folder = folder.filter(|_| is_of_project(origin));
    let name = name_of(origin, &hit.session);
    walk.node(kind_of(origin), &name, folder, hit.title.as_deref())
}

fn kind_of(origin: Origin) -> &'static str {
    match origin {
        Origin::Client(_) => "session",
        Origin::Record(kind) => kind.name(),
    }
}

fn name_of(origin: Origin, session: &str) -> String {
    match origin {
        Origin::Client(client) => format!("{client}:{session}"),
        Origin::Record(_) => session.to_owned(),
    }
}

/// Whether ids of this origin are unique within a project only.
fn is_of_project(origin: Origin) -> bool {
    matches!(
        origin,
        Origin::Record(RecordKind::Ledger | RecordKind::Decision)
    )
}

/// Adds what a project says about a file.
fn connect(walk: &mut Walk, project: &Project, path: &str, file: &str) {
    let root = Some(project.root());
    for decision in project.decisions_citing(path) {
        let title = Some(decision.title.as_str());
        if let Some(id) = walk.node("decision", &decision.ts, root, title) {
            walk.edge(&id, "cites", file);
        }
    }
    for bead in project.beads_naming(path) {
        let Some(id) = walk.node("bead", &bead.id, root, Some(&bead.title)) else {
            break;
        };
        walk.edge(&id, "names", file);
        let link = Link {
            to: LinkKind::Bead,
            id: bead.id.clone(),
        };
        add_intents(walk, project, &link, &id);
    }
    for intent in project.intents_naming(path) {
        let title = Some(intent.goal.as_str());
        if let Some(id) = walk.node("intent", intent.id.as_str(), root, title) {
            walk.edge(&id, "names", file);
        }
    }
}

/// Adds the intents that a task or bead works for, each with the one that it is a part of.
fn add_intents(walk: &mut Walk, project: &Project, link: &Link, from: &str) {
    let root = Some(project.root());
    for intent in project.intents.intents_of(link) {
        let title = Some(intent.goal.as_str());
        let Some(id) = walk.node("intent", intent.id.as_str(), root, title) else {
            return;
        };
        walk.edge(from, "works_for", &id);
        let parent = intent.parent.as_ref();
        let Some(parent) = parent.and_then(|parent| project.intents.get(parent)) else {
            continue;
        };
        let title = Some(parent.goal.as_str());
        if let Some(parent) = walk.node("intent", parent.id.as_str(), root, title) {
            walk.edge(&id, "part_of", &parent);
        }
    }
}

/// Adds a task with its intents and the tasks that it needs.
fn task_node(
    walk: &mut Walk,
    board: &Board,
    task: &Task,
    projects: &[Project],
    depth: usize,
) -> Option<String> {
    let id = walk.node("task", &task.id, None, Some(&task.prompt))?;
    let link = Link {
        to: LinkKind::Task,
        id: task.id.clone(),
    };
    for project in projects {
        add_intents(walk, project, &link, &id);
    }
    if depth == 0 {
        for need in task.needs.iter().filter_map(|need| board.task(need)) {
            if let Some(need) = task_node(walk, board, need, projects, depth + 1) {
                walk.edge(&id, "needs", &need);
            }
        }
    }
    Some(id)
}

fn task_names(task: &Task, path: &str) -> bool {
    let result = task.result.as_deref().unwrap_or_default();
    let output = task.output_file.as_deref() == Some(path);
    output
        || paths(&task.prompt)
            .chain(paths(result))
            .any(|named| named == path)
}

/// Whether a task's folder is that of a file, as far as both are known.
fn is_within(cwd: Option<&str>, folder: Option<&str>) -> bool {
    match (cwd, folder) {
        (Some(cwd), Some(folder)) => std::path::Path::new(cwd).starts_with(folder),
        _ => true,
    }
}

/// Returns the words of a text that are paths: with a slash between names, and an ending.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    let words = text.split(|c: char| c.is_whitespace() || "`'\"()[]{},;|<>".contains(c));
    words
        .filter(|word| !word.contains("://"))
        .filter_map(|word| word.split(':').next())
        .map(move |word| word.trim_matches(is_end))
        .filter(|word| {
            let Some((folder, name)) = word.rsplit_once('/') else {
                return false;
            };
            let ending = name.rsplit_once('.').map(|(_, ending)| ending);
            !folder.is_empty()
                && !word.contains("//")
                && ending.is_some_and(|ending| {
                    !ending.is_empty()
                        && ending.len() <= 5
                        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
                })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_names_with_a_folder_and_an_ending() {
        let text = "See `src/main.rs:12`, docs/a.md. Not https://x.org/a.html or and/or, nor a.rs";
        assert_eq!(
            paths(text).collect::<Vec<_>>(),
            ["src/main.rs", "docs/a.md"]
        );
    }
}
