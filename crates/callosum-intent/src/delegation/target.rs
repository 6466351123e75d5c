//! [`ExecTarget`]: where a call runs, and its text form.
//!
//! Seed CCOS §3.b.1 names four targets and writes them as `local-pure` or `remote-gpt4o`. That form is ambiguous: a model
//! on this machine with the id `pure` would read as the evaluator. So the text form here has a colon after the kind, and
//! the rest is the id as it is.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Text of the evaluator.
const LOCAL_PURE: &str = "local-pure";

/// Start of the text of a model on this machine.
const LOCAL: &str = "local:";

/// Start of the text of a remote model.
const REMOTE: &str = "remote:";

/// Start of the text of a compiled plan.
const L4: &str = "l4:";

/// Start of a model on this machine, as the seed writes it.
const SEED_LOCAL: &str = "local-";

/// Start of a remote model, as the seed writes it.
const SEED_REMOTE: &str = "remote-";

/// Target of a call: the place that runs it.
///
/// The text form ([`Display`](fmt::Display), [`FromStr`], and serde) is `local-pure`, `local:ID`, `remote:ID`, or
/// `l4:POINTER:SIGNATURE`. It can be read back for every id. `local-ID` and `remote-ID` are also read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ExecTarget {
    /// The deterministic evaluator of this process.
    LocalPure,
    /// A model on this machine, by its id.
    LocalModel(String),
    /// A remote model or an executor, by its id.
    RemoteModel(String),
    /// A compiled plan from the content-addressed cache. It must be
    /// [verified](super::compiled::CompiledPlans::open) before use.
    L4CacheHit {
        /// Key of the plan in its store: the content hash.
        storage_pointer: String,
        /// Signature over the stored bytes, with the id of the key.
        signature: String,
    },
}

/// A text that names no target.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown target {0:?}: expected local-pure, local:ID, remote:ID or l4:POINTER:SIGNATURE")]
pub struct InvalidTarget(pub String);

impl ExecTarget {
    /// Returns whether the call leaves this machine.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::RemoteModel(_))
    }
}

impl fmt::Display for ExecTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LocalPure => f.write_str(LOCAL_PURE),
            Self::LocalModel(id) => write!(f, "{LOCAL}{id}"),
            Self::RemoteModel(id) => write!(f, "{REMOTE}{id}"),
            Self::L4CacheHit {
                storage_pointer,
                signature,
            } => write!(f, "{L4}{}:{signature}", escaped(storage_pointer)),
        }
    }
}

impl FromStr for ExecTarget {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let invalid = || InvalidTarget(text.to_owned());
        // One prefix is removed once: an id may itself begin with `local-` or `local:`.
        if text == LOCAL_PURE {
            Ok(Self::LocalPure)
        } else if let Some(rest) = text.strip_prefix(L4) {
            let (pointer, signature) = rest.split_once(':').ok_or_else(invalid)?;
            Ok(Self::L4CacheHit {
                storage_pointer: unescaped(pointer).ok_or_else(invalid)?,
                signature: signature.to_owned(),
            })
        } else if let Some(id) = text
            .strip_prefix(LOCAL)
            .or_else(|| text.strip_prefix(SEED_LOCAL))
        {
            Ok(Self::LocalModel(id.to_owned()))
        } else if let Some(id) = text
            .strip_prefix(REMOTE)
            .or_else(|| text.strip_prefix(SEED_REMOTE))
        {
            Ok(Self::RemoteModel(id.to_owned()))
        } else {
            Err(invalid())
        }
    }
}

impl TryFrom<String> for ExecTarget {
    type Error = InvalidTarget;

    fn try_from(text: String) -> Result<Self, InvalidTarget> {
        text.parse()
    }
}

impl From<ExecTarget> for String {
    fn from(target: ExecTarget) -> Self {
        target.to_string()
    }
}

/// Replaces the two characters of a pointer that would end it.
fn escaped(pointer: &str) -> String {
    pointer.replace('%', "%25").replace(':', "%3A")
}

/// Returns a pointer from its escaped form, unless an escape is unknown.
fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut pointer = parts.next()?.to_owned();
    for part in parts {
        let (letter, rest) = if let Some(rest) = part.strip_prefix("25") {
            ('%', rest)
        } else {
            (':', part.strip_prefix("3A")?)
        };
        pointer.push(letter);
        pointer.push_str(rest);
    }
    Some(pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-DEL-1: the seed's own spelling is read.
    #[test]
    fn the_spelling_of_the_seed_is_read() {
        assert_eq!("local-pure".parse(), Ok(ExecTarget::LocalPure));
        assert_eq!(
            "remote-gpt4o".parse(),
            Ok(ExecTarget::RemoteModel("gpt4o".to_owned()))
        );
        assert_eq!(
            "local-phi".parse(),
            Ok(ExecTarget::LocalModel("phi".to_owned()))
        );
    }

    #[test]
    fn a_text_that_names_no_target_is_refused() {
        for text in ["", "pure", "local", "l4:abc", "l4:a%zz:b", "L4:a:b"] {
            assert_eq!(
                text.parse::<ExecTarget>(),
                Err(InvalidTarget(text.to_owned()))
            );
        }
    }

    #[test]
    fn json_has_the_text_form() {
        let target = ExecTarget::LocalModel("phi-mini".to_owned());
        let json = serde_json::to_string(&target).unwrap();
        assert_eq!(json, "\"local:phi-mini\"");
        assert_eq!(serde_json::from_str::<ExecTarget>(&json).unwrap(), target);
        assert!(serde_json::from_str::<ExecTarget>("\"gpt4o\"").is_err());
    }
}
