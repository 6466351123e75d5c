//! [`Bead`]: the contents of a bead's file, as far as they are understood.

use serde_json::{Map, Value};

use crate::evidence::{Evidence, ROOT_PREFIX};

/// A bead (Seed LOA §5.2). Keys that are not known are left out here and stay in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bead {
    /// Its id, as the file says.
    pub id: String,
    /// Task to do.
    pub title: String,
    /// `feature`, `bug` and so on.
    pub kind: String,
    /// `open`, `in_progress`, `blocked`, `closed` or another word.
    pub status: String,
    /// Priority: 0 comes first; 2 if the file gives none.
    pub priority: i64,
    /// When it was made, as written.
    pub created: String,
    /// Assignee.
    pub assignee: Option<String>,
    /// Beads that must be closed first.
    pub needs: Vec<String>,
    /// Other blockers, as text.
    pub blockers: Vec<String>,
    /// Decisions, oldest first.
    pub decisions: Vec<BeadDecision>,
    /// The names of the tests that it must pass.
    pub scenarios: Vec<String>,
    /// Hand-offs, oldest first: when each ended.
    pub handoffs: Vec<String>,
    /// Next steps.
    pub next_steps: Vec<String>,
    /// Questions that are open.
    pub questions: Vec<String>,
    /// Decisions that do not count, each with the reason.
    pub uncounted: Vec<String>,
}

/// A decision as a bead has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BeadDecision {
    /// When it was made, as written.
    pub ts: String,
    /// Text of the decision.
    pub decision: String,
    /// Reason for the decision.
    pub rationale: Option<String>,
    /// Evidence of the decision.
    pub evidence: Vec<Evidence>,
    /// Whether it is an assumption.
    pub is_assumption: bool,
    /// Whether it is the user's word.
    pub is_user_input: bool,
}

/// The priority of a bead that has none.
const USUAL_PRIORITY: i64 = 2;

impl Bead {
    /// Reads the members of a file.
    pub fn of(members: &Map<String, Value>) -> Self {
        let text = |name: &str| members.get(name).map(plain).unwrap_or_default();
        let list = |name: &str| -> Vec<Value> {
            match members.get(name) {
                Some(Value::Array(items)) => items.clone(),
                _ => Vec::new(),
            }
        };
        let texts = |name: &str| -> Vec<String> {
            list(name)
                .iter()
                .map(plain)
                .filter(|text| !text.is_empty())
                .collect()
        };
        let mut needs: Vec<String> = ["depends_on", "dependencies"]
            .into_iter()
            .flat_map(list)
            .filter_map(|item| needed(&item))
            .collect();
        let mut blockers = Vec::new();
        for blocker in texts("blockers") {
            if super::BeadId::new(&blocker).is_some() {
                needs.push(blocker);
            } else {
                blockers.push(blocker);
            }
        }
        needs.dedup();
        let status = text("status");
        Self {
            id: text("id"),
            title: text("title"),
            kind: text("type"),
            status: if status.is_empty() {
                "open".to_owned()
            } else {
                status
            },
            priority: priority(members.get("priority")),
            created: text("created"),
            assignee: Some(text("assignee")).filter(|name| !name.is_empty()),
            needs,
            blockers,
            decisions: decisions(&list("decisions")),
            scenarios: list("test_scenarios")
                .iter()
                .map(|item| match item.get("name") {
                    Some(name) => plain(name),
                    None => plain(item),
                })
                .filter(|name| !name.is_empty())
                .collect(),
            handoffs: list("handoffs")
                .iter()
                .filter_map(|item| item.get("ended").map(plain))
                .collect(),
            next_steps: texts("next_steps"),
            questions: texts("questions"),
            uncounted: uncounted(members.get("decisions")),
        }
    }
}

/// Returns a value that is not a list or a mapping, as text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(yes) => yes.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// Returns the priority, also if it is written as `P1`; the default if it is not a number.
fn priority(value: Option<&Value>) -> i64 {
    understood_priority(value).unwrap_or(USUAL_PRIORITY)
}

/// Parses a priority, also if it is written as `P1`.
pub(super) fn understood_priority(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim_start_matches(['P', 'p']).parse().ok(),
        _ => None,
    }
}

