//! Recorded screens of real clients: the state of each, and never a dialog or idleness where there is none.

use std::{collections::BTreeMap, path::Path};

use callosum_panes::{
    RuleSet, Screen, State,
    assess::{Facts, ProcessFact, ScreenFact, assess},
};
use jiff::Timestamp;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    client: String,
    #[expect(dead_code, reason = "for people: the version that was recorded")]
    version: String,
    state: State,
    title: String,
    size: (u16, u16),
    cursor: (u16, u16),
    #[expect(dead_code, reason = "for people")]
    alternate: bool,
    command: String,
    trap: bool,
    #[serde(default)]
    draft: bool,
    #[expect(dead_code, reason = "for people")]
    note: String,
}

struct Recording {
    name: String,
    head: Head,
    screen: Screen,
}

fn recordings() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
    let mut found = Vec::new();
    for client in std::fs::read_dir(folder).unwrap() {
        let client = client.unwrap().path();
        if !client.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&client).unwrap() {
            let file = file.unwrap().path();
            let text = std::fs::read_to_string(&file).unwrap();
            let name = file.strip_prefix(client.parent().unwrap()).unwrap();
            let name = name.display().to_string();
            let (head, screen) = text.split_once("\n+++\n").expect(&name);
            let head: Head = toml::from_str(head).unwrap_or_else(|error| panic!("{name}: {error}"));
            let screen = Screen::read(screen.as_bytes(), Some(head.cursor));
            found.push(Recording { name, head, screen });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// The state that the pane would have, as a sensor asks for it.
fn state(recording: &Recording) -> (State, String) {
    let head = &recording.head;
    let is_shell = matches!(head.command.as_str(), "bash" | "sh" | "zsh" | "fish");
    let Some(rules) = RuleSet::built_in(&head.client).filter(|_| !is_shell) else {
        let ended = head.client != "shell";
        return (
            if ended {
                State::SessionEnded
            } else {
                State::Unknown
            },
            String::new(),
        );
    };
    let layout = rules.layout(&recording.screen);
    let (judgment, considered) = rules.judge(&head.title, &recording.screen, &layout);
    let now = Timestamp::UNIX_EPOCH;
    let found = assess(Facts {
        now,
        process: ProcessFact::Running,
        hook: None,
        registry: None,
        screen: ScreenFact::Read {
            judgment,
            since: now,
            considered,
        },
    });
    let why = found.evidence.first().map(|evidence| evidence.rule.clone());
    let draft = layout.composer.map(|place| place.draft).unwrap_or_default();
    if found.state != State::BlockedOnApproval && found.state != State::Unknown {
        assert_eq!(
            !draft.is_empty(),
            head.draft,
            "{}: the draft is {draft:?}",
            recording.name
        );
    }
    (found.state, why.or(found.detail).unwrap_or_default())
}

/// Issue: at least 98 % of states, no false idleness, and no false dialog.
#[test]
fn the_states_of_recorded_screens_are_right() {
    let recordings = recordings();
    assert!(recordings.len() >= 100, "{} recordings", recordings.len());
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for recording in &recordings {
        let (found, why) = state(recording);
        let expected = recording.head.state;
        *counts
            .entry((recording.head.client.clone(), expected.name()))
            .or_default() += 1;
        if found == expected {
            continue;
        }
        let name = &recording.name;
        let is_worse = found == State::TrulyIdle || found == State::BlockedOnApproval;
        let mark = if is_worse || recording.head.trap {
            "WORSE "
        } else {
            ""
        };
        wrong.push(format!(
            "{mark}{name}: {found} by {why}, expected {expected}"
        ));
    }
    let right = recordings.len() - wrong.len();
    let report = format!("{right} of {}\n{}", recordings.len(), wrong.join("\n"));
    assert!(right * 100 >= recordings.len() * 98, "{report}\n{counts:?}");
    assert!(!report.contains("WORSE"), "{report}");
}

/// A client whose screen has changed is unknown, with a reason, and never idle by a guess.
#[test]
fn a_screen_of_another_client_is_not_guessed() {
    // A shell that prints a client's screen is known by its process.
    for recording in recordings()
        .into_iter()
        .filter(|one| one.head.client != "shell")
    {
        let own = recording.head.client.as_str();
        for other in ["claude-code", "codex", "gemini-cli"]
            .into_iter()
            .filter(|other| *other != own)
        {
            let rules = RuleSet::built_in(other).unwrap();
            let layout = rules.layout(&recording.screen);
            let (judgment, _) = rules.judge("", &recording.screen, &layout);
            let state = judgment.map(|judgment| judgment.state);
            let is_safe = state.is_none_or(|state| !state.takes_prompt());
            assert!(
                is_safe,
                "{} by the rules of {other}: {state:?}",
                recording.name
            );
        }
    }
}

/// Every recording fits its screen.
#[test]
fn recordings_are_whole() {
    for Recording { name, head, screen } in recordings() {
        let (columns, rows) = head.size;
        assert!(
            head.cursor.0 <= columns && head.cursor.1 < rows,
            "{name}: cursor"
        );
        assert!(
            screen.lines.len() <= usize::from(rows) + 1,
            "{name}: {}",
            screen.lines.len()
        );
    }
}
