//! Delivery cursor of each agent, and the two ways in which events of others reach it: when its
//! session begins, and between two calls of its tools.

use std::{
    collections::{BTreeSet, VecDeque},
    fmt::Write as _,
    path::PathBuf,
};

use callosum_host::DiskError;
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    agent::AgentName,
    author::Author,
    board::{Board, Command, Message, Receipt, Status},
    digest::{Digest, DigestContext, Known, Note, Source, digest, ready_at},
    event::Event,
    journal::Cursor,
    mesh::Mesh,
    mesh_error::MeshError,
    notifications::{NEWS, News, NewsFile, NewsItem, asked_of, asks_own_agent},
    project_folder::elsewhere,
    quarantine::{is_lost_link, is_no_folder},
    route::Matrix,
};

/// The folder with a file for each agent.
const CURSORS: &str = "told";

/// Most tokens that are delivered between two calls of tools.
const BETWEEN_CALLS: u64 = 300;

/// Most events that are searched for those of others.
const MOST_EVENTS: u64 = 500;

/// Most of them in a digest.
const MOST_PUBLISHED: usize = 3;

/// Most events that are remembered as delivered after one that is not.
const MOST_AFTER: usize = 512;

/// Placeholder for an unknown time.
const NEVER: &str = "-";

/// Delivery cursor of an agent.
#[derive(Default)]
struct DeliveryCursor {
    /// The last event up to which everything was delivered.
    seq: u64,
    /// When.
    at: Option<Timestamp>,
    /// Events after that one that were delivered.
    after: BTreeSet<u64>,
}

/// Classes of topics whose events are delivered by their meaning, or contain no text of an agent.
const OWN_CLASSES: [&str; 3] = ["calc", "session", "bridge"];

impl Mesh {
    /// Returns the digest for the start of this agent's session, in at most `budget` tokens. Marks
    /// nothing as delivered. Reads at most the last 500 events.
    pub fn digest_for(
        &mut self,
        voice: &Author,
        beside: &DigestContext,
        budget: u64,
    ) -> Result<Digest, MeshError> {
        let DeliveryCursor {
            seq: since,
            after: delivered,
            ..
        } = self.delivery_cursor(voice)?;
        let matrix = self.matrix().clone();
        self.board()?;
        let mut all = beside.clone();
        let (published, mut own) = self.published(voice, since)?;
        all.sources.insert(0, Source::Read(published));
        let board = self.board()?;
        own.extend(published_on(board, voice));
        let known = Known {
            agent: &voice.agent,
            board,
            session: voice.session_id.as_deref(),
            is_beginning: true,
            since,
            delivered: &delivered,
            own: &own,
            cwd: voice.cwd.as_deref(),
            matrix: &matrix,
            beside: &all,
        };
        Ok(digest(&known, budget))
    }

    /// Returns the time of this agent's last digest. `None` if there was none.
    pub fn told_at(&self, voice: &Author) -> Result<Option<Timestamp>, MeshError> {
        Ok(self.delivery_cursor(voice)?.at)
    }

    /// The newest events of others that mean nothing to the board, since one; and which of this session are for others of its
    /// agent.
    fn published(
        &mut self,
        voice: &Author,
        since: u64,
    ) -> Result<(Vec<Note>, Vec<u64>), MeshError> {
        let last = self.board()?.seq;
        let mut reader = self.journal().read_after(&Cursor {
            origin: Some(self.journal().origin().to_owned()),
            seq: since.max(last.saturating_sub(MOST_EVENTS)),
        });
        let mut notes = VecDeque::new();
        let mut own = Vec::new();
        loop {
            let batch = reader.next_batch(MOST_EVENTS as usize)?;
            if batch.events.is_empty() {
                return Ok((notes.into(), own));
            }
            let ours = batch.events.iter().filter(|event| {
                let is_session = voice.is_session(&event.source, event.session_id.as_deref());
                let is_own = OWN_CLASSES.contains(&event.topic.class());
                is_session && !is_own || asks_own_agent(event, voice)
            });
            own.extend(ours.map(|event| event.seq));
            let others = batch.events.iter();
            let is_own =
                |event: &&Event| voice.is_author_of(&event.source, event.session_id.as_deref());
            for event in others.filter(|event| !is_own(event)) {
                let note = asked_of(event, voice).or_else(|| {
                    let is_own = OWN_CLASSES.contains(&event.topic.class());
                    (!is_own).then(|| Note {
                        lead: format!(
                            "{} published {}{}",
                            voice.name_of(&event.source, event.other_machine()),
                            event.topic,
                            elsewhere(voice.cwd.as_deref(), event.cwd.as_deref())
                        ),
                        words: words(event),
                        rev: Some(event.seq),
                    })
                });
                let Some(note) = note else { continue };
                notes.push_front(note);
                notes.truncate(MOST_PUBLISHED);
            }
        }
    }

    /// Checks that the delivery to a new session can be recorded, by writing the present cursor
    /// again.
    pub fn can_deliver(&self, voice: &Author) -> Result<(), MeshError> {
        let file = self.news_file(voice);
        let (known, cursor) = (file.read()?, self.delivery_cursor(voice)?);
        file.note(known.map_or(cursor.seq, |known| known.seq))?;
        self.write_cursor(voice, &cursor)
    }

