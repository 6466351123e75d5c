//! [`Templates`]: the wordings of messages, from a versioned file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::message::{Clause, Message, ParseError, Slot, Verb};

/// Wordings of this program.
const BUILT_IN: &str = include_str!("templates.json");

/// Class of errors that are not in the file's list of types.
const OTHER: &str = "exception";

/// Two sentences with placeholders.
type Pair = [String; 2];

/// Wordings by level.
type Levels = BTreeMap<u8, Vec<Pair>>;

/// Wordings of messages.
#[derive(Clone, Debug, Deserialize)]
pub struct Templates {
    version: String,
    /// With a command that may fix the error.
    fix: Levels,
    /// With a file that a known fix edits.
    edit: Levels,
    /// For each class of errors.
    classes: BTreeMap<String, Levels>,
    /// For all errors, after those of the class.
    any: Levels,
    /// The safe default.
    default: Pair,
    /// Class of each type of error.
    types: BTreeMap<String, String>,
}

/// The reason that templates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The file is not of the form.
    #[error("the templates have an invalid form: {0}")]
    Form(#[from] serde_json::Error),
    /// A sentence without placeholders is not a clause.
    #[error("a template is not a clause: {0}")]
    Clause(#[from] ParseError),
    /// A sentence has a placeholder that does not exist.
    #[error("a template has the unknown placeholder {0:?}")]
    Placeholder(String),
}

/// Values of the placeholders; `None` if the error has none, or none that a message may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) fix: Option<Slot>,
    pub(super) edit: Option<Slot>,
    pub(super) manifest: Option<Slot>,
    pub(super) place: Option<Slot>,
    pub(super) file: Option<Slot>,
    pub(super) error: Option<Slot>,
    pub(super) error_line: Option<Slot>,
    pub(super) test: Option<Slot>,
}

/// A message with the number of placeholders that it uses.
pub(super) struct Candidate {
    pub(super) message: Message,
    pub(super) slots: usize,
}

impl Templates {
    /// Returns the wordings of this program.
    ///
    /// # Errors
    /// The program was built with broken templates, which a test rules out.
    pub fn built_in() -> Result<Self, TemplateError> {
        Self::load(BUILT_IN)
    }

    /// Reads wordings, and checks each placeholder and sentence.
    ///
    /// # Errors
    /// The text is not of the form, or a sentence is not a clause.
    pub fn load(json: &str) -> Result<Self, TemplateError> {
        let templates: Self = serde_json::from_str(json)?;
        let values = Values::default();
        for sentence in templates.sentences() {
            fill(sentence, &values)?;
        }
        Ok(templates)
    }

    /// Returns the version of the file.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns every sentence with its placeholders.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        [&self.fix, &self.edit, &self.any]
            .into_iter()
            .chain(self.classes.values())
            .flat_map(BTreeMap::values)
            .flatten()
            .chain([&self.default])
            .flatten()
            .map(String::as_str)
    }

    /// Returns the messages that fit, the richest first.
    pub(super) fn candidates(
        &self,
        error_type: &str,
        level: u8,
        values: &Values,
    ) -> Result<Vec<Candidate>, TemplateError> {
        let class = self.types.get(error_type).map_or(OTHER, String::as_str);
        let sets = [
            Some(&self.fix),
            Some(&self.edit),
            self.classes.get(class),
            Some(&self.any),
        ];
        let mut found = Vec::new();
        for pair in sets
            .into_iter()
            .flatten()
            .filter_map(|set| set.get(&level))
            .flatten()
        {
            found.extend(candidate(pair, values)?);
        }
        Ok(found)
    }

    /// Returns the safe default.
    pub(super) fn safe_default(&self) -> Result<Option<Message>, TemplateError> {
        let found = candidate(&self.default, &Values::default())?;
        Ok(found.map(|candidate| candidate.message))
    }
}

