//! Help, examples, completions, manuals, colours.

use crate::projects::two_languages;

/// Every `$ callosum …` line of every help text, with the quoting of a shell undone.
fn examples(env: &callosum_testkit::TestEnv) -> Vec<(String, Vec<String>)> {
    let verbs: &[&[&str]] = &[
        &[],
        &["init"],
        &["uninstall"],
        &["snapshot", "create"],
        &["snapshot", "list"],
        &["snapshot", "clean"],
        &["hook"],
        &["mcp"],
        &["delegate"],
        &["executor", "list"],
        &["executor", "register"],
        &["executor", "check"],
        &["executor", "discover"],
        &["executor", "enable"],
        &["executor", "disable"],
        &["executor", "remove"],
        &["ledger", "show"],
        &["ledger", "query"],
        &["ledger", "verify"],
        &["ledger", "stats"],
        &["ledger", "checksum"],
        &["audit", "tail"],
        &["audit", "query"],
        &["audit", "verify"],
        &["replay"],
        &["session", "budget"],
        &["session", "checkpoint"],
        &["session", "decide"],
        &["session", "ghost"],
        &["session", "grounding"],
        &["session", "check"],
        &["session", "handoff"],
        &["session", "recover"],
        &["session", "repos"],
        &["session", "status"],
        &["session", "heal"],
        &["bead", "create"],
        &["bead", "ready"],
        &["plan", "eval"],
        &["plan", "check"],
        &["status"],
        &["doctor"],
        &["trust"],
        &["config", "show"],
        &["config", "set"],
        &["config", "check"],
        &["generate", "completions"],
    ];
    let mut found = Vec::new();
    for verb in verbs {
        let help = env
            .run(verb.iter().copied().chain(["--help"]))
            .success()
            .stdout;
        let before = found.len();
        for line in help.lines() {
            if let Some(example) = line.trim().strip_prefix("$ ") {
                let words = shlex::split(example).unwrap_or_else(|| panic!("{example}"));
                found.push((example.to_owned(), words));
            }
        }
        assert!(found.len() > before, "{verb:?} has no example");
    }
    found
}

/// Each example in a help text runs.
#[test]
fn every_example_of_every_help_text_runs() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    env.write(
        "tasks.json",
        r#"{"tasks": [{"id": "map", "prompt": "Map this repository"}]}"#,
    );
    env.write("tools/answer.py", ANSWER);
    env.run([
        "executor",
        "register",
        "mine",
        "--command",
        "python3 tools/answer.py",
    ])
    .success();
    env.run(["executor", "disable", "mine"]).success();
    let server = env.folder().join("server");
    env.write(server.join(".loa.config.yaml"), "{}\n");
    let decide = ["session", "decide", "Keep one pool"];
    let decided = env.callosum().in_folder(&server).arguments(decide);
    decided.run().success();
    for (example, words) in examples(&env) {
        let mut words = words.as_slice();
        let mut input = Vec::new();
        if words[0] == "echo" {
            input = words[1].clone().into_bytes();
            words = &words[3..];
        }
        assert_eq!(words[0], "callosum", "{example}");
        let arguments = &words[1..];
        let output = env.callosum().arguments(arguments).input(input).run();
        // A program that is not installed here, a server that is not there, and what an example before has removed.
        let is_missing = (output.stderr.contains("the program `")
            && output.stderr.contains("was not found"))
            || example.contains("--endpoint");
        let may_say_no = is_missing || example.contains("mine");
        assert!(
            output.code == 0 || may_say_no,
            "{example}: {}\n{}",
            output.code,
            output.stderr
        );
        if is_missing && arguments[..2] == ["executor", "register"] {
            env.run(["executor", "remove", &arguments[2]]).success();
        }
        if example.contains("disable scout") {
            env.run(["executor", "enable", "scout"]).success();
        }
    }
}

/// An executor that speaks the protocol, in a few lines of Python.
const ANSWER: &str = r#"
import json, sys
request = json.load(sys.stdin)
if request["prompt"] == "capabilities":
    print(json.dumps({"capabilities": {"prompt_input": True, "json_output": True}}))
else:
    print(json.dumps({"summary": "pong", "tokens_used": 0, "status": "success"}))
"#;

#[test]
fn completions_and_manuals_are_made_for_every_shell_and_verb() {
    let env = callosum_testkit::TestEnv::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = env.run(["generate", "completions", shell]).success().stdout;
        assert!(script.contains("delegate"), "{shell}");
    }
    let page = env
        .run(["generate", "man", "ledger", "query"])
        .success()
        .stdout;
    assert!(
        page.contains(".TH") && page.contains("newest first"),
        "{page}"
    );
    env.run(["generate", "man", "nothing"]).ended_with(2);
}

#[test]
fn nothing_is_coloured_where_nobody_looks() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    for arguments in [
        &["status"][..],
        &["doctor"],
        &["ledger", "show", "cal_2026_01_02_0001"],
    ] {
        let output = env.run(arguments).success();
        assert!(!output.stdout.contains('\u{1b}'), "{arguments:?}");
    }
    let forced = env
        .callosum()
        .arguments(["status"])
        .env("CLICOLOR_FORCE", "1")
        .run()
        .success();
    assert!(forced.stdout.contains('\u{1b}'));
    let none = env
        .callosum()
        .arguments(["status"])
        .env("NO_COLOR", "1")
        .run()
        .success();
    assert!(!none.stdout.contains('\u{1b}'));
}

/// Data on stdout, talk on stderr; a reader that goes away is no failure worth words.
#[test]
fn an_error_says_what_why_and_what_to_do() {
    let env = two_languages();
    let output = env
        .run(["ledger", "show", "cal_2020_01_01_0001"])
        .ended_with(1);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
    assert!(
        output
            .stderr
            .contains("hint: callosum audit query --task cal_2020_01_01_0001"),
        "{}",
        output.stderr
    );
}