    /// Marks the contents of a digest as delivered to this agent. `evidence` names the hook that
    /// did it. If some items did not fit, the agent gets the rest the next time, and nothing twice.
    pub fn deliver(
        &mut self,
        digest: &Digest,
        voice: &Author,
        evidence: &str,
    ) -> Result<(), MeshError> {
        // What its digest had no room for comes with the next one, and not between two calls.
        self.heard_all(voice)?;
        let agent_seq = self.seq_of_agent(voice, self.known_seq())?;
        self.news_file_of_agent(voice).note(agent_seq)?;
        self.moved(&digest.messages, Receipt::Delivered, voice, evidence)?;
        let before = self.delivery_cursor(voice)?;
        // Events of others since then are in no digest yet.
        let mut seq = digest.delivered_until.max(before.seq);
        let mut after = &before.after | &digest.delivered_after;
        while after.len() > MOST_AFTER {
            seq = after.pop_first().map_or(seq, |first| first.max(seq));
        }
        after.retain(|rev| *rev > seq);
        let at = if digest.is_beside_left {
            before.at
        } else {
            Some(self.journal().now())
        };
        if seq == before.seq && after == before.after && at.is_none() {
            return Ok(());
        }
        self.write_cursor(voice, &DeliveryCursor { seq, at, after })
    }

    fn write_cursor(&self, voice: &Author, cursor: &DeliveryCursor) -> Result<(), MeshError> {
        let path = self.cursor_file(voice);
        if let Some(folder) = path.parent() {
            self.disk().create_private_dir(folder)?;
        }
        let at = cursor
            .at
            .map_or_else(|| NEVER.to_owned(), |at| at.to_string());
        let mut text = format!("{} {at}", cursor.seq);
        for rev in &cursor.after {
            let _ = write!(text, " {rev}");
        }
        self.disk()
            .replace_unsynced(&path, text.as_bytes(), 0o600)?;
        Ok(())
    }

    /// Marks what this session was handed as seen, once a turn of it is over: several tools run between two requests to a
    /// model, so that none of them shows that it was asked since; the end of a turn does.
    pub fn seen(&mut self, voice: &Author, evidence: &str) -> Result<(), MeshError> {
        let is_seen = |message: &&Message| {
            message.to.agent == voice.agent
                && message.receipt == Some(Receipt::Delivered)
                && message.session_id == voice.session_id
        };
        let seen = self.board()?.messages.iter().filter(is_seen);
        let seen: Vec<String> = seen.map(|message| message.id.clone()).collect();
        self.moved(&seen, Receipt::Seen, voice, evidence)
    }

    /// Delivers the messages that wait for this agent and other news, between two calls of its
    /// tools. Calls `say` with the text, and records the delivery if it returns true. Returns what
    /// was output and recorded.
    ///
    /// The oldest news comes first, and the rest waits for the next call. Cheap if nothing waits:
    /// only events since the last snapshot of the board are read, and nothing is written. No one
    /// else appends while `say` runs, so of two sessions of an agent only one gets a message for
    /// either. If the process is killed in between, the same text is output again; text that was
    /// not output is never recorded. News that cannot be recorded, as on a full disk, waits, so
    /// that it is not repeated at each call.
    pub fn hand_over(
        &mut self,
        voice: &Author,
        evidence: &str,
        say: impl FnOnce(&Digest) -> bool,
    ) -> Result<Option<Digest>, MeshError> {
        let news = self.news(voice)?;
        let session = voice.session_id.as_deref();
        let is_theirs =
            |message: &Message| message.receipt.is_none() && message.is_for(&voice.agent, session);
        if !news.is_due() && !self.board()?.messages.iter().any(is_theirs) {
            return Ok(None);
        }
        let (file, of_agent) = (self.news_file(voice), self.news_file_of_agent(voice));
        let first_asked = news.first_asked;
        self.in_turn(|orders| {
            let mut news = if is_delivered_elsewhere(&file, &news)? {
                News::default()
            } else {
                news
            };
            let agent_cursor = of_agent.read()?;
            if agent_cursor != news.of_agent {
                news.items.retain(|item| !item.is_for_one);
            }
            let mut unnoted = None;
            if !news.items.is_empty()
                && let Err(error) = file.note(news.since.seq)
            {
                // Messages go on: their receipts stand in the log.
                news = News::default();
                unnoted = Some(error);
            }
            let (digest, seq) = between_calls(orders.board(), voice, &news);
            let receipts = digest.messages.iter().map(|message| Command::Move {
                message: message.clone(),
                receipt: Receipt::Delivered,
                evidence: Some(evidence.to_owned()),
            });
            let receipts: Vec<Command> = receipts.collect();
            let is_silent = digest.text.is_empty();
            if !is_silent {
                orders.make_room(&receipts, voice)?;
                if !say(&digest) {
                    return Ok(None);
                }
            }
            for order in receipts {
                orders.give(order, voice, None)?;
            }
            if let Some(error) = unnoted {
                return Err(error.into());
            }
            if seq > news.since.seq {
                file.note(seq)?;
                // What it asks of another session of its agent has not reached one yet.
                let seq = first_asked.map_or(seq, |first| seq.min(first - 1));
                if agent_cursor.is_none_or(|cursor| seq > cursor.seq) {
                    of_agent.note(seq)?;
                }
            }
            Ok(Some(digest).filter(|_| !is_silent))
        })
    }

