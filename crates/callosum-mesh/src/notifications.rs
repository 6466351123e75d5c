//! Notices for an agent at work in addition to its messages: tasks for it, results of its own
//! tasks, discoveries, and requests and context of other agents.
//!
//! Start with [`Mesh::news`]. `news/` has a cursor for each session, apart from the cursors of
//! digests: what one session got at work, no other has in its context. A request to an agent
//! without a session goes to one session, as with messages; the cursor for these is the agent's.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    addressee::Addressee,
    author::Author,
    board::{Board, Status, Task},
    digest::{Note, author_of, blocked, output_of, ready_at},
    event::Event,
    journal::Cursor,
    mesh::Mesh,
    mesh_error::MeshError,
    project_folder::elsewhere,
};

/// The folder with a file for each agent and each of its sessions.
pub(crate) const NEWS: &str = "news";

/// Separator between an agent and its session in the name of a file. No agent's name contains it.
const SESSION: u8 = b'@';

/// Topics by which agents ask and share without the board (Seed CALC §4, layer 2), with what they are called.
const ASKED: [(&str, &str); 2] = [
    ("calc.request", "asks you"),
    ("calc.context_share", "shares with you"),
];

/// Most events that are searched for requests and context of others.
const MOST_EVENTS: u64 = 500;

/// Number of events without news after which the cursor is moved.
const NOTED_AFTER: u64 = 100;

/// Most sessions whose cursors are kept: the latest.
const MOST_SESSIONS: usize = 256;

/// News that a session has not got yet.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// The oldest first.
    pub(crate) items: Vec<NewsItem>,
    /// Cursor of the session.
    pub(crate) since: Cursor,
    /// Cursor of the agent, for news that only one session gets.
    pub(crate) of_agent: Option<Cursor>,
    /// The last event that was looked at.
    pub(crate) until: u64,
    /// First event that asks another session of this agent, and that no session has got yet.
    pub(crate) first_asked: Option<u64>,
}

/// One item of news.
#[derive(Clone, Debug)]
pub(crate) struct NewsItem {
    /// The event that tells of it.
    pub(crate) rev: u64,
    /// Its text.
    pub(crate) note: Note,
    /// Whether it is for the agent: any one session gets it.
    pub(crate) is_for_one: bool,
}

impl News {
    /// Whether there is something to tell, or enough that need not be looked at again.
    pub(crate) fn is_due(&self) -> bool {
        !self.items.is_empty() || self.until.saturating_sub(self.since.seq) >= NOTED_AFTER
    }
}

/// File with the cursor of a session or an agent.
#[derive(Clone, Debug)]
pub(crate) struct NewsFile {
    disk: Disk,
    path: PathBuf,
    origin: String,
}

impl NewsFile {
    /// Returns the cursor. `None` if there is none for this log.
    pub(crate) fn read(&self) -> Result<Option<Cursor>, DiskError> {
        let bytes = self.disk.read_if_there(&self.path)?;
        let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
        let cursor: Option<Cursor> = text.trim().parse().ok();
        Ok(cursor.filter(|cursor| cursor.origin.as_ref() == Some(&self.origin)))
    }

    /// Records the delivery of everything up to this event.
    pub(crate) fn note(&self, seq: u64) -> Result<(), DiskError> {
        if let Some(folder) = self.path.parent() {
            self.disk.create_private_dir(folder)?;
            if !self.disk.exists(&self.path)? {
                self.forget_oldest(folder)?;
            }
        }
        let cursor = Cursor {
            origin: Some(self.origin.clone()),
            seq,
        };
        let text = cursor.to_string();
        self.disk
            .replace_unsynced(&self.path, text.as_bytes(), 0o600)
    }

    /// Removes the cursor of a session that has ended.
    pub(crate) fn forget(&self) -> Result<(), DiskError> {
        self.disk.remove_file(&self.path).map(drop)
    }

    /// Removes the oldest cursors of sessions, past the limit: clients that were killed never
    /// reported their end.
    fn forget_oldest(&self, folder: &Path) -> Result<(), DiskError> {
        let mut sessions = Vec::new();
        for entry in self.disk.list_dir(folder)? {
            if entry.name.as_encoded_bytes().contains(&SESSION) {
                let path = folder.join(&entry.name);
                let modified = self.disk.stat(&path)?.map(|stat| stat.modified);
                sessions.push((modified, path));
            }
        }
        sessions.sort();
        let surplus = (sessions.len() + 1).saturating_sub(MOST_SESSIONS);
        for (_, path) in sessions.iter().take(surplus) {
            self.disk.remove_file(path)?;
        }
        Ok(())
    }
}

