//! Why a delegation has no answer: the reason that a client left on one of its streams, and answers in the wrong
//! wrapping.

use callosum_host::Disk;
use callosum_testkit::{FakeClient, TestEnv};
use serde_json::Value;

use crate::{
    agents::fake,
    projects::{register_with, two_languages},
};

/// An answer with a citation that holds.
const ANSWER: &str = "It begins in `mod sum;` [src/main.rs:3].";

fn delegate(env: &TestEnv, executor: &str, options: &[&str], code: i32) -> Value {
    let run = env.callosum();
    let run = run.arguments(["delegate", "Where does it begin?", "--json", "--executor"]);
    let run = run.arguments([executor]).arguments(options);
    let run = run.env("CAL_CIRCUIT_FAILURES", "100");
    run.env("CAL_BACKOFF_BASE_MS", "1")
        .run()
        .ended_with(code)
        .json()
}

/// Puts a shell script where programs are found.
fn script(env: &TestEnv, name: &str, lines: &str) -> String {
    let file = env.programs().join(name);
    let text = format!("#!/bin/sh\n{lines}\n");
    Disk::real().replace(&file, text.as_bytes(), 0o755).unwrap();
    file.display().to_string()
}

fn gemini(env: &TestEnv, output: &str, error: &'static str) {
    let client = FakeClient {
        output: output.as_bytes().to_vec(),
        error,
        ..fake("gemini", "ok", 0)
    };
    client.install(env);
    let register = ["executor", "register", "gemini", "--sandbox", "off"];
    env.run(register).success();
}

/// CAL-ERR-2: Gemini CLI ends with 0 and an empty response, and says on standard error alone that a limit refused it
/// (pal-mcp-server#273). That is a limit, and asking again does not lift it.
#[test]
fn a_limit_on_standard_error_alone_is_a_limit() {
    let env = two_languages();
    let empty = r#"{"response": "", "stats": {"models": {"m": {"api": {"totalRequests": 5, "totalErrors": 5}}}}}"#;
    for (error, code, says) in [
        (
            "Loaded cached credentials.\nAttempt 5 failed with status 429. Max attempts reached\n",
            "E002",
            "429",
        ),
        (
            "To increase your limits, request a quota increase\n",
            "E002",
            "rate limit",
        ),
        (
            "(node:9) Warning: something\n(Use `node --trace-warnings ...`)\n[API Error: models/x is not found for API version v1beta]\n",
            "E001",
            "does not have this model: [API Error: models/x",
        ),
        ("", "E003", "each of its 5 requests to a model failed"),
    ] {
        gemini(&env, empty, error);
        let output = delegate(&env, "gemini", &["--no-cache"], 1);
        assert_eq!(output["error"]["code"], code, "{output}");
        let message = output["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{message}");
        let is_tried_again = output["error"]["details"]
            .as_str()
            .is_some_and(|details| details.contains("tries"));
        assert_eq!(is_tried_again, code == "E003", "{output}");
    }
}

/// CAL-ERR-3: asked for JSON, Gemini CLI prints the right answer as text (pal-mcp-server#290): it is paid for, and taken.
#[test]
fn plain_text_is_the_answer_of_a_client_that_writes_no_json() {
    let env = two_languages();
    gemini(&env, &format!("Loaded cached credentials.\n{ANSWER}\n"), "");
    let output = delegate(&env, "gemini", &[], 0);
    assert_eq!(output["summary"], ANSWER, "{output}");
    assert_eq!(output["citations"]["verified"], 1, "{output}");
}

/// CAL-ERR-3: terminal sequences and separators of lines that are none of JSON's do not hide an answer.
#[test]
fn json_between_terminal_sequences_is_read() {
    let env = two_languages();
    for (before, behind) in [
        ("\u{1b}[2K\u{1b}[32m", "\u{1b}[0m"),
        ("\u{feff}", "\u{2028}"),
    ] {
        let document = serde_json::json!({"response": ANSWER});
        gemini(&env, &format!("{before}{document}{behind}\n"), "");
        let output = delegate(&env, "gemini", &["--no-cache"], 0);
        assert_eq!(output["summary"], ANSWER, "{output}");
    }
}

