//! [`Intent`]: a goal with its constraints, its state and its origin.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{edge::NewRelation, id::IntentId, status::Status};

/// The most characters of a goal.
pub const LONGEST_GOAL: usize = 1000;

/// The most characters of a name.
pub const LONGEST_NAME: usize = 100;

/// The most characters of the text that an intent was formulated from.
pub const LONGEST_REQUEST: usize = 8000;

/// The most characters of a key, and of a value, of a constraint, a preference or a criterion.
pub const LONGEST_TERM: usize = 500;

/// The most constraints, preferences, criteria or relations of one intent.
pub const MOST_TERMS: usize = 50;

/// Constraints or preferences: the values of each key, such as `paths`.
pub type Terms = BTreeMap<String, Vec<String>>;

/// The urgency of an intent, from 1 to 10; 10 is the most urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Priority(u8);

/// The cause of an intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A person asked for it.
    #[default]
    HumanRequest,
    /// A run of a plan made it.
    PlanExecution,
    /// An event of the system made it.
    SystemEvent,
    /// The end of another intent made it.
    IntentCompletion,
    /// A model derived it.
    ArbiterInference,
}

/// The origin of an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The agent that recorded it, if that is not a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The run of a plan that recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The branch of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// The formulation of an intent by a model, and its cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formulation {
    /// The id of the model.
    pub model: String,
    /// The number of times that it was asked.
    pub attempts: u32,
    /// The tokens of prompts and replies.
    pub tokens: u64,
    /// The cost in millionths of a US dollar.
    #[serde(default)]
    pub cost_microdollars: u64,
    /// The reason why rules formulated the intent after all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fell_back: Option<String>,
}

impl Formulation {
    /// Adds a cost in US dollars. One that is no amount counts as 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an amount is rounded, and the largest that fits is not reached"
    )]
    pub fn add_dollars(&mut self, dollars: f64) {
        let micro = (dollars.max(0.0) * 1e6).round() as u64;
        self.cost_microdollars = self.cost_microdollars.saturating_add(micro);
    }
}

/// An intent that is about to be created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewIntent {
    /// The goal, in a sentence.
    pub goal: String,
    /// A short name; derived from the goal where it is empty.
    #[serde(default)]
    pub name: String,
    /// The text that it was formulated from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_request: Option<String>,
    /// Limits that a plan for it must keep.
    #[serde(default, skip_serializing_if = "Terms::is_empty")]
    pub constraints: Terms,
    /// Wishes that a plan for it may miss.
    #[serde(default, skip_serializing_if = "Terms::is_empty")]
    pub preferences: Terms,
    /// Signs by which one sees that the goal was reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub success_criteria: Vec<String>,
    /// Its urgency.
    #[serde(default)]
    pub priority: Priority,
    /// Its first state: pending or active.
    #[serde(default)]
    pub status: Status,
    /// The intent that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<IntentId>,
    /// Its cause.
    #[serde(default)]
    pub triggered_by: Trigger,
    /// Its relations to intents that exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<NewRelation>,
    /// Its origin.
    #[serde(default)]
    pub provenance: Provenance,
    /// The model that formulated it, unless a person or rules did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formulation: Option<Formulation>,
}

/// An intent of the graph. Its relations are the graph's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Intent {
    /// Its id.
    pub id: IntentId,
    /// The goal, in a sentence.
    pub goal: String,
    /// A short name.
    pub name: String,
    /// The text that it was formulated from.
    pub original_request: Option<String>,
    /// Limits that a plan for it must keep.
    pub constraints: Terms,
    /// Wishes that a plan for it may miss.
    pub preferences: Terms,
    /// Signs by which one sees that the goal was reached.
    pub success_criteria: Vec<String>,
    /// Its urgency.
    pub priority: Priority,
    /// Its state.
    pub status: Status,
    /// The intent that it is a part of.
    pub parent: Option<IntentId>,
    /// Its cause.
    pub triggered_by: Trigger,
    /// The time of its creation.
    pub created: Timestamp,
    /// The time of its last change.
    pub updated: Timestamp,
    /// Its origin.
    pub provenance: Provenance,
    /// The model that formulated it, unless a person or rules did.
    pub formulation: Option<Formulation>,
}

