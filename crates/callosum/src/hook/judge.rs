//! [`Judged`]: what the guard says of a call.

use callosum_guard::{Decision, Verdict, decide, decide_write};

use super::{
    answer::Answer,
    event::{Action, Unreadable},
    place::Place,
};

/// The rule that is named where an event could not be read.
const UNREADABLE: &str = "hook.unreadable";

/// What the guard says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
}

impl Judged {
    /// Has the guard decide. Of several files the strictest verdict counts.
    pub(super) fn of(action: &Action, place: &Place) -> Self {
        let verdict = match action {
            Action::Shell(command) => decide(command, &place.facts, &place.policy),
            Action::Write(paths) => paths
                .iter()
                .map(|path| decide_write(path, &place.facts, &place.policy))
                .reduce(|worst, next| {
                    if next.decision > worst.decision {
                        next
                    } else {
                        worst
                    }
                })
                .unwrap_or_default(),
            Action::Other => Verdict::default(),
        };
        Self { verdict }
    }

    /// What is said of an event that is none.
    pub(super) fn unreadable(error: &Unreadable) -> Self {
        Self {
            verdict: Verdict {
                decision: Decision::Ask,
                rule: Some(UNREADABLE.to_owned()),
                reason: Some(format!("callosum cannot decide on this call: {error}")),
                ..Verdict::default()
            },
        }
    }

    /// The answer, with all that helps whoever reads it to go on.
    pub(super) fn answer(&self) -> Answer {
        match self.verdict.decision {
            Decision::Allow => Answer::Pass,
            Decision::Ask => Answer::Ask(self.words()),
            Decision::Block => Answer::Deny(self.words()),
        }
    }

    fn words(&self) -> String {
        let verdict = &self.verdict;
        let reason = verdict.reason.as_deref().unwrap_or("a rule is against it");
        let mut words = reason.trim_end_matches('.').to_owned();
        if let Some(alternative) = &verdict.alternative {
            words.push_str(". Instead: ");
            words.push_str(alternative);
        }
        if let Some(rule) = &verdict.rule {
            words.push_str(" (callosum guard, rule ");
            words.push_str(rule);
            words.push(')');
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: the reason and the alternative reach whoever asked.
    #[test]
    fn the_words_hold_reason_alternative_and_rule() {
        let judged = Judged {
            verdict: Verdict {
                decision: Decision::Block,
                rule: Some("git.reset-hard".to_owned()),
                reason: Some("it throws changes away.".to_owned()),
                alternative: Some("git stash".to_owned()),
                ..Verdict::default()
            },
        };
        let words =
            "it throws changes away. Instead: git stash (callosum guard, rule git.reset-hard)";
        assert_eq!(judged.answer(), Answer::Deny(words.to_owned()));
        let unreadable = Judged::unreadable(&Unreadable::NotAnObject);
        let words = "callosum cannot decide on this call: the event is not a JSON object \
                     (callosum guard, rule hook.unreadable)";
        assert_eq!(unreadable.answer(), Answer::Ask(words.to_owned()));
    }
}
