//! Injections into a client that drops Enter, echoes late, redraws and opens dialogs.

use std::{collections::HashMap, path::PathBuf, time::Duration};

use callosum_host::{Clock, Disk, process::table};
use callosum_panes::{
    Processes, RuleSet,
    inject::{
        Injection, Options, Outcome, Reason, Receipt, Timing, prepare,
        tmux::{Target, inject},
    },
    program::Running,
};

use crate::tmux::{Server, eventually};

pub(crate) struct Fake {
    pub(crate) pane: String,
    pub(crate) running: Running,
    pub(crate) log: PathBuf,
}

fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    folder.join("examples/fake_tui")
}

pub(crate) fn start(
    server: &Server,
    folder: &std::path::Path,
    name: &str,
    arguments: &str,
) -> Fake {
    let log = folder.join(name);
    let line = format!(
        "bash -c 'exec -a claude {} log={} {arguments}'",
        program().display(),
        log.display()
    );
    let pane = server.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", &line]);
    let pid = server.tmux(&["display-message", "-p", "-t", &pane, "#{pane_pid}"]);
    let pid = pid.parse().unwrap();
    let running = eventually(|| Processes::read().client_below(pid, table::arguments));
    eventually(|| log.exists().then_some(()));
    std::thread::sleep(Duration::from_millis(200));
    Fake { pane, running, log }
}

pub(crate) fn events(log: &std::path::Path, what: &str) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines = text
        .lines()
        .map(serde_json::from_str::<HashMap<String, serde_json::Value>>);
    let found = lines.filter_map(|line| line.unwrap().remove(what));
    found
        .map(|value| value.as_str().unwrap_or_default().to_owned())
        .collect()
}

pub(crate) fn options() -> Options {
    Options {
        timing: Timing {
            total: Duration::from_secs(8),
            settle: Duration::from_millis(300),
            echo: Duration::from_millis(1_800),
            confirm: [500, 900, 1_500].map(Duration::from_millis).into(),
        },
        ..Options::default()
    }
}

fn send(server: &Server, fake: &Fake, text: &str, options: Options) -> Receipt {
    let rules = RuleSet::built_in("claude-code").unwrap();
    let locks = fake.log.parent().unwrap().join("locks");
    let target = Target {
        pane: &fake.pane,
        running: &fake.running,
        rules: &rules,
        locks: &locks,
    };
    let injection = Injection {
        text: prepare(text).unwrap(),
        options,
    };
    inject(
        &mut server.connect(),
        &target,
        injection,
        &Disk::real(),
        &Clock::system(),
    )
    .unwrap()
}

#[test]
fn each_kind_of_text_arrives_as_it_is() {
    let server = Server::start("sleep 600");
    let folder = tempfile::tempdir().unwrap();
    let fake = start(&server, folder.path(), "plain", "work=1");
    let ascii: String = (' '..='~').collect();
    let texts = [
        format!("All {ascii}"),
        "Ends with ;".to_owned(),
        "#{pane_id} $HOME ~ `id` 'one' \"two\" \\n ü 日本 é".to_owned(),
        "First line\n  second line".to_owned(),
        "A line of a long text\n".repeat(12),
    ];
    for text in texts {
        let receipt = send(&server, &fake, &text, options());
        assert_eq!(receipt.outcome, Outcome::Submitted, "{text:?}: {receipt:?}");
        std::thread::sleep(Duration::from_millis(250));
        assert_eq!(events(&fake.log, "prompt").last().unwrap(), text.trim_end());
    }
    assert_eq!(server.tmux(&["list-buffers"]), "", "no buffer stays behind");
}

#[test]
fn nothing_is_typed_into_a_dialog_a_page_a_draft_a_shell_or_copy_mode() {
    let server = Server::start("sleep 600");
    let folder = tempfile::tempdir().unwrap();
    for (kind, expected) in [
        ("dialog", "a dialog is open"),
        ("overlay", "the composer is hidden"),
        ("draft", "another draft"),
        ("limit", "USAGE_LIMITED"),
        ("working", "WORKING"),
        ("copy", "copy mode"),
        ("gone", "no longer in this pane"),
    ] {
        let fake = start(&server, folder.path(), kind, &format!("start={kind}"));
        if kind == "copy" {
            server.tmux(&["copy-mode", "-t", &fake.pane]);
        }
        if kind == "gone" {
            server.tmux(&["respawn-pane", "-k", "-t", &fake.pane, "cat"]);
        }
        let receipt = send(&server, &fake, "Fix the parser", options());
        let Outcome::Refused {
            reason,
            text_left: false,
        } = &receipt.outcome
        else {
            panic!("{kind}: {receipt:?}");
        };
        assert!(reason.to_string().contains(expected), "{kind}: {reason}");
        for what in ["dialog_key", "overlay_key", "other_key", "shell", "prompt"] {
            assert_eq!(
                events(&fake.log, what),
                Vec::<String>::new(),
                "{kind}: {what}"
            );
        }
    }
}

