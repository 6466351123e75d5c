//! What an agent at work is told beside its messages: tasks that are left for it, what came of tasks that it left,
//! discoveries, and what is asked of it or shared with it.
//!
//! Start with [`Mesh::news`]. How far an agent was told is kept for the agent in `news/`, apart from how far its digests
//! have told it: what one session was told at work, the next one has not in its context.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use serde_json::Value;

use crate::{
    addressee::Addressee,
    board::{Board, Status, Task},
    digest::{Note, quoted, ready_at},
    event::Event,
    journal::Cursor,
    mesh::{Mesh, MeshError, Voice},
};

/// The folder with a file for each agent.
const NEWS: &str = "news";

/// Topics by which agents ask and share without the board (Seed CALC §4, layer 2), with what they are called.
const ASKED: [(&str, &str); 2] = [
    ("calc.request", "asks you"),
    ("calc.context_share", "shares with you"),
];

/// So far back events are looked at for what others ask and share.
const MOST_EVENTS: u64 = 500;

/// So many events after what an agent was told of last it is noted that they were none of its news.
const NOTED_AFTER: u64 = 100;

/// What an agent was not told of yet.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Each with the event that tells of it, the oldest first.
    pub(crate) notes: Vec<(u64, Note)>,
    /// How far it was told of before.
    pub(crate) since: Cursor,
    /// The last event that was looked at.
    pub(crate) until: u64,
}

impl News {
    /// Whether there is something to tell, or enough that need not be looked at again.
    pub(crate) fn is_due(&self) -> bool {
        !self.notes.is_empty() || self.until.saturating_sub(self.since.seq) >= NOTED_AFTER
    }
}

/// Where it is kept how far an agent was told.
#[derive(Clone, Debug)]
pub(crate) struct NewsFile {
    disk: Disk,
    path: PathBuf,
    origin: String,
}

impl NewsFile {
    /// How far the agent was told; `None` where that is not known of this log.
    pub(crate) fn read(&self) -> Result<Option<Cursor>, DiskError> {
        let bytes = self.disk.read_if_there(&self.path)?;
        let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
        let cursor: Option<Cursor> = text.trim().parse().ok();
        Ok(cursor.filter(|cursor| cursor.origin.as_ref() == Some(&self.origin)))
    }

    /// Notes that the agent was told of all up to this event.
    pub(crate) fn note(&self, seq: u64) -> Result<(), DiskError> {
        if let Some(folder) = self.path.parent() {
            self.disk.create_private_dir(folder)?;
        }
        let cursor = Cursor {
            origin: Some(self.origin.clone()),
            seq,
        };
        let text = cursor.to_string();
        self.disk
            .replace_unsynced(&self.path, text.as_bytes(), 0o600)
    }
}

impl Mesh {
    pub(crate) fn news_file(&self, voice: &Voice) -> NewsFile {
        NewsFile {
            disk: self.disk().clone(),
            path: self.folder().join(NEWS).join(voice.agent.as_str()),
            origin: self.journal().origin().to_owned(),
        }
    }

    /// What this agent was not told of yet. Reads at most the last 500 events, and writes nothing.
    ///
    /// Of an agent of which nothing is known it is what came since its last digest.
    pub(crate) fn news(&mut self, voice: &Voice) -> Result<News, MeshError> {
        let since = match self.news_file(voice).read()? {
            Some(since) => since,
            None => Cursor {
                origin: Some(self.journal().origin().to_owned()),
                seq: self.told_seq(voice)?,
            },
        };
        let until = self.board()?.seq;
        if until <= since.seq {
            return Ok(News {
                since,
                until,
                ..News::default()
            });
        }
        let mut notes = on_board(self.board()?, voice, since.seq);
        notes.extend(self.asked(voice, since.seq, until)?);
        notes.sort_by_key(|(rev, _)| *rev);
        Ok(News {
            notes,
            since,
            until,
        })
    }

