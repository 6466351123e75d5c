//! [`Constitution`]: what is permitted at all, and what a person is asked for.

use super::manifest::Manifest;

/// What is permitted.
///
/// So far there is one, without policies of its own: what only reads is permitted, a person is asked
/// for the rest.
#[derive(Clone, Debug)]
pub struct Constitution {
    hash: String,
    permitting: &'static str,
    asking: &'static str,
}

/// What a constitution says to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Permitted(Vec<String>),
    Asked(Vec<String>, String),
}

impl Constitution {
    /// Returns the one that stands where nobody wrote another.
    pub fn built_in() -> Self {
        Self {
            hash: "sha256:none".to_owned(),
            permitting: "what-only-reads",
            asking: "what-does-more",
        }
    }

    /// Returns what it is known by on the chain.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    pub(crate) fn decide(&self, manifest: &Manifest) -> Verdict {
        if manifest.only_reads() {
            return Verdict::Permitted(vec![self.permitting.to_owned()]);
        }
        let question = format!("may the plan call `{}`?", manifest.id);
        Verdict::Asked(vec![self.asking.to_owned()], question)
    }
}
