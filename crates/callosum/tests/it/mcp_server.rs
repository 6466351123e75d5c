//! [`Server`]: `callosum mcp`, spoken to in lines as they go over the wire.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use callosum_testkit::{Run, TestEnv};
use serde_json::{Value, json};

/// How long an answer may take before a test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// The server. Killed where it is dropped before its [`end`](Self::end).
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    /// What came that was no answer to what was asked.
    notified: Vec<Value>,
    last: u64,
}

impl Server {
    pub(crate) fn start(env: &TestEnv) -> Self {
        Self::run(&env.callosum().arguments(["mcp"]))
    }

    pub(crate) fn run(run: &Run) -> Self {
        let mut command = run.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            notified: Vec::new(),
            last: 0,
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn next(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Asks, and passes over what is no answer to it.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.say(&request.to_string());
        self.answer(&json!(id))
    }

    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next();
            if message["id"] == *id && message.get("method").is_none() {
                return message;
            }
            self.notified.push(message);
        }
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Begins as a client of the older lifecycle does.
    pub(crate) fn initialize(&mut self, name: &str) -> Value {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": name, "version": "1.0.0"},
        });
        let answer = self.ask("initialize", &params);
        self.notify("notifications/initialized", &json!({}));
        answer["result"].clone()
    }

    /// Calls a tool; its text, and whether it failed.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        self.call_with(tool, arguments, &json!({}))
    }

    pub(crate) fn call_with(
        &mut self,
        tool: &str,
        arguments: &Value,
        meta: &Value,
    ) -> (String, bool) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        told(&self.ask("tools/call", &params))
    }

    pub(crate) fn done(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, failed) = self.call(tool, arguments);
        assert!(!failed, "{tool}: {text}");
        text
    }

    pub(crate) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, failed) = self.call(tool, arguments);
        assert!(failed, "{tool}: {text}");
        text
    }

    /// Ends its input, and waits for its end.
    pub(crate) fn end(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves none behind.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn told(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{answer}")).to_owned();
    (text, result["isError"] == true)
}
