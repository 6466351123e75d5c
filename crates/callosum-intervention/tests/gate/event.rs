//! Messages about the event, and about another file, line, error or test.

use super::{EVENT, check_under};

/// CAKE-VOICE-1: the seed's own examples have the seed's own results.
#[test]
fn the_seeds_examples_have_their_results() {
    for valid in [
        "Operator (CAKE): Stop. Run tests. See output.",
        "Operator (CAKE): Stop. Run pip install requests. See requirements.txt.",
        "Operator (CAKE): Stop. Fix syntax error line 42. Check parentheses.",
        "Operator (CAKE): Stop. Try git stash. See uncommitted changes.",
        "Operator (CAKE): Stop. Check virtual environment. Run pip list.",
        "Operator (CAKE): Stop. Run pytest. See test results.",
    ] {
        for event in [None, Some(EVENT)] {
            let found = check_under(event, valid);
            assert!(found.passed && found.score >= 0.90, "{valid}: {found:?}");
            assert_eq!(found.reason, "Valid");
        }
    }
    let found = check_under(None, "I think you should maybe try running tests");
    assert!(!found.passed && found.score < 0.90);
    assert_eq!(
        found.reason,
        "Missing operator prefix, uncertainty detected"
    );
    let written = serde_json::to_value(&found).unwrap();
    let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["passed", "score", "raw_score", "reason"]);
}

/// CAKE-VOICE-1: commands, files, lines, errors and tests of the event are accepted.
#[test]
fn messages_about_the_event_pass() {
    for rest in [
        "Run cargo add serde. See Cargo.toml.",
        "Run cargo test -p shop cart::tests::adds. See src/cart.rs:42.",
        "Run go test ./.... See output.",
        "Run go get github.com/acme/pay. See output.",
        "Run npm install @types/node. See output.",
        "Run npm install left-pad@1.3.0. See output.",
        "Run pip install -r requirements.txt. See output.",
        "Run ruff check .. See output.",
        "Run ./run.sh. See output.",
        "Run shopctl migrate. See output.",
        "Run make. See output.",
        "Run make test. See output.",
        "Run make seed. See output.",
        "Fix test cart::tests::adds. See src/cart.rs:42.",
        "Fix SyntaxError line 42. See src/cart.rs.",
        "Fix syntax error line 42. See src/cart.rs.",
        "Fix src/price.rs. See known fix.",
        "Try git stash. See output.",
        "Check src/cart.rs:42. See output.",
    ] {
        // `./run.sh` exists, but is not the file of the event: a program is not a reference.
        let event = (!rest.contains("run.sh")).then_some(EVENT);
        let text = format!("Operator (CAKE): Stop. {rest}");
        let found = check_under(event, &text);
        assert!(found.passed, "{text}: {found:?}");
    }
}

/// CAKE-VOICE-1: well-formed messages about another error, file, line or test are refused.
#[test]
fn messages_about_something_else_fail() {
    for rest in [
        "Check src/cart.rs:41. See output.",
        "Check src/cart.rs:420. See output.",
        "Check src/cart.rs:042. See output.",
        "Check src/cart.rs:0. See output.",
        "Check src/cart.rs:-42. See output.",
        "Check src/cart.rs:99999999999. See output.",
        "Check src/other.rs:42. See output.",
        "Check src/other.rs. See output.",
        "Check cart.rs:42. See output.",
        "Check ../src/cart.rs:42. See output.",
        "Check ./../src/cart.rs. See output.",
        "Check src/../src/cart.rs:42. See output.",
        "Check /src/cart.rs:42. See output.",
        "Check src/missing.rs. See output.",
        "Run tests. See package.json.",
        "Run tests. See /etc/shadow.",
        "Run tests. See /etc/passwd.",
        "Run tests. See ~/.ssh/id_rsa.",
        "Run tests. See .env.",
        "Run tests. See C:\\Windows\\system.ini.",
        "Run tests. See https://evil.example/x.",
        "Run tests. See evil.example.",
        "Run tests. See everything.",
        "Fix syntax error line 41. See src/cart.rs.",
        "Fix syntax error line forty. See src/cart.rs.",
        "Fix syntax error line. See src/cart.rs.",
        "Fix lint error line 42. See src/cart.rs.",
        "Fix KeyError line 42. See src/cart.rs.",
        "Fix KeyError. See src/cart.rs.",
        "Fix everything. See src/cart.rs.",
        "Fix test cart::tests::removes. See src/cart.rs.",
        "Fix test . See src/cart.rs.",
        "Run pytest tests/test_a.py. See output.",
        "Run python src/other.rs. See output.",
    ] {
        let text = format!("Operator (CAKE): Stop. {rest}");
        let found = check_under(Some(EVENT), &text);
        assert!(!found.passed, "{text}: {found:?}");
    }
}
