//! `callosum guard log`: decisions of the guard.

use serde_json::{Map, Value};

/// So many of the files that a snapshot does not hold are named.
pub const MOST_LACKS: usize = 5;

/// The id of an event that waited.
pub fn id(details: &Map<String, Value>) -> Option<String> {
    details.get("buffered")?.as_str().map(str::to_owned)
}