/// CAL-ERR-3, LOA-SEC-1: what a program wrote and nobody can read is kept, its secrets masked, and the error names the
/// file.
#[test]
fn output_that_cannot_be_read_is_kept_and_its_file_is_named() {
    let env = two_languages();
    let program = script(
        &env,
        "odd",
        "read -r request\ncase \"$request\" in\n\
         *'\"ping\"'*) echo '{\"summary\": \"pong\", \"tokens_used\": 0, \"status\": \"success\"}';;\n\
         *'\"capabilities\"'*) echo '{\"capabilities\": {\"prompt_input\": true, \"json_output\": true, \"checksum_support\": false}}';;\n\
         *) echo 'It adds, with the key AKIAQWERTYUIOPASDFGH';;\nesac",
    );
    register_with(&env, "odd", &program, &["--sandbox", "off"]);
    let run = env
        .callosum()
        .arguments(["delegate", "x", "--executor", "odd", "--json"]);
    let output = run.env("CAL_RETRY_MAX", "0").run().ended_with(1).json();
    assert_eq!(output["error"]["code"], "E003", "{output}");
    let details = output["error"]["details"].as_str().unwrap();
    let (_, file) = details
        .split_once("its file: ")
        .unwrap_or_else(|| panic!("{output}"));
    let file = file.lines().next().unwrap();
    assert!(file.starts_with(".cal_answers/"), "{file}");
    assert_eq!(
        env.read(file).trim(),
        "It adds, with the key [secret: aws access key]"
    );
}

/// CAL-ERR-2: a client that is going to wait for a limit longer than anyone would is ended at once, and that is a limit:
/// Qwen Code 0.24.4 would go on for 385 s.
#[test]
fn a_client_that_waits_too_long_for_a_limit_is_ended() {
    let env = two_languages();
    fake("qwen", "ok", 0).install(&env);
    env.run(["executor", "register", "qwen", "--sandbox", "off"])
        .success();
    let help = env.programs().join("qwen.help");
    script(
        &env,
        "qwen",
        &format!(
            "case \"$*\" in *--version*) echo 0.24.4; exit;; *--help*) exec cat '{}';; esac\n\
             cat >/dev/null\n\
             echo 'Retrying in 2s (attempt 1/10): Error: 429 status code (no body)' >&2\n\
             echo 'Retrying in 240s (attempt 3/10): Error: 429 status code (no body)' >&2\n\
             exec sleep 600",
            help.display()
        ),
    );
    let output = delegate(&env, "qwen", &[], 1);
    assert_eq!(output["error"]["code"], "E002", "{output}");
    let message = output["error"]["message"].as_str().unwrap();
    assert!(message.contains("rate limit"), "{message}");
    assert!(message.contains("240s"), "{message}");
}

/// A program that a limit refuses at its first request, and that answers the next one.
fn refused_once(env: &TestEnv, reset: &str) {
    let mark = env.folder().join("asked");
    let program = script(
        env,
        "limited",
        &format!(
            "case \"$1\" in --version) echo 1.0; exit;; esac\ncat >/dev/null\n\
             if [ -e '{mark}' ]; then echo '{ANSWER}'; exit; fi\n\
             : > '{mark}'\necho 'Rate limit reached{reset}' >&2\nexit 1",
            mark = mark.display()
        ),
    );
    let options = ["--protocol", "text", "--sandbox", "off"];
    register_with(env, "limited", &program, &options);
    drop(Disk::real().remove_file(&mark));
}

/// CAL-ERR-2: with `--wait-limit` a task waits for a reset that is known, and is tried again then; without it, or where
/// the reset is unknown or too far, the limit is the error.
#[test]
fn a_known_reset_is_waited_for_and_then_it_is_tried_again() {
    let env = two_languages();
    for (reset, options, code) in [
        (", try again in 1s", &["--wait-limit", "1m"][..], 0),
        (", try again in 1s", &[][..], 1),
        (", try again in 2h", &["--wait-limit", "1m"][..], 1),
        ("", &["--wait-limit", "1m"][..], 1),
    ] {
        refused_once(&env, reset);
        let options = [options, &["--no-cache"]].concat();
        let output = delegate(&env, "limited", &options, code);
        if code == 0 {
            assert_eq!(output["summary"], ANSWER, "{output}");
        } else {
            assert_eq!(output["error"]["code"], "E002", "{output}");
        }
    }
}

