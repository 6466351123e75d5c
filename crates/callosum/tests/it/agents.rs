//! Coding agents, played by scripts that write what the real ones wrote.

use callosum_testkit::{FakeClient, TestEnv};
use serde_json::Value;

use crate::projects::two_languages;

/// Their options as far as the templates use them, their versions, and how they were recorded.
const CLIENTS: [(&str, &str, &str); 5] = [
    (
        "claude",
        "2.1.330 (Claude Code)",
        "-p, --print\n--setting-sources <sources>\n--output-format <format>\n--verbose\n--include-partial-messages\n--json-schema <schema>",
    ),
    (
        "codex",
        "codex-cli 0.169.0",
        "--json\n--skip-git-repo-check\n-s, --sandbox <MODE>\n--output-schema <FILE>",
    ),
    ("gemini", "0.61.0", "--skip-trust\n-o, --output-format"),
    ("opencode", "1.18.33", "--format"),
    (
        "qwen",
        "0.24.4",
        "--safe-mode\n-o, --output-format\n--json-schema",
    ),
];

fn recorded(name: &str) -> Vec<u8> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../callosum-executor/tests/fixtures/outputs/"
    );
    std::fs::read(format!("{folder}{name}")).unwrap()
}

pub(crate) fn fake(program: &str, case: &str, code: i32) -> FakeClient {
    let (program, version, help) = CLIENTS
        .into_iter()
        .find(|(known, ..)| *known == program)
        .unwrap();
    FakeClient {
        program,
        version,
        help,
        output: recorded(&format!("{program}.{case}.jsonl")),
        error: "",
        code,
    }
}

fn delegate(env: &TestEnv, executor: &str, code: i32) -> Value {
    let run = env.run(["delegate", "map it", "--executor", executor, "--json"]);
    run.ended_with(code).json()
}

/// CAL-EXE-1: an agent that is registered again with another option is heard as before, with what it was given.
#[test]
fn another_option_leaves_an_agent_what_it_speaks_and_may() {
    let env = two_languages();
    for (client, template) in [
        ("gemini", "gemini --output-format stream-json --skip-trust"),
        (
            "qwen",
            "qwen --output-format stream-json --safe-mode --json-schema {schema}",
        ),
    ] {
        fake(client, "ok", 0).install(&env);
        let register = ["executor", "register", client];
        env.run(register.iter().chain(&["--pass-env", "SOME_VALUE"]))
            .success();
        let again = env.run(register.iter().chain(&["--command", template]));
        let told = again.success().stderr;
        assert!(told.contains("kept from the entry"), "{told}");
        assert_eq!(delegate(&env, client, 0)["summary"], "SUMMARY: fine");
        let registry: Value = serde_json::from_str(&env.read("registry.json")).unwrap();
        let entries = registry["executors"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["id"] == client).unwrap();
        assert_eq!(entry["protocol"], client, "{entry}");
        assert_eq!(entry["command_template"], template, "{entry}");
        assert_eq!(entry["pass_environment"][0], "SOME_VALUE", "{entry}");
    }
}

/// CAL-EXE-1, REQ-EXE-005, CAL-COM-1: who is installed is found and active without a paid call, and
/// its summary and tokens are in the ledger.
#[test]
fn discovered_agents_answer_into_the_ledger() {
    let env = two_languages();
    for (program, ..) in CLIENTS {
        fake(program, "ok", 0).install(&env);
    }
    let found = env.run(["executor", "discover", "--json"]).success().json();
    let (agents, others): (Vec<&Value>, Vec<_>) = found["found"]
        .as_array()
        .unwrap()
        .iter()
        .partition(|one| CLIENTS.iter().any(|(known, ..)| one["id"] == *known));
    assert_eq!(agents.len(), CLIENTS.len());
    for one in agents {
        assert_eq!(one["status"], "active", "{one}");
    }
    let others: Vec<_> = others
        .iter()
        .map(|one| (&one["id"], &one["status"]))
        .collect();
    let spoken = ["gemini-acp", "opencode-acp", "qwen-acp"].map(Value::from);
    let inactive = Value::from("inactive");
    assert_eq!(others, spoken.each_ref().map(|id| (id, &inactive)));
    for (program, tokens) in [
        ("claude", 160),
        ("codex", 120),
        ("gemini", 120),
        ("opencode", 120),
        ("qwen", 11_195),
    ] {
        let output = delegate(&env, program, 0);
        assert_eq!(output["summary"], "SUMMARY: fine", "{output}");
        assert_eq!(output["tokens_used"], tokens, "{output}");
        let id = output["task_id"].as_str().unwrap();
        let shown = env
            .run(["ledger", "show", id, "--json"])
            .success()
            .json()
            .to_string();
        assert!(shown.contains(&format!("reported by {program}")), "{shown}");
    }
}

