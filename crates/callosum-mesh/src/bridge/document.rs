//! [`Document`]: the bridge file as JSON, and what of the board it shows.

use callosum_json::UniqueKeys;
use std::collections::HashMap;

use callosum_redact::terminal_escape::in_json;
use serde_json::{Map, Value, json};

use crate::{
    agent::AgentName,
    board::{Board, Discovery, Message, Receipt, Status, Task},
};

/// The version of the seed's schema (Seed CALC §4, layer 3).
const VERSION: &str = "2.0.0";

/// Keys of a task that the seed has. Each is shown, even if its value is null.
const SEEDS: [&str; 9] = [
    "id",
    "assigned_to",
    "status",
    "priority",
    "prompt",
    "output_file",
    "created_by",
    "created_at",
    "completed_at",
];

/// Keys of a task that are ours. Each is shown if it has a value.
const OURS: [&str; 3] = ["needs", "claimed_by", "result"];

/// The three lists.
pub(super) const TASKS: &str = "task_queue";
pub(super) const DISCOVERIES: &str = "discoveries";
pub(super) const MESSAGES: &str = "messages";
pub(super) const LISTS: [&str; 3] = [TASKS, DISCOVERIES, MESSAGES];

/// Keys that only we write, apart from the lists.
pub(super) const OWN: [&str; 6] = [
    "version",
    "last_updated",
    "last_writer",
    "revision",
    "left_out",
    "_help",
];

/// Most bytes of a file that is read.
const LONGEST: usize = 8 * 1024 * 1024;

/// Most bytes of the projection: clients stall on files of about that size. An editor of the file
/// has room for additions until it is too long to be read.
const MOST_BYTES: usize = 1024 * 1024;

/// Most bytes of the projection outside its items.
const FRAME_BYTES: usize = 8 * 1024;

/// Complete tasks, messages that are over, and discoveries are shown up to so many of each, the newest.
const MOST_OVER: usize = 50;

