//! [`Intent`]: a step in words that can be taken up again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    bead::{ASSUMPTION, GROUNDING, REPLACES, Sheet, SheetError, Step, needed},
    notes::{Decision, EvidenceChange, Field, Notes},
    sanitize::says_the_same,
};

/// Format version of the file that holds an intent.
pub(super) const FORMAT: u32 = 1;

/// The name of the file that a step is written down in.
pub(super) const INTENT: &str = "intent.json";

/// Changes to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) format: u32,
    /// Agent that owns the trajectory.
    pub(crate) agent: String,
    /// The day of the trajectory's file.
    pub(crate) day: String,
    pub(crate) notes: Vec<NoteChange>,
    /// The bead, and the changes to it.
    pub(crate) bead: Option<(String, Vec<BeadChange>)>,
    pub(crate) records: Vec<Value>,
}

/// An idempotent change to the notes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum NoteChange {
    Decision(Decision),
    Evidence(EvidenceChange),
    Bead(String),
    Checkpoint(String),
    Reasoning(String),
    Identifier {
        place: String,
        purpose: String,
        verified: String,
    },
}

/// An idempotent change to a bead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum BeadChange {
    Decision(Value),
    Evidence {
        ts: String,
        /// Its words, which distinguish it from another one of its time.
        #[serde(default)]
        words: Option<String>,
        evidence: Vec<Value>,
        /// Whether it replaces what the bead has of the decision.
        #[serde(default)]
        replaces: bool,
        /// Whether it is an assumption from now on.
        #[serde(default)]
        is_assumption: bool,
    },
    Scenario(Value),
    Handoff(Value),
    NextStep(String),
    ClearNextSteps,
    Need(String),
    NeedNoMore(String),
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
    /// Returns the notes with all of these made, those of one kind at once.
    pub(super) fn all_made(changes: &[Self], notes: Notes) -> Notes {
        let of_kind = |a: &Self, b: &Self| {
            matches!(
                (a, b),
                (Self::Decision(_), Self::Decision(_))
                    | (Self::Identifier { .. }, Self::Identifier { .. })
            )
        };
        changes.chunk_by(of_kind).fold(notes, |notes, changes| {
            let decisions: Vec<Decision> = changes
                .iter()
                .filter_map(|change| match change {
                    Self::Decision(decision) => Some(decision.clone()),
                    _ => None,
                })
                .collect();
            let identifiers: Vec<(&str, &str, &str)> = changes
                .iter()
                .filter_map(|change| match change {
                    Self::Identifier {
                        place,
                        purpose,
                        verified,
                    } => Some((place.as_str(), purpose.as_str(), verified.as_str())),
                    _ => None,
                })
                .collect();
            match (decisions.len(), identifiers.len()) {
                (2.., _) => notes.with_decisions(&decisions),
                (_, 2..) => notes.with_new_identifiers(&identifiers),
                _ => changes
                    .iter()
                    .fold(notes, |notes, change| change.made(&notes)),
            }
        })
    }

    fn made(&self, notes: &Notes) -> Notes {
        match self {
            Self::Decision(decision) => notes.with_decision(decision),
            Self::Evidence(change) => notes.with_evidence(change).unwrap_or_else(|| notes.clone()),
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
    pub(crate) fn made(&self, sheet: &Sheet) -> Result<Sheet, SheetError> {
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
            Self::ClearNextSteps => match sheet.members().get("next_steps") {
                None | Some(Value::Null) => Ok(sheet.clone()),
                Some(Value::Array(steps)) if steps.is_empty() => Ok(sheet.clone()),
                Some(_) => sheet.with(&Step::Replace("next_steps", Vec::new())),
            },
            Self::Need(id) => push_once("depends_on", &Value::String(id.clone())),
            Self::NeedNoMore(id) => without_need(sheet, id),
            Self::Evidence {
                ts,
                words,
                is_assumption: true,
                ..
            } => assumed(sheet, &of_decision(sheet, ts, words.as_deref())),
            Self::Evidence {
                ts,
                words,
                evidence,
                replaces: false,
                ..
            } => with_evidence(sheet, &of_decision(sheet, ts, words.as_deref()), evidence),
            Self::Evidence {
                ts,
                words,
                evidence,
                replaces: true,
                ..
            } => with_replaced_evidence(sheet, &of_decision(sheet, ts, words.as_deref()), evidence),
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

/// Returns the file without a dependency, wherever it names it.
fn without_need(sheet: &Sheet, id: &str) -> Result<Sheet, SheetError> {
    let mut made = sheet.clone();
    for key in ["depends_on", "dependencies", "blockers"] {
        let Some(Value::Array(items)) = made.members().get(key) else {
            continue;
        };
        let is_other = |item: &&Value| needed(item).as_deref() != Some(id);
        let left: Vec<Value> = items.iter().filter(is_other).cloned().collect();
        if left.len() < items.len() {
            made = made.with(&Step::Replace(key, left))?;
        }
    }
    Ok(made)
}

/// Returns the entries of a decision: those of its time with the same words, if there are any;
/// otherwise all of its time.
fn of_decision(sheet: &Sheet, ts: &str, words: Option<&str>) -> Vec<Value> {
    let list = sheet.members().get("decisions").and_then(Value::as_array);
    let of_its_time = list.into_iter().flatten();
    let of_its_time = of_its_time.filter(|item| item.get("ts").and_then(Value::as_str) == Some(ts));
    let of_its_time: Vec<Value> = of_its_time.cloned().collect();
    let says = |item: &&Value| {
        let known = item.get("decision").and_then(Value::as_str);
        known
            .zip(words)
            .is_some_and(|(known, words)| says_the_same(known, words))
    };
    let same: Vec<Value> = of_its_time.iter().filter(says).cloned().collect();
    if same.is_empty() { of_its_time } else { same }
}

/// A decision of a bead is never rewritten, since its list is added to alone: further evidence is an
/// entry of its own with the decision's time.
fn with_evidence(
    sheet: &Sheet,
    entries: &[Value],
    evidence: &[Value],
) -> Result<Sheet, SheetError> {
    let known: Vec<&Value> = entries
        .iter()
        .filter_map(|item| item.get("evidence")?.as_array())
        .flatten()
        .collect();
    let new: Vec<Value> = evidence
        .iter()
        .filter(|item| !known.contains(item))
        .cloned()
        .collect();
    let Some(decision) = entries.first().filter(|_| !new.is_empty()) else {
        return Ok(sheet.clone());
    };
    let of = |key: &str| decision.get(key).cloned().unwrap_or_default();
    let item = serde_json::json!({"ts": of("ts"), "decision": of("decision"), "evidence": new});
    sheet.with(&Step::Push("decisions", item))
}

/// The same with evidence that replaces the decision's existing evidence.
fn with_replaced_evidence(
    sheet: &Sheet,
    entries: &[Value],
    evidence: &[Value],
) -> Result<Sheet, SheetError> {
    with_entry(
        sheet,
        entries,
        serde_json::json!({"evidence": evidence, REPLACES: true}),
    )
}

/// The same without evidence, as an assumption.
fn assumed(sheet: &Sheet, entries: &[Value]) -> Result<Sheet, SheetError> {
    let says = serde_json::json!({"evidence": [], GROUNDING: ASSUMPTION, REPLACES: true});
    with_entry(sheet, entries, says)
}

/// Returns the file with a further entry of a decision that says this, with the time and the words
/// of its last one, unless that is this one.
fn with_entry(sheet: &Sheet, entries: &[Value], says: Value) -> Result<Sheet, SheetError> {
    let Some(last) = entries.last() else {
        return Ok(sheet.clone());
    };
    let mut item = serde_json::Map::new();
    for key in ["ts", "decision"] {
        item.insert(key.to_owned(), last.get(key).cloned().unwrap_or_default());
    }
    if let Value::Object(says) = says {
        item.extend(says);
    }
    let item = Value::Object(item);
    if *last == item {
        return Ok(sheet.clone());
    }
    sheet.with(&Step::Push("decisions", item))
}
