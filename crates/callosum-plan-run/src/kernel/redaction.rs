//! Masks and withholds arguments of a call before its provider sees them.
//!
//! Secrets that their form or their name gives away are masked for every provider. Fields that a
//! manifest names as sensitive are withheld from a provider that is trusted too little for them.

use std::collections::{BTreeMap, BTreeSet};

use callosum_plan::{Key, Value};
use callosum_redact::secrets::mask;
use thiserror::Error;

/// Bytes, about, that the arguments of one call may have when written out.
pub const MAX_ARGUMENTS: u64 = 1 << 20;

/// Deepest nesting of arguments; as deep as a source may be nested.
pub const MAX_ARGUMENT_DEPTH: usize = 128;

/// Fields whose text is always a secret, in any form.
const PASSWORDS: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];

/// Arguments as a provider gets them.
#[derive(Clone, Debug, PartialEq)]
pub struct Redacted {
    /// The arguments.
    pub arguments: Vec<Value>,
    /// Number of texts that had secrets in them.
    pub masked: usize,
    /// Number of fields that were withheld.
    pub withheld: usize,
}

/// Reason that arguments can't be passed to any provider.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum UnfitArguments {
    /// They are more than any capability takes.
    #[error(
        "the arguments would have about {0} bytes in written form; {MAX_ARGUMENTS} are allowed"
    )]
    TooLarge(u64),
    /// They are nested deeper than any capability takes.
    #[error("the arguments are nested deeper than {MAX_ARGUMENT_DEPTH}")]
    TooDeep,
    /// A function means nothing outside of its program.
    #[error("the arguments contain a function")]
    Function,
    /// Masked, it would be another key.
    #[error("a key of the arguments contains a secret")]
    SecretKey,
}

/// Masks secrets, and withholds the fields of these names, at any depth.
///
/// Names are compared without case, `_` as `-`. Linear in the arguments' size, which it refuses
/// before looking at them where it is above [`MAX_ARGUMENTS`].
pub fn redact(
    arguments: &[Value],
    withheld: &BTreeSet<String>,
) -> Result<Redacted, UnfitArguments> {
    let weight = arguments
        .iter()
        .fold(0_u64, |sum, value| sum.saturating_add(value.weight()));
    if weight > MAX_ARGUMENTS {
        return Err(UnfitArguments::TooLarge(weight));
    }
    let mut walk = Walk {
        fields: withheld.iter().map(|name| plain(name)).collect(),
        masked: 0,
        withheld: 0,
    };
    let arguments: Result<Vec<Value>, _> =
        arguments.iter().map(|value| walk.value(value, 0)).collect();
    Ok(Redacted {
        arguments: arguments?,
        masked: walk.masked,
        withheld: walk.withheld,
    })
}

struct Walk {
    fields: BTreeSet<String>,
    masked: usize,
    withheld: usize,
}

impl Walk {
    /// Recurs no deeper than [`MAX_ARGUMENT_DEPTH`].
    fn value(&mut self, value: &Value, depth: usize) -> Result<Value, UnfitArguments> {
        if depth > MAX_ARGUMENT_DEPTH {
            return Err(UnfitArguments::TooDeep);
        }
        Ok(match value {
            Value::Text(text) => match self.without_secrets(text) {
                Some(masked) => Value::text(masked),
                None => value.clone(),
            },
            Value::Keyword(name) => match self.without_secrets(name) {
                Some(masked) => Value::text(masked),
                None => value.clone(),
            },
            Value::Vector(items) => {
                let items: Result<Vec<Value>, _> = items
                    .iter()
                    .map(|item| self.value(item, depth + 1))
                    .collect();
                Value::vector(items?)
            }
            Value::Map(entries) => {
                let mut redacted = BTreeMap::new();
                for (key, value) in entries.iter() {
                    redacted.insert(key.clone(), self.entry(key, value, depth + 1)?);
                }
                Value::map(redacted)
            }
            Value::Function(_) => return Err(UnfitArguments::Function),
            Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Float(_) => value.clone(),
        })
    }

    fn entry(&mut self, key: &Key, value: &Value, depth: usize) -> Result<Value, UnfitArguments> {
        let (Key::Keyword(name) | Key::Text(name)) = key else {
            return self.value(value, depth);
        };
        if !mask(name).found.is_empty() {
            return Err(UnfitArguments::SecretKey);
        }
        if self.fields.contains(&plain(name)) {
            self.withheld += 1;
            return Ok(Value::text(format!("[withheld: {name}]")));
        }
        let Value::Text(text) = value else {
            return self.value(value, depth);
        };
        // Some secrets are only recognized by the name of their field.
        if PASSWORDS.contains(&plain(name).as_str()) {
            self.masked += 1;
            return Ok(Value::text("[secret: password]"));
        }
        if let Some(masked) = self.without_secrets(text) {
            return Ok(Value::text(masked));
        }
        match mask(&format!("{name}: \"{text}\"")).found.first() {
            Some(kind) => {
                self.masked += 1;
                Ok(Value::text(format!("[secret: {}]", kind.name())))
            }
            None => Ok(Value::Text(text.clone())),
        }
    }

    fn without_secrets(&mut self, text: &str) -> Option<String> {
        let masked = mask(text);
        if masked.found.is_empty() {
            return None;
        }
        self.masked += 1;
        Some(masked.text)
    }
}

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(arguments: &str, withheld: &[&str]) -> String {
        let value = Value::read(arguments).unwrap();
        let fields = withheld.iter().map(|name| (*name).to_owned()).collect();
        redact(&[value], &fields).unwrap().arguments[0].to_string()
    }

    /// CCOS-GOV-1: secrets are masked for everybody, at any depth.
    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let key = "AKIAIOSFODNN7EXAMPLQ";
        for arguments in [
            format!("\"use {key}\""),
            format!("[1 {{:a [\"{key}\"]}}]"),
            "{:password \"correct horse battery\"}".to_owned(),
            "[{:api_key \"horse7Xq2bL9tRw\"}]".to_owned(),
        ] {
            let shown = shown(&arguments, &[]);
            assert!(shown.contains("[secret: "), "{shown}");
            assert!(!shown.contains(key) && !shown.contains("horse"), "{shown}");
        }
    }

    #[test]
    fn withheld_fields_are_found_under_other_spellings() {
        let shown = shown(
            "{:Patient_Name \"Ada\" :rest [{\"patient-name\" 7}] :n 1}",
            &["patient-name"],
        );
        assert!(!shown.contains("Ada") && !shown.contains('7'), "{shown}");
        assert!(shown.contains(":n 1"), "{shown}");
    }

    #[test]
    fn what_is_too_deep_too_large_or_no_data_is_refused() {
        let deep = (0..300_000).fold(Value::Nil, |inner, _| Value::vector(vec![inner]));
        assert!(redact(&[deep], &BTreeSet::new()).is_err());
        let deep = (0..200).fold(Value::Nil, |inner, _| Value::vector(vec![inner]));
        assert_eq!(
            redact(&[deep], &BTreeSet::new()),
            Err(UnfitArguments::TooDeep)
        );
        let shared = (0..200).fold(Value::Nil, |inner, _| {
            Value::vector(vec![inner.clone(), inner])
        });
        let refused = redact(&[shared], &BTreeSet::new());
        assert_eq!(refused, Err(UnfitArguments::TooLarge(u64::MAX)));
        let keyed = Value::read("{\"AKIAIOSFODNN7EXAMPLQ\" 1}").unwrap();
        assert_eq!(
            redact(&[keyed], &BTreeSet::new()),
            Err(UnfitArguments::SecretKey)
        );
    }
}