    /// What others ask of this agent and share with it, in events that mean nothing to the board.
    fn asked(&self, voice: &Voice, since: u64, until: u64) -> Result<Vec<(u64, Note)>, MeshError> {
        let mut reader = self.journal().read_after(&Cursor {
            origin: Some(self.journal().origin().to_owned()),
            seq: since.max(until.saturating_sub(MOST_EVENTS)),
        });
        let mut notes = Vec::new();
        loop {
            let batch = reader.next_batch(MOST_EVENTS as usize)?;
            if batch.events.is_empty() {
                return Ok(notes);
            }
            let news = batch.events.iter().filter(|event| event.seq <= until);
            notes.extend(news.filter_map(|event| Some((event.seq, asked_of(event, voice)?))));
        }
    }
}

/// What an event asks of an agent or shares with it; `None` where it is about something else or for others. One that is
/// addressed to nobody is for all.
pub(crate) fn asked_of(event: &Event, voice: &Voice) -> Option<Note> {
    let (_, what) = ASKED
        .iter()
        .find(|(topic, _)| *topic == event.topic.as_str())?;
    if event.source == voice.agent {
        return None;
    }
    if let Some(to) = event.payload.get("to") {
        let to: Addressee = to.as_str()?.parse().ok()?;
        to.is(&voice.agent, voice.session_id.as_deref())
            .then_some(())?;
    }
    let mut said = event.payload.clone();
    said.shift_remove("to");
    let mut values = said.values();
    let words = match (values.next(), values.next()) {
        (Some(Value::String(text)), None) => text.clone(),
        _ => Value::Object(said).to_string(),
    };
    Some(Note {
        lead: format!("{} {what} ({} {})", event.source, event.topic, event.id),
        words,
        rev: Some(event.seq),
    })
}

/// What of the board is news to an agent.
fn on_board(board: &Board, voice: &Voice, since: u64) -> Vec<(u64, Note)> {
    let left = board.tasks.iter().filter(|task| {
        task.assigned_to.as_ref() == Some(&voice.agent)
            && task.status == Status::Pending
            && task.created_by != voice.agent
            && ready_at(board, task) > since
            && board.waits_for(task).next().is_none()
    });
    let left = left.map(|task| {
        let lead = format!(
            "task for you from {}{}, `callosum mesh task claim {}`",
            task.created_by,
            task.cwd.as_deref().map(about).unwrap_or_default(),
            task.id
        );
        (ready_at(board, task), lead, task.prompt.clone())
    });
    let done = board.tasks.iter().filter(|task| {
        task.created_by == voice.agent
            && task.status == Status::Complete
            && task.rev > since
            && !is_done_by(task, voice)
    });
    let done = done.map(|task| {
        let by = task.completed_by.as_ref();
        let by = by.map_or("somebody", |by| by.as_str());
        let file = task.output_file.as_deref();
        let file = file
            .map(|file| format!(", result in {}", quoted(file)))
            .unwrap_or_default();
        let lead = format!("{by} completed your task {}{file}", task.id);
        let words = task.result.as_ref().unwrap_or(&task.prompt);
        (task.rev, lead, words.clone())
    });
    let found = board.discoveries.iter();
    let found = found.filter(|found| found.rev > since && found.source != voice.agent);
    let found = found.map(|found| {
        let lead = format!("{} found out", found.source);
        (found.rev, lead, found.content.clone())
    });
    let all = left.chain(done).chain(found);
    let notes = all.map(|(rev, lead, words)| Note {
        lead,
        words,
        rev: Some(rev),
    });
    notes.filter_map(|note| Some((note.rev?, note))).collect()
}

/// The folder that a task is about, by its name.
fn about(cwd: &str) -> String {
    let name = Path::new(cwd).file_name();
    name.map(|name| format!(" in {}", name.to_string_lossy()))
        .unwrap_or_default()
}

/// Whether a session knows of a task that it is complete, since it has completed it.
fn is_done_by(task: &Task, voice: &Voice) -> bool {
    let session = task.claim.as_ref().map(|claim| &claim.session_id);
    task.completed_by.as_ref() == Some(&voice.agent)
        && session.is_none_or(|session| *session == voice.session_id)
}
