//! `callosum mesh panes` with a real tmux and programs that pose as clients.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use callosum_testkit::{Schema, TestEnv};
use serde_json::Value;

/// A tmux server in a folder of its own, with panes that show recorded screens.
pub(super) struct Stage {
    pub(super) env: TestEnv,
}

impl Stage {
    pub(super) fn new() -> Self {
        let stage = Self {
            env: TestEnv::new(),
        };
        fs::create_dir_all(stage.tmux_folder()).unwrap();
        stage.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            "sleep 600",
        ]);
        stage
    }

    pub(super) fn tmux_folder(&self) -> PathBuf {
        self.env.folder().join("tmux")
    }

    pub(super) fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux")
            .arg("-u")
            .args(arguments)
            .env("TMUX_TMPDIR", self.tmux_folder())
            .env_remove("TMUX")
            .output()
            .expect("tmux is installed");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Opens a pane in which a program with a client's name shows a file whenever it changes.
    pub(super) fn client(&self, name: &str) -> (String, PathBuf) {
        let file = self.env.folder().join(format!("{name}-screen"));
        fs::write(&file, "").unwrap();
        let script = self.env.folder().join(format!("{name}-script"));
        let text = format!(
            "shown=; while sleep 0.05; do now=$(cksum < '{0}'); if [ \"$now\" != \"$shown\" ]; then shown=$now; \
             printf '\\033[H\\033[2J'; cat '{0}'; fi; done",
            file.display()
        );
        fs::write(&script, text).unwrap();
        let line = format!("bash -c 'exec -a {name} bash {}'", script.display());
        let folder = self.env.project();
        let folder = folder.to_str().unwrap();
        let pane = self.tmux(&[
            "new-window",
            "-d",
            "-c",
            folder,
            "-P",
            "-F",
            "#{pane_id}",
            &line,
        ]);
        (pane, file)
    }

    pub(super) fn panes(&self, words: &[&str]) -> Value {
        let words = [&["mesh", "panes", "--json"], words].concat();
        self.run(&words).success().json()
    }

    pub(super) fn run(&self, words: &[&str]) -> callosum_testkit::Output {
        let run = self.env.callosum().arguments(words);
        let folder = self.tmux_folder();
        run.env("TMUX_TMPDIR", folder)
            .without("CALLOSUM_TEST_CLOCK")
            .without("CALLOSUM_TEST_IDS")
            .run()
    }

    /// Looks until a pane has a state, for ten seconds.
    pub(super) fn reaches(&self, pane: &str, state: &str) -> Value {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let found = self.panes(&[]);
            let panes = found["panes"].as_array().unwrap();
            let known = panes.iter().find(|one| one["pane"] == pane);
            if let Some(known) = known.filter(|known| known["state"] == state) {
                return known.clone();
            }
            assert!(Instant::now() < until, "{pane} is not {state}: {known:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

pub(super) fn screen(client: &str, name: &str) -> String {
    let manifest = env!("CARGO_MANIFEST_DIR");
    let file = format!("{manifest}/../callosum-panes/tests/screens/{client}/{name}.screen");
    let text = fs::read_to_string(file).unwrap();
    let (_, screen) = text.split_once("\n+++\n").unwrap();
    screen.trim_end().to_owned()
}

/// CALC-L4-1: agents are listed with terminal, process, folder, state and quadrant, and the registry has the same.
#[test]
fn agents_are_listed_with_their_states() {
    let stage = Stage::new();
    let (claude, claude_screen) = stage.client("claude");
    let (codex, codex_screen) = stage.client("codex");
    fs::write(&claude_screen, screen("claude-code", "small-idle-fresh")).unwrap();
    fs::write(&codex_screen, screen("codex", "dialog-shell")).unwrap();
    let idle = stage.reaches(&claude, "TRULY_IDLE");
    let blocked = stage.reaches(&codex, "BLOCKED_ON_APPROVAL");
    assert_eq!(
        (&idle["agent"], &idle["runtime"]),
        (&"claude".into(), &"claude-code".into())
    );
    assert_eq!(
        (&blocked["agent"], &blocked["activity_state"]),
        (&"codex".into(), &"WORKING".into())
    );
    assert_eq!(
        idle["cwd"],
        stage
            .env
            .project()
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
    );
    assert!(
        idle["tty"].as_str().unwrap().starts_with("/dev/pts/"),
        "{idle}"
    );
    assert_eq!(idle["quadrant"], "top-left");
    assert_eq!(
        Schema::published("output-mesh-panes").fault(&stage.panes(&[])),
        None
    );
    let registry = stage
        .env
        .read(stage.env.machine_home().join("pane_registry.json"));
    let registry: Value = serde_json::from_str(&registry).unwrap();
    let stored = registry["panes"].as_array().unwrap();
    let stored = stored
        .iter()
        .find(|pane| pane["pane"] == claude.as_str())
        .unwrap();
    for key in [
        "tty",
        "pid",
        "session_id",
        "project",
        "cwd",
        "last_prompt",
        "status",
        "activity_state",
        "quadrant",
        "last_active",
        "agent",
        "runtime",
    ] {
        assert!(stored.get(key).is_some(), "the registry lacks {key}");
    }
    assert!(stored.get("considered").is_none());
}

/// CALC-L4-1: a person sees a table, one pane, or every rule that was considered.
#[test]
fn a_pane_is_named_and_explained() {
    let stage = Stage::new();
    let (pane, file) = stage.client("claude");
    fs::write(&file, screen("claude-code", "small-dialog-write")).unwrap();
    stage.reaches(&pane, "BLOCKED_ON_APPROVAL");
    let table = stage.run(&["mesh", "panes", &pane]).success().stdout;
    assert!(
        table.contains("BLOCKED_ON_APPROVAL") && table.contains("claude-code"),
        "{table}"
    );
    let explained = stage
        .run(&["mesh", "panes", "--explain", &pane])
        .success()
        .stdout;
    assert!(
        explained.contains("because screen claude.permission: Do you want to create"),
        "{explained}"
    );
    assert!(
        explained.contains("claude.transcript"),
        "rules that did not apply: {explained}"
    );
    let unknown = stage.run(&["mesh", "panes", "%999"]).ended_with(2).stderr;
    assert!(unknown.contains("there is no pane `%999`"), "{unknown}");
}

/// CALC-PAT-3: nothing is typed into a dialog, and the receipt is in the log without the text.
#[test]
fn nothing_is_typed_into_a_dialog() {
    let stage = Stage::new();
    let (pane, file) = stage.client("claude");
    fs::write(&file, screen("claude-code", "small-dialog-write")).unwrap();
    stage.reaches(&pane, "BLOCKED_ON_APPROVAL");
    let before = stage.tmux(&["capture-pane", "-p", "-t", &pane]);
    let refused = stage
        .run(&["mesh", "inject", &pane, "run the tests", "--json"])
        .ended_with(1)
        .json();
    assert_eq!(
        Schema::published("output-mesh-inject").fault(&refused),
        None
    );
    assert_eq!(
        (&refused["outcome"], &refused["text_left"]),
        (&"refused".into(), &false.into())
    );
    assert!(
        refused["reason"]
            .as_str()
            .unwrap()
            .starts_with("a dialog is open"),
        "{refused}"
    );
    assert_eq!(stage.tmux(&["capture-pane", "-p", "-t", &pane]), before);
    let log = stage
        .run(&["mesh", "tail", "--topic", "pane.inject", "--json"])
        .success()
        .stdout;
    assert!(
        log.contains("\"outcome\":\"refused\"") && !log.contains("run the tests"),
        "{log}"
    );
    let unknown = stage
        .run(&["mesh", "inject", "%999", "text"])
        .ended_with(2)
        .stderr;
    assert!(unknown.contains("there is no pane `%999`"), "{unknown}");
    let escape = stage
        .run(&["mesh", "inject", &pane, "a\u{1b}[201~b"])
        .ended_with(2)
        .stderr;
    assert!(!escape.contains('\u{1b}'), "{escape:?}");
}

/// CALC-PAT-3: a dry run checks and types nothing, and a pane takes so many texts at once and no more.
#[test]
fn a_dry_run_types_nothing_and_the_rate_is_limited() {
    let stage = Stage::new();
    let (pane, file) = stage.client("claude");
    fs::write(&file, screen("claude-code", "small-idle-fresh")).unwrap();
    stage.reaches(&pane, "TRULY_IDLE");
    let before = stage.tmux(&["capture-pane", "-p", "-t", &pane]);
    let possible = stage.run(&[
        "mesh",
        "inject",
        &pane,
        "run the tests",
        "--dry-run",
        "--json",
    ]);
    assert_eq!(possible.success().json()["outcome"], "possible");
    assert_eq!(stage.tmux(&["capture-pane", "-p", "-t", &pane]), before);
    fs::write(&file, screen("claude-code", "small-dialog-write")).unwrap();
    stage.reaches(&pane, "BLOCKED_ON_APPROVAL");
    let reasons: Vec<String> = (0..6)
        .map(|_| {
            let run = stage
                .run(&["mesh", "inject", &pane, "x", "--json"])
                .ended_with(1);
            run.json()["reason"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(reasons[0].starts_with("a dialog"), "{reasons:?}");
    assert!(reasons[5].starts_with("too many injections"), "{reasons:?}");
}

/// A rule of a person comes first, and a file that cannot be used is named.
#[test]
fn a_person_adds_rules() {
    let stage = Stage::new();
    let (pane, file) = stage.client("claude");
    fs::write(&file, "a screen of tomorrow").unwrap();
    let unknown = stage.reaches(&pane, "UNKNOWN");
    assert_eq!(unknown["detail"], "no rule matches this screen");
    let folder = stage.env.configuration().with_file_name("panes");
    fs::create_dir_all(&folder).unwrap();
    let rule = "version = 1\nclient = \"claude-code\"\n[[rule]]\nid = \"mine\"\nstate = \"WORKING\"\n\
                region = \"screen\"\nany = ['of tomorrow']\n";
    fs::write(folder.join("mine.toml"), rule).unwrap();
    let working = stage.reaches(&pane, "WORKING");
    assert_eq!(working["evidence"][0]["rule"], "mine");
    fs::write(folder.join("mine.toml"), rule.replace("WORKING", "BUSY")).unwrap();
    let warned = stage.run(&["mesh", "panes"]).success().stderr;
    assert!(
        warned.contains("mine.toml") && warned.contains("BUSY"),
        "{warned}"
    );
}

/// A hook notes the prompt, without secrets.
#[test]
fn a_hook_notes_the_last_prompt() {
    let env = TestEnv::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let event = serde_json::json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": env.project(),
        "prompt": format!("fix the cart\nwith {token}"),
    });
    let hook = env
        .callosum()
        .arguments(["hook", "claude", "user-prompt-submit"]);
    hook.input(event.to_string()).run().success();
    let noted = env.read(env.machine_home().join("hook-events/claude.s1.json"));
    let noted: Value = serde_json::from_str(&noted).unwrap();
    assert_eq!(
        (&noted["state"], &noted["event"]),
        (&"WORKING".into(), &"UserPromptSubmit".into())
    );
    let prompt = noted["last_prompt"].as_str().unwrap();
    assert!(
        prompt.starts_with("fix the cart") && !prompt.contains(&token),
        "{prompt}"
    );
}

/// A person is notified once about an agent that is blocked, and again only after it changed.
#[test]
fn a_blocked_agent_is_notified_about_once() {
    let stage = Stage::new();
    let (pane, file) = stage.client("claude");
    let dialog = screen("claude-code", "small-dialog-write");
    fs::write(&file, &dialog).unwrap();
    let notices = stage.env.folder().join("notices");
    let script = stage.env.folder().join("notify");
    let text = format!(
        "#!/bin/sh\necho \"$CALLOSUM_PANE $CALLOSUM_STATE $CALLOSUM_TEXT\" >> '{}'\n",
        notices.display()
    );
    fs::write(&script, text).unwrap();
    let setting = format!(
        "[mesh.notify]\ncommand = [\"/bin/sh\", {:?}]\nafter = \"1s\"\n",
        script.to_str().unwrap()
    );
    stage.env.write(stage.env.configuration(), setting);
    let mut watch = stage
        .env
        .callosum()
        .arguments(["mesh", "panes", "--watch", "--json"])
        .env("TMUX_TMPDIR", stage.tmux_folder())
        .without("CALLOSUM_TEST_CLOCK")
        .command()
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let count = || {
        fs::read_to_string(&notices)
            .unwrap_or_default()
            .lines()
            .count()
    };
    let until = Instant::now() + Duration::from_secs(20);
    while count() == 0 {
        assert!(Instant::now() < until, "no notice");
        thread::sleep(Duration::from_millis(50));
    }
    // The dialog stays: looking again gives no second notice.
    thread::sleep(Duration::from_secs(3));
    watch.kill().unwrap();
    watch.wait().unwrap();
    let text = fs::read_to_string(&notices).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [line] = &*lines else { panic!("{text}") };
    assert!(
        line.starts_with(&format!("{pane} BLOCKED_ON_APPROVAL ")),
        "{line}"
    );
}

/// CALC-L4-1: one process writes the registry, and the others read it.
#[test]
fn the_daemon_keeps_the_registry_true() {
    let stage = Stage::new();
    let (pane, file) = stage.client("claude");
    fs::write(&file, screen("claude-code", "small-working-streaming")).unwrap();
    let serve = [
        "serve",
        "--events",
        "off",
        "--bus",
        "127.0.0.1:0",
        "--metrics",
        "off",
    ];
    let mut daemon = stage
        .env
        .callosum()
        .arguments(serve)
        .env("TMUX_TMPDIR", stage.tmux_folder())
        .without("CALLOSUM_TEST_CLOCK")
        .command()
        .spawn()
        .unwrap();
    let path = stage.env.machine_home().join("pane_registry.json");
    let until = Instant::now() + Duration::from_secs(20);
    let has = |state: &str| {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let registry: Value = serde_json::from_str(&text).unwrap_or_default();
        let panes = registry["panes"].as_array().cloned().unwrap_or_default();
        let is_own = registry["writer"] == daemon.id();
        is_own
            && panes
                .iter()
                .any(|one| one["pane"] == pane.as_str() && one["state"] == state)
    };
    while !has("WORKING") {
        assert!(Instant::now() < until, "{:?}", fs::read_to_string(&path));
        thread::sleep(Duration::from_millis(20));
    }
    fs::write(&file, screen("claude-code", "small-dialog-write")).unwrap();
    while !has("BLOCKED_ON_APPROVAL") {
        assert!(Instant::now() < until, "{:?}", fs::read_to_string(&path));
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        stage.panes(&[])["writer"],
        daemon.id(),
        "the daemon's registry is read"
    );
    stage.run(&["serve", "stop"]).success();
    daemon.wait().unwrap();
    assert_ne!(stage.panes(&[])["writer"], daemon.id());
}