/// Fills both sentences; `None` if a placeholder has no value.
fn candidate(pair: &Pair, values: &Values) -> Result<Option<Candidate>, TemplateError> {
    let [action, reference] = pair;
    let (Some(action_clause), Some(reference_clause)) =
        (fill(action, values)?, fill(reference, values)?)
    else {
        return Ok(None);
    };
    let slots = usize::from(action.contains('{')) + usize::from(reference.contains('{'));
    Ok(Message::new(action_clause, reference_clause).map(|message| Candidate { message, slots }))
}

/// Fills a sentence; `None` if its placeholder has no value.
fn fill(sentence: &str, values: &Values) -> Result<Option<Clause>, TemplateError> {
    let Some((verb, placeholder)) = sentence
        .split_once(' ')
        .filter(|(_, rest)| rest.starts_with('{'))
    else {
        return Ok(Some(Clause::parse(sentence)?));
    };
    let verb = Verb::ALL
        .into_iter()
        .find(|known| known.word() == verb)
        .ok_or_else(|| ParseError::Verb(sentence.to_owned()))?;
    let value = match placeholder {
        "{fix}" => &values.fix,
        "{edit}" => &values.edit,
        "{manifest}" => &values.manifest,
        "{place}" => &values.place,
        "{file}" => &values.file,
        "{error}" => &values.error,
        "{error_line}" => &values.error_line,
        "{test}" => &values.test,
        other => return Err(TemplateError::Placeholder(other.to_owned())),
    };
    Ok(value.clone().map(|slot| Clause { verb, slot }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voice::Corpus;

    fn values() -> Values {
        let text = |text: &str| text.to_owned();
        Values {
            fix: Some(Slot::Command(text("cargo check"))),
            edit: Some(Slot::File(text("src/price.rs"))),
            manifest: Some(Slot::File(text("Cargo.toml"))),
            place: Some(Slot::FileLine {
                file: text("src/cart.rs"),
                line: 42,
            }),
            file: Some(Slot::File(text("src/cart.rs"))),
            error: Some(Slot::Error {
                name: text("KeyError"),
                line: None,
            }),
            error_line: Some(Slot::Error {
                name: text("KeyError"),
                line: Some(42),
            }),
            test: Some(Slot::Test(text("adds"))),
        }
    }

    /// CAKE-VOICE-1: every template is in the corpus with both sentences, so what the operator writes has similarity 1.
    #[test]
    fn every_template_has_similarity_one() {
        let templates = Templates::built_in().unwrap();
        let corpus = Corpus::built_in().unwrap();
        let mut count = 0;
        for error_type in templates.types.keys().map(String::as_str).chain([OTHER]) {
            for level in 1..=4 {
                for found in templates.candidates(error_type, level, &values()).unwrap() {
                    let similarity = corpus.masked_similarity(&found.message);
                    assert!(similarity >= 1.0, "{}: {similarity}", found.message);
                    count += 1;
                }
            }
        }
        assert!(count > 1000, "{count}");
    }

    /// CAKE-OP-1: each class has a wording without placeholders at each level, and all listed types have a class.
    #[test]
    fn every_type_has_a_wording_without_values_at_each_level() {
        let templates = Templates::built_in().unwrap();
        for name in callosum_diagnose::error_type::NAMES {
            let class = templates.types.get(name).unwrap();
            assert!(templates.classes.contains_key(class), "{name}: {class}");
            for level in 1..=4 {
                let found = templates
                    .candidates(name, level, &Values::default())
                    .unwrap();
                assert!(found.iter().any(|found| found.slots == 0), "{name} {level}");
            }
        }
        for class in templates.types.values() {
            assert!(templates.classes.contains_key(class), "{class}");
        }
    }

    /// CAKE-OP-1: a file with an unknown placeholder, verb or object is refused when it is loaded.
    #[test]
    fn broken_templates_are_refused() {
        for (from, to) in [
            ("{manifest}", "{secret}"),
            ("\"Run tests\"", "\"Do tests\""),
            ("\"Run tests\"", "\"Run tests; rm x\""),
            ("See known fix", "See unknown fix"),
            ("\"default\"", "\"fallback\""),
        ] {
            let broken = BUILT_IN.replace(from, to);
            assert!(
                broken != BUILT_IN && Templates::load(&broken).is_err(),
                "{to}"
            );
        }
    }
}
