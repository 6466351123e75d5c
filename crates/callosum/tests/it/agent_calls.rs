//! [`Agent`]: a session of a client, whose calls of tools reach the hooks as the client reports them: one hook before the tool,
//! then the tool's work, then one hook after it.

use std::{cell::Cell, fs, path::PathBuf};

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

/// One session of a client.
pub(crate) struct Agent<'e> {
    env: &'e TestEnv,
    client: &'static str,
    session: &'static str,
    calls: Cell<u32>,
}

impl<'e> Agent<'e> {
    pub(crate) fn new(env: &'e TestEnv, client: &'static str, session: &'static str) -> Self {
        let calls = Cell::new(0);
        let agent = Self {
            env,
            client,
            session,
            calls,
        };
        agent.prompt();
        agent
    }

    pub(crate) fn hook(&self, word: &str, event: &Value) -> Output {
        let hook = self.env.callosum().without("CALLOSUM_TEST_IDS");
        let hook = hook.arguments(["hook", self.client, word]);
        hook.input(event.to_string()).run()
    }

    /// A person says something, so that a turn begins.
    pub(crate) fn prompt(&self) {
        let name = match self.client {
            "gemini" => "BeforeAgent",
            _ => "UserPromptSubmit",
        };
        let event = json!({"session_id": self.session, "cwd": self.env.project(),
                           "hook_event_name": name, "prompt": "go on"});
        self.hook(name, &event).success();
    }

    pub(crate) fn event(&self, tool: &str, input: &Value) -> Value {
        let mut event = json!({"session_id": self.session, "cwd": self.env.project(),
                               "permission_mode": "default", "tool_name": tool, "tool_input": input});
        // Gemini CLI gives its calls no ids.
        if self.client != "gemini" {
            self.calls.set(self.calls.get() + 1);
            event["tool_use_id"] = format!("{}-{}", self.session, self.calls.get()).into();
        }
        event
    }

    /// The hook is asked, and lets the call pass.
    #[track_caller]
    pub(crate) fn before(&self, tool: &str, input: &Value) -> Value {
        let event = self.event(tool, input);
        let word = if self.client == "gemini" {
            "BeforeTool"
        } else {
            "PreToolUse"
        };
        let output = self.hook(word, &event);
        assert_eq!(output.code, 0, "{output:?}");
        assert!(!output.stdout.contains("deny"), "{output:?}");
        event
    }

    /// The hook hears that the call has run, and answers.
    pub(crate) fn after(&self, event: &Value) -> Output {
        let mut event = event.clone();
        event["tool_response"] = json!({"stdout": "done"});
        let word = if self.client == "gemini" {
            "AfterTool"
        } else {
            "PostToolUse"
        };
        self.hook(word, &event).success()
    }

    /// A file tool does what `work` does.
    #[track_caller]
    pub(crate) fn with_tool(&self, tool: &str, input: &Value, work: impl FnOnce()) {
        let event = self.before(tool, input);
        work();
        self.after(&event);
    }

    /// The client's own tool writes a file.
    #[track_caller]
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let absolute = self.env.project().join(path);
        let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch");
        let (tool, input) = match self.client {
            "claude" => ("Write", json!({"file_path": absolute, "content": "x"})),
            "codex" => ("apply_patch", json!({"command": patch})),
            "gemini" => ("write_file", json!({"file_path": absolute, "content": "x"})),
            _ => (
                "edit",
                json!({"file_path": absolute, "old_string": "a", "new_string": "b"}),
            ),
        };
        self.with_tool(tool, &input, || write(self.env, path, content));
    }

    /// The client's shell runs a command, which really runs.
    #[track_caller]
    pub(crate) fn shell(&self, command: &str) {
        let tool = if self.client == "gemini" {
            "run_shell_command"
        } else {
            "Bash"
        };
        self.with_tool(tool, &json!({"command": command}), || sh(self.env, command));
    }
}

pub(crate) fn sh(env: &TestEnv, command: &str) {
    let run = env.program(PathBuf::from("/bin/sh"));
    run.arguments(["-c", command]).run().success();
}

/// Writes a file in place, as tools do: its permission bits stay.
pub(crate) fn write(env: &TestEnv, path: &str, content: impl AsRef<[u8]>) {
    let path = env.project().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}
