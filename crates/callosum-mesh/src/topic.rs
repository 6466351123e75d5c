//! [`Topic`], the subject of an event, and [`Pattern`], the topics of a subscription.

use std::{fmt, str::FromStr};

use callosum_redact::secrets::mask;
use serde::{Deserialize, Serialize};

/// Most bytes of a topic.
const LONGEST: usize = 128;

/// Most parts of a topic or a pattern.
const MOST_PARTS: usize = 16;

/// Subject of an event: `agent.task_complete`, `calc.discovery`. Parts of ASCII letters, digits,
/// `_` and `-`, with a dot between them, without a secret in it. A topic that is already in the log
/// is read even if it contains one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Topic(String);

impl Topic {
    /// The topic as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its first part: `calc` of `calc.discovery`.
    pub fn class(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }

    /// Reads a topic that may have a secret in it, as one that was kept before.
    fn of_any(text: &str) -> Result<Self, TopicError> {
        let is_sound = text.len() <= LONGEST
            && text.split('.').count() <= MOST_PARTS
            && text.split('.').all(is_part);
        if is_sound {
            Ok(Self(text.to_owned()))
        } else {
            Err(TopicError::NoTopic {
                found: shortened(&mask(text).text),
            })
        }
    }
}

impl FromStr for Topic {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let topic = Self::of_any(text)?;
        let masked = mask(text);
        if masked.found.is_empty() {
            return Ok(topic);
        }
        Err(TopicError::Secret { found: masked.text })
    }
}

impl TryFrom<String> for Topic {
    type Error = TopicError;

    fn try_from(text: String) -> Result<Self, TopicError> {
        Self::of_any(&text)
    }
}

impl From<Topic> for String {
    fn from(topic: Topic) -> Self {
        topic.0
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Set of topics: `*` matches one part, `**` any number of parts, including none (Seed CALC §4,
/// layer 2, has the first).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(String);

impl Pattern {
    /// The pattern that every topic matches.
    pub fn all() -> Self {
        Self("**".to_owned())
    }

    /// Whether it matches this topic.
    ///
    /// Takes time in proportion to the product of their numbers of parts. Neither has more than 16.
    pub fn matches(&self, topic: &Topic) -> bool {
        // What most ask for who listen.
        if self.0 == "**" {
            return true;
        }
        let wanted: Vec<&str> = self.0.split('.').collect();
        let parts: Vec<&str> = topic.0.split('.').collect();
        // Which beginnings of the topic the pattern so far has used up.
        let mut reached = vec![false; parts.len() + 1];
        reached[0] = true;
        for part in wanted {
            let mut next = vec![false; parts.len() + 1];
            match part {
                "**" => {
                    let first = reached.iter().position(|is| *is);
                    if let Some(first) = first {
                        next[first..].fill(true);
                    }
                }
                _ => {
                    for (at, found) in parts.iter().enumerate() {
                        next[at + 1] = reached[at] && (part == "*" || part == *found);
                    }
                }
            }
            reached = next;
        }
        reached[parts.len()]
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Pattern {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let is_sound = text.len() <= LONGEST
            && text.split('.').count() <= MOST_PARTS
            && text
                .split('.')
                .all(|part| matches!(part, "*" | "**") || is_part(part));
        if is_sound {
            Ok(Self(text.to_owned()))
        } else {
            Err(TopicError::NoPattern {
                found: shortened(text),
            })
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = TopicError;

    fn try_from(text: String) -> Result<Self, TopicError> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_part(part: &str) -> bool {
    !part.is_empty()
        && part
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Reason for which a text is not a topic, or not a pattern of topics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    /// It is no topic.
    #[error(
        "`{found}` is not a topic: use up to 16 parts of letters, digits, `_` and `-`, separated \
         by dots, as in `calc.discovery`"
    )]
    NoTopic {
        /// Its beginning.
        found: String,
    },
    /// It has a secret in it.
    #[error("`{found}` is not a topic: it contains a secret")]
    Secret {
        /// It, without that.
        found: String,
    },
    /// It is no pattern.
    #[error(
        "`{found}` is not a topic pattern: write a topic in which `*` matches one part and `**` \
         any number, as in `calc.*`"
    )]
    NoPattern {
        /// Its beginning.
        found: String,
    },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, topic: &str) -> bool {
        let pattern: Pattern = pattern.parse().unwrap();
        pattern.matches(&topic.parse().unwrap())
    }

    /// CALC-L2-1: the patterns of the seed's table, and those that reach deeper.
    #[test]
    fn a_star_is_one_part_and_two_are_any_number() {
        for (pattern, topic, expected) in [
            ("evo3.*", "evo3.started", true),
            ("evo3.*", "evo3", false),
            ("evo3.*", "evo3.stage.two", false),
            ("evo3.*", "evo30.started", false),
            ("calc.**", "calc", true),
            ("calc.**", "calc.task.claimed", true),
            ("**.claimed", "calc.task.claimed", true),
            ("**.claimed", "claimed", true),
            ("*.*.claimed", "calc.task.claimed", true),
            ("calc.**.claimed", "calc.claimed", true),
            ("calc.**.x.**", "calc.a.x", true),
            ("calc.**.x.**", "calc.a.y", false),
            ("calc.discovery", "calc.discovery", true),
            ("**", "anything.at.all", true),
            ("*", "anything.at.all", false),
        ] {
            assert_eq!(matches(pattern, topic), expected, "{pattern} over {topic}");
        }
    }

    #[test]
    fn what_is_no_topic_is_refused() {
        for text in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "a b",
            "a.\u{1b}[2J",
            "a/../b",
            "ä",
            "a.*",
        ] {
            assert!(text.parse::<Topic>().is_err(), "{text:?}");
        }
        // CALC-SEC-1: a secret is no topic either, and is not shown.
        let secret = "a.AKIAIOSFODNN7EXAMPLE";
        let error = secret.parse::<Topic>().unwrap_err().to_string();
        assert!(error.contains("contains a secret"), "{error}");
        assert!(!error.contains("AKIAIOSFODNN7EXAMPLE"), "{error}");
        assert!(Topic::try_from(secret.to_owned()).is_ok());
        assert!(vec!["a"; 17].join(".").parse::<Topic>().is_err());
        assert!("a".repeat(129).parse::<Topic>().is_err());
        assert!("a.***".parse::<Pattern>().is_err());
    }

    proptest! {
        #[test]
        fn every_topic_matches_itself_and_all(parts in prop::collection::vec("[a-c]{1,2}", 1..6)) {
            let topic = parts.join(".");
            prop_assert!(matches(&topic, &topic));
            prop_assert!(matches("**", &topic));
            prop_assert!(matches(&vec!["*"; parts.len()].join("."), &topic));
        }

        #[test]
        fn adding_two_stars_never_takes_a_match_away(
            topic in prop::collection::vec("[ab]", 1..6),
            pattern in prop::collection::vec("[ab]|\\*|\\*\\*", 1..5),
            at in 0_usize..6,
        ) {
            let topic = topic.join(".");
            let before = matches(&pattern.join("."), &topic);
            let mut wider = pattern.clone();
            wider.insert(at.min(pattern.len()), "**".to_owned());
            prop_assert!(!before || matches(&wider.join("."), &topic));
        }
    }
}
