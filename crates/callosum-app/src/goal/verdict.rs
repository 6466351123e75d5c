//! [`Verdict`]: the result of a deliberation.

use callosum_plan::{Key, Value};

/// The plan that was proposed, and how the votes fell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The source of the plan; `None` if no model gave a usable one.
    pub source: Option<String>,
    /// The reason for the plan, in the model's words.
    pub rationale: Option<String>,
    /// The model that proposed it.
    pub model: Option<String>,
    /// Whether the vote accepted it.
    pub is_accepted: bool,
    /// The last vote of each reviewer.
    pub votes: Vec<Vote>,
    /// Rounds of debate.
    pub rounds: i64,
    /// Whether the plan is a second version after a rejected one.
    pub is_revised: bool,
    /// Models that gave no usable plan, each with the reason.
    pub failed: Vec<(String, String)>,
    /// The id that the run of the plan gets.
    pub next_run: Option<String>,
}

/// One vote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vote {
    /// The role.
    pub role: String,
    /// The model.
    pub model: String,
    /// `approve`, `reject` or `abstain`.
    pub vote: String,
    /// The reasons.
    pub reasons: Vec<String>,
    /// The rule that a veto cites.
    pub rule: Option<String>,
}

impl Verdict {
    /// Reads the value of the run of [`DELIBERATE`](super::DELIBERATE). A missing part is empty.
    pub fn read(value: &Value) -> Self {
        let verdict = get(value, "verdict");
        let plan = verdict.and_then(|verdict| get(verdict, "plan"));
        let of_plan = |key: &str| plan.and_then(|plan| text(get(plan, key)));
        let votes = verdict.and_then(|verdict| get(verdict, "votes"));
        let failed = items(get(value, "failed")).map(|one| {
            let part = |key: &str| text(get(one, key)).unwrap_or_default();
            (part("model"), part("why"))
        });
        Self {
            source: of_plan("plan-source"),
            rationale: of_plan("rationale"),
            model: of_plan("model"),
            is_accepted: verdict.is_some_and(|verdict| is_true(get(verdict, "is-accepted"))),
            votes: items(votes).map(Vote::read).collect(),
            rounds: match verdict.and_then(|verdict| get(verdict, "rounds")) {
                Some(Value::Integer(rounds)) => *rounds,
                _ => 0,
            },
            is_revised: is_true(get(value, "is-revised")),
            failed: failed.collect(),
            next_run: text(get(value, "next-run")),
        }
    }
}

impl Vote {
    fn read(value: &Value) -> Self {
        let part = |key: &str| text(get(value, key));
        Self {
            role: part("role").unwrap_or_default(),
            model: part("model").unwrap_or_default(),
            vote: part("vote").unwrap_or_default(),
            reasons: items(get(value, "reasons"))
                .filter_map(|reason| text(Some(reason)))
                .collect(),
            rule: part("rule"),
        }
    }
}

fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Map(entries) => entries.get(&Key::Keyword(key.into())),
        _ => None,
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Text(text) | Value::Keyword(text) => Some(text.to_string()),
        _ => None,
    }
}

fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Boolean(true))
}

fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let items = match value {
        Some(Value::Vector(items)) => Some(items.iter()),
        _ => None,
    };
    items.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-FED-1: the result has each vote with its role, and a missing plan is none.
    #[test]
    fn a_verdict_is_read_from_the_value_of_the_run() {
        let value = "{:verdict {:plan {:plan-source \"(defplan a () 1)\" :model \"m\" :rationale nil} :is-accepted true \
                     :rounds 1 :votes [{:role \"ethics\" :model \"n\" :vote :reject :reasons [\"r\"] :rule \"reads\"}]} \
                     :failed [{:model \"x\" :why \"y\"}] :is-revised false :next-run \"id\"}";
        let verdict = Verdict::read(&Value::read(value).unwrap());
        assert_eq!(verdict.source.as_deref(), Some("(defplan a () 1)"));
        assert!(verdict.is_accepted && !verdict.is_revised);
        assert_eq!(verdict.votes[0].rule.as_deref(), Some("reads"));
        assert_eq!(verdict.failed, [("x".to_owned(), "y".to_owned())]);
        let none = Verdict::read(&Value::read("{:verdict nil :failed []}").unwrap());
        assert_eq!(none, Verdict::default());
    }
}
