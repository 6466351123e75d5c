//! [`Work`]: the files that a session wrote since a position of its transcript, and its current step.
//!
//! Both are taken from the calls of tools, in the forms of Claude Code, Codex, Gemini and Qwen.
//! Files that a shell command wrote are not seen.

use std::path::{Component, Path};

use callosum_guard::patch;
use callosum_host::{Disk, DiskError, OpenHow};
use serde_json::Value;

/// Most bytes that are read, from the end.
const MOST_READ: u64 = 64 * 1024 * 1024;

/// Folders of our own, whose files are no work.
const OWN: [&str; 2] = ["loa-grimoire", ".beads"];

/// Codex's name for changed files, for any tool its model called: in code mode, a script that calls
/// tools.
const FILE_CHANGE: &str = "FileChange";

/// The work in a transcript since a position of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Files of the tree that were written, as they are named from its root; each once, in order.
    pub files: Vec<String>,
    /// The step of its plan that the session is at.
    pub at: Option<String>,
    /// Position up to which the transcript was read: behind its last whole line.
    pub position: u64,
    /// Whether the transcript has become shorter than it was read, so that it was read from its start.
    pub is_from_start: bool,
}

impl Work {
    /// Reads what was done since `since`. A transcript that is shorter than that, as a client leaves it that goes back
    /// or compacts a conversation in place, is read from its start.
    pub(super) fn since(
        disk: &Disk,
        transcript: &Path,
        since: u64,
        tree: &Path,
    ) -> Result<Self, DiskError> {
        let file = disk.open(transcript, OpenHow::READ)?;
        let size = file.size()?;
        let is_from_start = size < since;
        let since = if is_from_start { 0 } else { since };
        let start = since.max(size.saturating_sub(MOST_READ));
        let bytes = file.read_from(start)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let mut calls = Vec::new();
        let mut work = Self {
            position: start + whole as u64,
            is_from_start,
            ..Self::default()
        };
        for line in String::from_utf8_lossy(&bytes[..whole]).split('\n') {
            // Most of a transcript are words, which are not parsed.
            let may_have = ["tool", "unctionCall", "function_call", FILE_CHANGE];
            if !may_have.iter().any(|word| line.contains(word)) {
                continue;
            }
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let mut refused = Vec::new();
            calls_of(&line, &mut calls, &mut refused);
            calls.retain(|call: &Call| call.id.as_ref().is_none_or(|id| !refused.contains(id)));
        }
        for call in &calls {
            for path in call.written() {
                if let Some(named) = within(&path, tree)
                    && !work.files.contains(&named)
                {
                    work.files.push(named);
                }
            }
            work.at = call.at().or(work.at);
        }
        Ok(work)
    }
}

/// A call of a tool.
struct Call {
    id: Option<String>,
    tool: String,
    input: Value,
}

/// The calls of a line, and the ids of those that failed.
fn calls_of(line: &Value, calls: &mut Vec<Call>, refused: &mut Vec<String>) {
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let items =
        |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut add = |id, tool: Option<String>, input: Option<&Value>| {
        if let (Some(tool), Some(input)) = (tool, input) {
            // Codex has them as JSON within a text, or as the text itself.
            let input = match input {
                Value::String(text) => {
                    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.clone()))
                }
                input => input.clone(),
            };
            calls.push(Call { id, tool, input });
        }
    };
    let message = line.get("message");
    for part in items(message.and_then(|message| message.get("content"))) {
        match part.get("type").and_then(Value::as_str) {
            Some("tool_use") => add(text(&part, "id"), text(&part, "name"), part.get("input")),
            Some("tool_result") if part.get("is_error") == Some(&Value::Bool(true)) => {
                refused.extend(text(&part, "tool_use_id"));
            }
            _ => {}
        }
    }
    for part in items(message.and_then(|message| message.get("parts"))) {
        if let Some(call) = part.get("functionCall") {
            add(text(call, "id"), text(call, "name"), call.get("args"));
        }
    }
    for call in items(line.get("toolCalls")) {
        if call.get("status").and_then(Value::as_str) != Some("error") {
            add(text(&call, "id"), text(&call, "name"), call.get("args"));
        }
    }
    if let Some(item) = line.get("payload") {
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => add(
                text(item, "call_id"),
                text(item, "name"),
                item.get("arguments"),
            ),
            Some("custom_tool_call") => {
                add(text(item, "call_id"), text(item, "name"), item.get("input"));
            }
            Some("item_completed") => {
                let item = item.get("item").unwrap_or(&Value::Null);
                let status = text(item, "status");
                let is_made = !matches!(status.as_deref(), Some("failed" | "declined"));
                if text(item, "type").as_deref() == Some(FILE_CHANGE) && is_made {
                    add(
                        text(item, "id"),
                        Some(FILE_CHANGE.to_owned()),
                        item.get("changes"),
                    );
                }
            }
            _ => {}
        }
    }
}

impl Call {
    /// The files that it writes, as it names them.
    fn written(&self) -> Vec<String> {
        let named = |name: &str| {
            let value = self.input.get(name)?;
            Some(vec![value.as_str()?.to_owned()])
        };
        match self.tool.as_str() {
            "Write" | "Edit" | "MultiEdit" | "write_file" | "replace" | "edit" => {
                named("file_path").or_else(|| named("path"))
            }
            "NotebookEdit" => named("notebook_path"),
            FILE_CHANGE => self.input.as_object().map(|changes| {
                let moved = |change: &Value| Some(change.get("move_path")?.as_str()?.to_owned());
                let named = changes.iter().flat_map(|(path, change)| {
                    let to = change
                        .get("update")
                        .and_then(moved)
                        .or_else(|| moved(change));
                    std::iter::once(path.clone()).chain(to)
                });
                named.collect()
            }),
            "apply_patch" => {
                let inner = ["input", "patch", "command"]
                    .iter()
                    .find_map(|name| self.input.get(name)?.as_str());
                self.input.as_str().or(inner).map(patch::paths)
            }
            _ => None,
        }
        .unwrap_or_default()
    }