/// A reason why an intent cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidIntent {
    /// It has no goal.
    #[error("an intent needs a goal")]
    NoGoal,
    /// A text is too long.
    #[error("the {what} of an intent has {chars} characters (allowed: {most})")]
    TooLong {
        /// The field.
        what: &'static str,
        /// Its length in characters.
        chars: usize,
        /// The limit.
        most: usize,
    },
    /// It has too many entries of one kind.
    #[error("an intent has {count} {what} (allowed: {MOST_TERMS})")]
    TooMany {
        /// The kind of entry.
        what: &'static str,
        /// Their number.
        count: usize,
    },
    /// The priority is out of range.
    #[error("{0} is not a priority (allowed: 1 to 10, 10 is the most urgent)")]
    Priority(u8),
    /// An intent does not begin in this state.
    #[error("a new intent cannot be {0} (allowed: pending, active)")]
    FirstStatus(Status),
    /// The key of a constraint or preference is empty.
    #[error("a constraint of an intent needs a key")]
    NoKey,
}

impl Trigger {
    /// Returns the name of the cause, such as `human_request`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HumanRequest => "human_request",
            Self::PlanExecution => "plan_execution",
            Self::SystemEvent => "system_event",
            Self::IntentCompletion => "intent_completion",
            Self::ArbiterInference => "arbiter_inference",
        }
    }
}

impl Priority {
    /// Returns the priority as a number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(5)
    }
}

impl TryFrom<u8> for Priority {
    type Error = InvalidIntent;

    fn try_from(number: u8) -> Result<Self, InvalidIntent> {
        if (1..=10).contains(&number) {
            Ok(Self(number))
        } else {
            Err(InvalidIntent::Priority(number))
        }
    }
}

impl From<Priority> for u8 {
    fn from(priority: Priority) -> Self {
        priority.0
    }
}

impl NewIntent {
    /// Makes an intent with a goal and defaults.
    pub fn of_goal(goal: impl Into<String>) -> Self {
        Self {
            goal: goal.into(),
            ..Self::default()
        }
    }

    /// Checks everything that does not depend on other intents.
    pub fn check(&self) -> Result<(), InvalidIntent> {
        if self.goal.trim().is_empty() {
            return Err(InvalidIntent::NoGoal);
        }
        if !matches!(self.status, Status::Pending | Status::Active) {
            return Err(InvalidIntent::FirstStatus(self.status));
        }
        short(&self.goal, "goal", LONGEST_GOAL)?;
        short(&self.name, "name", LONGEST_NAME)?;
        if let Some(request) = &self.original_request {
            short(request, "original request", LONGEST_REQUEST)?;
        }
        check_terms(&self.constraints, "constraints")?;
        check_terms(&self.preferences, "preferences")?;
        few(self.success_criteria.len(), "success criteria")?;
        for criterion in &self.success_criteria {
            short(criterion, "success criterion", LONGEST_TERM)?;
        }
        few(self.relations.len(), "relations")
    }

    /// Returns the texts of the intent, such as for a search for secrets.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let terms = self.constraints.iter().chain(&self.preferences);
        let terms = terms.flat_map(|(key, values)| std::iter::once(key).chain(values));
        [&self.goal, &self.name]
            .into_iter()
            .chain(&self.original_request)
            .chain(terms)
            .chain(&self.success_criteria)
            .map(String::as_str)
    }

    /// Makes the intent of the graph.
    pub(super) fn into_intent(self, id: IntentId, at: Timestamp) -> Intent {
        let name = if self.name.trim().is_empty() {
            super::formulation::name_of(&self.goal)
        } else {
            self.name
        };
        Intent {
            id,
            goal: self.goal,
            name,
            original_request: self.original_request,
            constraints: self.constraints,
            preferences: self.preferences,
            success_criteria: self.success_criteria,
            priority: self.priority,
            status: self.status,
            parent: self.parent,
            triggered_by: self.triggered_by,
            created: at,
            updated: at,
            provenance: self.provenance,
            formulation: self.formulation,
        }
    }
}

/// Checks the length of a text.
fn short(text: &str, what: &'static str, most: usize) -> Result<(), InvalidIntent> {
    let chars = text.chars().count();
    if chars > most {
        return Err(InvalidIntent::TooLong { what, chars, most });
    }
    Ok(())
}

/// Checks a number of entries.
fn few(count: usize, what: &'static str) -> Result<(), InvalidIntent> {
    if count > MOST_TERMS {
        return Err(InvalidIntent::TooMany { what, count });
    }
    Ok(())
}

fn check_terms(terms: &Terms, what: &'static str) -> Result<(), InvalidIntent> {
    few(
        terms.values().map(Vec::len).sum::<usize>().max(terms.len()),
        what,
    )?;
    for (key, values) in terms {
        if key.trim().is_empty() {
            return Err(InvalidIntent::NoKey);
        }
        for text in std::iter::once(key).chain(values) {
            short(text, "constraint", LONGEST_TERM)?;
        }
    }
    Ok(())
}

impl Intent {
    /// Returns the paths that the constraints limit the intent to.
    pub fn paths(&self) -> &[String] {
        self.constraints.get("paths").map_or(&[], Vec::as_slice)
    }
}
