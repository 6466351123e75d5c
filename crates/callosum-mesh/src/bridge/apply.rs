//! Applies edits that someone wrote into the file, and reports those that cannot be applied. Each
//! of these gets an event, a copy of the text, and a message to its author.

use std::{collections::HashSet, path::Path};

use callosum_host::DiskError;
use serde_json::{Map, Value, json};

use super::{
    Conflict, Document, Edit, NoDocument, Synced,
    document::LISTS,
    edit::unidentified,
    merge,
    store::{BridgeStore, hash},
};
use crate::{
    agent::AgentName,
    author::Author,
    board::{BoardError, Command, way},
    event::Draft,
    journal::JournalError,
    mesh_error::MeshError,
    transaction::Transaction,
};

/// Most conflicts of one file that are reported one by one. Of the rest only the number is
/// reported.
const MOST_REPORTED: usize = 20;

/// Applies the edits that someone made to a projection, or to another author's version of it that
/// they found. Reports edits that cannot be applied.
pub(super) fn merge_in(
    kept: &BridgeStore,
    base: Option<&Document>,
    found: Option<&Document>,
    theirs: &Document,
    orders: &mut Transaction<'_, '_>,
    synced: &mut Synced,
) -> Result<(), MeshError> {
    let merged = merge(base, found, theirs, orders.board());
    let mut conflicts = merged.conflicts;
    let mut left = merged.edits;
    // A task may need one that comes after it in the file: edits that fail for that reason are
    // tried again while any succeeds.
    loop {
        let before = left.len();
        let mut waiting = Vec::new();
        for edit in left {
            let voice = Author::of(edit.by.clone());
            match orders.give(edit.order.clone(), &voice, edit.at) {
                Ok(events) => {
                    synced.edits += usize::from(!events.is_empty());
                    conflicts.extend(of_no_category(&edit, orders));
                }
                Err(MeshError::Refused(refusal @ BoardError::NoSuchTask { .. })) => {
                    waiting.push((edit, refusal));
                }
                Err(MeshError::Refused(refusal)) => conflicts.push(refused(edit, &refusal)),
                Err(MeshError::Journal(error @ JournalError::TooLong { .. })) => {
                    conflicts.push(refused(edit, &error));
                }
                Err(error) => return Err(error),
            }
        }
        if waiting.len() == before || waiting.is_empty() {
            let circles: Vec<Option<BoardError>> = waiting
                .iter()
                .map(|(edit, _)| circle_of(edit, &waiting))
                .collect();
            let failed = waiting.into_iter().zip(circles);
            conflicts.extend(
                failed.map(|((edit, refusal), circle)| refused(edit, &circle.unwrap_or(refusal))),
            );
            break;
        }
        left = waiting.into_iter().map(|(edit, _)| edit).collect();
    }
    // What follows from an item that was refused, such as that it is claimed, says nothing more.
    let mut seen = HashSet::new();
    conflicts.retain(|conflict| seen.insert((conflict.item.clone(), conflict.reason.clone())));
    keep(kept, &mut conflicts)?;
    report_conflicts(orders, &conflicts)?;
    synced.conflicts.extend(conflicts);
    Ok(())
}

/// Returns the report about a task that was added with an unknown category: to its author the key
/// may mean something else.
fn of_no_category(edit: &Edit, orders: &Transaction<'_, '_>) -> Option<Conflict> {
    let refusal = orders.matrix.knows_category(&edit.order).err()?;
    Some(Conflict {
        by: edit.by.clone(),
        item: subject(&edit.order),
        reason: format!("is stored as written, but no agent gets it by its category: {refusal}"),
        wrote: None,
        kept: None,
    })
}

/// That a task which is to be left would wait for itself, over others that are to be left with it.
fn circle_of(edit: &Edit, left: &[(Edit, BoardError)]) -> Option<BoardError> {
    let Command::Add(task) = &edit.order else {
        return None;
    };
    let needs = |id: &str| -> &[String] {
        let mut orders = left.iter().map(|(edit, _)| &edit.order);
        let needs = orders.find_map(|order| match order {
            Command::Add(task) if task.id == id => Some(task.needs.as_slice()),
            _ => None,
        });
        needs.unwrap_or(&[])
    };
    let mut ways = task.needs.iter();
    let mut circle = ways.find_map(|need| way(need, &task.id, needs))?;
    circle.insert(0, task.id.clone());
    let task = task.id.clone();
    Some(BoardError::Circle { task, circle })
}

fn refused(edit: Edit, why: &dyn std::error::Error) -> Conflict {
    Conflict {
        by: edit.by,
        item: subject(&edit.order),
        reason: why.to_string(),
        wrote: edit.wrote,
        kept: None,
    }
}

/// Stores rejected text in the form of the bridge file, so that its author can correct it and
/// submit it again.
fn keep(kept: &BridgeStore, conflicts: &mut [Conflict]) -> Result<(), DiskError> {
    let mut document = Map::new();
    let authors: HashSet<&AgentName> = conflicts.iter().map(|conflict| &conflict.by).collect();
    if let Some(author) = authors.into_iter().next()
        && conflicts.iter().all(|conflict| conflict.by == *author)
        && *author != unidentified()
    {
        document.insert("last_writer".to_owned(), author.as_str().into());
    }
    let wrote = conflicts
        .iter()
        .filter_map(|conflict| conflict.wrote.as_ref());
    let mut is_any = false;
    for wrote in wrote {
        is_any = true;
        if !LISTS.contains(&wrote.key.as_str()) || wrote.value.is_array() {
            document.insert(wrote.key.clone(), wrote.value.clone());
            continue;
        }
        let list = document
            .entry(wrote.key.clone())
            .or_insert_with(|| json!([]));
        if let Value::Array(items) = list
            && !items.contains(&wrote.value)
        {
            items.push(wrote.value.clone());
        }
    }
    if !is_any {
        return Ok(());
    }
    let bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
    let path = kept.reject(&bytes)?;
    for conflict in conflicts {
        conflict.kept = conflict.wrote.as_ref().map(|_| path.clone());
    }
    Ok(())
}