    /// The step of the plan that it says to be at.
    fn at(&self) -> Option<String> {
        let (list, words) = match self.tool.as_str() {
            "TodoWrite" | "todo_write" => ("todos", "content"),
            "update_plan" => ("plan", "step"),
            "write_todos" => ("todos", "description"),
            _ => return None,
        };
        let steps = self.input.get(list)?.as_array()?;
        let of = |status: &str| {
            let is_so = |step: &&Value| step.get("status").and_then(Value::as_str) == Some(status);
            steps.iter().find(is_so)
        };
        let step = of("in_progress").or_else(|| of("pending"))?;
        Some(step.get(words)?.as_str()?.to_owned())
    }
}

/// Returns the path from the tree's root; `None` if it leads out of it or is our own.
fn within(path: &str, tree: &Path) -> Option<String> {
    let path = Path::new(path);
    let named = if path.is_absolute() {
        path.strip_prefix(tree).ok()?
    } else {
        path
    };
    let mut parts = Vec::new();
    for part in named.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    let is_own = parts.first().is_none_or(|first| OWN.contains(first));
    (!is_own).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(lines: &[&str], since: u64) -> Work {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let disk = Disk::real();
        disk.replace(&path, lines.concat().as_bytes(), 0o600)
            .unwrap();
        Work::since(&disk, &path, since, Path::new("/p")).unwrap()
    }

    /// LOA-DELTA-1: what was written and what comes next is known from each client's own calls.
    #[test]
    fn each_client_s_calls_tell_what_was_written_and_what_comes_next() {
        for (line, files, at) in [
            (
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Edit","input":{"file_path":"/p/src/a b.rs"}},{"type":"tool_use","id":"b","name":"TodoWrite","input":{"todos":[{"content":"done it","status":"completed"},{"content":"measure","status":"in_progress"}]}}]}}"#,
                &["src/a b.rs"][..],
                Some("measure"),
            ),
            (
                r#"{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.rs\n*** Add File: ../out.rs\n*** End Patch"}}"#,
                &["a.rs"],
                None,
            ),
            (
                r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"exec-1","status":"completed","changes":{"/p/src/new.rs":{"type":"add","content":"x"},"/p/a.rs":{"type":"update","unified_diff":"","move_path":"/p/b.rs"},"/etc/x":{"type":"delete","content":""}}}}}"#,
                &["src/new.rs", "a.rs", "b.rs"],
                None,
            ),
            (
                r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"exec-2","status":"failed","changes":{"/p/c.rs":{"type":"add","content":"x"}}}}}"#,
                &[],
                None,
            ),
            (
                r#"{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"one\",\"status\":\"pending\"}]}"}}"#,
                &[],
                Some("one"),
            ),
            (
                r#"{"type":"gemini","toolCalls":[{"id":"g","name":"write_file","args":{"file_path":"/p/x.md"}},{"id":"h","name":"replace","status":"error","args":{"file_path":"/p/y.md"}}]}"#,
                &["x.md"],
                None,
            ),
            (
                r#"{"type":"assistant","message":{"role":"model","parts":[{"functionCall":{"name":"edit","args":{"file_path":"/p/q.rs"}}}]}}"#,
                &["q.rs"],
                None,
            ),
        ] {
            let done = work(&[line, "\n"], 0);
            assert_eq!(done.files, files, "{line}");
            assert_eq!(done.at.as_deref(), at, "{line}");
        }
    }

    /// LOA-DELTA-1: calls before the position, refused calls and files outside of the tree are no
    /// work.
    #[test]
    fn what_was_refused_or_is_elsewhere_is_no_work() {
        let write = |id: &str, path: &str| {
            format!(
                "{{\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Write\",\"input\":{{\"file_path\":\"{path}\"}}}}]}}}}\n"
            )
        };
        let first = write("a", "/p/a.rs");
        let lines = [
            first.as_str(),
            &write("b", "/p/b.rs"),
            "{\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"is_error\":true}]}}\n",
            &write("c", "/etc/passwd"),
            &write("d", "/p/loa-grimoire/NOTES.md"),
            &write("e", "/p/c.rs"),
            &write("f", "/p/c.rs"),
            "{\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Wr",
        ];
        let all = work(&lines, 0);
        assert_eq!(all.files, ["a.rs", "c.rs"]);
        let torn = lines[lines.len() - 1].len();
        assert_eq!(all.position, (lines.concat().len() - torn) as u64);
        assert_eq!(work(&lines, first.len() as u64).files, ["c.rs"]);
        assert_eq!(work(&lines, all.position).files, [""; 0]);
    }

    /// LOA-DELTA-1: a transcript that was cut back is read from its start, and one that was only read is not.
    #[test]
    fn a_transcript_that_became_shorter_is_read_from_its_start() {
        let line = "{\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Write\",\"input\":{\"file_path\":\"/p/a.rs\"}}]}}\n";
        let end = line.len() as u64;
        for (since, files, is_from_start) in [
            (0, &["a.rs"][..], false),
            (end, &[], false),
            (end + 1, &["a.rs"], true),
            (1_000_000, &["a.rs"], true),
        ] {
            let done = work(&[line], since);
            assert_eq!(done.files, files, "{since}");
            assert_eq!(done.is_from_start, is_from_start, "{since}");
            assert_eq!(done.position, end, "{since}");
        }
        let emptied = work(&[""], 9);
        assert!(emptied.is_from_start && emptied.position == 0);
    }
}