/// Help for anyone who opens the file.
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
    /// Any JSON object without duplicate keys is a document. A byte order mark is ignored.
    pub fn read(bytes: &[u8]) -> Result<Self, NoDocument> {
        if bytes.len() > LONGEST {
            return Err(NoDocument::TooLong { bytes: bytes.len() });
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match serde_json::from_slice(bytes).map(|UniqueKeys(value)| value) {
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

    /// The document that these bytes begin with, and go on after; `None` where they hold none, or no more than one.
    pub(super) fn beginning(bytes: &[u8]) -> Option<Self> {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<UniqueKeys>();
        let UniqueKeys(Value::Object(members)) = values.next()?.ok()? else {
            return None;
        };
        let rest = bytes.get(values.byte_offset()..)?;
        (!rest.trim_ascii().is_empty() && bytes.len() <= LONGEST).then_some(Self { members })
    }

    /// Returns the projection of a board. The same board gives the same projection.
    ///
    /// It stays far below the size that is read: whole items are left out if they do not fit, and
    /// the projection has the number of them. Other keys come first, then tasks that are not over,
    /// messages, discoveries, and tasks that are complete; of each the newest.
    pub fn of(board: &Board) -> Self {
        let mut room = Room(MOST_BYTES - FRAME_BYTES);
        let fields = board.fields.iter();
        let shown: Vec<&String> = fields
            .filter(|(key, value)| room.takes(key.len(), value))
            .map(|(key, _)| key)
            .collect();
        let fields_left = board.fields.len() - shown.len();
        let field = |key: &str| {
            let value = board.fields.get_key_value(key);
            let (key, value) = value?;
            shown.contains(&key).then(|| value.clone())
        };
        let open = |task: &&Task| !task.status.is_over();
        let over = |task: &&Task| task.status == Status::Complete;
        let unread = |message: &&Message| !message.receipt.is_some_and(Receipt::is_over);
        let open = room.newest(board.tasks.iter().filter(open), task, usize::MAX);
        let messages = board.messages.iter().filter(unread);
        let messages = room.newest(messages, message, usize::MAX);
        let discoveries = room.newest(board.discoveries.iter(), discovery, MOST_OVER);
        let over = room.newest(board.tasks.iter().filter(over), task, MOST_OVER);
        let left_out = json!({
            "task_queue": open.left_out + over.left_out,
            "discoveries": discoveries.left_out,
            "messages": messages.left_out,
            "keys": fields_left,
        });
        // In the order in which they were left.
        let id_of = |item: &Value| item["id"].as_str().unwrap_or_default().to_owned();
        let both = open.items.into_iter().chain(over.items);
        let mut both: HashMap<String, Value> = both.map(|item| (id_of(&item), item)).collect();
        let tasks = board.tasks.iter();
        let tasks: Vec<Value> = tasks.filter_map(|task| both.remove(&task.id)).collect();
        let mut members = Map::new();
        members.insert("version".to_owned(), VERSION.into());
        members.insert(
            "last_updated".to_owned(),
            board.last_updated.to_string().into(),
        );
        // This marks the file as ours, so that the next author who names themselves differs from
        // one who does not.
        members.insert("last_writer".to_owned(), AgentName::us().as_str().into());
        let evolution = field("active_evolution");
        members.insert("active_evolution".to_owned(), evolution.unwrap_or_default());
        members.insert(TASKS.to_owned(), tasks.into());
        let accounts = field("account_state");
        let accounts = accounts.unwrap_or_else(|| json!({}));
        members.insert("account_state".to_owned(), accounts);
        members.insert(DISCOVERIES.to_owned(), discoveries.items.into());
        members.insert(MESSAGES.to_owned(), messages.items.into());
        for key in &shown {
            if !members.contains_key(*key) {
                members.insert((*key).clone(), field(key).unwrap_or_default());
            }
        }
        members.insert("left_out".to_owned(), left_out);
        members.insert("revision".to_owned(), board.rev.into());
        members.insert("_help".to_owned(), HELP.into());
        Self { members }
    }

    /// Returns the document as an addition, which has no base projection. Its author is this agent
    /// if it names none.
    pub(super) fn added_by(mut self, agent: Option<AgentName>) -> Self {
        self.members.shift_remove("revision");
        if let Some(agent) = agent {
            let key = "last_writer".to_owned();
            self.members
                .entry(key)
                .or_insert_with(|| agent.as_str().into());
        }
        self
    }

    /// Its bytes, as they are written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(&self.members).unwrap_or_default();
        // People look at the file, and words of others stand in it.
        let mut bytes = in_json(&text).into_owned().into_bytes();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the revision of the projection that its author began with. `None` if it names none.
    pub fn revision(&self) -> Option<u64> {
        self.members.get("revision")?.as_u64()
    }

    /// Returns the author that the document names.
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

/// Bytes that are left for items.
struct Room(usize);

/// Items that found room, in their order.
struct Shown {
    items: Vec<Value>,
    left_out: usize,
}

impl Room {
    /// Takes the newest that have room, at most so many. Where one has none, older ones that are smaller may.
    fn newest<'a, T: 'a>(
        &mut self,
        items: impl DoubleEndedIterator<Item = &'a T>,
        show: fn(&T) -> Value,
        most: usize,
    ) -> Shown {
        let mut shown = Vec::new();
        let mut left_out = 0;
        for item in items.rev() {
            let item = show(item);
            if shown.len() < most && self.takes(0, &item) {
                shown.push(item);
            } else {
                left_out += 1;
            }
        }
        shown.reverse();
        Shown {
            items: shown,
            left_out,
        }
    }

    /// Whether there is room for a value, which it then takes.
    fn takes(&mut self, key: usize, value: &Value) -> bool {
        let text = serde_json::to_vec_pretty(value).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').count();
        // Two levels deeper than alone, plus the separators.
        let bytes = text.len() + key + 4 * lines + 8;
        let takes = bytes <= self.0;
        self.0 -= if takes { bytes } else { 0 };
        takes
    }
}

/// Whether a key of a task has a meaning; others are kept as they are.
pub(super) fn is_of_task(key: &str) -> bool {
    SEEDS.contains(&key) || OURS.contains(&key)
}

fn task(task: &Task) -> Value {
    let mut shown = Map::new();
    for key in SEEDS {
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

/// Returns the reason of a JSON error without the position, which is reported separately.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Reason for which bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDocument {
    /// They are no JSON.
    #[error("line {line}, column {column}: {reason}")]
    NoJson {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// Whether they only end too early, as while another program still writes.
        is_cut: bool,
        /// Reason.
        reason: String,
    },
    /// They are JSON of another kind.
    #[error("it is not a JSON object")]
    NoObject,
    /// There are too many.
    #[error("it has {bytes} bytes (limit: 8,388,608)")]
    TooLong {
        /// Length.
        bytes: usize,
    },
}
