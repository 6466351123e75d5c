//! What `--json` prints, held against its published schemas.

use callosum_testkit::{Schema, TestEnv, fakes};

use crate::projects::with_executor;

/// CAL-GOV-3: each object that a program may read fits the schema that is published for it.
#[test]
fn every_json_output_fits_its_published_schema() {
    let env = with_executor(&fakes::fake(""));
    env.write(
        "tasks.json",
        r#"{"tasks": [{"id": "a", "prompt": "x"}, {"id": "b", "prompt": "y"}]}"#,
    );
    env.write(
        "commands.jsonl",
        r#"{"id": "1", "command": "ls", "expect": "allow"}"#,
    );
    let text = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    x()\nKeyError: 'x'\n";
    env.write(
        "outputs.jsonl",
        serde_json::json!({"id": "1", "text": text, "expect": {"type": "KeyError"}}).to_string(),
    );
    env.write(
        "event.json",
        r#"{"error_type": "KeyError", "file_path": "a.py"}"#,
    );
    let script = format!("cat >&2 <<'X'\n{text}X");
    let watched = env
        .run(["watch", "--json", "--", "sh", "-c", &script])
        .success()
        .stderr;
    let watched = serde_json::from_str(watched.lines().last().unwrap()).unwrap();
    assert_eq!(Schema::published("output-watch").fault(&watched), None);
    let listed = env.run(["recall", "list", "--json"]).success().json();
    let signature = listed["errors"][0]["error_signature"].as_str().unwrap();
    let shown = env
        .run(["recall", "show", signature, "--json"])
        .success()
        .json();
    assert_eq!(Schema::published("output-recall-show").fault(&shown), None);
    let program = fakes::program("callosum").display().to_string();
    let outputs: [(&str, &[&str], i32); 100] = [
        ("output-mesh-conflicts", &["mesh", "conflicts", "list"], 0),
        ("output-mesh-fleet", &["mesh", "fleet", "status"], 0),
        ("output-mesh-fleet-doctor", &["mesh", "fleet", "doctor"], 1),
        ("output-mesh-panes", &["mesh", "panes"], 0),
        ("output-delegate", &["delegate", "map"], 0),
        (
            "output-delegate",
            &["delegate", "map", "--executor", "nobody"],
            2,
        ),
        (
            "output-delegate-tasks",
            &["delegate", "--tasks", "tasks.json"],
            0,
        ),
        (
            "output-delegate-tasks",
            &["delegate", "--tasks", "no.json"],
            2,
        ),
        ("output-error", &["ledger", "shwo"], 2),
        ("output-plan-eval", &["plan", "eval", "-e", "(+ 1 2)"], 0),
        ("output-plan-eval", &["plan", "eval", "-e", "(/ 1 0)"], 1),
        ("output-plan-eval", &["plan", "eval", "-e", "(f"], 1),
        (
            "output-plan-check",
            &[
                "plan",
                "check",
                "-e",
                "(step :s {:retries 1} (call :task.add {:prompt \"p\"}))",
            ],
            0,
        ),
        ("output-plan-check", &["plan", "check", "-e", "(cond)"], 1),
        ("output-plan-run", &["plan", "run", "-e", "(+ 1 2)"], 0),
        ("output-plan-list", &["plan", "list"], 0),
        (
            "output-intent",
            &[
                "intent",
                "add",
                "Speed up the tests, without cheating",
                "--active",
            ],
            0,
        ),
        ("output-intent-list", &["intent", "list"], 0),
        ("output-intent-tree", &["intent", "tree"], 0),
        ("output-config-check", &["config", "check"], 0),
        ("output-init", &["init", "--all", "--share"], 0),
        (
            "output-init",
            &[
                "init",
                "--all",
                "--share",
                "--client",
                "claude",
                "--dry-run",
            ],
            0,
        ),
        ("output-uninstall", &["uninstall"], 0),
        (
            "output-snapshot-create",
            &["snapshot", "create", "--checkpoint"],
            0,
        ),
        ("output-snapshot-list", &["snapshot", "list"], 0),
        ("output-watch-test", &["watch", "test", "outputs.jsonl"], 0),
        ("output-recall-list", &["recall", "list"], 0),
        (
            "output-recall-similar",
            &["recall", "similar", "KeyError"],
            0,
        ),
        ("output-recall-change", &["recall", "forget", "--all"], 0),
        ("output-metrics", &["metrics"], 0),
        ("output-operator-check", &["operator", "check", "Stop"], 1),
        (
            "output-operator-say",
            &["operator", "say", "--event", "event.json"],
            0,
        ),
        ("output-snapshot-clean", &["snapshot", "clean"], 0),
        (
            "output-guard-check",
            &["guard", "check", "--", "git push --force"],
            1,
        ),
        ("output-guard-explain", &["guard", "explain", "--", "ls"], 0),
        ("output-guard-test", &["guard", "test", "commands.jsonl"], 0),
        ("output-guard-allow", &["guard", "allow", "git branch *"], 0),
        ("output-guard-permissions", &["guard", "allow", "--list"], 0),
        (
            "output-guard-auto-allow",
            &["guard", "auto-allow", "add", "--preset", "rust"],
            0,
        ),
        (
            "output-guard-presets",
            &["guard", "auto-allow", "presets"],
            0,
        ),
        (
            "output-guard-rule",
            &["guard", "rule", "git.push-force", "ask"],
            0,
        ),
        ("output-guard-rules", &["guard", "rules", "push"], 0),
        ("output-guard-log", &["guard", "log"], 0),
        ("output-guard-metrics", &["guard", "metrics"], 0),
        ("output-find", &["find", "main"], 0),
        ("output-memory-change", &["memory", "on"], 0),
        ("output-memory-status", &["memory", "status"], 0),
        (
            "output-find-sessions",
            &["find", "--sessions", "main", "--all-projects"],
            1,
        ),
        (
            "output-bead",
            &["bead", "create", "Try it", "--id", "bd-1"],
            0,
        ),
        ("output-bead-diff", &["bead", "diff", "bd-1"], 0),
        ("output-bead-ready", &["bead", "ready"], 0),
        (
            "output-session-decide",
            &["session", "decide", "Try it", "--cite", "tasks.json:1"],
            0,
        ),
        (
            "output-session-resolve",
            &["session", "resolve", "${PROJECT_ROOT}/tasks.json:1"],
            0,
        ),
        ("output-session-grounding", &["session", "grounding"], 0),
        ("output-session-check", &["session", "check"], 0),
        (
            "output-session-checkpoint",
            &["session", "checkpoint", "--no-transcript"],
            0,
        ),
        ("output-session-status", &["session", "status"], 0),
        ("output-session-decisions", &["session", "decisions"], 0),
        ("output-session-heal", &["session", "heal"], 0),
        ("output-session-handoff", &["session", "handoff"], 0),
        ("output-session-recover", &["session", "recover"], 0),
        ("output-session-repos", &["session", "repos"], 0),
        (
            "output-session-sync",
            &["session", "sync", "--", &program, "mcp"],
            0,
        ),
        (
            "output-generate-schemas",
            &["generate", "schema", "--list"],
            0,
        ),
        ("output-executor-list", &["executor", "list"], 0),
        ("output-executor-check", &["executor", "check"], 0),
        ("output-executor-discover", &["executor", "discover"], 0),
        ("output-executor", &["executor", "disable", "scout"], 0),
        ("output-executor", &["executor", "enable", "scout"], 0),
        ("output-ledger-query", &["ledger", "query"], 0),
        ("output-ledger-stats", &["ledger", "stats"], 0),
        ("output-ledger-cost", &["ledger", "cost"], 0),
        (
            "output-ledger-diff",
            &[
                "ledger",
                "diff",
                "cal_2026_01_02_0001",
                "cal_2026_01_02_0002",
            ],
            0,
        ),
        ("output-ledger-at", &["ledger", "at", "2026-01-02"], 0),
        ("output-ledger-backup", &["ledger", "backup"], 0),
        ("output-ledger-rotate", &["ledger", "rotate"], 0),
        (
            "output-ledger-recover",
            &["ledger", "recover", "--from-audit"],
            0,
        ),
        ("output-verify", &["ledger", "verify"], 0),
        ("output-verify", &["audit", "verify"], 0),
        ("output-audit-checkpoint", &["audit", "checkpoint"], 0),
        (
            "output-audit-checkpoint",
            &["audit", "checkpoint", "--new-key"],
            0,
        ),
        (
            "output-ledger-check-proof",
            &["ledger", "check-proof", "tasks.json"],
            1,
        ),
        ("output-audit-records", &["audit", "tail"], 0),
        ("output-audit-records", &["audit", "query"], 0),
        ("output-replay", &["replay"], 0),
        ("output-status", &["status"], 0),
        ("output-top", &["top"], 0),
        (
            "output-do",
            &["do", "survey this repository", "--template", "survey"],
            0,
        ),
        ("output-delegation", &["delegation", "explain", "map it"], 0),
        ("output-model-list", &["model", "list"], 0),
        ("output-model-check", &["model", "check", "echo"], 0),
        ("output-doctor", &["doctor"], 0),
        ("output-self-check", &["self", "check"], 0),
        ("output-trust", &["trust"], 0),
        ("output-capability-list", &["capability", "list"], 0),
        ("output-capability", &["capability", "show", "fs.read"], 0),
        (
            "output-capability-revoke",
            &["capability", "revoke", "fs.read"],
            0,
        ),
        ("output-constitution", &["constitution", "show"], 0),
        ("output-config", &["config", "show"], 0),
        ("output-executor-remove", &["executor", "remove", "fake"], 0),
    ];
    for (schema, arguments, code) in outputs {
        let ours = arguments.iter().position(|word| *word == "--");
        let (ours, theirs) = arguments.split_at(ours.unwrap_or(arguments.len()));
        let output = env
            .run([ours, &["--json"], theirs].concat())
            .ended_with(code)
            .json();
        let fault = Schema::published(schema).fault(&output);
        assert_eq!(fault, None, "{arguments:?}: {output}");
    }
}