    fn moved(
        &mut self,
        messages: &[String],
        receipt: Receipt,
        voice: &Author,
        evidence: &str,
    ) -> Result<(), MeshError> {
        if messages.is_empty() {
            return Ok(());
        }
        self.in_turn(|orders| {
            for message in messages {
                let order = Command::Move {
                    message: message.clone(),
                    receipt,
                    evidence: Some(evidence.to_owned()),
                };
                orders.give(order, voice, None)?;
            }
            Ok(())
        })
    }

    /// Returns the last event that this agent's digests have delivered. 0 if there was none.
    pub(crate) fn digest_seq(&self, voice: &Author) -> Result<u64, MeshError> {
        Ok(self.delivery_cursor(voice)?.seq)
    }

    /// Reads the delivery cursor of this agent.
    fn delivery_cursor(&self, voice: &Author) -> Result<DeliveryCursor, MeshError> {
        let bytes = self.disk().read_if_there(&self.cursor_file(voice))?;
        let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
        let mut parts = text.split_whitespace();
        let seq = parts.next().and_then(|seq| seq.parse().ok());
        let at = parts.next().and_then(|at| at.parse().ok());
        Ok(DeliveryCursor {
            seq: seq.unwrap_or_default(),
            at,
            after: parts.filter_map(|rev| rev.parse().ok()).collect(),
        })
    }

    /// Returns paths that should be folders with delivery cursors, and are neither a folder nor a
    /// link to one. Changes nothing.
    pub fn no_folders(&self) -> Result<Vec<PathBuf>, DiskError> {
        let mut found = Vec::new();
        for name in [NEWS, CURSORS] {
            let path = self.folder().join(name);
            if is_no_folder(self.disk(), &path)? || is_lost_link(self.disk(), &path)? {
                found.push(path);
            }
        }
        Ok(found)
    }

    fn cursor_file(&self, voice: &Author) -> PathBuf {
        self.folder().join(CURSORS).join(voice.agent.as_str())
    }
}

/// Returns the digest between two calls, and the last event up to which everything is delivered. It
/// has all messages that fit, then as much other news as fits next to them, oldest first.
fn between_calls(board: &Board, voice: &Author, news: &News) -> (Digest, u64) {
    // Its role is in the digest with which its session began.
    let matrix = Matrix::default();
    let messages = Board {
        messages: board.messages.clone(),
        ..Board::default()
    };
    let with = |count: usize| {
        let notes = news.items.iter().take(count);
        let notes = notes.map(|item| item.note.clone());
        let beside = DigestContext {
            sources: vec![Source::Read(notes.collect())],
            ..DigestContext::default()
        };
        let known = Known {
            agent: &voice.agent,
            board: &messages,
            session: voice.session_id.as_deref(),
            is_beginning: false,
            since: 0,
            delivered: &BTreeSet::new(),
            own: &[],
            cwd: None,
            matrix: &matrix,
            beside: &beside,
        };
        digest(&known, BETWEEN_CALLS)
    };
    let mut fitting = with(0);
    for (at, NewsItem { rev, .. }) in news.items.iter().enumerate() {
        let more = with(at + 1);
        if more.left_out == 0 {
            fitting = more;
            continue;
        }
        // What never has room is counted, and not tried again.
        return if at == 0 && fitting.text.is_empty() {
            (more, *rev)
        } else {
            (fitting, rev.saturating_sub(1))
        };
    }
    (fitting, news.until)
}

/// The events by which a session found something, or left a task for its agent or for anyone.
fn published_on(board: &Board, voice: &Author) -> Vec<u64> {
    let found = board.discoveries.iter();
    let found = found.filter(|found| voice.is_session(&found.source, found.session_id.as_deref()));
    let tasks = board.tasks.iter().filter(|task| {
        let is_for = |meant: &AgentName| *meant == voice.agent;
        voice.is_session(&task.created_by, task.created_in.as_deref())
            && task.status == Status::Pending
            && task.assigned_to.as_ref().is_none_or(is_for)
    });
    let tasks = tasks.map(|task| ready_at(board, task));
    found.map(|found| found.rev).chain(tasks).collect()
}

/// Whether another process of this client has delivered something to the session since this was
/// read.
fn is_delivered_elsewhere(file: &NewsFile, news: &News) -> Result<bool, MeshError> {
    let noted = file.read()?;
    Ok(noted.is_some_and(|noted| noted != news.since))
}

/// Returns the text of an event: its only text, or its payload as it is.
fn words(event: &Event) -> String {
    let mut values = event.payload.values();
    match (values.next(), values.next()) {
        (Some(Value::String(text)), None) => text.clone(),
        _ => Value::Object(event.payload.clone()).to_string(),
    }
}
