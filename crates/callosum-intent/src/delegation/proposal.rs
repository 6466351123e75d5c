//! [`Proposal`]: the capability that a goal goes to, the plan that is expected of it, and the steps after a failure.
//!
//! Seed CCOS, delegation flow: a proposal has the selected capability, a rationale, the expected plan shape and a fallback
//! strategy. [`Course`] carries the strategy out: each rule once, and a bounded number of rules in all. Deliberately not
//! here: the check of a plan against its shape, which needs the compiler, and the run.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// Fallbacks that one goal takes at most.
pub const MOST_FALLBACKS: u32 = 2;

/// A delegation, before it happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Proposal {
    /// The intent that is lent to the capability; nothing in a dry run without one.
    pub intent: Option<String>,
    /// The selected capability, such as `agent.claude`; `local-pure` for a built-in or stored plan.
    pub capability: String,
    /// The reason for the selection.
    pub rationale: String,
    /// The plan that is expected, or, once it is known, the plan.
    pub expected_plan_shape: PlanShape,
    /// The steps after a failure.
    pub fallback_strategy: FallbackStrategy,
    /// Confidence of the decision, from 0 to 1.
    pub confidence: f64,
}

/// The outline of a plan: its steps, and bounds for all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PlanShape {
    /// The steps in the order of the source; empty while the plan is not known.
    pub steps: Vec<ShapeStep>,
    /// Patterns of capabilities that the plan may call; of a known plan, the names of those that it calls.
    pub capabilities: BTreeSet<String>,
    /// Effects of these capabilities, such as `reads-files`.
    pub effects: BTreeSet<String>,
    /// Calls at most; nothing if that depends on values.
    pub max_calls: Option<u64>,
}

/// One step of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ShapeStep {
    /// Its name.
    pub name: String,
    /// The capabilities that are called in it.
    pub capabilities: BTreeSet<String>,
    /// Their effects.
    pub effects: BTreeSet<String>,
    /// Times that it is repeated after a failure.
    pub retries: u32,
    /// Milliseconds that each of its calls may take.
    pub timeout_ms: Option<u64>,
}

/// A failure that a proposal foresees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The capability gave no usable plan.
    NoPlan,
    /// The run of the plan failed.
    RunFailed,
    /// The reviewers rejected the plan.
    Rejected,
}

/// A step after a failure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "then")]
pub enum Fallback {
    /// The next capability gets the goal.
    NextCapability {
        /// The capability.
        capability: String,
    },
    /// The same capability gets the goal again, with what happened.
    Retry,
    /// A person decides.
    Person,
    /// The goal ends with what is known.
    Abort,
}

/// A failure, and the step that follows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FallbackRule {
    /// The failure.
    pub on: Fault,
    /// The step.
    #[serde(flatten)]
    pub then: Fallback,
}

/// Rules in their order. A failure that none is left for aborts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FallbackStrategy(pub Vec<FallbackRule>);

/// A strategy that is carried out.
#[derive(Clone, Debug, Default)]
pub struct Course {
    rules: Vec<FallbackRule>,
    left: u32,
}

impl FallbackStrategy {
    /// Returns the strategy for a goal that a model plans: `others` are the capabilities that may plan it instead.
    pub fn of_models(others: impl IntoIterator<Item = String>) -> Self {
        let rule = |on, then| FallbackRule { on, then };
        let next = |capability| Fallback::NextCapability { capability };
        let others = others.into_iter().take(MOST_FALLBACKS as usize);
        let others = others.map(|other| rule(Fault::NoPlan, next(other)));
        let mut rules = vec![
            rule(Fault::RunFailed, Fallback::Retry),
            rule(Fault::Rejected, Fallback::Person),
        ];
        rules.extend(others);
        Self(rules)
    }

    /// Returns the strategy for a stored plan: if its run fails, `models` plan the goal.
    pub fn of_stored_plan(models: impl IntoIterator<Item = String>) -> Self {
        let rule = |capability| FallbackRule {
            on: Fault::RunFailed,
            then: Fallback::NextCapability { capability },
        };
        Self(models.into_iter().take(1).map(rule).collect())
    }

    /// Begins to carry the strategy out.
    pub fn course(&self) -> Course {
        Course {
            rules: self.0.clone(),
            left: MOST_FALLBACKS,
        }
    }
}