/// Reports that the file was overwritten this many times before it could be read. The lost
/// additions and their authors are unknown.
pub(super) fn report_overwritten(
    times: usize,
    orders: &mut Transaction<'_, '_>,
    synced: &mut Synced,
) -> Result<(), MeshError> {
    let overwritten = Conflict {
        by: unidentified(),
        item: "the file".to_owned(),
        reason: "was overwritten before it could be read: what was added in between may be lost"
            .to_owned(),
        wrote: None,
        kept: None,
    };
    let conflicts = vec![overwritten; times];
    report_conflicts(orders, &conflicts)?;
    synced.conflicts.extend(conflicts);
    Ok(())
}

fn report_conflicts(
    orders: &mut Transaction<'_, '_>,
    conflicts: &[Conflict],
) -> Result<(), MeshError> {
    for conflict in conflicts.iter().take(MOST_REPORTED) {
        let kept = conflict.kept.as_ref().map(|kept| kept.to_string_lossy());
        let report = json!({
            "by": conflict.by, "item": conflict.item, "reason": conflict.reason, "kept": kept,
        });
        append_event(orders, "bridge.conflict", report)?;
        let mut content = format!("the bridge file: {} {}", conflict.item, conflict.reason);
        if let Some(kept) = kept {
            content = format!("{content}. What you wrote is in {kept}");
        }
        write_to(orders, &conflict.by, content)?;
    }
    if let Some(more) = conflicts
        .get(MOST_REPORTED..)
        .filter(|more| !more.is_empty())
    {
        let kept = more.iter().find_map(|conflict| conflict.kept.as_ref());
        let kept = kept.map(|kept| kept.to_string_lossy());
        let report = json!({ "more": more.len(), "kept": kept });
        append_event(orders, "bridge.conflict", report)?;
    }
    Ok(())
}

/// Tells of a file that is no document.
pub(super) fn report_rejected(
    orders: &mut Transaction<'_, '_>,
    by: Option<&AgentName>,
    path: &Path,
    kept: &Path,
    error: &NoDocument,
) -> Result<(), MeshError> {
    let reason = error.to_string();
    let report = json!({
        "file": path.to_string_lossy(), "kept": kept.to_string_lossy(), "reason": reason, "by": by,
    });
    append_event(orders, "bridge.rejected", report)?;
    let Some(author) = by else { return Ok(()) };
    let content = format!(
        "{} was rejected: {reason}. What you wrote is in {}",
        path.display(),
        kept.display()
    );
    write_to(orders, author, content)
}

/// Returns the subject of a command, as a conflict names it.
pub(super) fn subject(order: &Command) -> String {
    match order {
        Command::Add(task) => format!("task_queue `{}`", task.id),
        Command::Claim { task, .. } => {
            format!("task_queue `{}`", task.as_deref().unwrap_or_default())
        }
        Command::Release { task, .. }
        | Command::Complete { task, .. }
        | Command::Cancel { task, .. }
        | Command::SettleOutput { task }
        | Command::Change { task, .. } => format!("task_queue `{task}`"),
        Command::Send { id, .. } => format!("messages `{id}`"),
        Command::Move { message, .. } | Command::Retry { message } => {
            format!("messages `{message}`")
        }
        Command::Share { id, .. } => format!("discoveries `{id}`"),
        Command::Forget { discovery } => format!("discoveries `{discovery}`"),
        Command::Lease { path, .. } | Command::Unlease { path, .. } => format!("lease of {path}"),
        Command::SetField { key, .. } => key.clone(),
    }
}

/// Appends an event of the bridge itself.
fn append_event(
    orders: &mut Transaction<'_, '_>,
    topic: &str,
    payload: Value,
) -> Result<(), MeshError> {
    let topic = topic.parse().expect("it is a topic");
    let payload = match payload {
        Value::Object(payload) => payload,
        _ => Map::new(),
    };
    orders.append_event(Draft::new(topic, AgentName::us()).with_payload(payload))?;
    Ok(())
}

/// Tells an author, where it is known and not ourselves, what became of what it wrote.
fn write_to(
    orders: &mut Transaction<'_, '_>,
    to: &AgentName,
    content: String,
) -> Result<(), MeshError> {
    if *to == unidentified() || *to == AgentName::us() {
        return Ok(());
    }
    let id = format!("bridge-{}", hash(format!("{to} {content}").as_bytes()));
    let order = Command::Send {
        id,
        to: to.clone().into(),
        content,
        reply_to: None,
        ttl_seconds: None,
    };
    orders.give(order, &Author::of(AgentName::us()), None)?;
    Ok(())
}

/// Returns the author of bytes that are not valid JSON, if they contain the key for it anyway.
pub(super) fn author_of(bytes: &[u8]) -> Option<AgentName> {
    let text = String::from_utf8_lossy(bytes);
    let (_, rest) = text.split_once("\"last_writer\"")?;
    let (_, rest) = rest.split_once('"')?;
    let (name, _) = rest.split_once('"')?;
    let name = name.parse().ok();
    name.filter(|name| *name != AgentName::us())
}
