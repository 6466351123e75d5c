//! Commands that the guard refused, and what the session did next.
//!
//! Pure: the caller reads both from the audit journal, which has every decision in order. So the guard's hook stores nothing
//! for it.

use serde::Serialize;

use super::same_command;

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

#[cfg(test)]
mod tests {
    use super::*;

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
