//! Links of intents to tasks of the mesh and to beads: which exist, how far each is, and the intent behind a task or bead.
//!
//! [`link`] and [`unlink`] change the graph. [`LinkStates`] looks the tasks and beads up once for all intents of an output.
//! [`working_for`] reads the other way around, and never fails: a task is shown whether or not the intents are readable.

use std::collections::{BTreeMap, BTreeSet};

use callosum_arbiter::suggest::nearest;
use callosum_intent::graph::{Graph, Intent, IntentId, Link, LinkKind, Status};
use callosum_mesh::{Mesh, mesh_store};
use callosum_redact::terminal_escape::on_one_line;
use callosum_session::bead::{BeadId, Beads, is_closed};
use schemars::JsonSchema;
use serde::Serialize;

use super::{change, journal};
use crate::bead::mirror;
use crate::context::Context;
use crate::mesh::open;
use crate::session::explain;
use crate::{CommandError, Exit};

/// The state of a task or bead that no longer exists.
pub const MISSING: &str = "missing";

/// The state of a task or bead that cannot be read.
pub const UNKNOWN: &str = "unknown";

/// The most characters of the title of a task or bead.
const LONGEST_TITLE: usize = 80;

/// The most names that an error suggests.
const MOST_SUGGESTED: usize = 3;

/// The fewest letters by which a beginning suggests a name.
const LEAST_LETTERS: usize = 2;

/// A task or bead of an intent.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct LinkOutput {
    /// `task` or `bead`.
    pub to: String,
    /// Its id.
    pub id: String,
    /// Its state as the mesh or the bead has it; `missing` if it no longer exists, `unknown` if it cannot be read.
    pub status: String,
    /// True if it is done: a complete task, or a closed bead.
    pub is_done: bool,
    /// The work, shortened to a line; null if it is not known.
    pub title: Option<String>,
}

/// An intent that a task or bead works for.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct WorkingForOutput {
    /// Its id.
    pub id: String,
    /// Its state.
    pub status: String,
    /// A short name.
    pub name: String,
}

/// A task or bead as it is now.
#[derive(Clone, Debug)]
struct WorkItem {
    status: String,
    is_done: bool,
    title: String,
}

/// The tasks and beads that links lead to, as they are now.
#[derive(Debug, Default)]
pub struct LinkStates {
    tasks: Items,
    beads: Items,
}

/// All items of a kind, by id.
#[derive(Debug)]
enum Items {
    /// They were read, except for those that are listed as unreadable.
    Read(BTreeMap<String, WorkItem>, BTreeSet<String>),
    /// They cannot be read.
    Unreadable,
}

impl Default for Items {
    fn default() -> Self {
        Self::Read(BTreeMap::new(), BTreeSet::new())
    }
}

/// Links a task or bead to an intent. It must exist.
pub fn link(context: &Context, id: &IntentId, link: Link) -> Result<Intent, CommandError> {
    match link.to {
        LinkKind::Task => check_task(context, &link.id)?,
        LinkKind::Bead => check_bead(context, &link.id)?,
    }
    change::set_link(context, id, link, true)
}

/// Removes the link of an intent to a task or bead, whether or not that still exists.
pub fn unlink(context: &Context, id: &IntentId, link: Link) -> Result<Intent, CommandError> {
    change::set_link(context, id, link, false)
}

/// Returns the intents that a task or bead works for; empty if the journal cannot be read.
pub fn working_for(context: &Context, link: &Link) -> Vec<WorkingForOutput> {
    journal::read(context).map_or_else(|_| Vec::new(), |read| intents_of(&read.graph, link))
}

/// Returns the intents of a graph that a task or bead works for.
pub fn intents_of(graph: &Graph, link: &Link) -> Vec<WorkingForOutput> {
    let intents = graph.intents_of(link).into_iter();
    let intents = intents.map(|intent| WorkingForOutput {
        id: intent.id.to_string(),
        status: intent.status.to_string(),
        name: intent.name.clone(),
    });
    intents.collect()
}

impl WorkingForOutput {
    /// Returns the intent on one line, without its line end.
    pub fn line(&self) -> String {
        format!("{} {} {}", self.id, self.status, on_one_line(&self.name))
    }
}

impl LinkOutput {
    /// Returns the link on one line, without its line end.
    pub fn line(&self) -> String {
        let Self { to, id, status, .. } = self;
        format!("{to} {} {}", on_one_line(id), on_one_line(status))
    }
}

