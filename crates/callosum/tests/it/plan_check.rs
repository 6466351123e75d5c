//! `callosum plan check` over the calls of a plan: their literal arguments, and effects that a retry repeats.

use callosum_testkit::{Schema, TestEnv};
use serde_json::Value;

fn checked(env: &TestEnv, source: &str, exit: i32) -> (String, Value) {
    let text = env.run(["plan", "check", "-e", source]).ended_with(exit);
    let json = env.run(["plan", "check", "-e", source, "--json"]);
    let json = json.ended_with(exit).json();
    let published = Schema::published("output-plan-check");
    assert_eq!(published.fault(&json), None, "{source}");
    (text.stderr, json)
}

/// CCOS-RTFS-1: a literal argument that the capability refuses is told before any call is made and paid.
#[test]
fn literal_arguments_that_a_capability_refuses_are_findings() {
    let env = TestEnv::new();
    env.run(["init"]).success();
    for (call, part) in [
        (
            "(call :agent.delegate {:promt \"p\"})",
            "did you mean `:prompt`?",
        ),
        (
            "(call :agent.delegate {:executor \"scout\"})",
            "{:prompt} is missing",
        ),
        (
            "(call :ledger.query {:limit \"3\"})",
            "{:limit} is a string",
        ),
        (
            "(call :session.decide {:decision d :cite [\"README.md\"]})",
            "`README.md` does not name lines of a file",
        ),
        (
            "(call :session.decide {:decision d :cite [d \"src/a.rs:x\"]})",
            "`src/a.rs:x` does not name lines of a file",
        ),
    ] {
        let plan =
            format!("(defplan p (d)\n  (do (call :agent.delegate {{:prompt d}})\n    {call}))");
        let (stderr, json) = checked(&env, &plan, 1);
        assert!(stderr.contains(part), "{call}: {stderr}");
        assert!(
            stderr.contains("error[argument-mismatch]"),
            "{call}: {stderr}"
        );
        assert_eq!(json["findings"][0]["rule"], "argument-mismatch", "{call}");
        assert_eq!(json["findings"][0]["line"], 3, "{call}");
    }
    let fine = "(defplan p (d n) [(call :session.decide {:decision d :cite [\"README.md:1\" d]}) \
                (call :ledger.query {:limit n}) (call :fs.read d)])";
    let (stderr, json) = checked(&env, fine, 0);
    assert_eq!(stderr, "");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(0));
}

/// CCOS-RTFS-1: a plan that catches the failure may run, and the check says that the call always fails.
#[test]
fn a_wrong_argument_that_the_plan_catches_is_a_warning() {
    let env = TestEnv::new();
    env.run(["init"]).success();
    let caught = "(try (call :fs.read {:pth \"x\"}) (catch e :none))";
    let (stderr, json) = checked(&env, caught, 0);
    assert!(
        stderr.contains("warning: line 1: the call always fails"),
        "{stderr}"
    );
    assert_eq!(json["warnings"][0]["rule"], "argument-mismatch");
    let other = "(try (call :fs.read {:pth \"x\"}) (catch :Timeout e :none))";
    checked(&env, other, 1);
}

/// CCOS-RTFS-2: a step with retries that repeats an effect is told beforehand, and the plan may run.
#[test]
fn a_retry_that_repeats_an_effect_is_a_warning() {
    let env = TestEnv::new();
    env.run(["init"]).success();
    let plan = "(defplan p (x)\n  (step :file {:retries {:max 2}}\n    (call :task.add {:prompt x})\n    \
                (call :fs.read x)))";
    let (stderr, json) = checked(&env, plan, 0);
    let told = "warning: line 3: a retry of the step `file` repeats `:task.add`";
    assert!(stderr.contains(told), "{stderr}");
    let warnings = json["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{json}");
    for (key, value) in [
        ("rule", "repeated-effect"),
        ("step", "file"),
        ("capability", "task.add"),
    ] {
        assert_eq!(warnings[0][key], value, "{json}");
    }
    assert_eq!(warnings[0]["line"], 3);
    let once = "(step :file {:retries 2} (call :task.add {:prompt \"p\" :id \"audit\"}))";
    assert_eq!(checked(&env, once, 0).0, "");
}