/// An answer that is short and cites nothing is not paid for twice unless that is asked for.
#[test]
fn a_short_answer_without_citations_is_asked_for_again_only_on_request() {
    let env = two_languages();
    env.write("src/long.rs", "// A line.\n".repeat(3000));
    let count = env.folder().join("count");
    let program = script(
        &env,
        "brief",
        &format!(
            "case \"$1\" in --version) echo 1.0; exit;; esac\ncat >/dev/null\necho x >> '{}'\necho 'It adds.'",
            count.display()
        ),
    );
    let options = ["--protocol", "text", "--sandbox", "off"];
    register_with(&env, "brief", &program, &options);
    for (options, times) in [
        (&["--no-cache"][..], 1),
        (&["--no-cache", "--ask-for-citations"][..], 2),
    ] {
        drop(Disk::real().remove_file(&count));
        delegate(&env, "brief", options, 0);
        let asked = String::from_utf8(Disk::real().read(&count).unwrap()).unwrap();
        assert_eq!(asked.lines().count(), times, "{options:?}");
    }
}

/// Registering an executor does not change who takes tasks that name none; enabling it does.
#[test]
fn registering_an_executor_does_not_make_it_the_default() {
    let env = two_languages();
    let next = || {
        let listed = env.run(["executor", "list", "--json"]).success().json();
        listed["next_executor"].as_str().unwrap().to_owned()
    };
    assert_eq!(next(), "scout");
    let program = script(&env, "mine", "cat >/dev/null\necho 'It adds.'");
    let options = ["--protocol", "text", "--sandbox", "off"];
    register_with(&env, "mine", &program, &options);
    assert_eq!(next(), "scout");
    register_with(&env, "other", &program, &options);
    assert_eq!(next(), "scout");
    env.run(["executor", "enable", "other"]).success();
    assert_eq!(next(), "other");
    register_with(&env, "third", &program, &options);
    assert_eq!(next(), "other");
}

/// CAL-ERR-1: where the system gives no more threads or processes, that is an error in a sentence, and no panic.
#[test]
fn too_few_threads_are_an_error_and_no_panic() {
    use std::os::unix::{fs::MetadataExt as _, process::CommandExt as _};
    let env = two_languages();
    if std::fs::metadata(env.folder()).unwrap().uid() != 0 {
        // The bound holds for no superuser, and only the superuser can become another user.
        return;
    }
    // A user whom no other test on this machine is.
    let user = 40_000 + std::process::id() % 20_000;
    env.program("chown".into())
        .arguments(["-R", &user.to_string()])
        .arguments([env.folder()])
        .run()
        .success();
    for most in 1..12 {
        let run = env
            .callosum()
            .arguments(["delegate", "map it", "--no-cache"]);
        let callosum = run.command();
        let mut shell = env.program("bash".into()).command();
        shell.args(["-c", &format!("ulimit -u {most}; exec \"$@\""), "bash"]);
        shell.arg(callosum.get_program()).args(callosum.get_args());
        let output = shell.uid(user).gid(user).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1 | 3)), "{most}: {code:?} {said}");
        assert!(!said.contains("panicked"), "{most}: {said}");
        assert!(code == Some(0) || said.contains("error"), "{most}: {said}");
    }
}

/// CAKE-WATCH-1: what an executor printed before it failed is recorded, and a known fix is printed with the failure.
#[test]
fn the_errors_of_a_failed_executor_are_read() {
    let env = two_languages();
    let program = script(
        &env,
        "broken",
        "case \"$1\" in --version) echo 1.0; exit;; esac\ncat >/dev/null\n\
         printf 'Traceback (most recent call last):\\n  File \"app.py\", line 3, in <module>\\n    import requests\\n' >&2\n\
         echo \"ModuleNotFoundError: No module named 'requests'\" >&2\nexit 1",
    );
    let options = ["--protocol", "text", "--sandbox", "off"];
    register_with(&env, "broken", &program, &options);
    let ask = ["delegate", "what is this", "--executor", "broken"];
    env.run(ask).ended_with(1);
    let errors = env.run(["recall", "list", "--json"]).success().json();
    let error = &errors["errors"][0];
    assert_eq!(error["error_type"], "ModuleNotFoundError", "{errors}");
    assert_eq!(error["last_client"], "broken");
    assert_eq!(error["intervention_count"], 0);
    let signature = error["error_signature"].as_str().unwrap();
    let fix = ["recall", "fix", signature, "--run", "pip install requests"];
    env.run(fix).success();
    let failed = env.run(ask).ended_with(1);
    let line = "known fix: `pip install requests` (confirmed by a person)";
    assert!(failed.stderr.contains(line), "{}", failed.stderr);
}
