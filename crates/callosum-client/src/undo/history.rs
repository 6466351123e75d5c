//! [`History`]: the calls of a tree in the order in which they ran, with what each changed, and the turns that they make.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use jiff::Timestamp;

use super::{
    file_state::FileState,
    log::{FileLine, Line},
};

/// A call of an agent's tool, or an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The ids of its records; two if two hooks were asked about it.
    pub ids: Vec<String>,
    /// When it happened.
    pub at: Timestamp,
    /// The agent that made the change.
    pub agent: String,
    /// The agent's session, if its client named one.
    pub session: Option<String>,
    /// The turn of the session, if known.
    pub turn: Option<String>,
    /// The tool that made the change, if known.
    pub tool: Option<String>,
    /// A line that describes it to a person.
    pub label: String,
    /// The records that it undoes, if it is an undo.
    pub targets: Option<Vec<String>>,
    /// The files that it changed.
    pub touches: Vec<Touch>,
    /// Whether it is a command for which a snapshot was taken.
    pub is_command: bool,
    /// The permission bits of the files that the command names.
    pub modes: BTreeMap<String, u32>,
    /// The names that the command's snapshot was to hold.
    pub names: Vec<String>,
    /// Number of further changed files that are not recorded.
    pub more: usize,
    /// Whether an undo that counts has undone it.
    pub is_undone: bool,
    /// The folder of the day that holds the bytes.
    pub day: PathBuf,
    /// The places of its first and last record among all.
    pub begun: usize,
    /// The index of the record that ended it, if it ended.
    pub ended: Option<usize>,
    /// The client's own id of the call.
    client_id: Option<String>,
}

/// One file of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The file, as seen from the top of the tree; absolute if it is outside.
    pub path: String,
    /// The file before the change.
    pub before: FileState,
    /// The file after the change, if known.
    pub after: Option<FileState>,
}

/// An item that `callosum undo` lists and undoes by one id: a turn of a session, or an earlier
/// undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The turn, or the record of its only call.
    pub id: String,
    /// The places of its calls in [`History::calls`].
    pub calls: Vec<usize>,
    /// Whether the change is itself an undo.
    pub is_undo: bool,
    /// Whether all of it was undone.
    pub is_undone: bool,
}

/// All that is recorded of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The oldest first.
    pub calls: Vec<Call>,
}

impl Call {
    /// The id of its first record.
    pub fn id(&self) -> &str {
        self.ids.first().map_or("", String::as_str)
    }

    /// Returns whether this is the call that changes the file, rather than one that ran at the same time.
    pub fn names(&self, path: &str) -> bool {
        !self.is_command || super::are_about(&self.names, path)
    }
}

impl History {
    /// Puts together what the records say.
    pub fn of(lines: Vec<(PathBuf, Line)>) -> Self {
        let mut history = Self::default();
        for (at, (day, line)) in lines.into_iter().enumerate() {
            history.add(at, day, line);
        }
        history.mark_undone();
        history
    }

    fn add(&mut self, place: usize, day: PathBuf, line: Line) {
        match line {
            Line::Call(line) => {
                // Two hooks of one client were asked about the same call.
                let again = self.calls.iter_mut().rev().find(|call| {
                    line.call.is_some()
                        && call.ended.is_none()
                        && (&call.client_id, &call.agent, &call.session)
                            == (&line.call, &line.agent, &line.session)
                });
                if let Some(call) = again {
                    call.ids.push(line.id);
                    return;
                }
                let touches = line.files.into_iter().map(Touch::of);
                self.calls.push(Call {
                    touches: touches.collect(),
                    ids: vec![line.id],
                    at: line.at,
                    agent: line.agent,
                    session: line.session,
                    turn: line.turn,
                    tool: line.tool,
                    label: line.label,
                    targets: None,
                    is_command: line.is_command,
                    modes: line.modes,
                    names: Vec::new(),
                    more: 0,
                    is_undone: false,
                    day,
                    begun: place,
                    ended: None,
                    client_id: line.call,
                });
            }
            Line::After(line) => {
                let calls = self.calls.iter_mut().rev();
                let mut calls = calls.filter(|call| call.ids.contains(&line.id));
                let Some(call) = calls.next().filter(|call| call.ended.is_none()) else {
                    return;
                };
                call.ended = Some(place);
                (call.names, call.more) = (line.names, line.more);
                for file in line.files {
                    let known = call.touches.iter_mut().find(|one| one.path == file.path);
                    match known {
                        Some(touch) => touch.after = file.after,
                        None => call.touches.push(Touch::of(file)),
                    }
                }
            }
            Line::Undo(line) => self.calls.push(Call {
                ids: vec![line.id],
                at: line.at,
                agent: line.agent,
                session: line.session,
                turn: None,
                tool: None,
                label: line.label,
                targets: Some(line.targets),
                touches: line.files.into_iter().map(Touch::of).collect(),
                is_command: false,
                modes: BTreeMap::new(),
                names: Vec::new(),
                more: 0,
                is_undone: false,
                day,
                begun: place,
                ended: Some(place),
                client_id: None,
            }),
        }
    }

    /// An undo that was itself undone does not count.
    fn mark_undone(&mut self) {
        let mut undone = BTreeSet::new();
        for call in self.calls.iter_mut().rev() {
            call.is_undone = call.ids.iter().any(|id| undone.contains(id));
            if let (Some(targets), false) = (&call.targets, call.is_undone) {
                undone.extend(targets.iter().cloned());
            }
        }
    }

    /// Returns the entries of an agent and of the sessions that begin so, the oldest first.
    pub fn entries(&self, agent: Option<&str>, session: Option<&str>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for (at, call) in self.calls.iter().enumerate() {
            let own = call.session.as_deref().unwrap_or_default();
            if agent.is_some_and(|agent| agent != call.agent)
                || session.is_some_and(|session| !own.starts_with(session))
            {
                continue;
            }
            let id = call.turn.as_deref().unwrap_or(call.id());
            let is_undo = call.targets.is_some();
            let known = entries.iter().rposition(|entry| entry.id == id);
            if let Some(known) = known {
                // The latest call says when the turn was last at work.
                let mut entry = entries.remove(known);
                entry.calls.push(at);
                entry.is_undone &= call.is_undone;
                entries.push(entry);
            } else {
                entries.push(Entry {
                    id: id.to_owned(),
                    calls: vec![at],
                    is_undo,
                    is_undone: call.is_undone,
                });
            }
        }
        entries
    }

    /// Returns the last `count` calls of an entry's agent that were not undone, and are no undos.
    pub fn last(&self, agent: &str, session: Option<&str>, count: usize) -> Vec<usize> {
        let all = self.calls.iter().enumerate().rev().filter(|(_, call)| {
            let own = call.session.as_deref().unwrap_or_default();
            call.agent == agent
                && call.targets.is_none()
                && !call.is_undone
                && session.is_none_or(|session| own.starts_with(session))
        });
        let mut last: Vec<usize> = all.map(|(at, _)| at).take(count).collect();
        last.reverse();
        last
    }
}

impl Touch {
    fn of(line: FileLine) -> Self {
        let unknown = || FileState::unknown("it was not recorded");
        Self {
            path: line.path,
            before: line.before.unwrap_or_else(unknown),
            after: line.after,
        }
    }
}
