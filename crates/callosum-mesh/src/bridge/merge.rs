//! [`merge`]: what somebody did to the file, told from what others did meanwhile.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{
    Conflict, Document, Edit, Merged,
    document::{DISCOVERIES, MESSAGES, TASKS},
};
use crate::{
    agent::AgentName,
    board::{Board, NewTask, Order, Receipt, Status, Task},
};

/// Keys of a task that are not described anew by editing them.
const SET_BY_US: [&str; 6] = [
    "id",
    "status",
    "created_by",
    "created_at",
    "completed_at",
    "claimed_by",
];

/// What is done about a file that somebody wrote, who began with `base`, while the board went on.
///
/// An item counts as added where neither base nor board have it, as changed where it differs from
/// the base, and as taken away where the base has it. So nobody undoes what others did meanwhile. Where both
/// changed the same key of the same task, the board's stays, and that is a conflict. Without a
/// base nothing counts as taken away, and of known tasks only that they were claimed or completed.
///
/// An item without an id gets one from its content: the same item read twice is added once.
pub fn merge(base: Option<&Document>, theirs: &Document, board: &Board) -> Merged {
    let writer = theirs.last_writer();
    let is_told = base.is_none_or(|base| base.last_writer() != writer);
    let mut merge = Merge {
        base,
        board,
        told: writer.clone().filter(|_| is_told),
        writer: writer.unwrap_or_else(nobody),
        merged: Merged::default(),
    };
    for key in [TASKS, DISCOVERIES, MESSAGES] {
        match theirs.get(key) {
            Some(Value::Array(items)) => merge.list(key, items),
            // A list that is missing was not touched: old scripts write only what they know.
            None | Some(Value::Null) => {}
            Some(_) => merge.refuse(key, "must be a list"),
        }
    }
    merge.fields(theirs);
    merge.merged
}

struct Merge<'a> {
    base: Option<&'a Document>,
    board: &'a Board,
    /// Who wrote it, where they said so and did not only leave the name that stood there.
    told: Option<AgentName>,
    writer: AgentName,
    merged: Merged,
}

