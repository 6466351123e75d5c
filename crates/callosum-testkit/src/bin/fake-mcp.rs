//! `fake-mcp`: a server of the Model Context Protocol whose tools behave as their names say.
//!
//! - `ask` answers, and `structured` answers with an object.
//! - `refuse` says that it failed, and `crash` ends in the middle of a call.
//! - `stall` reports progress once and never answers; `drip` reports progress first.
//! - `noise` first writes something that is no message, and `huge` writes without end.
//! - `more` wants two arguments.
//! - `look.up` answers with its arguments as they came, also as structured content, and says that
//!   it only reads.
//! - `typed` answers with the structured content that it gets as `answer`, regardless of its
//!   schema.
//!
//! It speaks the lifecycle with `server/discover`; with `--legacy` only the one with `initialize`.
//! With `--odd` one tool of its list has no schema and another no name. With `--garbage` it speaks
//! no protocol at all, and with `--babble` also continues to listen. With `--heard FILE` it writes
//! down the notifications that it gets, and with `--deaf` it never ends by itself.

use std::{
    io::{self, BufRead, Write},
    thread,
    time::Duration,
};

use callosum_testkit::Notes;
use serde_json::{Value, json};

const CITED: &str = "It adds: `mod sum;` [src/main.rs:3].";

fn main() -> io::Result<()> {
    let has = |option: &str| std::env::args().any(|argument| argument == option);
    if has("--garbage") {
        writeln!(io::stdout(), "Welcome to no protocol at all")?;
        return Ok(());
    }
    if has("--babble") {
        writeln!(io::stdout(), "Welcome to no protocol at all")?;
        io::copy(&mut io::stdin().lock(), &mut io::sink())?;
        return Ok(());
    }
    let legacy = has("--legacy");
    let notes = Notes::from_arguments();
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else {
            continue;
        };
        let (method, id) = (
            message["method"].as_str().unwrap_or_default(),
            &message["id"],
        );
        if id.is_null() {
            notes.add(&message)?;
            continue;
        }
        match method {
            "server/discover" if !legacy => answer(
                id,
                json!({
                    "resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "2.0.0"}},
                }),
            )?,
            "initialize" if legacy => answer(
                id,
                json!({
                    "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "fake", "version": "1.0.0"},
                }),
            )?,
            "tools/list" => {
                let mut tools = tools();
                if has("--odd") {
                    tools.insert(1, json!({"name": "loose", "description": "Has no schema."}));
                    tools.push(json!({"inputSchema": {"type": "object"}}));
                }
                answer(
                    id,
                    json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}),
                )?;
            }
            "tools/call" => call(id, &message["params"])?,
            _ => {
                let error = json!({"code": -32601, "message": "Method not found"});
                send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
            }
        }
    }
    notes.add(&json!("end of input"))?;
    if has("--deaf") {
        thread::sleep(Duration::from_mins(2));
    }
    Ok(())
}

fn tools() -> Vec<Value> {
    let names = [
        "ask",
        "structured",
        "refuse",
        "crash",
        "stall",
        "drip",
        "noise",
        "huge",
    ];
    let text = json!({"type": "string"});
    let one = json!({"type": "object", "properties": {"prompt": text}, "required": ["prompt"]});
    let two = json!({"type": "object", "properties": {"prompt": text, "repo": text},
        "required": ["prompt", "repo"]});
    let tool = |name: &str, schema: &Value| json!({"name": name, "inputSchema": schema});
    let mut tools: Vec<Value> = names.iter().map(|name| tool(name, &one)).collect();
    tools.push(tool("more", &two));
    let look_up = json!({"type": "object", "properties": {"page": text, "n": {"type": "integer"},
        "tags": {"type": "array", "items": text}}, "required": ["page", "n"]});
    let mut look_up = tool("look.up", &look_up);
    look_up["description"] = "Looks a page up.".into();
    look_up["annotations"] = json!({"readOnlyHint": true});
    tools.push(look_up);
    let mut typed = tool("typed", &json!({"type": "object"}));
    typed["outputSchema"] = json!({"type": "object", "required": ["n"], "properties": {
        "n": {"type": "integer"}, "of": {"$ref": "#/$defs/of"}}, "$defs": {"of": {}}});
    tools.push(typed);
    tools
}

fn call(id: &Value, params: &Value) -> io::Result<()> {
    let prompt = params["arguments"]["prompt"].as_str().unwrap_or_default();
    let text =
        |text: &str| json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
    match params["name"].as_str().unwrap_or_default() {
        "structured" => {
            let mut result = text("{}");
            result["structuredContent"] = json!({"summary": CITED});
            answer(id, result)
        }
        "refuse" => {
            let mut result = text("no such repository");
            result["isError"] = true.into();
            answer(id, result)
        }
        "look.up" => {
            let arguments = &params["arguments"];
            let mut result = text(&arguments.to_string());
            result["structuredContent"] = json!({"page_id": 7, "got": arguments});
            answer(id, result)
        }
        "typed" => {
            let mut result = text("as you wish");
            result["structuredContent"] = params["arguments"]["answer"].clone();
            answer(id, result)
        }
        "crash" => std::process::exit(3),
        "stall" => progress(params, 0),
        "drip" => {
            for step in 0..20 {
                progress(params, step)?;
                thread::sleep(Duration::from_millis(250));
            }
            answer(id, text(CITED))
        }
        "noise" => {
            writeln!(io::stdout(), "warning: this is no message")?;
            answer(id, text(CITED))
        }
        "huge" => {
            let piece = vec![b'x'; 1 << 20];
            loop {
                io::stdout().write_all(&piece)?;
            }
        }
        _ => answer(
            id,
            text(&format!("{CITED} Asked in {} bytes.", prompt.len())),
        ),
    }
}

fn progress(params: &Value, step: u32) -> io::Result<()> {
    let token = &params["_meta"]["progressToken"];
    let progress = json!({"progressToken": token, "progress": step,
        "message": format!("step {step}")});
    let method = "notifications/progress";
    send(&json!({"jsonrpc": "2.0", "method": method, "params": progress}))
}

fn answer(id: &Value, result: Value) -> io::Result<()> {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn send(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}
