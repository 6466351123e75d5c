//! Fixes in the database: learned by one client, offered to another, judged by outcomes and by people.

use callosum_diagnose::{ErrorEvent, Severity, StreamSource};
use callosum_host::Disk;
use jiff::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::recall::{Place, RecallDb, SentMessage, Signature};

fn missing(module: &str) -> ErrorEvent {
    ErrorEvent {
        error_type: "ModuleNotFoundError".to_owned(),
        file_path: Some("app.py".to_owned()),
        line_number: Some(3),
        message: format!("No module named '{module}'"),
        code: None,
        module: Some(module.to_owned()),
        test: None,
        severity: Severity::High,
        stream_source: StreamSource::Merged,
        timestamp: String::new(),
        raw_output: String::new(),
    }
}

fn place(client: &str, session: &str) -> Place {
    Place {
        project: "/p".to_owned(),
        client: client.to_owned(),
        session: session.to_owned(),
        command: "python app.py".to_owned(),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn open(folder: &TempDir) -> RecallDb {
    RecallDb::open(&Disk::real(), &folder.path().join("recall.db"), 24, at(0)).unwrap()
}

/// One session hits the error, installs the module and runs the command again; each step is a process of its own.
fn teach(folder: &TempDir, place: &Place, module: &str, start: i64) -> String {
    let recorded = open(folder)
        .record(&missing(module), place, at(start))
        .unwrap();
    let errors = [recorded.signature.clone()];
    let install = format!("pip install {module}");
    for (text, has_failed, errors) in [
        ("python app.py", true, &errors[..]),
        (&install, false, &[]),
        ("python app.py", false, &[]),
    ] {
        let observation = Observation::Command {
            text,
            has_failed,
            errors,
        };
        open(folder)
            .observe(&observation, place, at(start + 10))
            .unwrap();
    }
    recorded.signature
}

/// CAKE-KNOW-1: what one client's session showed is offered to another client, in this project only.
#[test]
fn a_fix_of_one_client_is_offered_to_another() {
    let folder = TempDir::new().unwrap();
    teach(&folder, &place("claude", "s1"), "requests", 0);
    let database = open(&folder);
    let wanted = Signature::of_event(&missing("requests"));
    let known = |text: &Signature, project: &str| {
        database
            .known_fix(&text.id, &text.normalized, "ModuleNotFoundError", project)
            .unwrap()
    };
    let fix = known(&wanted, "/p").unwrap();
    assert_eq!(fix.commands, ["pip install requests"]);
    assert_eq!((fix.worked, fix.failed, &*fix.client), (1, 0, "claude"));
    assert!(known(&wanted, "/other").is_none());
    for other in ["sqlalchemy", "request", "nosuch"] {
        let other = Signature::of_event(&missing(other));
        assert!(known(&other, "/p").is_none(), "{other:?}");
    }
    let mut moved = missing("requests");
    moved.file_path = Some("apps.py".to_owned());
    assert!(known(&Signature::of_event(&moved), "/p").is_some());
    // It helps again, in another session.
    teach(&folder, &place("codex", "s2"), "requests", 100);
    assert_eq!(known(&wanted, "/p").unwrap().worked, 2);
    assert_eq!(database.known_failures("/p").unwrap().len(), 1);
    let listed = database.list(Some("/p"), None, 9).unwrap();
    assert_eq!(
        (listed[0].success_count, listed[0].occurrence_count),
        (2, 2)
    );
}

/// CAKE-KNOW-1: a fix that fails more often than it helps is no longer offered; one that a person wrote comes first.
#[test]
fn outcomes_and_people_decide_what_is_offered() {
    let folder = TempDir::new().unwrap();
    let signature = teach(&folder, &place("claude", "s1"), "requests", 0);
    let database = open(&folder);
    let wanted = Signature::of_event(&missing("requests"));
    let known = || {
        database
            .known_fix(&signature, &wanted.normalized, "ModuleNotFoundError", "/p")
            .unwrap()
    };
    let id = known().unwrap().id;
    assert!(database.judge_fix(id, "/p", false).unwrap());
    assert!(known().is_some());
    for number in 0..2 {
        let message = format!("m{number}");
        let sent = SentMessage {
            id: &message,
            signature: &signature,
            error_type: "ModuleNotFoundError",
            project: "/p",
            session: "s2",
            client: "codex",
            level: 1,
            text: "Operator (CAKE): Stop. Run pip install requests. See requirements.txt.",
            fix: Some(id),
            severity: Severity::High,
            score: 0.95,
            took_us: 900,
        };
        database.record_intervention(&sent, at(50)).unwrap();
    }
    assert!(database.update_outcome("m0", false, at(60)).unwrap());
    assert!(!database.update_outcome("other", false, at(60)).unwrap());
    assert!(known().is_none(), "it failed twice and helped once");
    let commands = ["uv add requests".to_owned()];
    let own = PersonalFix {
        signature: &signature,
        normalized: &wanted.normalized,
        error_type: "ModuleNotFoundError",
        project: "/p",
        commands: &commands,
        note: Some("this project uses uv"),
    };
    database.add_fix(&own, at(70)).unwrap();
    let fix = known().unwrap();
    assert!(fix.confirmed && fix.commands == commands);
    assert_eq!(database.fixes(&signature, "/p").unwrap().len(), 2);
    let history = database.history("ModuleNotFoundError", "/p").unwrap();
    assert_eq!(history.failed_attempts.len(), 1);
    assert_eq!(history.escalation_patterns.after_attempts, 1);
    assert!(history.successful_fixes.is_empty() && history.avg_resolution_time.is_none());
    let written = serde_json::to_value(&history).unwrap();
    assert!(written["escalation_patterns"]["common_escalation"].is_string());
}

/// CAKE-KNOW-1: a message after which the error goes away counts as a success, with its time.
#[test]
fn a_success_settles_the_message_before_it() {
    let folder = TempDir::new().unwrap();
    let place = place("codex", "s1");
    let database = open(&folder);
    let recorded = database
        .record(&missing("requests"), &place, at(0))
        .unwrap();
    let sent = SentMessage {
        id: "m1",
        signature: &recorded.signature,
        error_type: "ModuleNotFoundError",
        project: "/p",
        session: "s1",
        client: "codex",
        level: 2,
        text: "message",
        fix: None,
        severity: Severity::High,
        score: 0.95,
        took_us: 900,
    };
    database.record_intervention(&sent, at(1)).unwrap();
    teach(&folder, &place, "requests", 5);
    let history = database.history("ModuleNotFoundError", "/p").unwrap();
    assert_eq!(history.successful_fixes, ["message"]);
    assert!(history.avg_resolution_time.is_some());
    let listed = database.list(Some("/p"), None, 1).unwrap();
    assert_eq!(listed[0].intervention_count, 1);
}
