//! Commands that the guard refused, and what the session did next.
//!
//! Pure: the caller reads both from the audit journal, which has every decision in order. So the guard's hook stores nothing
//! for it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::same_command;

/// Time without a step after which the turn of a session has ended.
const QUIET: SignedDuration = SignedDuration::from_mins(10);

/// The reaction of a session to a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// It ran the alternative that the refusal named.
    TookAlternative,
    /// It ran the same program in another way.
    WentAround,
    /// It did something else, or its turn ended.
    GaveUp,
    /// It asked the person.
    AskedUser,
}

/// The commands that follow a refused one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// The session runs this command next.
    Command(&'a str),
    /// The turn or the session ends.
    End,
    /// A person is asked.
    Question,
}

/// Returns how a session reacted to a refusal.
pub fn reaction(refused: &str, alternative: Option<&str>, next: Next<'_>) -> Reaction {
    let next = match next {
        Next::End => return Reaction::GaveUp,
        Next::Question => return Reaction::AskedUser,
        Next::Command(next) => next,
    };
    let is_alternative = alternative.is_some_and(|alternative| {
        same_command(alternative, next) || next.contains(alternative.trim())
    });
    if is_alternative {
        return Reaction::TookAlternative;
    }
    if is_way_around(refused, next) {
        Reaction::WentAround
    } else {
        Reaction::GaveUp
    }
}

/// Returns whether a command does what a refused one would have: it has the same program, or names the same target.
fn is_way_around(refused: &str, next: &str) -> bool {
    let words = |command: &str| -> Vec<String> {
        command
            .split(|letter: char| {
                letter.is_whitespace() || matches!(letter, '"' | '\'' | ';' | '&' | '|' | '(' | ')')
            })
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (refused, next) = (words(refused), words(next));
    let Some(program) = refused.first() else {
        return false;
    };
    let verb = refused.iter().skip(1).find(|word| !word.starts_with('-'));
    let has_program = next.contains(program) && verb.is_none_or(|verb| next.contains(verb));
    let has_target = refused
        .iter()
        .skip(1)
        .filter(|word| word.len() > 3 && word.contains(['/', '.']))
        .any(|target| next.contains(target));
    has_program || has_target
}

/// The number of each reaction to the refusals of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reactions {
    /// The rule.
    pub rule: String,
    /// Refusals whose reaction is known.
    pub refusals: u32,
    /// It ran the alternative.
    pub took_alternative: u32,
    /// It ran the same thing in another way.
    pub went_around: u32,
    /// It did something else.
    pub gave_up: u32,
    /// It asked the person.
    pub asked_user: u32,
}

impl Reactions {
    /// Returns the counters of a rule, all zero.
    pub fn new(rule: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            ..Self::default()
        }
    }

    /// Counts one reaction.
    pub fn add(&mut self, reaction: Reaction) {
        self.refusals += 1;
        let counter = match reaction {
            Reaction::TookAlternative => &mut self.took_alternative,
            Reaction::WentAround => &mut self.went_around,
            Reaction::GaveUp => &mut self.gave_up,
            Reaction::AskedUser => &mut self.asked_user,
        };
        *counter += 1;
    }
}

/// One decision of the guard about a session, as far as reactions need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The guard refused a command.
    Refused {
        /// The rule.
        rule: &'a str,
        /// The command.
        command: &'a str,
        /// The alternative that the refusal named.
        alternative: Option<&'a str>,
    },
    /// The session ran a command.
    Ran(&'a str),
    /// The session asked the person, or the person permitted something.
    Asked,
}

/// A refusal whose reaction is not known yet.
#[derive(Clone, Debug)]
struct OpenRefusal {
    rule: String,
    command: String,
    alternative: Option<String>,
    at: Timestamp,
}

/// Counts the reactions to refusals from the decisions of the guard, in their order.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    open: BTreeMap<String, OpenRefusal>,
    reactions: BTreeMap<String, Reactions>,
}

impl Refusals {
    /// Takes in the next decision about a session.
    pub fn observe(&mut self, session: &str, step: Step<'_>, at: Timestamp) {
        let next = match step {
            Step::Refused { command, .. } | Step::Ran(command) => Next::Command(command),
            Step::Asked => Next::Question,
        };
        if let Some(open) = self.open.remove(session) {
            let next = if at.duration_since(open.at) > QUIET {
                Next::End
            } else {
                next
            };
            self.close(&open, next);
        }
        if let Step::Refused {
            rule,
            command,
            alternative,
        } = step
        {
            let open = OpenRefusal {
                rule: rule.to_owned(),
                command: command.to_owned(),
                alternative: alternative.map(str::to_owned),
                at,
            };
            self.open.insert(session.to_owned(), open);
        }
    }

