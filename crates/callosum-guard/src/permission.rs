//! Permissions of a person, as words that a command must begin with.
//!
//! A permission is compared with the words of a command that was read, never with its text: no
//! quoting widens it. Deliberately not here: its lifetime, which is up to its owner.

use serde::{Deserialize, Serialize};

use crate::{
    analyze::{pattern, value::Arg},
    shell::{self, Budget, tree::Command},
};

/// Words that a command must begin with to run without the question that it would cause.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Permission {
    words: Vec<String>,
    /// Whether more words may follow: the pattern ends in `*`.
    open: bool,
}

/// Reason that a pattern is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionError {
    /// It has no words.
    #[error("a permission needs at least the name of a command")]
    Empty,
    /// It is more than one plain command.
    #[error("a permission must be one plain command, without pipes, variables or redirections")]
    NotPlain,
    /// It would allow everything.
    #[error("a permission must name a command: `*` alone would allow everything")]
    TooWide,
    /// Its first word is a pattern, which would allow many commands.
    #[error(
        "the first word of a permission must be the name of a command, not the pattern `{word}`"
    )]
    NoCommand {
        /// The word.
        word: String,
    },
}

impl Permission {
    /// Reads a pattern: one plain command, in which `*` matches any text within a word and, as the
    /// last word, any words that follow.
    pub fn parse(pattern: &str) -> Result<Permission, PermissionError> {
        let mut budget = Budget { bytes: 4_096 };
        let (script, faults) = shell::read(pattern, 0, &mut budget);
        let [Command::Simple(simple)] = script.commands.as_slice() else {
            return Err(if script.commands.is_empty() && faults.is_empty() {
                PermissionError::Empty
            } else {
                PermissionError::NotPlain
            });
        };
        if !faults.is_empty() || !simple.assignments.is_empty() || !simple.redirects.is_empty() {
            return Err(PermissionError::NotPlain);
        }
        let mut words: Vec<String> = simple
            .words
            .iter()
            .map(|word| word.literal().ok_or(PermissionError::NotPlain))
            .collect::<Result<_, _>>()?;
        let open = words.last().is_some_and(|word| word == "*");
        if open {
            words.pop();
        }
        let Some(first) = words.first() else {
            return Err(if open {
                PermissionError::TooWide
            } else {
                PermissionError::Empty
            });
        };
        if first.contains(['*', '?', '[']) {
            let word = first.clone();
            return Err(PermissionError::NoCommand { word });
        }
        Ok(Permission { words, open })
    }

    /// Returns the words that a command must begin with.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether it is about a command with these words.
    pub(crate) fn covers(&self, words: &[Arg]) -> bool {
        let enough = if self.open {
            words.len() >= self.words.len()
        } else {
            words.len() == self.words.len()
        };
        enough
            && self
                .words
                .iter()
                .zip(words)
                .all(|(wanted, word)| word.is_known() && pattern::matches(wanted, &word.text))
    }
}

impl TryFrom<String> for Permission {
    type Error = PermissionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<Permission> for String {
    fn from(permission: Permission) -> String {
        let words: Vec<Arg> = permission.words.into_iter().map(Arg::plain).collect();
        let mut text = crate::analyze::value::display_words(&words);
        if permission.open {
            text.push_str(" *");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Permission, PermissionError};

    /// CAKE-SHIM-1: a permission is one plain command, and names it.
    #[test]
    fn patterns_that_are_no_plain_command_are_refused() {
        for (pattern, error) in [
            ("", PermissionError::Empty),
            ("*", PermissionError::TooWide),
            (
                "r* -rf x",
                PermissionError::NoCommand {
                    word: "r*".to_owned(),
                },
            ),
            ("a; b", PermissionError::NotPlain),
            ("a > b", PermissionError::NotPlain),
            ("rm $X", PermissionError::NotPlain),
            ("rm 'x", PermissionError::NotPlain),
        ] {
            assert_eq!(Permission::parse(pattern), Err(error), "{pattern}");
        }
    }

    /// CAKE-SHIM-1: what is kept is read again as it was.
    #[test]
    fn a_permission_survives_being_written() {
        for pattern in ["git branch -D *", "rm -rf 'a b'", "git push origin :x"] {
            let permission = Permission::parse(pattern).unwrap();
            let written = String::from(permission.clone());
            assert_eq!(Permission::parse(&written), Ok(permission), "{written}");
        }
    }
}
