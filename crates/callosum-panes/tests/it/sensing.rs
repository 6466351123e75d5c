//! The sensor over a real tmux and programs that pose as clients: states, ends, restarts and lies.

use std::{path::PathBuf, sync::Arc, time::Duration};

use callosum_host::Disk;
use callosum_panes::{
    HookEvent, Look, Pane, Program, Registry, RuleSet, Sensor, State, hook_event,
    sensor::{ResetTime, Settings},
};
use jiff::Timestamp;

use crate::tmux::{Server, eventually};

/// A tmux server whose panes show recorded screens, and a sensor for it.
struct Stage {
    server: Server,
    folder: tempfile::TempDir,
    sensor: Sensor,
}

impl Stage {
    fn new() -> Self {
        let server = Server::start("sleep 600");
        let folder = tempfile::tempdir().unwrap();
        let rules =
            Program::ALL.map(|program| (program, RuleSet::built_in(program.agent()).unwrap()));
        let settings = Settings {
            tmux: Some(Server::program()),
            sockets: folder.path().join("none"),
            current_socket: Some(server.socket()),
            claude_sessions: None,
            hook_events: folder.path().join("events"),
            rules: rules.into(),
            reset_time: ResetTime(Arc::new(|_, now| {
                Some(now + jiff::SignedDuration::from_hours(3))
            })),
        };
        let sensor = Sensor::new(settings, Disk::real());
        Self {
            server,
            folder,
            sensor,
        }
    }

    fn events(&self) -> PathBuf {
        self.folder.path().join("events")
    }

    /// Opens a pane in which a program named `claude` shows a file whenever it changes.
    fn client(&self, name: &str) -> (String, PathBuf) {
        let file = self.folder.path().join(name);
        std::fs::write(&file, "").unwrap();
        let script = format!(
            "shown=; while sleep 0.05; do now=$(cksum < {0}); if [ \"$now\" != \"$shown\" ]; then shown=$now; \
             printf '\\033[H\\033[2J'; cat {0}; fi; done",
            file.display()
        );
        let command = format!(
            "exec -a claude bash -c '{script}'",
            script = script.replace('\'', "'\\''")
        );
        let line = format!("bash -c '{}'", command.replace('\'', "'\\''"));
        let pane = self
            .server
            .tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", &line]);
        (pane, file)
    }

    fn look(&mut self) -> Look {
        self.sensor.look(Timestamp::now())
    }

    /// Looks until the pane has a state.
    fn reaches(&mut self, pane: &str, state: State) -> Pane {
        let mut last = None;
        eventually(|| {
            let look = self.look();
            let found = look
                .panes
                .into_iter()
                .find(|found| found.pane.ends_with(pane));
            last = found
                .clone()
                .map(|pane| (pane.state, pane.detail, pane.evidence))
                .or(last.take());
            found.filter(|found| found.state == state)
        })
    }
}