/// What is a request's own fault, or lasts until somebody logs in, leaves nobody alone: the next one hears why.
#[test]
fn a_refusal_of_one_request_is_no_failure_of_the_agent() {
    let env = two_languages();
    fake("claude", "ok", 0).install(&env);
    env.run(["executor", "discover"]).success();
    for (case, says) in [("400", "prompt as too long"), ("401", "is not logged in")] {
        fake("claude", case, 1).install(&env);
        for _ in 0..3 {
            let run = env
                .callosum()
                .arguments(["delegate", "map it", "--executor", "claude", "--json"])
                .env("CAL_CIRCUIT_FAILURES", "1")
                .run();
            let failed = run.ended_with(1).json();
            let message = failed["error"]["message"].as_str().unwrap();
            assert!(message.contains(says), "{message}");
        }
    }
    let status = env.run(["status"]).success();
    assert!(!status.stdout.contains("left alone"), "{}", status.stdout);
}

/// CAL-ERR-1, CAL-ERR-2, CAL-ERR-3: each way of failing has its code, says why, and what helps.
#[test]
fn an_agent_that_fails_is_told_with_code_cause_and_hint() {
    let env = two_languages();
    for (program, ..) in CLIENTS {
        fake(program, "ok", 0).install(&env);
    }
    env.run(["executor", "discover"]).success();
    for (program, case, exit, code, says) in [
        (
            "claude",
            "401",
            1,
            "E001",
            ["is not logged in", "claude /login"],
        ),
        (
            "gemini",
            "401",
            145,
            "E001",
            ["is not logged in", "gemini, in a terminal"],
        ),
        (
            "codex",
            "401",
            1,
            "E001",
            ["is not logged in", "codex login"],
        ),
        (
            "claude",
            "429",
            1,
            "E002",
            ["rate limit, which is lifted in 20s", "--executor scout"],
        ),
        ("qwen", "400", 1, "E003", ["prompt as too long", "--path"]),
    ] {
        fake(program, case, exit).install(&env);
        let output = delegate(&env, program, 1);
        assert_eq!(output["error"]["code"], code, "{output}");
        let told = |key: &str| output["error"][key].as_str().unwrap_or_default().to_owned();
        let (message, hint) = (told("message"), told("hint"));
        assert!(message.contains(says[0]), "{message}");
        assert!(hint.contains(says[1]), "{hint}");
        // It was not asked again: what lasts is not tried four times.
        assert!(!output.to_string().contains("tries"), "{output}");
    }
}

/// CAL-ERR-3: what came of an answer that broke off is no answer, and is kept.
#[test]
fn the_beginning_of_an_answer_is_kept_but_not_committed() {
    let env = two_languages();
    fake("opencode", "ok", 0).install(&env);
    env.run(["executor", "discover"]).success();
    fake("opencode", "cut", 0).install(&env);
    let run = env
        .callosum()
        .arguments(["delegate", "map it", "--executor", "opencode", "--json"]);
    let output = run.env("CAL_RETRY_MAX", "0").run().ended_with(1).json();
    assert_eq!(output["error"]["code"], "E003", "{output}");
    let details = output["error"]["details"].as_str().unwrap();
    assert!(
        details.contains("the partial answer is stored as "),
        "{output}"
    );
}