impl Mesh {
    /// Returns the cursor file of this session, or that of the agent if the session is unknown.
    pub(crate) fn news_file(&self, voice: &Author) -> NewsFile {
        let of_agent = self.news_file_of_agent(voice);
        let Some(session) = &voice.session_id else {
            return of_agent;
        };
        // A client says what its session is called: that is no name of a file.
        let digits = Sha256::digest(session);
        let digits = digits.iter().take(16).map(|byte| format!("{byte:02x}"));
        let name = format!(
            "{}{}{}",
            voice.agent,
            char::from(SESSION),
            digits.collect::<String>()
        );
        NewsFile {
            path: of_agent.path.with_file_name(name),
            ..of_agent
        }
    }

    /// Returns the cursor file of an agent, for news that only one session gets.
    pub(crate) fn news_file_of_agent(&self, voice: &Author) -> NewsFile {
        NewsFile {
            disk: self.disk().clone(),
            path: self.folder().join(NEWS).join(voice.agent.as_str()),
            origin: self.journal().origin().to_owned(),
        }
    }

    /// Records that a new session has no news yet, so that it gets everything from now on, no
    /// matter what other sessions of its agent get.
    pub fn heard_all(&self, voice: &Author) -> Result<(), MeshError> {
        Ok(self.news_file(voice).note(self.known_seq())?)
    }

    /// Returns the news that this session has not got yet. Reads at most the last 500 events, and
    /// writes nothing.
    ///
    /// A session without a cursor gets everything since its agent's last digest.
    pub(crate) fn news(&mut self, voice: &Author) -> Result<News, MeshError> {
        let of_agent = self.news_file_of_agent(voice).read()?;
        let since = match self.news_file(voice).read()? {
            Some(since) => since,
            None => Cursor {
                origin: Some(self.journal().origin().to_owned()),
                seq: self.digest_seq(voice)?,
            },
        };
        let until = self.board()?.seq;
        if until <= since.seq {
            return Ok(News {
                since,
                of_agent,
                until,
                ..News::default()
            });
        }
        let mut items = on_board(self.board()?, voice, since.seq);
        let agent_seq = of_agent.as_ref().map_or(0, |of_agent| of_agent.seq);
        let (asked, first_asked) = self.asked(voice, since.seq, until, agent_seq)?;
        items.extend(asked);
        items.retain(|item| !item.is_for_one || item.rev > agent_seq);
        items.sort_by_key(|item| item.rev);
        Ok(News {
            items,
            since,
            of_agent,
            until,
            first_asked,
        })
    }

    /// Returns the cursor of an agent, for news that only one session gets, when one of its
    /// sessions has got everything up to `seq`: not beyond what that session itself asks of the
    /// others.
    pub(crate) fn seq_of_agent(&self, voice: &Author, seq: u64) -> Result<u64, MeshError> {
        let cursor = self.news_file_of_agent(voice).read()?;
        let agent_seq = cursor.map_or(0, |cursor| cursor.seq);
        let (_, first_asked) = self.asked(voice, agent_seq, seq, agent_seq)?;
        Ok(first_asked.map_or(seq, |first| seq.min(first - 1).max(agent_seq)))
    }

    /// Returns requests to this agent and context for it, in events that mean nothing to the board.
    /// Also returns the first event after `agent_seq` in which this session asks another of its agent.
    fn asked(
        &self,
        voice: &Author,
        since: u64,
        until: u64,
        agent_seq: u64,
    ) -> Result<(Vec<NewsItem>, Option<u64>), MeshError> {
        let mut first_asked = None;
        let mut reader = self.journal().read_after(&Cursor {
            origin: Some(self.journal().origin().to_owned()),
            seq: since.max(until.saturating_sub(MOST_EVENTS)),
        });
        let mut items = Vec::new();
        loop {
            let batch = reader.next_batch(MOST_EVENTS as usize)?;
            if batch.events.is_empty() {
                return Ok((items, first_asked));
            }
            let news = || batch.events.iter().filter(|event| event.seq <= until);
            let mut own =
                news().filter(|event| event.seq > agent_seq && asks_own_agent(event, voice));
            first_asked = first_asked.or_else(|| own.next().map(|event| event.seq));
            let news = news();
            items.extend(news.filter_map(|event| {
                Some(NewsItem {
                    rev: event.seq,
                    note: asked_of(event, voice)?,
                    is_for_one: addressee_of(event).is_some_and(|to| to.session.is_none()),
                })
            }));
        }
    }
}