    /// Counts refusals after which the session has done nothing for ten minutes.
    pub fn settle(&mut self, now: Timestamp) {
        let open = std::mem::take(&mut self.open);
        for (session, open) in open {
            if now.duration_since(open.at) > QUIET {
                self.close(&open, Next::End);
            } else {
                self.open.insert(session, open);
            }
        }
    }

    /// Returns the counts of each rule, by its name.
    pub fn reactions(&self) -> impl Iterator<Item = &Reactions> {
        self.reactions.values()
    }

    /// Adds the counts of other journals.
    pub fn join(&mut self, other: &Self) {
        for theirs in other.reactions.values() {
            let ours = self.of_rule(&theirs.rule);
            ours.refusals += theirs.refusals;
            ours.took_alternative += theirs.took_alternative;
            ours.went_around += theirs.went_around;
            ours.gave_up += theirs.gave_up;
            ours.asked_user += theirs.asked_user;
        }
    }

    fn close(&mut self, open: &OpenRefusal, next: Next<'_>) {
        let reaction = reaction(&open.command, open.alternative.as_deref(), next);
        self.of_rule(&open.rule).add(reaction);
    }

    fn of_rule(&mut self, rule: &str) -> &mut Reactions {
        self.reactions
            .entry(rule.to_owned())
            .or_insert_with(|| Reactions::new(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: reactions are counted per rule from the decisions about each session.
    #[test]
    fn each_refusal_is_closed_by_the_next_step_of_its_session() {
        let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let after = |minutes| start + SignedDuration::from_mins(minutes);
        let refused = Step::Refused {
            rule: "git.reset-hard",
            command: "git reset --hard",
            alternative: Some("git stash"),
        };
        let mut refusals = Refusals::default();
        refusals.observe("a", refused, start);
        // Another session's command closes nothing.
        refusals.observe("b", Step::Ran("git stash"), start);
        refusals.observe("a", refused, after(1));
        refusals.observe("a", Step::Ran("git stash"), after(2));
        refusals.observe("b", refused, after(2));
        refusals.observe("b", Step::Asked, after(3));
        refusals.observe("c", refused, after(3));
        refusals.observe("c", Step::Ran("git stash"), after(30));
        refusals.observe("d", refused, after(30));
        refusals.settle(after(31));
        let counted = |refusals: &Refusals| refusals.reactions().next().unwrap().clone();
        let expected = Reactions {
            rule: "git.reset-hard".to_owned(),
            refusals: 4,
            took_alternative: 1,
            went_around: 1,
            gave_up: 1,
            asked_user: 1,
        };
        assert_eq!(counted(&refusals), expected);
        refusals.settle(after(60));
        assert_eq!(counted(&refusals).gave_up, 2);
    }

    /// CAKE-SHIM-1: each reaction to a refusal has its own class.
    #[test]
    fn what_follows_a_refusal_is_classified() {
        let stash = Some("git stash");
        for (refused, alternative, next, expected) in [
            (
                "git reset --hard",
                stash,
                Next::Command("git stash"),
                Reaction::TookAlternative,
            ),
            (
                "git reset --hard",
                stash,
                Next::Command("cd x && git stash"),
                Reaction::TookAlternative,
            ),
            (
                "git reset --hard",
                stash,
                Next::Command("bash -c 'git reset --hard'"),
                Reaction::WentAround,
            ),
            (
                "rm -rf src/data",
                None,
                Next::Command("find src/data -delete"),
                Reaction::WentAround,
            ),
            (
                "git reset --hard",
                stash,
                Next::Command("cargo test"),
                Reaction::GaveUp,
            ),
            ("git reset --hard", stash, Next::End, Reaction::GaveUp),
            (
                "git reset --hard",
                stash,
                Next::Question,
                Reaction::AskedUser,
            ),
        ] {
            assert_eq!(
                reaction(refused, alternative, next),
                expected,
                "{refused} {next:?}"
            );
        }
    }
}
