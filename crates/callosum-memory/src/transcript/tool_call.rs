//! Text of a tool call and of a failed result, short enough to be searched.

use serde_json::Value;

use crate::turn::prefix;

/// Most bytes of a command that are kept.
const LONGEST_COMMAND: usize = 2048;

/// Longest other argument that is kept, in bytes. What is longer is content.
const LONGEST_ARGUMENT: usize = 300;

/// Most bytes that are kept of each end of a failed result.
const END: usize = 600;

/// Arguments that are content of files.
const CONTENT: [&str; 5] = [
    "content",
    "new_string",
    "newString",
    "old_string",
    "oldString",
];

/// Arguments that are commands.
const COMMANDS: [&str; 3] = ["cmd", "command", "script"];

/// Returns a tool's name and its short arguments: the command, the file, the pattern.
pub(super) fn call(name: &str, arguments: &Value) -> String {
    let mut all = name.to_owned();
    match arguments {
        Value::Object(arguments) => {
            for (key, value) in arguments {
                if !CONTENT.contains(&key.as_str()) {
                    push(&mut all, value, COMMANDS.contains(&key.as_str()));
                }
            }
        }
        // Codex writes some arguments as one text, such as a patch.
        Value::String(text) => push_files_of_patch(&mut all, text),
        _ => {}
    }
    all
}

fn push(all: &mut String, value: &Value, is_command: bool) {
    match value {
        Value::String(text) if is_command => {
            all.push(' ');
            all.push_str(prefix(text, LONGEST_COMMAND));
        }
        Value::String(text) if text.len() <= LONGEST_ARGUMENT => {
            all.push(' ');
            all.push_str(text);
        }
        Value::String(text) if text.starts_with("*** Begin Patch") => {
            push_files_of_patch(all, text);
        }
        // A command as a list of words.
        Value::Array(words) => words.iter().for_each(|word| push(all, word, is_command)),
        _ => {}
    }
}

/// Adds the files of a patch in the form of Codex, or the text if it is short.
fn push_files_of_patch(all: &mut String, text: &str) {
    if !text.starts_with("*** Begin Patch") {
        all.push(' ');
        all.push_str(prefix(text, LONGEST_ARGUMENT));
        return;
    }
    for line in text.lines() {
        let file = ["*** Add File: ", "*** Update File: ", "*** Delete File: "]
            .into_iter()
            .find_map(|begin| line.strip_prefix(begin));
        if let Some(file) = file {
            all.push(' ');
            all.push_str(file);
        }
    }
}

/// Returns both ends of a failed result: the error is at one of them.
pub(super) fn failure(result: &str) -> String {
    let first = prefix(result, END);
    let rest = &result[first.len()..];
    let mut start = rest.len().saturating_sub(END);
    while !rest.is_char_boundary(start) {
        start += 1;
    }
    match start {
        0 => result.to_owned(),
        _ => format!("{first}\n…\n{}", &rest[start..]),
    }
}

/// Returns the texts of a result: a string, or an array of blocks with a `text`.
pub(super) fn result(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str())
                .collect::<Vec<_>>();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_has_its_command_and_file_but_no_content() {
        let arguments = json!({ "file_path": "src/a.rs", "old_string": "x", "new_string": "y" });
        assert_eq!(call("Edit", &arguments), "Edit src/a.rs");
        let arguments = json!({ "command": ["bash", "-lc", "ls"], "timeout": 3 });
        assert_eq!(call("shell", &arguments), "shell bash -lc ls");
        let patch = json!("*** Begin Patch\n*** Update File: a.py\n@@\n-secret\n*** End Patch");
        assert_eq!(call("apply_patch", &patch), "apply_patch a.py");
    }

    #[test]
    fn a_long_failure_keeps_both_ends() {
        let long = format!("first{}last", "é".repeat(2000));
        let kept = failure(&long);
        assert!(kept.starts_with("first") && kept.ends_with("last") && kept.len() < 1300);
        assert_eq!(failure("short"), "short");
    }
}
