//! [`explained`]: a command that a person asks about, with its steps.

use serde::{Deserialize, Serialize};

use super::{allow_once, decision::is_plain};
use crate::{command::Command, visit::Visit};

/// `guard explain --json`, as far as it is shown.
#[derive(Deserialize)]
struct Explanation {
    verdict: Verdict,
    steps: Vec<RawStep>,
    #[serde(default)]
    deletes: Vec<String>,
    #[serde(default)]
    overwrites: Vec<String>,
}

#[derive(Deserialize, Serialize)]
pub(super) struct Verdict {
    pub(super) decision: String,
    pub(super) rule: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) alternative: Option<String>,
    pub(super) understood: u64,
    #[serde(default)]
    pub(super) open: Vec<String>,
}

#[derive(Deserialize)]
struct RawStep {
    depth: usize,
    #[serde(default)]
    via: String,
    command: String,
    #[serde(default)]
    evaluated_rules: Vec<RawRule>,
}

#[derive(Deserialize)]
struct RawRule {
    rule: String,
    decision: String,
}

/// A command as the guard explains it.
#[derive(Serialize)]
pub(super) struct Explained {
    pub(super) verdict: Verdict,
    pub(super) steps: Vec<Step>,
    pub(super) deletes: Vec<String>,
    pub(super) overwrites: Vec<String>,
    pub(super) line: String,
}

impl Explained {
    pub(super) fn tone(&self) -> &'static str {
        tone(&self.verdict.decision)
    }
}

/// A command that would run.
#[derive(Serialize)]
pub(super) struct Step {
    pub(super) depth: usize,
    pub(super) via: String,
    pub(super) command: String,
    /// The strictest decision about it.
    pub(super) decision: String,
    /// The rules that came to it.
    pub(super) rules: String,
    /// Whether one click permits it.
    pub(super) can_allow: bool,
}

impl Step {
    pub(super) fn tone(&self) -> &'static str {
        tone(&self.decision)
    }

    pub(super) fn line(&self) -> String {
        allow_once(&self.command).line()
    }

    fn of(step: RawStep) -> Self {
        let has = |decision: &str| {
            let mut rules = step.evaluated_rules.iter();
            rules.any(|rule| rule.decision == decision)
        };
        let decision = ["block", "ask"].into_iter().find(|&one| has(one));
        let decision = decision.unwrap_or("allow");
        let rules = step.evaluated_rules.iter();
        let rules = rules.filter(|rule| rule.decision == decision && decision != "allow");
        let rules: Vec<&str> = rules.map(|rule| rule.rule.as_str()).collect();
        Self {
            depth: step.depth,
            can_allow: decision == "ask" && is_plain(&step.command),
            decision: decision.to_owned(),
            rules: rules.join(", "),
            via: step.via,
            command: step.command,
        }
    }
}

fn tone(decision: &str) -> &'static str {
    match decision {
        "allow" => "ok",
        "ask" => "wait",
        _ => "bad",
    }
}

/// Explains a command; `None` if there is none, or the guard fails.
pub(super) fn explained(visit: &Visit, check: &str) -> Option<Explained> {
    if check.trim().is_empty() {
        return None;
    }
    let command = Command::new(&["guard", "explain"]).values([check]);
    let found: Explanation = visit.ask_or_report(&command)?;
    Some(Explained {
        verdict: found.verdict,
        steps: found.steps.into_iter().map(Step::of).collect(),
        deletes: found.deletes,
        overwrites: found.overwrites,
        line: command.line(),
    })
}
