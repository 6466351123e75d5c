//! [`Commands`]: the shell commands that a session has run, by the end of its transcript.
//!
//! Only commands that ended well count: a client may ask its hooks nothing about a call that is
//! malformed, declined or still running. Forms of Claude Code, Codex, Gemini CLI and Qwen Code; a
//! form that is not known counts as none.

use std::path::Path;

use callosum_host::{Disk, DiskError, OpenHow};
use jiff::Timestamp;
use serde_json::Value;

/// Tools that run a command, as clients name them.
const SHELLS: [&str; 4] = ["Bash", "run_shell_command", "shell", "exec_command"];

/// Bytes of a transcript's beginning that have its id and its first time.
const HEAD: usize = 64 * 1024;

/// Bytes of a transcript's end that are read.
const TAIL: u64 = 512 * 1024;

/// The commands of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// The ids of the session; a client may have one for it and one for its conversation.
    pub sessions: Vec<String>,
    /// When it began.
    pub began: Timestamp,
    /// Number of commands of the part that was read that ended well.
    pub count: u64,
}

impl Commands {
    /// Reads both ends of a transcript. `None` if it does not say which session it is of, and since when.
    pub fn read(disk: &Disk, transcript: &Path) -> Result<Option<Self>, DiskError> {
        let file = disk.open(transcript, OpenHow::READ)?;
        let head = file.read_range(0, HEAD)?;
        let (mut sessions, mut began) = (Vec::new(), None);
        for line in lines(&head) {
            ids(&line, &mut sessions);
            began = began.or_else(|| time(&line));
            if line["payload"]["thread_source"]
                .as_str()
                .is_some_and(|source| source != "user")
            {
                // A sub-agent of Codex, which has a transcript of its own.
                return Ok(None);
            }
        }
        let Some(began) = began.filter(|_| !sessions.is_empty()) else {
            return Ok(None);
        };
        let start = file.size()?.saturating_sub(TAIL);
        let tail = file.read_from(start)?;
        // The first line of a part is only the end of one, and is no JSON.
        let count = count(lines(&tail));
        Ok(Some(Self {
            sessions,
            began,
            count,
        }))
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Value> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
}

/// Adds the ids that a line gives its session.
fn ids(line: &Value, sessions: &mut Vec<String>) {
    let is_meta = line["type"] == "session_meta";
    let of_meta = [&line["payload"]["id"], &line["payload"]["session_id"]];
    let of_meta = of_meta.into_iter().filter(|_| is_meta);
    for id in std::iter::once(&line["sessionId"]).chain(of_meta) {
        if let Some(id) = id.as_str().filter(|id| !id.is_empty())
            && !sessions.iter().any(|known| known == id)
        {
            sessions.push(id.to_owned());
        }
    }
}

fn time(line: &Value) -> Option<Timestamp> {
    let at = line["timestamp"].as_str().or(line["startTime"].as_str())?;
    at.parse().ok()
}

/// Counts the commands of lines that ended well.
fn count(lines: impl Iterator<Item = Value>) -> u64 {
    let (mut begun, mut ended) = (Vec::new(), 0);
    for line in lines {
        if line["isSidechain"] == true {
            continue;
        }
        let content = &line["message"]["content"];
        for part in content.as_array().into_iter().flatten() {
            if part["type"] == "tool_use" && is_shell(&part["name"]) {
                begun.push(part["id"].clone());
            }
            let is_well = part["type"] == "tool_result" && part["is_error"] != true;
            ended += u64::from(is_well && begun.contains(&part["tool_use_id"]));
        }
        let payload = &line["payload"];
        if payload["type"] == "function_call" && is_shell(&payload["name"]) {
            begun.push(payload["call_id"].clone());
        }
        if payload["type"] == "function_call_output" && begun.contains(&payload["call_id"]) {
            ended += u64::from(is_zero_exit(&payload["output"]));
        }
        for call in line["toolCalls"].as_array().into_iter().flatten() {
            ended += u64::from(is_shell(&call["name"]) && call["status"] == "success");
        }
        let parts = &line["message"]["parts"];
        for part in parts.as_array().into_iter().flatten() {
            let answer = &part["functionResponse"];
            let response = &answer["response"];
            let is_well = response["output"].is_string() && response["error"].is_null();
            ended += u64::from(is_shell(&answer["name"]) && is_well);
        }
    }
    ended
}

fn is_shell(name: &Value) -> bool {
    name.as_str().is_some_and(|name| SHELLS.contains(&name))
}

/// Whether Codex says of a command that it ended with 0.
fn is_zero_exit(output: &Value) -> bool {
    let text = match output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let ways = ["exited with code 0\n", "Exit code: 0\n", "\"exit_code\":0"];
    ways.iter().any(|way| text.contains(way))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Commands> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let disk = Disk::real();
        disk.replace(&path, text.as_bytes(), 0o600).unwrap();
        Commands::read(&disk, &path).unwrap()
    }

