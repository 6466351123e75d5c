//! A client in a tmux pane, and what `callosum mesh panes` says it is doing.

use std::{
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use callosum_testkit::model::{Call, ScriptTurn};
use serde_json::{Value, json};

use crate::{client::Client, install::Installed, stage::Stage};

/// A tmux server of the test's own.
struct Tmux {
    folder: PathBuf,
}

impl Tmux {
    fn run(&self, arguments: &[&str]) -> String {
        self.command(Command::new("tmux"), arguments)
    }

    fn command(&self, mut tmux: Command, arguments: &[&str]) -> String {
        let output = tmux
            .arg("-u")
            .args(arguments)
            .env("TMUX_TMPDIR", &self.folder)
            .env_remove("TMUX")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Pastes a text as a person does, and sends it.
    fn submit(&self, text: &str) {
        self.run(&["set-buffer", "-b", "prompt", text]);
        self.run(&["paste-buffer", "-p", "-b", "prompt"]);
        thread::sleep(Duration::from_millis(500));
        self.enter();
    }

    fn enter(&self) {
        self.run(&["send-keys", "-H", "0d"]);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

/// CALC-L4-1, CALC-PAT-3: idle, waiting for an approval, at work and done, each as the client shows it; a prompt is left
/// in the client's own mailbox or typed, and none goes to a dialog.
pub(crate) fn shows_its_state_in_a_pane(client: &Client, installed: &Installed) {
    let Some((trusted, arguments)) = settled(client.name) else {
        return;
    };
    let stage = Stage::new(client, installed);
    let project = stage.env.project().canonicalize().unwrap();
    let project = project.to_str().unwrap();
    let url = stage.server.url();
    for (file, text) in trusted {
        let path = stage.env.home().join(file);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let text = text.replace("{project}", project).replace("{url}", &url);
        // The configuration of Codex goes on from what points it at the server.
        let before = if file.ends_with("toml") {
            before
        } else {
            String::new()
        };
        stage.env.write(&path, format!("{before}{text}"));
    }
    let tmux = Tmux {
        folder: stage.env.folder().join("tmux"),
    };
    std::fs::create_dir_all(&tmux.folder).unwrap();
    let started = stage.client().command();
    let mut server = Command::new("tmux");
    let variables = started.get_envs();
    server
        .env_clear()
        .envs(variables.filter_map(|(name, value)| Some((name, value?))));
    server.env("TERM", "xterm-256color").env("NO_BROWSER", "1");
    let program = started.get_program().to_str().unwrap();
    let line = [
        &[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "120",
            "-y",
            "40",
            "-c",
            project,
            program,
        ],
        arguments,
    ];
    tmux.command(server, &line.concat());
    let reaches = |state: &str| reaches(&stage, &tmux, state);
    if client.name == "codex" {
        // It offers a newer model first; the second answer keeps the one that is configured.
        reaches("BLOCKED_ON_APPROVAL");
        tmux.run(&["send-keys", "Down"]);
        tmux.enter();
    }
    reaches("TRULY_IDLE");
    let shell = client.shell.as_ref().unwrap();
    let mut input = json!({shell.key: "touch made && sleep 5"});
    if client.name == "codex" {
        // It asks a person only if its model asks to leave the sandbox.
        input["sandbox_permissions"] = "require_escalated".into();
        input["justification"] = "May I make it?".into();
    } else {
        input["description"] = "Make it".into();
    }
    let call = Call {
        name: shell.tool.to_owned(),
        input,
        ..Call::default()
    };
    let turns = [
        ScriptTurn {
            calls: vec![call],
            ..ScriptTurn::text("I make it.")
        },
        ScriptTurn::text("It is made."),
    ];
    tmux.submit(&format!("Make the file. {}", ScriptTurn::script(&turns)));
    let blocked = reaches("BLOCKED_ON_APPROVAL");
    assert!(!stage.env.project().join("made").exists(), "{blocked}");
    let inject = |text: &str, more: &[&str]| {
        let words = ["mesh", "inject", "%0", text, "--as", "person", "--json"];
        let words = [&words, more].concat();
        let run = stage
            .callosum()
            .arguments(words)
            .env("TMUX_TMPDIR", tmux.folder.as_os_str());
        run.without("CALLOSUM_TEST_CLOCK").run()
    };
    let refused = inject("This must not answer the dialog", &[])
        .ended_with(1)
        .json();
    assert_eq!(
        (&refused["outcome"], &refused["enters"]),
        (&"refused".into(), &0.into()),
        "{refused}"
    );
    reaches("BLOCKED_ON_APPROVAL");
    assert!(!stage.env.project().join("made").exists());
    tmux.enter();
    reaches("WORKING");
    // Its client keeps the text for the next request to the model.
    let queued = inject("Say that it was made in time", &["--while-working"]);
    let queued = queued.success().json();
    assert_eq!(queued["outcome"], "submitted", "{queued}");
    // Codex names its thread only to hooks, and Gemini CLI has no mailbox.
    let route = if client.name == "claude" {
        "claude-socket"
    } else {
        "tmux"
    };
    assert_eq!(queued["route"], route, "{queued}");
    reaches("TASK_COMPLETE");
    assert!(stage.env.project().join("made").exists());
    let submitted = inject("Say once more that it is made", &[])
        .success()
        .json();
    assert_eq!(submitted["outcome"], "submitted", "{submitted}");
    let until = Instant::now() + Duration::from_secs(20);
    let is_heard = |text: &str| {
        let heard = stage.server.heard();
        heard
            .iter()
            .any(|heard| heard.body.to_string().contains(text))
    };
    while !(is_heard("Say that it was made in time") && is_heard("Say once more that it is made")) {
        assert!(
            Instant::now() < until,
            "the model never got it: {submitted}"
        );
        thread::sleep(Duration::from_millis(100));
    }
}

/// Files below the home folder, with their texts.
type Files = &'static [(&'static str, &'static str)];

/// Returns the files with which the client knows its user and trusts the project, and its arguments; `None` for a client
/// whose screen no rule reads.
fn settled(name: &str) -> Option<(Files, &'static [&'static str])> {
    match name {
        "claude" => Some((
            &[(
                ".claude.json",
                r#"{"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 12, "lastOnboardingVersion": "2.1.332",
                "customApiKeyResponses": {"approved": ["none"], "rejected": []},
                "projects": {"{project}": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}"#,
            )],
            &["--permission-mode", "manual"],
        )),
        "codex" => Some((
            &[(
                ".codex/config.toml",
                "[projects.\"{project}\"]\ntrust_level = \"trusted\"\n",
            )],
            &["-a", "on-request"],
        )),
        "gemini" => Some((
            &[(
                ".gemini/settings.json",
                r#"{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
                "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
                "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
                "model": {"name": "gemini-2.5-flash"}}"#,
            )],
            &[],
        )),
        _ => None,
    }
}

/// Looks until the client's pane has a state, for a minute.
fn reaches(stage: &Stage<'_>, tmux: &Tmux, state: &str) -> Value {
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        let look = stage
            .callosum()
            .arguments(["mesh", "panes", "--json"])
            .env("TMUX_TMPDIR", tmux.folder.as_os_str())
            .without("CALLOSUM_TEST_CLOCK");
        let found = look.run().success().json();
        let panes = found["panes"].as_array().unwrap().iter();
        let own = panes.clone().find(|pane| pane["pane"] == "%0");
        if let Some(own) = own.filter(|own| own["state"] == state) {
            return own.clone();
        }
        if Instant::now() > until {
            let screen = tmux.run(&["capture-pane", "-p"]);
            panic!("the pane is not {state}: {own:?}\n{screen}");
        }
        thread::sleep(Duration::from_millis(100));
    }
}
