//! Masking of secrets in all texts of a payload.

use callosum_redact::secrets::mask;
use serde_json::{Map, Value};

/// The same payload without its secrets. Linear in its size.
pub fn masked(payload: Map<String, Value>) -> Map<String, Value> {
    let members = payload.into_iter();
    members
        .map(|(key, value)| {
            let value = masked_value(&key, value);
            (mask(&key).text, value)
        })
        .collect()
}

fn masked_value(key: &str, value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(masked_text(key, &text)),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| masked_value(key, item));
            Value::Array(items.collect())
        }
        Value::Object(members) => Value::Object(masked(members)),
        plain => plain,
    }
}

/// A text that its name may give away as a secret, `password` for one, as well as its form.
fn masked_text(key: &str, text: &str) -> String {
    let before = format!("{key}=\"");
    let named = mask(&format!("{before}{text}\"")).text;
    let named = named.strip_prefix(&before);
    let named = named.and_then(|named| named.strip_suffix('"'));
    mask(named.unwrap_or(text)).text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// CALC-SEC-1: no secret is kept or sent.
    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let Value::Object(payload) = json!({
            "summary": "the key is AKIAIOSFODNN7EXAMPLE now",
            "password": "s3cr3t-Passw0rd!x",
            "nested": [{"note": "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"}],
            "count": 3,
            "harmless": "nothing to see",
        }) else {
            unreachable!("it is an object")
        };
        let masked = masked(payload);
        let text = Value::Object(masked.clone()).to_string();
        assert!(!text.contains("AKIAIOSFODNN7EXAMPLE"), "{text}");
        assert!(!text.contains("ghp_0123456789"), "{text}");
        assert!(!text.contains("s3cr3t"), "{text}");
        assert_eq!(masked["count"], 3);
        assert_eq!(masked["harmless"], "nothing to see");
    }
}