impl LinkStates {
    /// Looks up the tasks and beads of these intents. Reads neither unless an intent has a link of the kind.
    ///
    /// Warns if the mesh or the beads cannot be read: their states are then unknown.
    pub fn gather<'g>(
        context: &Context,
        graph: &Graph,
        ids: impl IntoIterator<Item = &'g IntentId>,
    ) -> Self {
        let links: BTreeSet<&Link> = ids.into_iter().flat_map(|id| graph.links(id)).collect();
        let mut states = Self::default();
        if links.iter().any(|link| link.to == LinkKind::Task) {
            states.tasks = readable(context, "tasks of the mesh", tasks(context));
        }
        let beads = links.iter().filter(|link| link.to == LinkKind::Bead);
        let beads: Vec<&str> = beads.map(|link| link.id.as_str()).collect();
        if !beads.is_empty() {
            states.beads = readable(context, "beads", beads_of(context, &beads));
        }
        states
    }

    /// Returns the links of an intent, each with its state.
    pub fn of(&self, graph: &Graph, id: &IntentId) -> Vec<LinkOutput> {
        graph.links(id).map(|link| self.state(link)).collect()
    }

    fn state(&self, link: &Link) -> LinkOutput {
        let items = match link.to {
            LinkKind::Task => &self.tasks,
            LinkKind::Bead => &self.beads,
        };
        let (status, item) = match items {
            Items::Unreadable => (UNKNOWN, None),
            Items::Read(_, unread) if unread.contains(&link.id) => (UNKNOWN, None),
            Items::Read(items, _) => match items.get(&link.id) {
                Some(item) => (item.status.as_str(), Some(item)),
                None => (MISSING, None),
            },
        };
        LinkOutput {
            to: link.to.to_string(),
            id: link.id.clone(),
            status: status.to_owned(),
            is_done: item.is_some_and(|item| item.is_done),
            title: item.map(|item| shortened(&item.title)),
        }
    }
}

/// Returns the state that an intent is proposed for: completed, if all its tasks and beads are done.
///
/// `None` without links, and for a state from which it cannot become completed. A canceled or missing task is not done.
pub fn proposed_status(status: Status, links: &[LinkOutput]) -> Option<Status> {
    let may_complete = status.next().contains(&Status::Completed);
    let is_done = !links.is_empty() && links.iter().all(|link| link.is_done);
    (may_complete && is_done).then_some(Status::Completed)
}

/// Returns items, or a warning that they cannot be read.
fn readable(context: &Context, what: &str, items: Result<Items, CommandError>) -> Items {
    items.unwrap_or_else(|error| {
        let what = format!("cannot read the {what}: {}", error.one_line());
        context.report.warn(&what, Some("callosum doctor"));
        Items::Unreadable
    })
}

/// Reads the tasks of the mesh as its log has them. Creates no mesh, and changes none.
fn tasks(context: &Context) -> Result<Items, CommandError> {
    let folder = context.project.homes.mesh();
    let is_begun = mesh_store::is_begun(&context.disk, &folder);
    if !is_begun.map_err(|error| open::explain(&error.into()))? {
        return Ok(Items::default());
    }
    let mut mesh = open::mesh_again(context)?;
    Ok(Items::Read(
        tasks_of(context, &mut mesh)?,
        BTreeSet::default(),
    ))
}

fn tasks_of(
    context: &Context,
    mesh: &mut Mesh,
) -> Result<BTreeMap<String, WorkItem>, CommandError> {
    let now = context.clock.now();
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let items = board.tasks.iter().map(|task| {
        let status = task.status_at(now);
        let item = WorkItem {
            status: status.as_str().to_owned(),
            is_done: status == callosum_mesh::board::Status::Complete,
            title: task.prompt.clone(),
        };
        (task.id.clone(), item)
    });
    Ok(items.collect())
}

