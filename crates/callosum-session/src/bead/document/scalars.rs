//! Values as they are written into a bead's file.

use std::fmt::Write as _;

use serde_json::Value;

use crate::bead::BeadId;

/// Returns an item of a list as the seed writes it.
pub(super) fn block_item(item: &Value, indent: &str, eol: &str) -> String {
    let mut text = String::new();
    match item {
        Value::Object(members) if !members.is_empty() => {
            let mut lead = format!("{indent}- ");
            for (key, value) in members {
                match value {
                    Value::Array(items) if !items.is_empty() => {
                        let _ = write!(text, "{lead}{key}:{eol}");
                        let deeper = format!("{indent}    ");
                        for inner in items {
                            text.push_str(&block_item(inner, &deeper, eol));
                        }
                    }
                    Value::Array(_) | Value::Object(_) => {
                        let _ = write!(text, "{lead}{key}: {}{eol}", flow(value));
                    }
                    _ => {
                        let _ = write!(text, "{lead}{key}: {}{eol}", scalar(value));
                    }
                }
                lead = format!("{indent}  ");
            }
        }
        Value::Array(_) | Value::Object(_) => {
            let _ = write!(text, "{indent}- {}{eol}", flow(item));
        }
        _ => {
            let _ = write!(text, "{indent}- {}{eol}", scalar(item));
        }
    }
    text
}

/// Returns a value on one line: plain if nothing could read it as something else.
pub(super) fn scalar(value: &Value) -> String {
    let Value::String(text) = value else {
        return flow(value);
    };
    // To the second, or to the millisecond.
    let is_time =
        matches!(text.len(), 20 | 24) && text.ends_with('Z') && text.as_bytes()[10] == b'T';
    let is_path = text.starts_with("${PROJECT_ROOT}/");
    let is_word = text
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        && text.len() > 3
        && !["true", "false", "null"].contains(&text.as_str());
    let is_id = BeadId::new(text).is_some();
    let has_marks = text.contains(|c: char| !(c.is_ascii_alphanumeric() || "${}_/.:-".contains(c)));
    if (is_time || is_path || is_word || is_id) && !has_marks && !text.ends_with(':') {
        text.clone()
    } else {
        flow(value)
    }
}

/// Returns a value as JSON, which YAML reads, with all escaped that YAML does not take as it is.
pub(super) fn flow(value: &Value) -> String {
    let json = value.to_string();
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        let code = u32::from(character);
        if character.is_control() || matches!(code, 0x2028 | 0x2029 | 0xfeff | 0xfffe | 0xffff) {
            let _ = write!(text, "\\u{code:04x}");
        } else {
            text.push(character);
        }
    }
    text
}
