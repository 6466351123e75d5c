//! [`ToolResult`]: the output of an agent's command and its success, read from the event after its tool.
//!
//! Every client has a form of its own: Claude Code 2.1.332 reports a failed command by
//! `PostToolUseFailure` with `error`, Codex 0.171 a plain string, Gemini CLI 0.61 and Qwen Code
//! 0.24 a text with an `Exit Code:` line. opencode reports through our plugin, in the form of
//! Claude Code.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Most bytes of output that are read: the first and the last half of more.
const LONGEST: usize = 512 * 1024;

/// The output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolResult {
    /// Its output, as far as the client reports it.
    pub(super) output: String,
    /// Whether it failed; `None` if the client does not report that.
    pub(super) has_failed: Option<bool>,
}

impl ToolResult {
    /// Reads the fields of an event after a tool.
    pub(super) fn read(fields: &Map<String, Value>) -> Self {
        let name = fields.get("hook_event_name").and_then(Value::as_str);
        if let Some(error) = fields.get("error").and_then(Value::as_str)
            && name.is_none_or(|name| name.ends_with("Failure"))
        {
            return Self::of_failure(error);
        }
        let Some(response) = fields.get("tool_response") else {
            return Self::default();
        };
        match response {
            Value::String(text) => Self::of_codex(text),
            Value::Object(response) => Self::of_object(response),
            _ => Self::default(),
        }
    }

    /// `Exit code 1`, with the output below.
    fn of_failure(error: &str) -> Self {
        let output = match error.split_once('\n') {
            Some((first, rest)) if first.starts_with("Exit code ") => rest,
            None if error.starts_with("Exit code ") => "",
            _ => error,
        };
        Self {
            output: bounded(output).into_owned(),
            has_failed: Some(true),
        }
    }

    /// The output alone, or after `Exit code: N` and `Output:`.
    fn of_codex(text: &str) -> Self {
        let Some(rest) = text.strip_prefix("Exit code: ") else {
            return Self {
                output: bounded(text).into_owned(),
                has_failed: None,
            };
        };
        let code = rest.lines().next().unwrap_or_default();
        let output = rest
            .split_once("\nOutput:\n")
            .map_or("", |(_, after)| after);
        Self {
            output: bounded(output).into_owned(),
            has_failed: code.trim().parse::<i64>().ok().map(|code| code != 0),
        }
    }

    fn of_object(response: &Map<String, Value>) -> Self {
        let text = |name: &str| response.get(name).and_then(Value::as_str);
        if let Some(content) = text("llmContent") {
            return Self::of_labeled(content);
        }
        let (out, err) = (text("stdout"), text("stderr"));
        if out.is_none() && err.is_none() {
            return Self::default();
        }
        let mut output = bounded(out.unwrap_or_default()).into_owned();
        if let Some(err) = err.filter(|err| !err.is_empty()) {
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str(&bounded(err));
        }
        // Claude Code ends a command that a person stops with this, and reports every other failure by another event.
        let is_interrupted = response.get("interrupted") == Some(&Value::Bool(true));
        Self {
            output,
            has_failed: Some(is_interrupted),
        }
    }

    /// Lines with labels: `Output:`, `Error:`, `Exit Code:`, `Signal:`, `Process Group PGID:`.
    fn of_labeled(content: &str) -> Self {
        let content = content
            .trim()
            .strip_prefix("<untrusted_context>")
            .map_or(content, |inner| {
                inner.strip_suffix("</untrusted_context>").unwrap_or(inner)
            });
        let mut output = String::new();
        let mut has_failed = false;
        let mut is_output = false;
        for line in bounded(content.trim_start()).lines() {
            let labeled = |label: &str| line.strip_prefix(label).map(str::trim_start);
            if let Some(code) = labeled("Exit Code:") {
                has_failed |= !matches!(code, "0" | "(none)");
                is_output = false;
            } else if let Some(signal) = labeled("Signal:") {
                has_failed |= signal != "(none)" && signal != "0";
                is_output = false;
            } else if labeled("Process Group PGID:").is_some()
                || labeled("Background PIDs:").is_some()
            {
                is_output = false;
            } else if let Some(first) = labeled("Output:") {
                is_output = true;
                push_line(&mut output, first, "(empty)");
            } else if let Some(error) = labeled("Error:").filter(|_| is_output) {
                // What the client itself says of the command; a program's own `Error:` line reads the same.
                push_line(&mut output, error, "(none)");
            } else if is_output {
                push_line(&mut output, line, "");
            }
        }
        Self {
            output,
            has_failed: Some(has_failed),
        }
    }
}

/// Appends a line, unless it is the client's word for nothing.
fn push_line(output: &mut String, line: &str, nothing: &str) {
    if nothing.is_empty() || line != nothing {
        output.push_str(line);
        output.push('\n');
    }
}

/// Returns the first and the last half of a text that is too long, and any other text as it is.
fn bounded(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    let first = text.floor_char_boundary(LONGEST / 2);
    let last = text.ceil_char_boundary(text.len() - LONGEST / 2);
    Cow::Owned(format!("{}\n{}", &text[..first], &text[last..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(event: &str) -> (String, Option<bool>) {
        let fields = serde_json::from_str(event).unwrap();
        let result = ToolResult::read(&fields);
        (result.output, result.has_failed)
    }

    /// CAKE-WATCH-1: the output of a command and whether it failed are read from each client's own form.
    #[test]
    fn each_clients_form_is_read() {
        for (event, output, has_failed) in [
            (
                r#"{"hook_event_name":"PostToolUse","tool_response":{"stdout":"a","stderr":"b","interrupted":false}}"#,
                "a\nb",
                Some(false),
            ),
            (
                r#"{"hook_event_name":"PostToolUseFailure","error":"Exit code 1\nboom\n"}"#,
                "boom\n",
                Some(true),
            ),
            (
                r#"{"hook_event_name":"PostToolUseFailure","error":"Exit code 1"}"#,
                "",
                Some(true),
            ),
            (
                r#"{"hook_event_name":"PostToolUse","tool_response":"boom\n"}"#,
                "boom\n",
                None,
            ),
            (
                r#"{"tool_response":"Exit code: 2\nWall time: 0.1 seconds\nOutput:\nboom\n"}"#,
                "boom\n",
                Some(true),
            ),
            (
                r#"{"tool_response":{"llmContent":"<untrusted_context>\nOutput: one\ntwo\nExit Code: 1\nProcess Group PGID: 4\n</untrusted_context>"}}"#,
                "one\ntwo\n",
                Some(true),
            ),
            (
                r#"{"tool_response":{"llmContent":"Command: x\nDirectory: (root)\nOutput: one\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)"}}"#,
                "one\n",
                Some(false),
            ),
            (
                r#"{"tool_response":{"llmContent":"Command: x\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 2\nSignal: (none)"}}"#,
                "",
                Some(true),
            ),
            (r#"{"tool_response":[1]}"#, "", None),
            (r"{}", "", None),
        ] {
            assert_eq!(read(event), (output.to_owned(), has_failed), "{event}");
        }
    }

    /// CAKE-WATCH-1: of an output that is too long the beginning and the end are read.
    #[test]
    fn a_long_output_keeps_its_beginning_and_its_end() {
        let text = format!("first{}last", "\u{e9}".repeat(LONGEST));
        let fields = serde_json::json!({"tool_response": text});
        let output = ToolResult::read(fields.as_object().unwrap()).output;
        assert!(output.starts_with("first") && output.ends_with("last"));
        assert!(output.len() <= LONGEST + 8);
    }
}