impl Merge<'_> {
    fn list(&mut self, key: &'static str, items: &[Value]) {
        let mut ids = HashSet::new();
        for (at, item) in items.iter().enumerate() {
            let Value::Object(members) = item else {
                self.refuse(&format!("{key}[{at}]"), "must be an object");
                continue;
            };
            let id = match members.get("id") {
                None | Some(Value::Null) => made_up_id(members),
                Some(Value::String(id)) if !id.is_empty() && id.len() <= 128 => id.clone(),
                Some(Value::Number(number)) => number.to_string(),
                Some(_) => {
                    self.refuse(
                        &format!("{key}[{at}]"),
                        "has an `id` that must be a text of 1 to 128 bytes",
                    );
                    continue;
                }
            };
            if !ids.insert(id.clone()) {
                self.refuse(
                    &format!("{key} `{id}`"),
                    "stands there twice; the first counts",
                );
                continue;
            }
            let item = Item { key, id, members };
            match key {
                TASKS => self.task(&item),
                DISCOVERIES => self.discovery(&item),
                _ => self.message(&item),
            }
        }
        self.gone(key, &ids);
    }

    /// What the base has and the file has no longer.
    fn gone(&mut self, key: &str, ids: &HashSet<String>) {
        let base = self.base.and_then(|base| base.list(key));
        for item in base.unwrap_or_default() {
            let id = item.get("id").and_then(Value::as_str);
            let Some(id) = id.filter(|id| !ids.contains(*id)) else {
                continue;
            };
            let by = self.writer.clone();
            let order = match key {
                TASKS => match self.board.task(id) {
                    Some(task) if !task.status.is_over() => {
                        let changed = self.base.and_then(Document::revision);
                        if changed.is_some_and(|base| task.rev > base) {
                            let reason = "was taken away, while it was changed elsewhere; it stays";
                            self.refuse(&format!("{key} `{id}`"), reason);
                            continue;
                        }
                        Order::Cancel {
                            task: id.to_owned(),
                            reason: "taken out of the bridge file".to_owned(),
                        }
                    }
                    // What is over may well be tidied away.
                    _ => continue,
                },
                DISCOVERIES => Order::Forget {
                    discovery: id.to_owned(),
                },
                _ => match self.board.message(id) {
                    Some(message) if !message.receipt.is_some_and(Receipt::is_over) => {
                        // Who a message is for takes it away once it is read.
                        Order::Move {
                            message: id.to_owned(),
                            receipt: if message.to == by {
                                Receipt::Acked
                            } else {
                                Receipt::Dropped
                            },
                            evidence: Some("taken out of the bridge file".to_owned()),
                        }
                    }
                    _ => continue,
                },
            };
            self.merged.edits.push(Edit {
                order,
                by,
                at: None,
            });
        }
    }

    fn task(&mut self, item: &Item<'_>) {
        match self.board.task(&item.id) {
            Some(task) => self.known_task(item, task),
            None => self.new_task(item),
        }
    }

    fn new_task(&mut self, item: &Item<'_>) {
        if self.base_item(item).is_some() {
            // It is so long over that the board has forgotten it.
            return;
        }
        let Some(prompt) = item.text("prompt") else {
            return self.refuse(&item.place(), "has no `prompt`, which must be a text");
        };
        let by = item
            .name("created_by")
            .unwrap_or_else(|| self.writer.clone());
        let known = [
            "id",
            "assigned_to",
            "status",
            "priority",
            "prompt",
            "output_file",
            "created_by",
            "created_at",
            "completed_at",
            "needs",
            "claimed_by",
            "result",
        ];
        let other = item
            .members
            .iter()
            .filter(|(key, _)| !known.contains(&key.as_str()));
        let needs = item.members.get("needs").and_then(Value::as_array);
        let needs = needs.into_iter().flatten().filter_map(Value::as_str);
        let order = Order::Add(NewTask {
            id: item.id.clone(),
            assigned_to: item.name("assigned_to"),
            priority: item.members.get("priority").and_then(Value::as_i64),
            prompt,
            output_file: item.text("output_file"),
            needs: needs.map(str::to_owned).collect(),
            created_by: None,
            other: other
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        });
        let at = item.moment("created_at");
        self.merged.edits.push(Edit {
            order,
            by: by.clone(),
            at,
        });
        let worker = item.name("claimed_by").or_else(|| item.name("assigned_to"));
        self.reached(item, None, worker.unwrap_or(by));
    }

    fn known_task(&mut self, item: &Item<'_>, task: &Task) {
        let base = self.base_item(item).cloned();
        // Who left their name, else whoever has the task, else whom it is meant for.
        let by = self.told.clone();
        let by = by.or_else(|| task.claim.as_ref().map(|claim| claim.by.clone()));
        let by = by.or_else(|| item.name("claimed_by").or_else(|| item.name("assigned_to")));
        let by = by.unwrap_or_else(|| self.writer.clone());
        let before = base.as_ref().and_then(|base| base.get("status"));
        let before = before.and_then(Value::as_str).map(str::to_owned);
        self.reached(item, Some((task, before)), by.clone());
        let Some(base) = base else { return };
        let mut set = Map::new();
        for (key, value) in item.members {
            let was = base.get(key).cloned().unwrap_or_default();
            let is_result_of_end =
                key == "result" && item.text("status").as_deref() == Some("complete");
            if *value == was || SET_BY_US.contains(&key.as_str()) || is_result_of_end {
                continue;
            }
            let is = task.value(key);
            if is == was {
                set.insert(key.clone(), value.clone());
            } else if is != *value {
                let reason = format!("has another `{key}` since, which stays");
                self.refuse(&item.place(), &reason);
            }
        }
        if let Some(base) = base.as_object() {
            for key in base.keys() {
                let is_ours = SET_BY_US.contains(&key.as_str())
                    || matches!(key.as_str(), "priority" | "prompt");
                if !item.members.contains_key(key) && task.value(key) == base[key] && !is_ours {
                    set.insert(key.clone(), Value::Null);
                }
            }
        }
        if !set.is_empty() {
            let order = Order::Change {
                task: item.id.clone(),
                set,
            };
            self.merged.edits.push(Edit {
                order,
                by,
                at: None,
            });
        }
    }

    /// How far the file says that a task is, where that is not what its author began with.
    fn reached(&mut self, item: &Item<'_>, known: Option<(&Task, Option<String>)>, by: AgentName) {
        let Some(said) = item.members.get("status") else {
            return;
        };
        let is_base = known
            .as_ref()
            .and_then(|(_, before)| before.as_deref())
            .is_some_and(|before| said.as_str() == Some(before));
        let now = known
            .as_ref()
            .map_or(Status::Pending, |(task, _)| task.status);
        if is_base || said.as_str() == Some(now.as_str()) {
            return;
        }
        let has_base =
            known.is_none() || known.as_ref().is_some_and(|(_, before)| before.is_some());
        let task = item.id.clone();
        let order = match said.as_str() {
            Some("in_progress") if !now.is_over() => Order::Claim {
                task: Some(task),
                anyway: true,
            },
            Some("complete") => Order::Complete {
                task,
                result: item.text("result"),
                anyway: false,
                token: None,
            },
            Some("pending") if has_base && now == Status::InProgress => Order::Release {
                task,
                reason: "set back in the bridge file".to_owned(),
                anyway: true,
                token: None,
            },
            Some("pending" | "in_progress") if !has_base => return,
            Some("pending" | "in_progress") => {
                let reason = format!("is {}, which cannot be undone", now.as_str());
                return self.refuse(&item.place(), &reason);
            }
            _ => {
                let reason = "has a `status` that must be `pending`, `in_progress` or `complete`";
                return self.refuse(&item.place(), reason);
            }
        };
        self.merged.edits.push(Edit {
            order,
            by,
            at: item
                .moment("completed_at")
                .filter(|_| said.as_str() == Some("complete")),
        });
    }

    fn discovery(&mut self, item: &Item<'_>) {
        let is_known = self
            .board
            .discoveries
            .iter()
            .any(|known| known.id == item.id);
        if is_known || self.base_item(item).is_some() {
            return;
        }
        let Some(content) = item.text("content") else {
            return self.refuse(&item.place(), "has no `content`, which must be a text");
        };
        let order = Order::Share {
            id: item.id.clone(),
            content,
        };
        let by = item.name("source").unwrap_or_else(|| self.writer.clone());
        let at = item.moment("timestamp");
        self.merged.edits.push(Edit { order, by, at });
    }

    fn message(&mut self, item: &Item<'_>) {
        if self.board.message(&item.id).is_some() || self.base_item(item).is_some() {
            return;
        }
        let (Some(content), Some(to)) = (item.text("content"), item.name("to")) else {
            return self.refuse(
                &item.place(),
                "needs `content`, a text, and `to`, the name of an agent",
            );
        };
        let order = Order::Send {
            id: item.id.clone(),
            to,
            content,
            reply_to: item.text("reply_to"),
            ttl_seconds: None,
        };
        let by = item.name("from").unwrap_or_else(|| self.writer.clone());
        let at = item.moment("timestamp");
        self.merged.edits.push(Edit { order, by, at });
    }

    fn fields(&mut self, theirs: &Document) {
        for (key, value) in theirs.fields() {
            let was = self.base.and_then(|base| base.get(key));
            let is = self.board.fields.get(key);
            let is_shown_empty =
                is.is_none() && (value.is_null() || *value == Value::Object(Map::new()));
            if was == Some(value) || is == Some(value) || is_shown_empty {
                continue;
            }
            if self.base.is_some() && is != was && is.is_some() {
                self.refuse(key, "has another value since, which stays");
                continue;
            }
            self.set_field(key, Some(value.clone()));
        }
        let Some(base) = self.base else { return };
        for (key, was) in base.fields() {
            if theirs.get(key).is_none() && self.board.fields.get(key) == Some(was) {
                self.set_field(key, None);
            }
        }
    }

    fn set_field(&mut self, key: &str, value: Option<Value>) {
        let key = key.to_owned();
        self.merged.edits.push(Edit {
            order: Order::SetField { key, value },
            by: self.writer.clone(),
            at: None,
        });
    }

    /// The item as its author found it.
    fn base_item(&self, item: &Item<'_>) -> Option<&Value> {
        let items = self.base.and_then(|base| base.list(item.key))?;
        let is_it = |known: &&Value| known.get("id").and_then(Value::as_str) == Some(&item.id);
        items.iter().find(is_it)
    }

    fn refuse(&mut self, item: &str, reason: &str) {
        self.merged.conflicts.push(Conflict {
            by: self.writer.clone(),
            item: item.to_owned(),
            reason: reason.to_owned(),
        });
    }
}

/// An item of a list.
struct Item<'a> {
    key: &'static str,
    id: String,
    members: &'a Map<String, Value>,
}

impl Item<'_> {
    fn place(&self) -> String {
        format!("{} `{}`", self.key, self.id)
    }

    fn text(&self, key: &str) -> Option<String> {
        let text = self.members.get(key)?.as_str()?;
        Some(text.to_owned())
    }

    fn name(&self, key: &str) -> Option<AgentName> {
        self.members.get(key)?.as_str()?.parse().ok()
    }

    fn moment(&self, key: &str) -> Option<Timestamp> {
        self.members.get(key)?.as_str()?.parse().ok()
    }
}

/// An id for an item that has none: of its content, so that the same item gets the same.
fn made_up_id(members: &Map<String, Value>) -> String {
    let text = serde_json::to_vec(members).unwrap_or_default();
    let hash = Sha256::digest(&text);
    let digits = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
    format!("hand-{}", digits.collect::<String>())
}

/// Whoever does not say who they are.
fn nobody() -> AgentName {
    "unknown".parse().expect("it is a name")
}
