//! Commands that the guard refused, and what the session did next.

use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;

use super::same_command;
use crate::recall::{Place, RecallDb, RecallError, cut};

/// What a session did after a refusal.
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

/// What follows a refused command.
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

/// Whether a command does what a refused one would have: it has the same program, or names the same target.
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

/// How often each reaction followed the refusals of a rule.
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

impl RecallDb {
    /// Records a refusal. Secrets in the commands are masked already.
    pub fn record_refusal(
        &self,
        rule: &str,
        alternative: Option<&str>,
        place: &Place,
        now: Timestamp,
    ) -> Result<(), RecallError> {
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO refusal (project, session, rule, command, alternative, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    place.project,
                    place.session,
                    rule,
                    cut(&place.command),
                    alternative.map(cut),
                    now.to_string()
                ],
            )?;
            Ok(())
        })
    }

    /// Records what a session did next, for each of its refusals that has no reaction yet.
    pub fn resolve_refusals(&self, place: &Place, next: Next<'_>) -> Result<(), RecallError> {
        self.write(|transaction| {
            let open: Vec<(i64, String, Option<String>)> = transaction
                .prepare_cached(
                    "SELECT id, command, alternative FROM refusal \
                     WHERE project = ?1 AND session = ?2 AND answer IS NULL",
                )?
                .query_map(params![place.project, place.session], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?
                .collect::<rusqlite::Result<_>>()?;
            for (id, refused, alternative) in open {
                let reaction = match reaction(&refused, alternative.as_deref(), next) {
                    Reaction::TookAlternative => "took_alternative",
                    Reaction::WentAround => "went_around",
                    Reaction::GaveUp => "gave_up",
                    Reaction::AskedUser => "asked_user",
                };
                transaction.execute(
                    "UPDATE refusal SET answer = ?2 WHERE id = ?1",
                    params![id, reaction],
                )?;
            }
            Ok(())
        })
    }

    /// Returns the reactions to the refusals of each rule, most refusals first.
    pub fn reactions(&self, project: Option<&str>) -> Result<Vec<Reactions>, RecallError> {
        self.read(|connection| {
            let mut query = connection.prepare(
                "SELECT rule, count(*), sum(answer = 'took_alternative'), sum(answer = 'went_around'), \
                 sum(answer = 'gave_up'), sum(answer = 'asked_user') FROM refusal \
                 WHERE answer IS NOT NULL AND (?1 IS NULL OR project = ?1) GROUP BY rule ORDER BY count(*) DESC, rule",
            )?;
            query
                .query_map([project], |row| {
                    Ok(Reactions {
                        rule: row.get(0)?,
                        refusals: row.get(1)?,
                        took_alternative: row.get(2)?,
                        went_around: row.get(3)?,
                        gave_up: row.get(4)?,
                        asked_user: row.get(5)?,
                    })
                })?
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: what follows a refusal is told apart.
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
