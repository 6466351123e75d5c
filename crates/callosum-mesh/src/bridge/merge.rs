//! [`merge`]: three-way merge of the file, which separates its author's changes from those that others made since.

use std::collections::HashMap;

use callosum_redact::secrets::mask;
use serde_json::{Map, Value};

use super::{
    Conflict, Document, Edit, Merged, Wrote,
    apply::subject,
    document::{DISCOVERIES, LISTS, MESSAGES, TASKS},
    edit::unidentified,
    item::{Item, made_up_id},
};
use crate::{
    addressee::Addressee,
    agent::AgentName,
    board::{Board, BoardError, Command, Receipt},
};

/// Merges a file whose author began with `base` into a board that has changed since.
///
/// An item counts as added if neither base nor board have it, as changed if it differs from the
/// base, and as removed if only the base has it. So an edit never undoes what others did since. If
/// both changed the same key of the same task, the board's value stays, and that is a conflict.
/// Without a base nothing counts as removed, and known tasks can only be claimed or completed.
///
/// An item without an id gets one from its content: the same item read twice is added once, and one
/// that was over when its author read the file is added again. An author who left the name that was
/// in the file counts as unidentified.
///
/// `found` is another author's version of the projection that was applied since: values count as
/// changed if they differ from that. Removals are found by the projection alone.
pub fn merge(
    base: Option<&Document>,
    found: Option<&Document>,
    theirs: &Document,
    board: &Board,
) -> Merged {
    let writer = theirs
        .last_writer()
        .filter(|writer| *writer != AgentName::us());
    let named_author = writer.filter(|writer| {
        let base = base.and_then(Document::last_writer);
        base.as_ref() != Some(writer)
    });
    let mut merge = Merge {
        base,
        found,
        known: Known::of(found, base),
        board,
        revision: theirs.revision(),
        writer: named_author.clone().unwrap_or_else(unidentified),
        named_author,
        merged: Merged::default(),
    };
    for key in [TASKS, DISCOVERIES, MESSAGES] {
        match theirs.get(key) {
            Some(Value::Array(items)) => merge.list(key, items),
            // A list that is missing was not touched: old scripts write only what they know.
            None | Some(Value::Null) => {}
            Some(value) => {
                let wrote = Wrote {
                    key: key.to_owned(),
                    value: value.clone(),
                };
                merge.refuse(key.to_owned(), "must be a list".to_owned(), Some(wrote));
            }
        }
    }
    merge.fields(theirs);
    merge.without_our_name()
}

pub(super) struct Merge<'a> {
    pub(super) base: Option<&'a Document>,
    /// Another author's version of it that this author found, if known.
    pub(super) found: Option<&'a Document>,
    known: Known<'a>,
    pub(super) board: &'a Board,
    /// The projection that its author began with, where it is known.
    pub(super) revision: Option<u64>,
    /// Author, if the file names one other than the name that was there before.
    pub(super) named_author: Option<AgentName>,
    /// The same, or the name of an unidentified author.
    pub(super) writer: AgentName,
    pub(super) merged: Merged,
}

impl<'a> Merge<'a> {
    /// Returns the edits. Rejects those in the program's own name.
    fn without_our_name(mut self) -> Merged {
        let edits = std::mem::take(&mut self.merged.edits);
        let is_ours = |edit: &Edit| edit.by.is_us();
        let (ours, rest): (Vec<Edit>, Vec<Edit>) = edits.into_iter().partition(is_ours);
        for edit in ours {
            let item = subject(&edit.order);
            self.refuse(item, BoardError::OurName.to_string(), edit.wrote);
        }
        self.merged.edits = rest;
        self.merged
    }