/// CAL-GOV-3: whatever fails prints one object, whichever command it is.
#[test]
fn a_command_that_fails_prints_an_object_that_says_why() {
    let env = with_executor(&fakes::fake(""));
    for line in [
        "-C /nowhere status",
        "-C /nowhere delegate x",
        "ledger show cal_2026_01_02_0009",
        "ledger show nothing",
        "ledger diff cal_2026_01_02_0008 cal_2026_01_02_0009",
        "ledger at someday",
        "ledger prove cal_2026_01_02_0009",
        "audit query --since someday",
        "replay --until someday",
        "plan show nothing",
        "plan resume nothing",
        "plan cancel nothing",
        "plan run nothing.rtfs",
        "snapshot diff nothing",
        "snapshot restore nothing",
        "executor check nobody",
        "executor enable nobody",
        "executor remove nobody",
        "executor register nobody",
        "session cite 2026-01-02T00:00:00Z nothing:1",
        "session resolve nothing",
        "bead show bd-9",
        "bead close bd-9",
        "mesh task show nothing",
        "mesh message retry nothing",
        "capability show no.such",
        "trust nothing",
        "config get nothing",
        "config set nothing 1",
        "generate schema nothing",
        "generate man nothing",
        "init --gate shadow",
    ] {
        let words = line.split(' ').chain(["--json"]);
        let output = env.run(words);
        assert_ne!(output.code, 0, "{line}: {}", output.stdout);
        let object = output.json();
        let message = object["error"]["message"].as_str();
        assert!(
            message.is_some_and(|words| !words.is_empty()),
            "{line}: {object}"
        );
        if !line.contains("delegate") {
            let fault = Schema::published("output-error").fault(&object);
            assert_eq!(fault, None, "{line}: {object}");
        }
    }
}

/// The published schemas are those of the program.
#[test]
fn the_published_schemas_are_what_the_program_says() {
    let env = TestEnv::new();
    let names = env.run(["generate", "schema", "--list"]).success().stdout;
    assert!(names.lines().count() > 10, "{names}");
    for name in names.lines() {
        let said = env.run(["generate", "schema", name]).success().json();
        let file = format!("../../docs/schemas/{name}.schema.json");
        let published = std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        let published: serde_json::Value = serde_json::from_slice(&published.unwrap()).unwrap();
        assert_eq!(
            said, published,
            "docs/schemas/{name}.schema.json is out of date"
        );
    }
}
