//! [`Fields`]: the keys of one JSON object, taken out one by one with exact errors.

use callosum_json::canonical::CanonicalError;
use serde_json::{Map, Value};

use crate::{fraction::Fraction, submission::SubmissionError, suggest::nearest, truncate::excerpt};

/// The keys of one JSON object.
pub(super) struct Fields {
    map: Map<String, Value>,
}

impl Fields {
    /// Takes an object over in which only the `known` keys may stand.
    pub(super) fn of(value: Value, known: &'static [&'static str]) -> Result<Self, Problem> {
        let Value::Object(map) = value else {
            return Err(Problem::NotAnObject {
                value: shown(&value),
            });
        };
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(Self { map }),
            Some(key) => Err(Problem::UnknownKey {
                key: excerpt(key),
                nearest: nearest(key, known.iter().copied()),
                known,
            }),
        }
    }

    /// Takes a text that must be there and that `is_allowed`.
    pub(super) fn text(
        &mut self,
        key: &'static str,
        allowed: &'static str,
        is_allowed: fn(&str) -> bool,
    ) -> Result<String, Problem> {
        self.optional_text(key, allowed, is_allowed)?
            .ok_or(Problem::MissingKey { key })
    }

    /// Takes a text that `is_allowed`, if it is there.
    pub(super) fn optional_text(
        &mut self,
        key: &'static str,
        allowed: &'static str,
        is_allowed: fn(&str) -> bool,
    ) -> Result<Option<String>, Problem> {
        self.map
            .remove(key)
            .map(|value| match value {
                Value::String(text) if is_allowed(&text) => Ok(text),
                other => Err(Problem::not_allowed(key, &other, allowed)),
            })
            .transpose()
    }

    /// Takes one of a few names, if it is there.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[T],
        name: fn(T) -> &'static str,
    ) -> Result<Option<T>, Problem> {
        self.map
            .remove(key)
            .map(|value| {
                let text = value.as_str().unwrap_or_default();
                let names = || choices.iter().map(|&choice| name(choice));
                choices
                    .iter()
                    .copied()
                    .find(|&choice| name(choice) == text)
                    .ok_or_else(|| Problem::NotAllowed {
                        key,
                        value: shown(&value),
                        allowed: names().collect::<Vec<_>>().join(", "),
                        nearest: nearest(text, names()),
                    })
            })
            .transpose()
    }

    /// Takes a whole number from 0, if it is there.
    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<u64>, Problem> {
        self.map
            .remove(key)
            .map(|value| {
                value.as_u64().ok_or_else(|| {
                    Problem::not_allowed(key, &value, "a whole number from 0 to 2^64 - 1")
                })
            })
            .transpose()
    }

    /// Takes a number from 0 to 1, if it is there.
    pub(super) fn share(&mut self, key: &'static str) -> Result<Option<Fraction>, Problem> {
        self.map
            .remove(key)
            .map(|value| {
                value
                    .as_f64()
                    .and_then(Fraction::of_number)
                    .ok_or_else(|| Problem::not_allowed(key, &value, "a number from 0 to 1"))
            })
            .transpose()
    }

    /// Takes a list of texts; none where the key is not there.
    pub(super) fn texts(
        &mut self,
        key: &'static str,
        allowed: &'static str,
    ) -> Result<Vec<String>, Problem> {
        match self.map.remove(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(text) if !text.is_empty() => Ok(text),
                    other => Err(Problem::not_allowed(key, &other, allowed)),
                })
                .collect(),
            Some(other) => Err(Problem::not_allowed(key, &other, allowed)),
        }
    }

    /// Takes a list of anything, which must be there.
    pub(super) fn list(
        &mut self,
        key: &'static str,
        allowed: &'static str,
    ) -> Result<Vec<Value>, Problem> {
        match self.map.remove(key) {
            None => Err(Problem::MissingKey { key }),
            Some(Value::Array(items)) if !items.is_empty() => Ok(items),
            Some(other) => Err(Problem::not_allowed(key, &other, allowed)),
        }
    }
}

/// Fault of a task file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is not JSON, or not JSON that everybody reads alike.
    #[error(transparent)]
    NotJson(#[from] CanonicalError),
    /// A value of another type is in the place of an object.
    #[error("`{value}` must be an object")]
    NotAnObject {
        /// The value, cut if it is long.
        value: String,
    },
    /// A key that must be there is not.
    #[error("missing key `{key}`")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A key that has no meaning.
    #[error("unknown key `{key}`{} (known: {})", meant(nearest.as_deref()), known.join(", "))]
    UnknownKey {
        /// The key, cut where it is long.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
        /// Every key that is allowed.
        known: &'static [&'static str],
    },
    /// A value that its key does not take.
    #[error("`{key}` is `{value}`{} (allowed: {allowed})", meant(nearest.as_deref()))]
    NotAllowed {
        /// The key.
        key: &'static str,
        /// The value as JSON, cut where it is long.
        value: String,
        /// Values that the key takes.
        allowed: String,
        /// The value that was probably meant.
        nearest: Option<&'static str>,
    },
    /// Two tasks have the same id.
    #[error("task {first} already has this id")]
    SameId {
        /// The number of the first task with that id, from 1.
        first: usize,
    },
    /// A link that leads to no task of the file and to none of the ledger.
    #[error("it links to `{link}`{}, which is in neither this file nor the ledger", meant(nearest.as_deref()))]
    UnknownLink {
        /// The link, cut where it is long.
        link: String,
        /// The id that was probably meant.
        nearest: Option<String>,
    },
    /// A link that is given twice.
    #[error("it links to `{link}` twice")]
    SameLink {
        /// The link.
        link: String,
    },
    /// The links do not fit together.
    #[error(transparent)]
    Links(#[from] SubmissionError),
}

impl Problem {
    fn not_allowed(key: &'static str, value: &Value, allowed: &str) -> Self {
        Self::NotAllowed {
            key,
            value: shown(value),
            allowed: allowed.to_owned(),
            nearest: None,
        }
    }
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => excerpt(text),
        other => excerpt(&other.to_string()),
    }
}
