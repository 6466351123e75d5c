//! [`readable`]: a value of a plan as people read it.

use std::fmt::Write as _;

use callosum_plan::{Key, Value};

/// Returns a value as text: a text as it is, the entries of a map below their keys, the items of a vector behind `- `.
/// Ends with a line break. `--json` has the exact notation.
pub fn readable(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn write(value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries.iter() {
                let key = match key {
                    Key::Keyword(name) | Key::Text(name) => name.to_string(),
                    other => Value::map([(other.clone(), Value::Nil)].into()).to_string(),
                };
                named(&format!("{indent}{key}:"), value, depth, text);
            }
        }
        Value::Vector(items) if !items.is_empty() => {
            for item in items.iter() {
                named(&format!("{indent}-"), item, depth, text);
            }
        }
        Value::Text(words) => {
            for line in words.lines() {
                let _ = writeln!(text, "{indent}{line}");
            }
        }
        other => {
            let _ = writeln!(text, "{indent}{other}");
        }
    }
}

/// Writes a value on the line of its name if it has one line, else below it.
fn named(name: &str, value: &Value, depth: usize, text: &mut String) {
    text.push_str(name);
    let mut below = String::new();
    write(value, depth + 1, &mut below);
    let has_one_line = below.lines().count() <= 1;
    let has_parts = matches!(value, Value::Map(entries) if !entries.is_empty())
        || matches!(value, Value::Vector(items) if !items.is_empty());
    if has_one_line && !has_parts {
        text.push(' ');
        text.push_str(below.trim_start());
        if !below.ends_with('\n') {
            text.push('\n');
        }
        return;
    }
    text.push('\n');
    text.push_str(&below);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_by_its_keys() {
        let shown = |value: &str| readable(&Value::read(value).unwrap());
        assert_eq!(shown("3"), "3\n");
        assert_eq!(shown("\"one\\ntwo\""), "one\ntwo\n");
        assert_eq!(
            shown("{:scan \"# a\\nb\" :n 1 :items [\"x\" {:y []}]}"),
            "items:\n  - x\n  -\n    y: []\nn: 1\nscan:\n  # a\n  b\n"
        );
        assert_eq!(shown("\"\""), "\n");
        assert_eq!(shown("{}"), "{}\n");
    }
}
