//! [`Intent`]: a step in words that can be taken up again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    bead::{Sheet, SheetError, Step},
    notes::{Decision, Field, Notes},
};

/// The version of the file that an intent stands in.
pub(super) const FORMAT: u32 = 1;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) format: u32,
    /// Whose trajectory.
    pub(crate) agent: String,
    /// The day of the trajectory's file.
    pub(crate) day: String,
    pub(crate) notes: Vec<NoteChange>,
    /// The bead, and the changes to it.
    pub(crate) bead: Option<(String, Vec<BeadChange>)>,
    pub(crate) records: Vec<Value>,
}

/// A change to the notes that changes nothing where it is made already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum NoteChange {
    Decision(Decision),
    Evidence {
        ts: String,
        written: Vec<String>,
    },
    Bead(String),
    Checkpoint(String),
    Reasoning(String),
    Identifier {
        place: String,
        purpose: String,
        verified: String,
    },
}

/// A change to a bead that changes nothing where it is made already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum BeadChange {
    Decision(Value),
    Evidence { ts: String, evidence: Vec<Value> },
    Scenario(Value),
    Handoff(Value),
    NextStep(String),
    Set(BeadKey, Value),
}

/// A key of a bead that is given a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BeadKey {
    Title,
    Status,
    Priority,
    Assignee,
    Closed,
}

impl NoteChange {
    pub(super) fn made(&self, notes: &Notes) -> Notes {
        match self {
            Self::Decision(decision) => notes.with_decision(decision),
            Self::Evidence { ts, written } => notes
                .with_evidence(ts, written)
                .unwrap_or_else(|| notes.clone()),
            Self::Bead(value) => notes.with_active(Field::Bead, value),
            Self::Checkpoint(value) => notes.with_active(Field::Checkpoint, value),
            Self::Reasoning(value) => notes.with_active(Field::Reasoning, value),
            Self::Identifier {
                place,
                purpose,
                verified,
            } => notes.with_identifier(place, purpose, verified),
        }
    }
}

impl BeadChange {
    pub(super) fn made(&self, sheet: &Sheet) -> Result<Sheet, SheetError> {
        let push_once = |key: &'static str, item: &Value| {
            let list = sheet.members().get(key).and_then(Value::as_array);
            if list.is_some_and(|items| items.contains(item)) {
                return Ok(sheet.clone());
            }
            sheet.with(&Step::Push(key, item.clone()))
        };
        match self {
            Self::Decision(item) => push_once("decisions", item),
            Self::Scenario(item) => push_once("test_scenarios", item),
            Self::Handoff(item) => push_once("handoffs", item),
            Self::NextStep(step) => push_once("next_steps", &Value::String(step.clone())),
            Self::Evidence { ts, evidence } => with_evidence(sheet, ts, evidence),
            Self::Set(key, value) => {
                let key = match key {
                    BeadKey::Title => "title",
                    BeadKey::Status => "status",
                    BeadKey::Priority => "priority",
                    BeadKey::Assignee => "assignee",
                    BeadKey::Closed => "closed",
                };
                if sheet.members().get(key) == Some(value) {
                    return Ok(sheet.clone());
                }
                sheet.with(&Step::Set(key, value.clone()))
            }
        }
    }
}

/// A decision of a bead is never rewritten, since its list is added to alone: further evidence is an
/// entry of its own with the decision's time.
fn with_evidence(sheet: &Sheet, ts: &str, evidence: &[Value]) -> Result<Sheet, SheetError> {
    let list = sheet.members().get("decisions").and_then(Value::as_array);
    let decisions = || list.into_iter().flatten();
    let is_of = |item: &&Value| item.get("ts").and_then(Value::as_str) == Some(ts);
    let known: Vec<&Value> = decisions()
        .filter(is_of)
        .filter_map(|item| item.get("evidence")?.as_array())
        .flatten()
        .collect();
    let new: Vec<Value> = evidence
        .iter()
        .filter(|item| !known.contains(item))
        .cloned()
        .collect();
    let Some(decision) = decisions().find(is_of).filter(|_| !new.is_empty()) else {
        return Ok(sheet.clone());
    };
    let decision = decision.get("decision").cloned().unwrap_or_default();
    let item = serde_json::json!({"ts": ts, "decision": decision, "evidence": new});
    sheet.with(&Step::Push("decisions", item))
}
