//! `fake-acp`: a coding agent that speaks the Agent Client Protocol.
//!
//! It reads a file through its client, asks for permission to write one, which it does in its own
//! folder, and answers with the results of both. Options:
//!
//! - `--crash` ends in the middle of the answer.
//! - `--stall` falls silent there until it is cancelled, and `--deaf` ignores the cancellation.
//! - `--old` speaks another version of the protocol.
//! - With `--logged-out` no user is logged in.
//! - With `--no-modes` it offers no other mode than the one in which it begins, which writes
//!   without asking.
//! - With `--heard FILE` it writes down the notifications that it gets.
//!
//! Before the answer it sends a notice that is marked as informational.

use std::{
    io::{self, BufRead, Write},
    path::Path,
    thread,
    time::Duration,
};

use callosum_host::Disk;
use callosum_testkit::Notes;
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let has = |option: &str| std::env::args().any(|argument| argument == option);
    let mut folder = String::new();
    let mut mode = "auto".to_owned();
    while let Some(message) = next()? {
        let (method, id) = (
            message["method"].as_str().unwrap_or_default(),
            &message["id"],
        );
        match method {
            "initialize" => {
                let version = i32::from(!has("--old"));
                let info = json!({"name": "fake", "version": "3.1.0"});
                answer(id, json!({"protocolVersion": version, "agentInfo": info}))?;
            }
            "session/new" if has("--logged-out") => {
                let error = json!({"code": -32000, "message": "Authentication required"});
                send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
            }
            "session/new" => {
                let cwd = message["params"]["cwd"].as_str();
                cwd.unwrap_or_default().clone_into(&mut folder);
                if has("--no-modes") {
                    answer(id, json!({"sessionId": "s"}))?;
                    continue;
                }
                let modes = ["auto", "default"].map(|id| json!({"id": id, "name": id}));
                let modes = json!({"currentModeId": mode, "availableModes": modes});
                answer(id, json!({"sessionId": "s", "modes": modes}))?;
            }
            "session/set_mode" => {
                let wanted = message["params"]["modeId"].as_str();
                wanted.unwrap_or_default().clone_into(&mut mode);
                answer(id, json!({}))?;
            }
            "session/prompt" => {
                let read = ask(
                    "fs/read_text_file",
                    json!({"path": format!("{folder}/src/main.rs")}),
                )?;
                let line = read["content"].as_str().unwrap_or_default().lines().nth(2);
                update(
                    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Looking."}}),
                )?;
                let target = format!("{folder}/owned-by-agent");
                let call = json!({"toolCallId": "c", "title": "write", "kind": "edit", "locations": [{"path": target}]});
                let mut start = call.clone();
                start["sessionUpdate"] = "tool_call".into();
                update(start)?;
                let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                    {"optionId": "no", "name": "No", "kind": "reject_once"}]);
                let granted = ask(
                    "session/request_permission",
                    json!({"toolCall": call, "options": options}),
                )?;
                let granted = granted.pointer("/outcome/optionId") == Some(&"yes".into());
                let unasked = Path::new(&folder).join("written-unasked");
                if mode == "auto" {
                    // Confinement may stop it, which is no failure of the agent.
                    drop(Disk::real().replace(&unasked, b"", 0o644));
                }
                if granted {
                    Disk::real()
                        .replace(Path::new(&target), b"", 0o644)
                        .map_err(io::Error::other)?;
                }
                ask("craft/unknown", json!({}))?;
                update(
                    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "It adds: "}}),
                )?;
                update(
                    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "**Warning:** modes change"},
                        "_meta": {"claudeCode": {"kind": "informational"}}}),
                )?;
                if has("--crash") {
                    std::process::exit(3);
                }
                if has("--stall") {
                    next()?;
                    if has("--deaf") {
                        thread::sleep(Duration::from_mins(2));
                    }
                    answer(id, json!({"stopReason": "cancelled"}))?;
                    continue;
                }
                let rest = format!(
                    "`{}` [src/main.rs:3]. Granted: {granted}.",
                    line.unwrap_or_default()
                );
                update(
                    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": rest}}),
                )?;
                let usage = json!({"inputTokens": 100, "outputTokens": 20, "totalTokens": 120});
                answer(id, json!({"stopReason": "end_turn", "usage": usage}))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Asks the client something, and waits for its answer; `null` for an error.
fn ask(method: &str, mut params: Value) -> io::Result<Value> {
    params["sessionId"] = "s".into();
    send(&json!({"jsonrpc": "2.0", "id": 100, "method": method, "params": params}))?;
    while let Some(message) = next()? {
        if message["id"] == 100 && message.get("method").is_none() {
            return Ok(message["result"].clone());
        }
    }
    Ok(Value::Null)
}

fn next() -> io::Result<Option<Value>> {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let message: Value = serde_json::from_str(&line)?;
    if message["id"].is_null() {
        Notes::from_arguments().add(&message)?;
    }
    Ok(Some(message))
}

fn update(update: Value) -> io::Result<()> {
    let params = json!({"sessionId": "s", "update": update});
    send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
}

fn answer(id: &Value, result: Value) -> io::Result<()> {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn send(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}
