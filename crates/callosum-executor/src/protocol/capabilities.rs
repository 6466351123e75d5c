//! The answer to `capabilities`, which is no [`Answer`](super::Answer) (seed CAL §11.1).

use serde_json::{Map, Value};

use super::parse::{Unreadable, field, read_object};
use crate::{registry::Capabilities, sanitize::fit_shortly};

/// An executor's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Its version, if it says one; fit to be shown.
    pub version: Option<String>,
}

/// Reads the answer to `capabilities`. A capability that it does not mention is absent.
pub fn parse_capabilities(bytes: &[u8]) -> Result<Described, Unreadable> {
    let object = read_object(bytes)?;
    let reported = field(&object, "capabilities", "an object", Value::as_object)?;
    Ok(Described {
        capabilities: Capabilities {
            prompt_input: flag(reported, "prompt_input")?,
            json_output: flag(reported, "json_output")?,
            filesystem_access: flag(reported, "filesystem_access")?,
            checksum_support: flag(reported, "checksum_support")?,
        },
        version: object
            .get("version")
            .and_then(Value::as_str)
            .map(fit_shortly),
    })
}

fn flag(reported: &Map<String, Value>, name: &'static str) -> Result<bool, Unreadable> {
    if reported.contains_key(name) {
        field(reported, name, "a boolean", Value::as_bool)
    } else {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-EXE-1: the seed's own example (§11.1).
    #[test]
    fn capabilities_are_read_as_the_seed_writes_them() {
        let described = parse_capabilities(
            br#"{"capabilities": {"prompt_input": true, "json_output": true,
                 "filesystem_access": true, "checksum_support": false}, "version": "4.6"}"#,
        )
        .unwrap();
        assert!(described.capabilities.json_output && !described.capabilities.checksum_support);
        assert_eq!(described.version.as_deref(), Some("4.6"));
    }

    #[test]
    fn what_is_not_mentioned_is_not_there_and_what_is_no_boolean_is_refused() {
        let described = parse_capabilities(br#"{"capabilities": {}}"#).unwrap();
        assert_eq!(described.capabilities, Capabilities::default());
        assert_eq!(
            parse_capabilities(br#"{"capabilities": {"json_output": "yes"}}"#)
                .unwrap_err()
                .to_string(),
            "`json_output` is a string, not a boolean"
        );
        assert_eq!(
            parse_capabilities(br#"{"summary": "pong"}"#)
                .unwrap_err()
                .to_string(),
            "the answer has no `capabilities`"
        );
    }
}
