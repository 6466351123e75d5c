//! What an event that came from elsewhere, by hand or over a wire, wants done to the board.
//!
//! Start with [`order`]. Deliberately not here: deciding whether it may be, which is the board's.

use serde_json::json;

use crate::{
    board::{Deed, Order},
    event::{Draft, Fault, Faults},
    journal::Journal,
    topic::Topic,
};

/// Beginnings of the topics that change the board, or nothing at all.
const ABOUT: [&str; 5] = [
    "calc.task",
    "calc.message",
    "calc.discovery",
    "calc.lease",
    "calc.bridge",
];

/// Returns whether events of this topic change the board: each of them is decided, and none appended as it comes.
pub fn is_about_board(topic: &Topic) -> bool {
    ABOUT.iter().any(|about| {
        let rest = topic.as_str().strip_prefix(about);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '_']))
    })
}

/// The order whose result an event would be; `None` where it is about something else.
pub(crate) fn order(draft: &Draft, journal: &Journal) -> Result<Option<Order>, Faults> {
    if !is_about_board(&draft.topic) {
        return Ok(None);
    }
    let topic = draft.topic.as_str();
    let mut payload = draft.payload.clone();
    if matches!(
        topic,
        "calc.task_handoff" | "calc.message" | "calc.discovery"
    ) {
        let id = draft.id.clone().unwrap_or_else(|| journal.new_id());
        payload.entry("id").or_insert_with(|| id.into());
    }
    if matches!(topic, "calc.task.claimed" | "calc.task.completed") {
        let by = draft.source.as_str();
        payload.entry("by").or_insert_with(|| by.into());
    }
    // Nobody but the board says how long one holds.
    if matches!(topic, "calc.task.claimed" | "calc.lease.taken") {
        payload.insert("until".to_owned(), journal.now().to_string().into());
    }
    let tagged = json!({ "type": topic, "payload": payload });
    let deed: Deed = serde_json::from_value(tagged).map_err(|error| {
        Faults(vec![Fault {
            key: "payload".to_owned(),
            found: format!("not that of `{topic}`"),
            wanted: format!("as its page says: {error}"),
        }])
    })?;
    Ok(Some(deed.into_order()))
}