/// REQ-EXE-003: one that is too old, or lacks an option, stays inactive and says why.
#[test]
fn an_agent_that_is_too_old_or_lacks_an_option_is_inactive() {
    let env = two_languages();
    let mut old = fake("codex", "ok", 0);
    old.version = "codex-cli 0.2.0";
    // Options come with versions: that it lacks one is no news then.
    old.help = "--skip-git-repo-check";
    old.install(&env);
    let mut bare = fake("claude", "ok", 0);
    bare.help = "-p, --print\n--setting-sources <sources>\n--output-format <format>\n--verbose\n--include-partial-messages";
    bare.install(&env);
    let found = env.run(["executor", "discover", "--json"]).success().json();
    let reason = |at: usize| found["found"][at]["reason"].as_str().unwrap().to_owned();
    assert!(
        reason(0).contains("does not have `--json-schema`")
            && reason(0).ends_with("its version is 2.1.330"),
        "{found}"
    );
    assert!(
        reason(1).contains("version is 0.2.0, but the oldest"),
        "{found}"
    );
    assert_eq!(found["found"][0]["status"], "inactive");
    for (at, hint) in [
        (0, "claude update && callosum executor check claude"),
        (
            1,
            "npm install -g @openai/codex@latest && callosum executor check codex",
        ),
    ] {
        assert_eq!(found["found"][at]["hint"], hint);
    }
    let told = env.run(["executor", "discover"]).success().stderr;
    assert!(told.contains("hint: claude update &&"), "{told}");
    let doctor = env.run(["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let codex = checks
        .iter()
        .find(|check| check["name"] == "executor codex")
        .unwrap();
    let hint = "npm install -g @openai/codex@latest && callosum executor check codex";
    assert_eq!(codex["hint"], hint, "{codex}");
    fake("claude", "ok", 0).install(&env);
    env.run(["executor", "check", "claude"]).success();
}

/// `doctor` says what an agent lacks: a login, known by its file alone, and trust in its hooks.
#[test]
fn doctor_says_what_an_agent_lacks() {
    let env = two_languages();
    fake("codex", "ok", 0).install(&env);
    env.run(["executor", "discover"]).success();
    let line = || {
        let doctor = env.run(["doctor", "--json"]).json();
        let checks = doctor["checks"].as_array().unwrap();
        let line = checks
            .iter()
            .find(|check| check["name"] == "executor codex");
        line.unwrap().clone()
    };
    assert!(line()["found"].as_str().unwrap().contains("no login found"));
    assert_eq!(line()["hint"], "codex login");
    let own = env.home().join(".codex");
    std::fs::create_dir_all(&own).unwrap();
    // Hooks that nobody trusts hide no missing login.
    std::fs::write(own.join("hooks.json"), "{}").unwrap();
    assert_eq!(line()["hint"], "codex login");
    std::fs::remove_file(own.join("hooks.json")).unwrap();
    std::fs::write(own.join("auth.json"), "").unwrap();
    assert_eq!(line()["outcome"], "ok", "{}", line());
    std::fs::write(own.join("hooks.json"), "{}").unwrap();
    assert!(
        line()["found"]
            .as_str()
            .unwrap()
            .contains("silently ignores")
    );
}

/// `doctor` takes a key for a login where the client's own settings, or what is passed on, give it one.
#[test]
fn doctor_sees_keys_that_do_instead_of_a_login() {
    let env = two_languages();
    for program in ["codex", "opencode"] {
        fake(program, "ok", 0).install(&env);
    }
    env.run(["executor", "discover"]).success();
    let settings = |path: &str, text: &str| {
        let path = env.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let line = |executor: &str| {
        let doctor = env.callosum().arguments(["doctor", "--json"]);
        let doctor = doctor.env("HOUSE_KEY", "canary").run().json();
        let name = format!("executor {executor}");
        let mut checks = doctor["checks"].as_array().unwrap().iter();
        let line = checks.find(|check| check["name"] == name.as_str());
        line.unwrap().clone()
    };
    settings(
        ".codex/config.toml",
        "model_provider = \"house\"\n[model_providers.house]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         env_key = \"HOUSE_KEY\"\n",
    );
    // A login is for another provider.
    settings(".codex/auth.json", "{}");
    let waits = line("codex");
    let found = waits["found"].as_str().unwrap();
    assert!(
        found.contains("expect a key in HOUSE_KEY, which is not passed to it"),
        "{waits}"
    );
    let hint = waits["hint"].as_str().unwrap();
    let pasted = shlex::split(hint).unwrap();
    env.run(&pasted[1..]).success();
    assert_eq!(line("codex")["outcome"], "ok", "{}", line("codex"));

    assert_eq!(line("opencode")["hint"], "opencode auth login");
    settings(
        ".config/opencode/opencode.json",
        r#"{"provider": {"house": {"options": {"apiKey": "canary"}}}, "model": "house/m"}"#,
    );
    let opencode = line("opencode");
    assert_eq!(opencode["outcome"], "ok", "{opencode}");
    assert!(!opencode.to_string().contains("canary"), "{opencode}");
}

/// CAL-EXE-2: plain text from any program, which a person registers.
#[test]
fn plain_text_is_an_answer_where_the_entry_says_so() {
    let env = two_languages();
    let mut plain = fake("claude", "ok", 0);
    plain.program = "speaker";
    plain.output = b"It adds numbers.\n".to_vec();
    plain.install(&env);
    let register = [
        "executor",
        "register",
        "speaker",
        "--command",
        "speaker",
        "--protocol",
    ];
    let refused = env.run(register.iter().chain(&["morse"])).ended_with(2);
    let (what, hint) = refused.stderr.split_once("hint: ").unwrap();
    assert!(what.contains("allowed: claude, codex,"), "{what}");
    let pasted = shlex::split(hint).unwrap();
    env.run(&pasted[1..]).success();
    assert_eq!(delegate(&env, "speaker", 0)["summary"], "It adds numbers.");
}