#[test]
fn two_hundred_injections_lose_nothing_in_silence() {
    const PANES: u64 = 8;
    const EACH: usize = 25;
    let folder = tempfile::tempdir().unwrap();
    let run = |seed: u64| {
        // tmux 3.3a may end when many control clients come and go in one server at once.
        let server = Server::start("sleep 600");
        let arguments = format!(
            "seed={seed} drop=15 late=25 echo=700 half=20 dialog=12 busy=8 exit=1 work=250"
        );
        let mut fake = start(&server, folder.path(), &format!("log{seed}"), &arguments);
        let mut outcomes: Vec<(String, Outcome)> = Vec::new();
        for number in 0..EACH {
            let mut text = format!("Task {seed}-{number} of this test");
            if number % 5 == 1 {
                text.push_str(
                    &", with words that need more than one line of the composer".repeat(2),
                );
            }
            if number % 7 == 2 {
                text.push_str(&"\nand another line".repeat(6));
            }
            let options = Options {
                while_working: number % 2 == 0,
                ..options()
            };
            let receipt = send(&server, &fake, &text, options);
            let (is_gone, is_left) = match &receipt.outcome {
                Outcome::Refused { reason, text_left } => {
                    (*reason == Reason::ProgramChanged, *text_left)
                }
                Outcome::Unconfirmed { text_left, .. } => (false, *text_left),
                _ => (false, false),
            };
            if matches!(receipt.outcome, Outcome::Refused { .. }) {
                // Dialogs and turns take a while, as they do with people.
                std::thread::sleep(Duration::from_millis(500));
            }
            outcomes.push((text, receipt.outcome));
            if is_gone
                || table::arguments(fake.running.process.pid)
                    .first()
                    .is_none_or(|name| name != "claude")
            {
                let (log, seed) = (
                    fake.log.file_name().unwrap().to_owned(),
                    seed + 1_000 * number as u64,
                );
                let arguments = arguments.replacen("seed=", &format!("seed={seed}"), 1);
                fake = start(&server, folder.path(), log.to_str().unwrap(), &arguments);
            } else if is_left || matches!(outcomes.last(), Some((_, Outcome::Unconfirmed { .. }))) {
                // A person removes a text that was left.
                let clear = fake.log.with_extension("clear");
                std::fs::create_dir(&clear).unwrap();
                eventually(|| (!clear.exists()).then_some(()));
            }
        }
        (fake.log, outcomes)
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let run = &run;
        let panes: Vec<_> = (1..=PANES)
            .map(|seed| scope.spawn(move || run(seed)))
            .collect();
        panes.into_iter().map(|pane| pane.join().unwrap()).collect()
    });
    let mut submitted = 0;
    for (log, outcomes) in &results {
        let prompts = events(log, "prompt");
        for what in ["dialog_key", "shell", "other_key"] {
            assert_eq!(
                events(log, what),
                Vec::<String>::new(),
                "{what} in {}",
                log.display()
            );
        }
        for (text, outcome) in outcomes {
            let times = prompts.iter().filter(|prompt| *prompt == text).count();
            let is_right = match outcome {
                Outcome::Submitted => times == 1,
                Outcome::Refused {
                    text_left: false, ..
                } => times == 0,
                _ => times <= 1,
            };
            assert!(is_right, "{text:?} {times} times: {outcome:?}");
            submitted += usize::from(outcome.is_submitted());
        }
        let is_known = |prompt: &String| outcomes.iter().any(|(text, _)| text == prompt);
        assert!(prompts.iter().all(is_known), "{prompts:?}");
    }
    let all: Vec<&Outcome> = results
        .iter()
        .flat_map(|(_, outcomes)| outcomes)
        .map(|(_, outcome)| outcome)
        .collect();
    assert_eq!(all.len(), 200);
    // A busy machine leaves more of them unconfirmed, which is no loss; most are submitted on a free one.
    assert!(submitted >= 50, "{submitted} of 200: {all:?}");
    println!("{submitted} of {} submitted", all.len());
}
