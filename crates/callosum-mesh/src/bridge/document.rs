//! [`Document`]: the bridge file as JSON, and what of the board it shows.

use serde_json::{Map, Value, json};

use crate::{
    agent::AgentName,
    board::{Board, Discovery, Message, Receipt, Status, Task},
};

/// The version of the seed's schema (Seed CALC §4, layer 3).
const VERSION: &str = "2.0.0";

/// The three lists.
pub(super) const TASKS: &str = "task_queue";
pub(super) const DISCOVERIES: &str = "discoveries";
pub(super) const MESSAGES: &str = "messages";

/// Keys that are ours to write, beside the lists.
pub(super) const OWN: [&str; 5] = [
    "version",
    "last_updated",
    "last_writer",
    "revision",
    "_help",
];

/// Most bytes of a file that is read.
const LONGEST: usize = 8 * 1024 * 1024;

/// Complete tasks, messages that are over, and discoveries are shown up to so many of each, the newest.
const MOST_OVER: usize = 50;

/// What whoever opens the file is told.
const HELP: &str = "Edit freely: additions, changes and deletions are merged. Keep `revision` as you found it. \
                    Without any risk: `callosum mesh task|message|discovery`, or a file of your own with these keys in bridge.d/";

/// The bridge file, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    members: Map<String, Value>,
}

impl Document {
    /// Reads the file's bytes.
    ///
    /// Anything that is a JSON object is a document, whatever its keys; a byte order mark is passed
    /// over.
    pub fn read(bytes: &[u8]) -> Result<Self, NoDocument> {
        if bytes.len() > LONGEST {
            return Err(NoDocument::TooLong { bytes: bytes.len() });
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(members)) => Ok(Self { members }),
            Ok(_) => Err(NoDocument::NoObject),
            Err(error) => Err(NoDocument::NoJson {
                line: error.line(),
                column: error.column(),
                is_cut: error.is_eof(),
                reason: reason(&error),
            }),
        }
    }

    /// What the file is to show of a board. The same for the same board.
    pub fn of(board: &Board) -> Self {
        let over = |task: &&Task| task.status == Status::Complete;
        let hidden = board.tasks.iter().filter(over).count();
        let mut hidden = hidden.saturating_sub(MOST_OVER);
        let tasks = board.tasks.iter().filter(|task| {
            let is_hidden = task.status == Status::Complete && hidden > 0;
            hidden -= usize::from(is_hidden);
            task.status != Status::Cancelled && !is_hidden
        });
        let tasks: Vec<Value> = tasks.map(task).collect();
        let discoveries = board.discoveries.iter();
        let skipped = board.discoveries.len().saturating_sub(MOST_OVER);
        let discoveries: Vec<Value> = discoveries.skip(skipped).map(discovery).collect();
        let is_over = |message: &Message| message.receipt.is_some_and(Receipt::is_over);
        let messages = board.messages.iter().filter(|message| !is_over(message));
        let messages: Vec<Value> = messages.map(message).collect();
        let mut members = Map::new();
        members.insert("version".to_owned(), VERSION.into());
        members.insert(
            "last_updated".to_owned(),
            board.last_updated.to_string().into(),
        );
        let writer = board.last_writer.as_ref().map(AgentName::as_str);
        members.insert("last_writer".to_owned(), writer.into());
        let evolution = board.fields.get("active_evolution").cloned();
        members.insert("active_evolution".to_owned(), evolution.unwrap_or_default());
        members.insert(TASKS.to_owned(), tasks.into());
        let accounts = board.fields.get("account_state").cloned();
        let accounts = accounts.unwrap_or_else(|| json!({}));
        members.insert("account_state".to_owned(), accounts);
        members.insert(DISCOVERIES.to_owned(), discoveries.into());
        members.insert(MESSAGES.to_owned(), messages.into());
        for (key, value) in &board.fields {
            if !members.contains_key(key) {
                members.insert(key.clone(), value.clone());
            }
        }
        members.insert("revision".to_owned(), board.rev.into());
        members.insert("_help".to_owned(), HELP.into());
        Self { members }
    }

    /// Its bytes, as they are written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(&self.members).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The projection that whoever wrote it began with; `None` where it does not say.
    pub fn revision(&self) -> Option<u64> {
        self.members.get("revision")?.as_u64()
    }

    /// Who says that they wrote it.
    pub fn last_writer(&self) -> Option<AgentName> {
        self.members.get("last_writer")?.as_str()?.parse().ok()
    }

    /// The items of a list; `None` where there is no such list.
    pub(super) fn list(&self, key: &str) -> Option<&[Value]> {
        self.members.get(key)?.as_array().map(Vec::as_slice)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.members.get(key)
    }

    /// Its keys that are neither lists nor ours.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&String, &Value)> {
        let members = self.members.iter();
        members.filter(|(key, _)| {
            ![TASKS, DISCOVERIES, MESSAGES].contains(&key.as_str()) && !OWN.contains(&key.as_str())
        })
    }
}

fn task(task: &Task) -> Value {
    let mut shown = Map::new();
    for key in [
        "id",
        "assigned_to",
        "status",
        "priority",
        "prompt",
        "output_file",
        "created_by",
        "created_at",
        "completed_at",
    ] {
        shown.insert(key.to_owned(), task.value(key));
    }
    if !task.needs.is_empty() {
        shown.insert("needs".to_owned(), task.value("needs"));
    }
    if let Some(claim) = task
        .claim
        .as_ref()
        .filter(|_| task.status == Status::InProgress)
    {
        shown.insert("claimed_by".to_owned(), claim.by.as_str().into());
    }
    if task.result.is_some() {
        shown.insert("result".to_owned(), task.value("result"));
    }
    for (key, value) in &task.other {
        shown.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(shown)
}

fn discovery(discovery: &Discovery) -> Value {
    json!({
        "id": discovery.id,
        "content": discovery.content,
        "source": discovery.source,
        "timestamp": discovery.timestamp.to_string(),
    })
}

fn message(message: &Message) -> Value {
    json!({
        "id": message.id,
        "from": message.from,
        "to": message.to,
        "content": message.content,
        "timestamp": message.timestamp.to_string(),
    })
}

/// What is wrong, without the place, which is told beside it.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Why bytes are no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDocument {
    /// They are no JSON.
    #[error("line {line}, column {column}: {reason}")]
    NoJson {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// Whether they only end too early, as while somebody still writes.
        is_cut: bool,
        /// What is wrong.
        reason: String,
    },
    /// They are JSON of another kind.
    #[error("it must be a JSON object")]
    NoObject,
    /// There are too many.
    #[error("it has {bytes} bytes, which must be at most 8,388,608")]
    TooLong {
        /// How many.
        bytes: usize,
    },
}
