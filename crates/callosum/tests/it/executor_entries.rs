//! What is told of an executor's entry as it changes, and what of it is not granted.

use std::os::unix::fs::symlink;

use callosum_testkit::fakes;
use serde_json::{Value, json};

use crate::{
    agents::fake,
    projects::{register, two_languages, with_executor},
};

/// CAL-EXE-1: a program that changes an entry is told how it stands then, or what is gone.
#[test]
fn a_changed_entry_is_printed_as_it_stands() {
    let env = two_languages();
    register(&env, "mine", &fakes::fake(""));
    let run = |arguments: &[&str]| env.run([arguments, &["--json"]].concat()).success().json();
    let disabled = run(&["executor", "disable", "mine"]);
    assert_eq!(
        (&disabled["id"], &disabled["enabled"]),
        (&json!("mine"), &json!(false))
    );
    let enabled = run(&["executor", "enable", "mine", "--priority", "7"]);
    assert_eq!(
        (&enabled["enabled"], &enabled["priority"]),
        (&json!(true), &json!(7))
    );
    let listed = run(&["executor", "list"]);
    assert_eq!(listed["executors"][1], enabled);
    let removed = run(&["executor", "remove", "mine"]);
    assert_eq!(
        (&removed["id"], &removed["executor"]),
        (&json!("mine"), &enabled)
    );
}

/// CAL-SEC-1: what git, agents or this program obey is not granted, and that is said, whoever asks for it.
#[test]
fn a_wish_for_what_is_obeyed_is_refused_in_words() {
    let env = two_languages();
    env.git_init();
    let template = fakes::fake("");
    let register = |wish: &str| {
        let line = [
            "executor",
            "register",
            "mine",
            "--command",
            &template,
            "--allow-write",
            wish,
        ];
        env.run(line)
    };
    for wish in [
        ".git",
        ".git/hooks/",
        ".cal_memory.json",
        "registry.json",
        ".husky/",
    ] {
        let refused = register(wish).ended_with(2).stderr;
        assert!(
            refused.contains(&format!("the sandbox never allows writing to `{wish}`")),
            "{refused}"
        );
        assert!(
            refused.contains("hint: callosum executor register mine --command"),
            "{refused}"
        );
        assert!(!refused.contains("--allow-write"), "{refused}");
    }
    let told = register("./").success().stderr;
    assert!(
        told.contains("`./` is writable except for files from which git"),
        "{told}"
    );
    let granted = register("target/").success().stderr;
    assert!(!granted.contains("is writable except"), "{granted}");
    let registry = env
        .read("registry.json")
        .replacen("\"target/\"", "\".git/\"", 1);
    env.write("registry.json", registry);
    env.run(["trust", "mine"]).success();
    let doctor = env.run(["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let mine = checks
        .iter()
        .find(|check| check["name"] == "executor mine")
        .unwrap();
    assert!(
        mine["found"]
            .as_str()
            .unwrap()
            .contains("asks to write `.git/`"),
        "{mine}"
    );
}

/// CAL-EXE-1, CAL-EXE-2: a client that does not start is told with the line that failed and what mends it, by
/// `discover`, `check` and `doctor` alike; all that it said is there to be read.
#[test]
fn a_broken_client_is_told_with_what_mends_it() {
    let env = two_languages();
    fake("gemini", "ok", 0).install(&env);
    env.run(["executor", "discover"]).success();
    let script = "#!/bin/sh\necho 'SAFE MODE' >&2\necho \"Error: Cannot find module 'x'\" >&2\n\
                  echo '    at Module._load (node:1)' >&2\necho 'Node.js v20.20.2' >&2\nexit 1\n";
    let program = env.programs().join("gemini");
    std::fs::write(&program, script).unwrap();
    let check = env
        .run(["executor", "check", "gemini", "--json"])
        .ended_with(1)
        .json();
    let check = &check["checks"][0];
    let reason = check["steps"][0]["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("exit code 1: Error: Cannot find module 'x'"),
        "{reason}"
    );
    let details = check["steps"][0]["details"].as_str().unwrap();
    assert!(details.contains("Node.js v20.20.2"), "{details}");
    let hint = "its installation is incomplete: npm install -g @google/gemini-cli@latest && callosum executor check gemini";
    assert_eq!(check["hint"], hint);
    let doctor = env.run(["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let line = checks
        .iter()
        .find(|check| check["name"] == "executor gemini")
        .unwrap();
    assert_eq!(line["hint"], hint, "{line}");
    let shown = env
        .run(["executor", "check", "gemini", "-v"])
        .ended_with(1)
        .stderr;
    assert!(shown.contains("at Module._load"), "{shown}");
    std::fs::write(&program, "#!/bin/sh\necho 'SAFE MODE' >&2\nexit 3\n").unwrap();
    let check = env
        .run(["executor", "check", "gemini", "--json"])
        .ended_with(1)
        .json();
    let reason = check["checks"][0]["steps"][0]["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("exit code 3, and printed nothing that explains it"),
        "{reason}"
    );
}

/// CAL-EXE-1: whoever reads what was found knows which file that is, and whether it only leads to one.
#[test]
fn a_link_and_a_shim_are_told_as_such() {
    let env = two_languages();
    fake("codex", "ok", 0).install(&env);
    let real = env.folder().join("real-codex");
    std::fs::rename(env.programs().join("codex"), &real).unwrap();
    let shims = env.folder().join(".asdf/shims");
    std::fs::create_dir_all(&shims).unwrap();
    symlink(&real, shims.join("codex")).unwrap();
    let path = format!("{}:/usr/bin:/bin", shims.display());
    let run = env.callosum().env("PATH", &path);
    let found = run
        .arguments(["executor", "discover", "--json"])
        .run()
        .success()
        .json();
    let codex = &found["found"][0];
    assert_eq!(
        codex["program"],
        Value::from(shims.join("codex").display().to_string())
    );
    let real = std::fs::canonicalize(real).unwrap().display().to_string();
    assert_eq!(codex["resolved_path"], Value::from(real));
    assert_eq!(codex["shim_for"], "asdf");
    let told = env
        .callosum()
        .env("PATH", &path)
        .arguments(["executor", "discover"]);
    let told = told.run().success().stdout;
    assert!(told.contains("a shim of asdf"), "{told}");
}

/// A command line that is not understood has a line to paste, as whatever else fails has.
#[test]
fn a_usage_error_has_a_hint_for_a_program() {
    let env = with_executor(&fakes::fake(""));
    for (line, hint) in [
        (["executor", "lst"], "callosum executor list --json"),
        (["executor", "enable"], "callosum executor enable --help"),
        (["delegate", "--kind=x"], "callosum delegate --help"),
    ] {
        let refused = env
            .run([&line[..], &["--json"]].concat())
            .ended_with(2)
            .json();
        assert_eq!(refused["error"]["hint"], hint, "{refused}");
    }
}