impl Course {
    /// Returns the rules that may still apply.
    pub fn rest(&self) -> FallbackStrategy {
        let rules = self.rules.iter();
        let rules = rules.filter(|rule| self.left > 0 || rule.then == Fallback::Person);
        FallbackStrategy(rules.cloned().collect())
    }

    /// Returns the step after a failure. Uses up its rule, so that a fallback that fails does not repeat itself.
    ///
    /// A question to a person is no attempt, and does not count.
    pub fn after(&mut self, fault: Fault) -> Fallback {
        let found = self.rules.iter().position(|rule| rule.on == fault);
        let Some(found) = found else {
            return Fallback::Abort;
        };
        if self.rules[found].then == Fallback::Person {
            return Fallback::Person;
        }
        if self.left == 0 {
            return Fallback::Abort;
        }
        self.left -= 1;
        self.rules.remove(found).then
    }
}

impl Fault {
    /// Returns its words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoPlan => "no plan",
            Self::RunFailed => "a failed run",
            Self::Rejected => "a rejection",
        }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NextCapability { capability } => f.write_str(capability),
            Self::Retry => f.write_str("retry"),
            Self::Person => f.write_str("you decide"),
            Self::Abort => f.write_str("abort"),
        }
    }
}

impl fmt::Display for FallbackStrategy {
    /// One line: `after a failed run: retry; after no plan: agent.two; else abort`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in &self.0 {
            write!(f, "after {}: {}; ", rule.on.as_str(), rule.then)?;
        }
        f.write_str(if self.0.is_empty() {
            "abort"
        } else {
            "else abort"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(capability: &str) -> Fallback {
        Fallback::NextCapability {
            capability: capability.to_owned(),
        }
    }

    /// CCOS-ARB-3, DEL-4: each rule is used once, and all rules together have a bound.
    #[test]
    fn a_course_ends_however_often_it_fails() {
        let others = ["agent.b", "agent.c", "agent.d"].map(str::to_owned);
        let strategy = FallbackStrategy::of_models(others);
        let mut course = strategy.course();
        assert_eq!(course.after(Fault::NoPlan), next("agent.b"));
        assert_eq!(course.after(Fault::RunFailed), Fallback::Retry);
        assert_eq!(course.after(Fault::NoPlan), Fallback::Abort);
        let mut course = strategy.course();
        assert_eq!(course.after(Fault::RunFailed), Fallback::Retry);
        assert_eq!(course.after(Fault::RunFailed), Fallback::Abort);
        assert_eq!(course.rest().0.len(), 3);
        for _ in 0..5 {
            assert_eq!(course.after(Fault::Rejected), Fallback::Person);
        }
        assert_eq!(course.after(Fault::NoPlan), next("agent.b"));
        assert_eq!(course.after(Fault::NoPlan), Fallback::Abort);
    }

    /// CCOS-DEL-4: a stored plan that fails leads to the models, and a strategy without rules aborts.
    #[test]
    fn a_failed_stored_plan_leads_to_the_models() {
        let strategy = FallbackStrategy::of_stored_plan(["agent.b".to_owned()]);
        let mut course = strategy.course();
        assert_eq!(course.after(Fault::Rejected), Fallback::Abort);
        assert_eq!(course.after(Fault::RunFailed), next("agent.b"));
        assert_eq!(course.after(Fault::RunFailed), Fallback::Abort);
        let none = FallbackStrategy::default();
        assert_eq!(none.course().after(Fault::NoPlan), Fallback::Abort);
        assert_eq!(none.to_string(), "abort");
    }

    #[test]
    fn a_proposal_survives_json() {
        let proposal = Proposal {
            intent: Some("int-1".to_owned()),
            capability: "agent.a".to_owned(),
            rationale: "score 0.70".to_owned(),
            expected_plan_shape: PlanShape {
                capabilities: [":fs.read".to_owned()].into(),
                max_calls: Some(20),
                ..PlanShape::default()
            },
            fallback_strategy: FallbackStrategy::of_models(["agent.b".to_owned()]),
            confidence: 0.7,
        };
        let json = serde_json::to_value(&proposal).unwrap();
        let rule = &json["fallback-strategy"][2];
        assert_eq!(rule["on"], "no-plan");
        assert_eq!(rule["then"], "next-capability");
        assert_eq!(rule["capability"], "agent.b");
        assert_eq!(serde_json::from_value::<Proposal>(json).unwrap(), proposal);
        assert_eq!(
            proposal.fallback_strategy.to_string(),
            "after a failed run: retry; after a rejection: you decide; after no plan: agent.b; else abort"
        );
    }
}