    fn list(&mut self, key: &'static str, items: &[Value]) {
        let mut ids: HashMap<String, &Map<String, Value>> = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            let place = format!("{key}[{at}]");
            let wrote = || {
                Some(Wrote {
                    key: key.to_owned(),
                    value: item.clone(),
                })
            };
            let Value::Object(members) = item else {
                self.refuse(place, "must be an object".to_owned(), wrote());
                continue;
            };
            let id = match members.get("id") {
                None | Some(Value::Null) => self.made_up_id(key, members),
                Some(Value::String(id)) if !id.is_empty() && id.len() <= 128 => id.clone(),
                Some(Value::Number(number)) => number.to_string(),
                Some(_) => {
                    let reason = "has an `id` that must be text of 1 to 128 bytes";
                    self.refuse(place, reason.to_owned(), wrote());
                    continue;
                }
            };
            if let Some(first) = ids.get(&id) {
                if is_repeated(first, members) {
                    continue;
                }
                let reason = "occurs twice; the first one counts";
                self.refuse(format!("{key} `{id}`"), reason.to_owned(), wrote());
                continue;
            }
            ids.insert(id.clone(), members);
            let item = Item { key, id, members };
            // Most of a file is as it was found, however long it is.
            if self.base_item(&item).and_then(Value::as_object) == Some(members) {
                continue;
            }
            match key {
                TASKS => self.task(&item),
                DISCOVERIES => self.discovery(&item),
                _ => self.message(&item),
            }
        }
        self.gone(key, &ids);
    }

    /// An id for an item that has none: of its content, so that the same item read twice is added once. Where an equal
    /// one by the same author is not over yet it is that one; else it is another.
    fn made_up_id(&self, key: &str, members: &Map<String, Value>) -> String {
        let id = made_up_id(members);
        let author = match key {
            TASKS => "created_by",
            DISCOVERIES => "source",
            _ => "from",
        };
        let author = members.get(author).and_then(Value::as_str);
        let author = author.and_then(|author| author.parse().ok());
        let author = author.unwrap_or_else(|| self.writer.clone());
        let nths = (2..).map(|nth| format!("{id}-{nth}"));
        let mut ids = std::iter::once(id.clone()).chain(nths);
        ids.find(|id| self.is_free_or_same(key, id, &author))
            .unwrap_or(id)
    }

    /// Whether this id is free, or names the item that this author means.
    ///
    /// An item that was over when the author read the file is not meant: the author adds it again.
    /// One that is over only since then is meant, by an author who still has the older file open.
    fn is_free_or_same(&self, key: &str, id: &str, author: &AgentName) -> bool {
        let known = match key {
            TASKS => self
                .board
                .task(id)
                .map(|task| (&task.created_by, task.rev, task.status.is_over())),
            DISCOVERIES => {
                let mut known = self.board.discoveries.iter();
                let known = known.find(|known| known.id == id);
                known.map(|known| (&known.source, known.rev, false))
            }
            _ => self.board.message(id).map(|message| {
                let is_read = message
                    .receipt
                    .is_some_and(|receipt| !matches!(receipt, Receipt::Delivered));
                (&message.from, message.rev, is_read)
            }),
        };
        let Some((by, rev, is_over)) = known else {
            return !self.is_in_base(key, id);
        };
        let is_over_since = self.revision.is_some_and(|revision| rev > revision);
        by == author && (!is_over || is_over_since)
    }

    fn is_in_base(&self, key: &str, id: &str) -> bool {
        let items = self.base.and_then(|base| base.list(key));
        let mut items = items.unwrap_or_default().iter();
        items.any(|item| item.get("id").and_then(Value::as_str) == Some(id))
    }

    /// Finds items that the base has and the file no longer has.
    fn gone(&mut self, key: &str, ids: &HashMap<String, &Map<String, Value>>) {
        let base = self.base.and_then(|base| base.list(key));
        for item in base.unwrap_or_default() {
            let id = item.get("id").and_then(Value::as_str);
            let Some(id) = id.filter(|id| !ids.contains_key(*id)) else {
                continue;
            };
            let by = self.writer.clone();
            let order = match key {
                TASKS => match self.board.task(id) {
                    Some(task) if !task.status.is_over() => {
                        let changed = self.base.and_then(Document::revision);
                        if changed.is_some_and(|base| task.rev > base) {
                            let reason = "was removed, but was changed elsewhere since; it stays";
                            self.refuse(format!("{key} `{id}`"), reason.to_owned(), None);
                            continue;
                        }
                        Command::Cancel {
                            task: id.to_owned(),
                            reason: "removed from the bridge file".to_owned(),
                        }
                    }
                    // What is over may well be tidied away.
                    _ => continue,
                },
                DISCOVERIES => Command::Forget {
                    discovery: id.to_owned(),
                },
                _ => match self.board.message(id) {
                    Some(message) if !message.receipt.is_some_and(Receipt::is_over) => {
                        // Who a message is for takes it away once it is read.
                        Command::Move {
                            message: id.to_owned(),
                            receipt: if message.to.agent == by {
                                Receipt::Acked
                            } else {
                                Receipt::Dropped
                            },
                            evidence: Some("removed from the bridge file".to_owned()),
                        }
                    }
                    _ => continue,
                },
            };
            self.merged.edits.push(Edit {
                order,
                by,
                at: None,
                wrote: None,
            });
        }
    }

    fn discovery(&mut self, item: &Item<'_>) {
        let mut known = self.board.discoveries.iter();
        let known = known.find(|known| known.id == item.id);
        let known = known.map(|known| known.content.as_str());
        if self.exists_already(item, known) {
            return;
        }
        let Some(content) = item.text("content") else {
            return self.refuse_item(item, "has no `content`, which must be text");
        };
        let order = Command::Share {
            id: item.id.clone(),
            content,
        };
        self.add(item, order, "source", "timestamp");
    }

    fn message(&mut self, item: &Item<'_>) {
        let known = self.board.message(&item.id);
        let known = known.map(|known| known.content.as_str());
        if self.exists_already(item, known) {
            return;
        }
        let to = item.text("to").and_then(|to| to.parse::<Addressee>().ok());
        let (Some(content), Some(to)) = (item.text("content"), to) else {
            return self.refuse_item(
                item,
                "needs `content` (text) and `to` (the name of an agent)",
            );
        };
        let order = Command::Send {
            id: item.id.clone(),
            to,
            content,
            reply_to: item.text("reply_to"),
            ttl_seconds: None,
        };
        self.add(item, order, "from", "timestamp");
    }

    /// Whether an item exists already. Existing items are not changed, and an attempt is reported
    /// to its author.
    fn exists_already(&mut self, item: &Item<'_>, known: Option<&str>) -> bool {
        let base = self.base_item(item);
        let changed = match (base, known) {
            (Some(base), _) => item.differs_from(base).is_some(),
            (None, Some(known)) => item
                .text("content")
                .is_some_and(|content| mask(&content).text != known && content != known),
            (None, None) => return false,
        };
        if changed {
            self.refuse_item(
                item,
                "was already delivered and stays as it was; add another",
            );
        }
        true
    }

    /// Adds a new item, with the author and time that its own keys name.
    pub(super) fn add(&mut self, item: &Item<'_>, order: Command, author: &str, moment: &str) {
        self.merged.edits.push(Edit {
            order,
            by: item.name(author).unwrap_or_else(|| self.writer.clone()),
            at: item.moment(moment),
            wrote: Some(item.wrote()),
        });
    }

    fn fields(&mut self, theirs: &Document) {
        let found = self.found.or(self.base);
        for (key, value) in theirs.fields() {
            let was = found.and_then(|found| found.get(key));
            let is = self.board.fields.get(key);
            let is_shown_empty =
                is.is_none() && (value.is_null() || *value == Value::Object(Map::new()));
            if was == Some(value) || is == Some(value) || is_shown_empty {
                continue;
            }
            if self.base.is_some() && is != was && is.is_some() {
                let wrote = Wrote {
                    key: key.clone(),
                    value: value.clone(),
                };
                let reason = "has had another value since, which stays";
                self.refuse(key.clone(), reason.to_owned(), Some(wrote));
                continue;
            }
            self.set_field(key, Some(value.clone()));
        }
        let Some(found) = found else { return };
        for (key, was) in found.fields() {
            if theirs.get(key).is_none() && self.board.fields.get(key) == Some(was) {
                self.set_field(key, None);
            }
        }
    }

    fn set_field(&mut self, key: &str, value: Option<Value>) {
        let key = key.to_owned();
        let wrote = value.clone().map(|value| Wrote {
            key: key.clone(),
            value,
        });
        self.merged.edits.push(Edit {
            order: Command::SetField { key, value },
            by: self.writer.clone(),
            at: None,
            wrote,
        });
    }

    /// The item as its author found it.
    pub(super) fn base_item(&self, item: &Item<'_>) -> Option<&'a Value> {
        self.known.items.get(&(item.key, item.id.as_str())).copied()
    }

    pub(super) fn refuse_item(&mut self, item: &Item<'_>, reason: &str) {
        self.refuse(item.place(), reason.to_owned(), Some(item.wrote()));
    }

    fn refuse(&mut self, item: String, reason: String, wrote: Option<Wrote>) {
        self.merged.conflicts.push(Conflict {
            by: self.writer.clone(),
            item,
            reason,
            wrote,
            kept: None,
        });
    }
}

/// The items of some documents by their lists and ids; of two that have the same the one of the document that is named first.
struct Known<'a> {
    items: HashMap<(&'static str, &'a str), &'a Value>,
}

impl<'a> Known<'a> {
    fn of(first: Option<&'a Document>, second: Option<&'a Document>) -> Self {
        let mut items = HashMap::new();
        for document in [first, second].into_iter().flatten() {
            for key in LISTS {
                for item in document.list(key).unwrap_or_default() {
                    if let Some(id) = item.get("id").and_then(Value::as_str) {
                        items.entry((key, id)).or_insert(item);
                    }
                }
            }
        }
        Self { items }
    }
}

/// Whether an item says nothing that one of the same id before it does not say.
fn is_repeated(first: &Map<String, Value>, again: &Map<String, Value>) -> bool {
    let mut members = again.iter();
    members.all(|(key, value)| value.is_null() || key == "id" || first.get(key) == Some(value))
}
