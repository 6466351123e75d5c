//! Board commands in events that came from elsewhere, by hand or over a wire, and the append of a
//! list of them: all or none, each once.
//!
//! Start with [`Transaction::hand_in`]. Deliberately not here: deciding whether a command is
//! allowed, which is the board's.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::{
    author::Author,
    board::{Board, Command, Effect},
    event::{Draft, Event, Faults, InvalidEvent},
    journal::{Journal, Key, reused},
    mesh_error::{Decided, MeshError, Undecided},
    topic::Topic,
    transaction::Transaction,
};

/// Beginnings of the topics that change the board, or nothing at all.
const ABOUT: [&str; 5] = [
    "calc.task",
    "calc.message",
    "calc.discovery",
    "calc.lease",
    "calc.bridge",
];

/// Key of the fencing token in the events about a task that machines share.
const FENCE: &str = "fence";

/// Keys of a task in a handoff.
const TASK: [&str; 8] = [
    "id",
    "assigned_to",
    "priority",
    "prompt",
    "output_file",
    "needs",
    "created_by",
    "other",
];

/// Returns whether events of this topic change the board: each of them is decided, and none appended as it comes.
pub fn is_about_board(topic: &Topic) -> bool {
    ABOUT.iter().any(|about| {
        let rest = topic.as_str().strip_prefix(about);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '_']))
    })
}

impl Transaction<'_, '_> {
    /// Appends a list of events that came from elsewhere, all or none. Returns each as it is in the
    /// log, or `None` if it changed nothing.
    ///
    /// Keys of a payload that the board does not know are stored with the event, and so reach
    /// subscribers.
    pub(crate) fn hand_in(&mut self, list: Vec<Draft>) -> Decided {
        let whole = |error: MeshError| Undecided { at: 0, error };
        let is_one = list.len() == 1;
        let mut plan = Plan::default();
        for (at, draft) in list.into_iter().enumerate() {
            self.plan(draft, is_one, &mut plan)
                .map_err(|error| Undecided { at, error })?;
        }
        let appended = self.turn.append_keyed(plan.events);
        let appended = appended.map_err(|error| whole(error.into()))?;
        for event in &appended {
            self.board.apply(event);
        }
        let places = plan.places.into_iter();
        Ok(places
            .map(|place| match place {
                IngestOutcome::Nowhere => None,
                IngestOutcome::Before(event) => Some(*event),
                IngestOutcome::At(at) => Some(appended[at].clone()),
            })
            .collect())
    }

    /// Plans one event of a list, on the board that the events before it will leave.
    fn plan(&mut self, draft: Draft, is_one: bool, plan: &mut Plan) -> Result<(), MeshError> {
        let key = Key::of(&draft);
        if let Some(key) = &key {
            if let Some(at) = plan.named.get(key.name()) {
                if plan.events[*at].1.as_ref() != Some(key) {
                    return Err(reused(&draft, None).into());
                }
                plan.places.push(IngestOutcome::At(*at));
                return Ok(());
            }
            if let Some(event) = self.turn.handed_in(&draft)? {
                plan.places.push(IngestOutcome::Before(Box::new(event)));
                return Ok(());
            }
        }
        let at = plan.events.len();
        let Some(order) = order(&draft, self.turn.journal())? else {
            plan.add(key.as_ref(), at);
            plan.events.push((draft, key));
            return Ok(());
        };
        self.matrix.knows_category(&order)?;
        let order = self.completed(order)?;
        let board = plan.after.as_ref().unwrap_or(&*self.board);
        let deeds = board.decide(order, &Author::of_draft(&draft), self.turn.now())?;
        if deeds.is_empty() {
            plan.places.push(IngestOutcome::Nowhere);
            return Ok(());
        }
        plan.add(key.as_ref(), at);
        let mut key = key;
        for (nth, deed) in deeds.into_iter().enumerate() {
            let is_first = nth == 0;
            let mut derived = Draft {
                id: draft.id.clone().filter(|_| is_first),
                machine: draft.machine.clone(),
                timestamp: draft.timestamp,
                session_id: draft.session_id.clone(),
                pane_id: draft.pane_id.clone(),
                cwd: draft.cwd.clone(),
                ..deed.draft(&draft.source)
            };
            if is_first {
                keep_unknown_keys(&draft.payload, &mut derived.payload);
            }
            if !is_one {
                let board = plan.after.get_or_insert_with(|| self.board.clone());
                let event = self.turn.would_be(derived.clone(), board.seq + 1);
                board.apply(&event);
            }
            plan.events.push((derived, key.take()));
        }
        Ok(())
    }
}

/// Plan for a list of events.
#[derive(Default)]
struct Plan {
    /// Events to append, some with their author's id.
    events: Vec<(Draft, Option<Key>)>,
    /// Outcome of each event of the list.
    places: Vec<IngestOutcome>,
    /// Events that are appended with an id, by the name of its key.
    named: HashMap<String, usize>,
    /// The board as it will be, where there are several.
    after: Option<Board>,
}

enum IngestOutcome {
    /// It changed nothing.
    Nowhere,
    /// It was submitted before.
    Before(Box<Event>),
    /// Its index among the events to append.
    At(usize),
}

impl Plan {
    /// Notes that an event is to be found at this place, and under this key.
    fn add(&mut self, key: Option<&Key>, at: usize) {
        self.places.push(IngestOutcome::At(at));
        if let Some(key) = key {
            self.named.insert(key.name().to_owned(), at);
        }
    }
}

/// Copies keys of a payload that only its author knows to the event that results. A task already
/// has them among its other keys.
fn keep_unknown_keys(submitted: &Map<String, Value>, derived: &mut Map<String, Value>) {
    let other = derived.get("other").and_then(Value::as_object).cloned();
    for (key, value) in submitted {
        let is_in_other = other.as_ref().and_then(|other| other.get(key)) == Some(value);
        // A fence comes from the fleet's server alone.
        if !derived.contains_key(key) && !is_in_other && key != FENCE {
            derived.insert(key.clone(), value.clone());
        }
    }
}

/// The order whose result an event would be; `None` where it is about something else.
fn order(draft: &Draft, journal: &Journal) -> Result<Option<Command>, Faults> {
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
    if topic == "calc.task_handoff" {
        move_to_other(&mut payload);
    }
    // Only the board decides about the lifetime of a claim or lease.
    if matches!(topic, "calc.task.claimed" | "calc.lease.taken") {
        payload.insert("until".to_owned(), journal.now().to_string().into());
    }
    let tagged = json!({ "type": topic, "payload": payload });
    let deed: Effect = serde_json::from_value(tagged).map_err(|error| {
        Faults(vec![InvalidEvent {
            key: "payload".to_owned(),
            found: format!("not valid for `{topic}`"),
            wanted: format!("as documented: {error}"),
        }])
    })?;
    Ok(Some(deed.into_order()))
}

/// Moves unknown keys of a task to `other`, where the board, the matrix and the bridge file find
/// them.
fn move_to_other(payload: &mut Map<String, Value>) {
    let keys: Vec<String> = payload.keys().cloned().collect();
    let unknown = keys.into_iter().filter(|key| !TASK.contains(&key.as_str()));
    let moved: Vec<(String, Value)> = unknown
        .filter_map(|key| Some((key.clone(), payload.shift_remove(&key)?)))
        .collect();
    if moved.is_empty() {
        return;
    }
    let other = payload.entry("other").or_insert_with(|| json!({}));
    // What is no object is refused with the rest.
    if let Value::Object(other) = other {
        for (key, value) in moved {
            other.entry(key).or_insert(value);
        }
    }
}