    /// CAKE-ADP-1: commands that ended well are counted in each client's own form.
    #[test]
    fn each_client_s_commands_are_counted() {
        for (text, id) in [
            (
                r#"{"sessionId":"s","timestamp":"2026-01-02T03:04:05Z","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}}]}}
{"sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}}
"#,
                "s",
            ),
            (
                r#"{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"c","session_id":"c","thread_source":"user"}}
{"type":"response_item","payload":{"type":"function_call","call_id":"a","name":"exec_command","arguments":"{}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":"Process exited with code 0\nx"}}
"#,
                "c",
            ),
            (
                r#"{"sessionId":"g","startTime":"2026-01-02T03:04:05Z"}
{"type":"gemini","toolCalls":[{"name":"run_shell_command","status":"success"},{"name":"read_file","status":"success"}]}
"#,
                "g",
            ),
            (
                r#"{"sessionId":"q","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":"x"}}}]}}
"#,
                "q",
            ),
        ] {
            let found = read(text).unwrap();
            assert_eq!(
                (found.count, &found.sessions[..]),
                (1, &[id.to_owned()][..])
            );
            assert_eq!(found.began.to_string(), "2026-01-02T03:04:05Z");
        }
    }

    /// CAKE-ADP-1: a call that failed, was declined or has no answer yet proves nothing, nor does a sub-agent's.
    #[test]
    fn only_commands_that_ended_well_count() {
        let text = r#"{"sessionId":"s","timestamp":"2026-01-02T03:04:05Z","message":{"content":[{"type":"tool_use","id":"a","name":"Bash"},{"type":"tool_use","id":"b","name":"Bash"},{"type":"tool_use","id":"r","name":"Read"}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true},{"type":"tool_result","tool_use_id":"r"}]}}
{"isSidechain":true,"message":{"content":[{"type":"tool_use","id":"c","name":"Bash"},{"type":"tool_result","tool_use_id":"c"}]}}
{"type":"gemini","toolCalls":[{"name":"run_shell_command","status":"error"}]}
{"payload":{"type":"function_call","call_id":"d","name":"shell"}}
{"payload":{"type":"function_call_output","call_id":"d","output":"declined by the user"}}
{"torn"#;
        assert_eq!(read(text).unwrap().count, 0);
        assert_eq!(read("{\"sessionId\":\"s\"}\n"), None);
        let helper = "{\"timestamp\":\"2026-01-02T03:04:05Z\",\"type\":\"session_meta\",\
                      \"payload\":{\"id\":\"c\",\"thread_source\":\"subagent\"}}\n";
        assert_eq!(read(helper), None);
    }

    /// CAKE-ADP-1: the transcripts that clients were recorded with have their ids and their times.
    #[test]
    fn recorded_transcripts_name_their_session() {
        for (text, id, count) in [
            (
                include_str!("recorded/claude.jsonl"),
                "b79fbdfa-2c0b-419c-a0f7-ae50522efffc",
                0,
            ),
            (
                include_str!("recorded/codex.jsonl"),
                "01a1ffd5-0ac5-7223-8d1c-9a0244dce067",
                1,
            ),
            (
                include_str!("recorded/gemini.jsonl"),
                "f2b93946-d93c-4c25-8e9d-c55cf623b98f",
                0,
            ),
            (
                include_str!("recorded/qwen.jsonl"),
                "53208aa2-3ffd-4bec-8cf1-e11199f18e06",
                0,
            ),
        ] {
            let found = read(text).unwrap();
            assert!(found.sessions.iter().any(|known| known == id), "{found:?}");
            assert_eq!(found.count, count, "{found:?}");
        }
    }
}