/// Returns a request to an agent, or context for it. `None` if the event is about something else or
/// for others. An event without a recipient is for all.
pub(crate) fn asked_of(event: &Event, voice: &Author) -> Option<Note> {
    let (_, what) = ASKED
        .iter()
        .find(|(topic, _)| *topic == event.topic.as_str())?;
    if voice.is_author_of(&event.source, event.session_id.as_deref()) {
        return None;
    }
    if event.payload.contains_key("to") {
        addressee_of(event)?
            .is(&voice.agent, voice.session_id.as_deref())
            .then_some(())?;
    }
    let mut payload = event.payload.clone();
    payload.shift_remove("to");
    let mut values = payload.values();
    let words = match (values.next(), values.next()) {
        (Some(Value::String(text)), None) => text.clone(),
        _ => Value::Object(payload).to_string(),
    };
    Some(Note {
        lead: format!(
            "{} {what}{} ({} {})",
            voice.name_of(&event.source, event.other_machine()),
            elsewhere(voice.cwd.as_deref(), event.cwd.as_deref()),
            event.topic,
            event.id
        ),
        words,
        rev: Some(event.seq),
    })
}

/// Whether this session asks another session of its own agent by an event, or shares something with it.
pub(crate) fn asks_own_agent(event: &Event, voice: &Author) -> bool {
    ASKED
        .iter()
        .any(|(topic, _)| *topic == event.topic.as_str())
        && voice.is_session(&event.source, event.session_id.as_deref())
        && addressee_of(event).is_none_or(|to| to.session.is_none() && to.agent == voice.agent)
}

/// To whom an event says that it is.
fn addressee_of(event: &Event) -> Option<Addressee> {
    event.payload.get("to")?.as_str()?.parse().ok()
}

/// Returns what is new on the board for a session.
fn on_board(board: &Board, voice: &Author, since: u64) -> Vec<NewsItem> {
    let left = board.tasks.iter().filter(|task| {
        task.assigned_to.as_ref() == Some(&voice.agent)
            && task.status == Status::Pending
            && !voice.is_author_of(&task.created_by, task.created_in.as_deref())
            && ready_at(board, task) > since
            && board.waits_for(task).next().is_none()
    });
    let left = left.map(|task| {
        let lead = format!(
            "task for you from {}{}, `callosum mesh task claim {}`",
            author_of(task, &voice.agent, voice.session_id.as_deref()),
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
        let by = by.map_or("someone", |by| by.as_str());
        let file = output_of(task);
        let lead = format!("{by} completed your task {}{file}", task.id);
        let words = task.result.as_ref().unwrap_or(&task.prompt);
        (task.rev, lead, words.clone())
    });
    let stuck = blocked(board, &voice.agent).filter(|(_, _, rev)| *rev > since);
    let stuck = stuck.map(|(task, gone, rev)| {
        let lead = format!(
            "your task {} can no longer start, since it needs {gone}, which was canceled; \
             `callosum mesh task cancel {}`, or change its `needs` in the bridge file",
            task.id, task.id
        );
        (rev, lead, task.prompt.clone())
    });
    let found = board.discoveries.iter();
    let found = found.filter(|found| {
        let is_own = found.machine.is_none()
            && voice.is_author_of(&found.source, found.session_id.as_deref());
        found.rev > since && !is_own
    });
    let found = found.map(|found| {
        let place = elsewhere(voice.cwd.as_deref(), found.cwd.as_deref());
        let by = voice.name_of(&found.source, found.machine.as_deref());
        let lead = format!("{by} found out{place}");
        (found.rev, lead, found.content.clone())
    });
    let all = left.chain(done).chain(stuck).chain(found);
    let items = all.map(|(rev, lead, words)| NewsItem {
        rev,
        note: Note {
            lead,
            words,
            rev: Some(rev),
        },
        is_for_one: false,
    });
    items.collect()
}

/// The folder that a task is about, by its name.
fn about(cwd: &str) -> String {
    let name = Path::new(cwd).file_name();
    name.map(|name| format!(" in {}", name.to_string_lossy()))
        .unwrap_or_default()
}

/// Whether a session knows of a task that it is complete, since it has completed it.
fn is_done_by(task: &Task, voice: &Author) -> bool {
    let session = task.claim.as_ref().map(|claim| &claim.session_id);
    task.completed_by.as_ref() == Some(&voice.agent)
        && session.is_none_or(|session| *session == voice.session_id)
}
