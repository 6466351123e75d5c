//! Commands in a message: dangerous ones, packages, and fixes.

use callosum_intervention::voice::{EventFacts, Gate, GateFacts};

use super::{EVENT, check_under};

/// CAKE-VOICE-1: dangerous, compound and unknown commands are refused, even if the guard allows everything.
#[test]
fn dangerous_commands_fail_under_a_guard_that_allows_everything() {
    let commands = include_str!("../messages/refused_commands.txt");
    assert!(commands.lines().count() > 180);
    for command in commands.lines().chain(["pip install x\nrm y", ""]) {
        for verb in ["Run", "Try"] {
            let text = format!("Operator (CAKE): Stop. {verb} {command}. See output.");
            let found = check_under(None, &text);
            assert!(!found.passed, "{text}: {found:?}");
            let text = format!("Operator (CAKE): Stop. Check output. Run {command}.");
            assert!(!check_under(Some(EVENT), &text).passed, "{text}");
        }
    }
}

/// CAKE-VOICE-1: a guard that refuses a command refuses the message.
#[test]
fn the_guard_has_the_last_word() {
    let surroundings = GateFacts {
        allows: &|command| command != "pip install requests",
        exists: &|_| true,
        declares: &|_| false,
        event: None,
    };
    let gate = Gate::built_in().unwrap();
    let found = gate.check(
        "Operator (CAKE): Stop. Run pip install requests. See output.",
        &surroundings,
    );
    assert!(!found.passed && found.reason.contains("guard"), "{found:?}");
    let found = gate.check(
        "Operator (CAKE): Stop. Run pip install flask. See output.",
        &surroundings,
    );
    assert!(found.passed, "{found:?}");
}

/// CAKE-VOICE-1: with an event, only a fix of it or a name of its message may be installed.
#[test]
fn packages_that_the_error_does_not_name_are_refused() {
    let event = EventFacts {
        error_type: "ModuleNotFoundError",
        file: Some("src/cart.py"),
        message: Some("No module named 'requests'"),
        fixes: [None, Some("pip install opencv-python")],
        ..EVENT
    };
    for (command, passes) in [
        ("pip install requests", true),
        ("pip install Requests==2.31", true),
        ("python -m pip install requests", true),
        ("pip install opencv-python", true),
        ("pip install -r requirements.txt", true),
        ("npm install", true),
        ("cargo test add", true),
        ("pip install request", false),
        ("pip install module", false),
        ("npm install requests", false),
        ("cargo add requests", false),
        ("pip install evil", false),
        ("pip install requests evil", false),
        ("npm install evil", false),
        ("cargo add evil", false),
        ("go get example.org/evil", false),
        ("gem install evil", false),
        ("uv pip install evil", false),
    ] {
        let text = format!("Operator (CAKE): Stop. Run {command}. See output.");
        let found = check_under(Some(event), &text);
        assert_eq!(found.passed, passes, "{text}: {found:?}");
    }
}

/// CAKE-VOICE-1: a fix of the event may use any file of the project; another command may not.
#[test]
fn a_fix_may_use_any_file_of_the_project() {
    let text = |command: &str| format!("Operator (CAKE): Stop. Run {command}. See output.");
    for command in [
        "./run.sh",
        "pytest tests/test_a.py",
        "pytest tests/test_a.py -k adds",
    ] {
        let fixes = [Some(command), None];
        let found = check_under(Some(EventFacts { fixes, ..EVENT }), &text(command));
        assert!(found.passed, "{command}: {found:?}");
        assert!(
            !check_under(Some(EVENT), &text(command)).passed,
            "{command}"
        );
    }
    for command in [
        "./missing.sh",
        "pytest tests/missing.py",
        "pytest /etc/x.py",
        "rm run.sh",
    ] {
        let fixes = [Some(command), None];
        let found = check_under(Some(EventFacts { fixes, ..EVENT }), &text(command));
        assert!(!found.passed, "{command}: {found:?}");
    }
}