/// Returns the bead that a dependency names: by its id alone, or as `bd` has it.
pub(crate) fn needed(item: &Value) -> Option<String> {
    let Value::Object(members) = item else {
        return Some(plain(item)).filter(|id| !id.is_empty());
    };
    let kind = members
        .get("type")
        .or_else(|| members.get("dependency_type"));
    if kind.is_some_and(|kind| plain(kind) != "blocks") {
        return None;
    }
    let id = members.get("depends_on_id").or_else(|| members.get("id"))?;
    Some(plain(id)).filter(|id| !id.is_empty())
}

/// Key that marks an entry's evidence as the replacement for that of earlier entries of its
/// decision.
pub(crate) const REPLACES: &str = "replaces_evidence";

/// Key of an entry's kind of evidence if it has no places, and its two values, as in records.
pub(crate) const GROUNDING: &str = "grounding";
pub(crate) const ASSUMPTION: &str = "assumption";
pub(crate) const USER_INPUT: &str = "user_input";

fn decisions(items: &[Value]) -> Vec<BeadDecision> {
    let mut made: Vec<BeadDecision> = Vec::new();
    for item in items {
        let Some(entry) = decision(item) else {
            continue;
        };
        if item.get(REPLACES) == Some(&Value::Bool(true)) {
            // Of two decisions of one time, the one that it says.
            let is_of_it = |earlier: &BeadDecision| earlier.ts == entry.ts;
            let says = |earlier: &BeadDecision| earlier.decision == entry.decision;
            let is_said = made.iter().any(|one| is_of_it(one) && says(one));
            let earlier = made.iter_mut();
            let earlier = earlier.filter(|one| is_of_it(one) && (says(one) || !is_said));
            for earlier in earlier {
                earlier.evidence.clear();
                (earlier.is_assumption, earlier.is_user_input) = (false, false);
            }
        }
        made.push(entry);
    }
    made
}

/// Lists the decisions that do not count because they have no time to identify them.
pub(super) fn uncounted(list: Option<&Value>) -> Vec<String> {
    let items = match list {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => return vec!["`decisions` is not a list, and is ignored".to_owned()],
    };
    let numbered = items.iter().zip(1..);
    let uncounted = numbered.filter_map(|(item, number)| {
        let why = match decision(item) {
            None => "is not a mapping with `ts` and `decision`",
            Some(made) if made.ts.is_empty() => "has no `ts`",
            Some(_) => return None,
        };
        Some(format!("decision {number} {why}, and is ignored"))
    });
    uncounted.collect()
}

fn decision(item: &Value) -> Option<BeadDecision> {
    let members = item.as_object()?;
    let text = |name: &str| members.get(name).map(plain).unwrap_or_default();
    let evidence = members.get("evidence").and_then(Value::as_array);
    Some(BeadDecision {
        ts: text("ts"),
        decision: text("decision"),
        rationale: Some(text("rationale")).filter(|text| !text.is_empty()),
        evidence: evidence
            .into_iter()
            .flatten()
            .filter_map(evidence_of)
            .collect(),
        is_assumption: text(GROUNDING) == ASSUMPTION,
        is_user_input: text(GROUNDING) == USER_INPUT,
    })
}

/// Returns the evidence of a record or a bead: a mapping with `path`, `line` and `quote`.
pub(crate) fn evidence_of(item: &Value) -> Option<Evidence> {
    let members = item.as_object()?;
    let path = members.get("path")?.as_str()?.strip_prefix(ROOT_PREFIX)?;
    let number = |value: &Value| {
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    };
    let line = members.get("line")?;
    let (first, last) = match line.as_str().and_then(|line| line.split_once('-')) {
        Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
        None => (
            number(line)?,
            members
                .get("last_line")
                .map_or(Some(number(line)?), number)?,
        ),
    };
    Some(Evidence {
        path: path.to_owned(),
        first,
        last,
        quote: members
            .get("quote")
            .and_then(Value::as_str)
            .map(str::to_owned),
    })
}

/// Evidence as records and beads have it.
pub(crate) fn evidence_value(evidence: &Evidence) -> Value {
    let mut members = Map::new();
    members.insert(
        "path".to_owned(),
        format!("{ROOT_PREFIX}{}", evidence.path).into(),
    );
    members.insert("line".to_owned(), evidence.first.into());
    if evidence.last != evidence.first {
        members.insert("last_line".to_owned(), evidence.last.into());
    }
    if let Some(quote) = &evidence.quote {
        members.insert("quote".to_owned(), quote.clone().into());
    }
    Value::Object(members)
}