/// Reads the beads of the project, and from `bd` those of `wanted` that have no file here.
fn beads_of(context: &Context, wanted: &[&str]) -> Result<Items, CommandError> {
    let zones = context.zones();
    let beads = Beads {
        disk: &context.disk,
        zones: &zones,
    };
    let listing = beads.list(context.clock.now());
    let listing = listing.map_err(|error| explain(&error.into()))?;
    let item = |status: String, title: String| WorkItem {
        is_done: is_closed(&status),
        status,
        title,
    };
    let rows = listing.rows.into_iter();
    let mut items: BTreeMap<String, WorkItem> = rows
        .map(|row| (row.id, item(row.status, row.title)))
        .collect();
    let mut unread = BTreeSet::new();
    for id in wanted {
        let Some(bead) = BeadId::new(id).filter(|_| !items.contains_key(*id)) else {
            continue;
        };
        let file = format!("/{}", bead.file());
        if listing.unread.iter().any(|one| one.file.ends_with(&file)) {
            unread.insert((*id).to_owned());
        } else if let Some(issue) = mirror::known(context, &bead) {
            items.insert((*id).to_owned(), item(issue.status, issue.title));
        }
    }
    Ok(Items::Read(items, unread))
}

/// Refuses a task that does not exist.
fn check_task(context: &Context, id: &str) -> Result<(), CommandError> {
    let (mut mesh, _) = open::readable(context)?;
    let tasks = tasks_of(context, &mut mesh)?;
    if tasks.contains_key(id) {
        return Ok(());
    }
    let known: Vec<&str> = tasks.keys().map(String::as_str).collect();
    Err(missing("task", id, &known).hint("callosum mesh task list --all"))
}

/// Refuses a bead that does not exist.
fn check_bead(context: &Context, id: &str) -> Result<(), CommandError> {
    let Items::Read(beads, unread) = beads_of(context, &[id])? else {
        return Ok(());
    };
    if beads.contains_key(id) {
        return Ok(());
    }
    if unread.contains(id) {
        let what = format!("cannot link the bead `{id}`: its file cannot be read");
        return Err(CommandError::new(Exit::No, what).hint("callosum bead list"));
    }
    let known: Vec<&str> = beads.keys().map(String::as_str).collect();
    Err(missing("bead", id, &known).hint("callosum bead list"))
}

/// Explains that a task or bead does not exist, with names that are near.
fn missing(kind: &str, id: &str, known: &[&str]) -> CommandError {
    let near = match near_names(id, known).as_slice() {
        [] => String::new(),
        names => format!(", did you mean {}?", names.join(" or ")),
    };
    let shown = on_one_line(&shortened(id));
    CommandError::new(Exit::No, format!("no {kind} `{shown}`{near}"))
}

/// Returns known names in backticks: those that begin with a text, else the one that it misspells.
fn near_names(text: &str, known: &[&str]) -> Vec<String> {
    let quoted = |name: &str| format!("`{}`", on_one_line(name));
    let begins = |name: &&&str| text.chars().count() >= LEAST_LETTERS && name.starts_with(text);
    let near: Vec<String> = known
        .iter()
        .filter(begins)
        .take(MOST_SUGGESTED)
        .map(|name| quoted(name))
        .collect();
    if near.is_empty() {
        let nearest = nearest(text, known.iter().copied());
        return nearest.map(quoted).into_iter().collect();
    }
    near
}

/// Returns a text on one line, cut to the length of a title.
fn shortened(text: &str) -> String {
    let line = on_one_line(text);
    match line.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}\u{2026}", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(is_done: bool) -> LinkOutput {
        LinkOutput {
            to: "task".to_owned(),
            id: "schema".to_owned(),
            status: String::new(),
            is_done,
            title: None,
        }
    }

    /// CCOS-ARB-1: an intent is proposed for completion if every link is done and the transition is legal.
    #[test]
    fn an_intent_whose_links_are_all_done_is_proposed_for_completion() {
        let all = [done(true), done(true)];
        let some = [done(true), done(false)];
        for status in Status::ALL {
            let may = matches!(status, Status::Active | Status::Executing);
            let expected = may.then_some(Status::Completed);
            assert_eq!(proposed_status(status, &all), expected, "{status}");
            assert_eq!(proposed_status(status, &some), None, "{status}");
            assert_eq!(proposed_status(status, &[]), None, "{status}");
        }
    }

    #[test]
    fn near_names_begin_with_the_text_or_are_a_slip_away() {
        let known = ["schema-one", "schema-two", "parser", "lexer"];
        assert_eq!(
            near_names("sch", &known),
            ["`schema-one`", "`schema-two`"].map(str::to_owned)
        );
        assert_eq!(near_names("praser", &known), ["`parser`".to_owned()]);
        assert_eq!(near_names("zzzzzz", &known), Vec::<String>::new());
        assert_eq!(near_names("s", &known), Vec::<String>::new());
    }
}
