//! `callosum audit checkpoint`: signs the current state of the journal, and reports the key.

use callosum_ledger::checkpoint::Made;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{CommandError, Exit, auto_checkpoint};

/// `callosum audit checkpoint --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CheckpointOutput {
    /// Whether one was made; else nothing was recorded since the last.
    pub created: bool,
    /// The log that it is of.
    pub origin: String,
    /// Number of records that it covers.
    pub size: u64,
    /// The root of their Merkle tree, in hexadecimal digits.
    pub root: String,
    /// The key that others check it with.
    pub key: Option<String>,
    /// The key that signed the one before, where that was another.
    pub previous_key: Option<String>,
    /// File that earlier checkpoints were moved to.
    pub set_aside: Option<String>,
    /// The git object that has all checkpoints.
    pub git_object: Option<String>,
}

impl CheckpointOutput {
    /// Returns what is printed about a signed checkpoint.
    pub fn of(made: &Made) -> Self {
        Self {
            created: true,
            origin: made.checkpoint.origin.clone(),
            size: made.checkpoint.size,
            root: made.checkpoint.root.to_string(),
            key: Some(made.key.to_string()),
            previous_key: made.previous_key.as_ref().map(ToString::to_string),
            set_aside: made
                .set_aside
                .as_ref()
                .map(|path| path.display().to_string()),
            git_object: None,
        }
    }

    /// Returns the last signed checkpoint, for a journal with nothing new.
    pub fn last(context: &Context) -> Result<Self, CommandError> {
        let mut kept = auto_checkpoint::kept(context)?.kept;
        let Some(last) = kept.pop() else {
            let what = "nothing to sign";
            return Err(CommandError::new(Exit::No, what).hint("callosum init"));
        };
        let key = context
            .trust_store()
            .verifier(&context.disk)
            .map_err(|error| auto_checkpoint::unmade(&error))?;
        Ok(Self {
            created: false,
            origin: last.checkpoint.origin,
            size: last.checkpoint.size,
            root: last.checkpoint.root.to_string(),
            key: key.map(|key| key.to_string()),
            previous_key: None,
            set_aside: None,
            git_object: None,
        })
    }
}