fn screen(name: &str) -> String {
    let file = format!(
        "{}/tests/screens/claude-code/{name}.screen",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(file).unwrap();
    let (_, screen) = text.split_once("\n+++\n").unwrap();
    screen.trim_end().to_owned()
}

#[test]
fn an_agent_is_followed_from_idle_over_work_to_a_dialog_and_its_end() {
    let mut stage = Stage::new();
    let (pane, file) = stage.client("one");
    let show = |name: &str| std::fs::write(&file, screen(name)).unwrap();
    show("small-idle-fresh");
    let idle = stage.reaches(&pane, State::TrulyIdle);
    assert_eq!(
        (idle.agent.as_str(), idle.runtime.as_str()),
        ("claude", "claude-code")
    );
    assert!(idle.tty.is_some_and(|tty| tty.starts_with("/dev/pts/")));
    show("small-working-streaming");
    let working = stage.reaches(&pane, State::Working);
    assert_eq!(working.evidence[0].rule, "claude.interruptible");
    show("small-dialog-write");
    let blocked = stage.reaches(&pane, State::BlockedOnApproval);
    assert_eq!(
        blocked.activity_state,
        State::Working,
        "an old reader must not type into it"
    );
    assert!(blocked.since > working.since);
    stage.server.tmux(&["kill-pane", "-t", &pane]);
    let ended = stage.reaches(&pane, State::SessionEnded);
    assert_eq!(ended.status, "inactive");
}

#[test]
fn a_hook_counts_at_once_and_an_interrupted_turn_ends_without_one() {
    let mut stage = Stage::new();
    let (pane, file) = stage.client("one");
    std::fs::write(&file, screen("small-idle-fresh")).unwrap();
    let idle = stage.reaches(&pane, State::TrulyIdle);
    let process = callosum_host::process::table::entry(idle.pid).unwrap();
    let event = |name: &str| HookEvent {
        client: "claude-code".to_owned(),
        session_id: "s1".to_owned(),
        event: name.to_owned(),
        state: hook_event::state_of(name, "").unwrap(),
        at: Timestamp::now(),
        pid: Some(idle.pid),
        started: Some(process.started),
        cwd: None,
        last_prompt: (name == "UserPromptSubmit").then(|| "fix it".to_owned()),
    };
    hook_event::note(&Disk::real(), &stage.events(), event("UserPromptSubmit")).unwrap();
    let look = stage.look();
    let working = look
        .panes
        .iter()
        .find(|found| found.pid == idle.pid)
        .unwrap();
    assert_eq!(
        (working.state, working.session_id.as_deref()),
        (State::Working, Some("s1"))
    );
    assert_eq!(working.last_prompt.as_deref(), Some("fix it"));
    std::fs::write(&file, screen("small-working-streaming")).unwrap();
    std::thread::sleep(Duration::from_millis(1_300));
    stage.look();
    // A person pressed Esc: no hook runs, and the composer is back.
    std::fs::write(&file, screen("small-idle-fresh")).unwrap();
    let idle = stage.reaches(&pane, State::TrulyIdle);
    assert!(
        idle.considered
            .iter()
            .any(|one| one.because.contains("has changed since"))
    );
}

#[test]
fn a_draft_and_a_placeholder_differ_by_color() {
    let mut stage = Stage::new();
    let (pane, file) = stage.client("one");
    let drawn = |typed: &str| {
        let text = screen("small-idle-fresh");
        let at = text.rfind('\u{276f}').unwrap();
        let end = at + text[at..].find('\n').unwrap();
        format!("{}\u{276f} {typed}{}", &text[..at], &text[end..])
    };
    for (typed, has_draft) in [
        ("\u{1b}[2mfix the cart\u{1b}[0m", false),
        ("fix the cart", true),
        ("fix the cart now", true),
        ("", false),
        ("\u{1b}[2mfix it\u{1b}[0m", false),
    ] {
        std::fs::write(&file, drawn(typed)).unwrap();
        eventually(|| {
            let look = stage.look();
            let found = look
                .panes
                .into_iter()
                .find(|found| found.pane.ends_with(&pane))?;
            (found.state == State::TrulyIdle && found.has_draft == has_draft).then_some(())
        });
    }
}

#[test]
fn a_pane_that_prints_the_screen_of_a_client_is_no_agent() {
    let mut stage = Stage::new();
    let file = stage.folder.path().join("shown");
    std::fs::write(&file, screen("small-dialog-write")).unwrap();
    let (client, _) = stage.client("real");
    let line = format!("cat {}; sleep 600", file.display());
    let liar = stage
        .server
        .tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", &line]);
    let real = eventually(|| {
        stage
            .look()
            .panes
            .into_iter()
            .find(|pane| pane.pane.ends_with(&client))
    });
    assert_eq!(real.agent, "claude");
    let look = stage.look();
    assert!(
        !look.panes.iter().any(|pane| pane.pane.ends_with(&liar)),
        "{:?}",
        look.panes
    );
}

#[test]
fn a_server_that_restarts_is_found_again() {
    let mut stage = Stage::new();
    let (pane, file) = stage.client("one");
    std::fs::write(&file, screen("small-idle-fresh")).unwrap();
    stage.reaches(&pane, State::TrulyIdle);
    stage.server.tmux(&["kill-server"]);
    stage.reaches(&pane, State::SessionEnded);
    stage
        .server
        .tmux(&["-f", "/dev/null", "new-session", "-d", "sleep 600"]);
    let (pane, _) = stage.client("one");
    eventually(|| {
        let look = stage.look();
        look.panes
            .into_iter()
            .find(|found| found.pane.ends_with(&pane) && found.status == "active")
    });
}

#[test]
fn a_registry_of_an_earlier_process_gives_the_age_of_a_state() {
    let mut stage = Stage::new();
    let (pane, file) = stage.client("one");
    std::fs::write(&file, screen("small-idle-fresh")).unwrap();
    let idle = stage.reaches(&pane, State::TrulyIdle);
    let hour_ago = Timestamp::now() - jiff::SignedDuration::from_hours(1);
    let registry = Registry {
        version: callosum_panes::registry::VERSION.to_owned(),
        updated_at: Timestamp::now(),
        writer: 1,
        panes: vec![Pane {
            since: hour_ago,
            ..idle.clone()
        }],
        notes: Vec::new(),
    };
    stage.sensor.resume(&registry);
    let look = stage.look();
    let again = look
        .panes
        .iter()
        .find(|found| found.pid == idle.pid)
        .unwrap();
    assert_eq!(again.since, hour_ago);
}

#[test]
fn the_end_of_a_turn_that_an_earlier_process_saw_is_old_after_a_minute() {
    let mut stage = Stage::new();
    let (pane, file) = stage.client("one");
    std::fs::write(&file, screen("small-trap-quoted-dialog")).unwrap();
    let complete = stage.reaches(&pane, State::TaskComplete);
    let registry = Registry {
        version: callosum_panes::registry::VERSION.to_owned(),
        updated_at: Timestamp::now(),
        writer: 1,
        panes: vec![Pane {
            since: Timestamp::now() - jiff::SignedDuration::from_mins(2),
            ..complete
        }],
        notes: Vec::new(),
    };
    stage.sensor.resume(&registry);
    let idle = stage.reaches(&pane, State::TrulyIdle);
    assert_eq!(idle.evidence.last().unwrap().rule, "clock.complete");
}

#[test]
fn the_end_of_a_limit_does_not_move_from_look_to_look() {
    let mut stage = Stage::new();
    let (pane, file) = stage.client("one");
    let idle = screen("small-idle-fresh");
    let limited = format!(
        "{}\n  \u{26a0} Usage limit reached \u{b7} limit resets in 3 hours",
        idle.trim_end()
    );
    std::fs::write(&file, limited).unwrap();
    let first = stage.reaches(&pane, State::UsageLimited);
    assert_eq!(first.resets.as_deref(), Some("in 3 hours"));
    std::thread::sleep(Duration::from_millis(50));
    let again = stage.reaches(&pane, State::UsageLimited);
    assert!(first.resets_at.is_some());
    assert_eq!(again.resets_at, first.resets_at);
}

#[test]
fn without_tmux_clients_are_found_and_the_lack_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        tmux: None,
        sockets: folder.path().to_owned(),
        current_socket: None,
        claude_sessions: None,
        hook_events: folder.path().join("events"),
        rules: Vec::new(),
        reset_time: ResetTime(Arc::new(|_, _| None)),
    };
    let look = Sensor::new(settings, Disk::real()).look(Timestamp::now());
    assert_eq!(
        look.notes,
        ["tmux is not installed, so no screen can be read"]
    );
    for pane in look.panes {
        assert!(pane.pane.starts_with("pid:"), "{pane:?}");
        assert!(!pane.state.takes_prompt() || pane.evidence[0].rule != "screen");
    }
}
