//! A ledger entry as the commands print it.

use callosum_ledger::Entry;
use serde_json::Value;

use crate::CommandError;

/// The entry as it is stored, as a JSON value.
pub fn as_value(entry: &Entry) -> Result<Value, CommandError> {
    serde_json::from_str(entry.as_json()).map_err(CommandError::internal)
}
