//! Help, examples, completions, manuals, colours.

use std::path::PathBuf;

use crate::projects::two_languages;

/// The verbs that have none below them, as help lists them.
fn verbs(env: &callosum_testkit::TestEnv, above: &[String]) -> Vec<Vec<String>> {
    let words = above.iter().map(String::as_str).chain(["--help"]);
    let help = env.run(words).success().stdout;
    // The program's own page has groups of commands, each below the sentence that says what it is for.
    let first = if above.is_empty() {
        "Delegate: "
    } else {
        "Commands:"
    };
    let listed = help
        .lines()
        .skip_while(|line| !line.starts_with(first))
        .skip(1);
    let listed = listed.take_while(|line| line.starts_with(' ') || !line.ends_with(':'));
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    let below = names.flat_map(|name| {
        let mut verb = above.to_vec();
        verb.push(name.to_owned());
        verbs(env, &verb)
    });
    let below: Vec<_> = below.collect();
    if below.is_empty() {
        return vec![above.to_vec()];
    }
    below
}

/// Every `$ …` line of every help text.
fn examples(env: &callosum_testkit::TestEnv) -> Vec<String> {
    let mut found = Vec::new();
    let mut all = verbs(env, &[]);
    assert!(all.len() > 90, "{}", all.len());
    all.push(Vec::new());
    for verb in all {
        let words = verb.iter().map(String::as_str).chain(["--help"]);
        let help = env.run(words).success().stdout;
        let before = found.len();
        let lines = help
            .lines()
            .filter_map(|line| line.trim().strip_prefix("$ "));
        found.extend(lines.map(str::to_owned));
        assert!(found.len() > before, "{verb:?} has no example");
    }
    found
}

/// What examples speak of that is not there in a test: made-up ids, words that stand nowhere, other people's programs.
const NOT_THERE: [&str; 51] = [
    // Another checkout, and another machine.
    "session sync",
    // It asks, or has nothing to undo.
    "session rollback",
    // Nothing is downloaded in a test.
    "memory model install",
    // No client has sessions here, and an example turns the memory off.
    "find --sessions",
    "memory forget b79",
    "memory export",
    "memory rebuild",
    // Tests run without a terminal.
    "callosum top",
    // The page is off in tests, and no test opens a browser.
    "callosum open",
    "0f3a",
    "tool.wiki.look_up",
    "550e8400",
    "3f2a91",
    // Nothing is configured.
    "operator notify",
    "recall outcome",
    "maybe try",
    "bd-x7y8",
    "cal_2026_01_02_0002",
    "cal_memory_20260102_030405",
    "2026-01-02T03:04:05Z",
    "constitution.cedar",
    "--endpoint",
    "register claude",
    "register ollama",
    "reader-mcp",
    "pages-mcp",
    "mine",
    "schema",
    "serve s",
    "session check",
    "audit checkpoint --git-ref",
    "jq ",
    "ledger at 2h",
    "--section Installation",
    "retry policy",
    "parseConfig",
    "src/a.rs",
    "task claim",
    // Two agents have not edited one file.
    "mesh conflicts show",
    "mesh conflicts resolve",
    // No fleet is configured.
    "mesh fleet join",
    "mesh fleet sync",
    "mesh fleet doctor",
    // No agent is in a pane, and no categories are configured.
    "mesh inject",
    "mesh panes codex",
    "--explain %3",
    "route classify",
    "lease release",
    "secrets add",
    "secrets remove",
    "callosum undo",
];

/// Those that go on until somebody ends them.
const ENDLESS: [&str; 3] = [
    "callosum mesh subscribe",
    "callosum mesh tail",
    "callosum mesh panes --watch",
];

/// Each example in a help text runs, in a shell, as it stands there; one of what is not there is understood.
#[test]
fn every_example_of_every_help_text_runs() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    env.write(
        "tasks.json",
        r#"{"tasks": [{"id": "map", "prompt": "Map this repository"}]}"#,
    );
    env.write(
        "corpus.jsonl",
        "{\"id\": \"a\", \"command\": \"git reset --hard\", \"expect\": \"block\"}\n",
    );
    env.write(
        "answers.jsonl",
        "{\"call\": \":ledger.query\", \"value\": \"[1 2 3]\"}\n",
    );
    env.write(
        "answer.json",
        r#"{"version": "1.0", "steps": [{"step_id": "read", "purpose": "x", "yields": [
            {"cap": ":fs.read", "args": ["README.md"]}]}], "constraints": {"caps": [":fs.read"], "max_yields": 1}}"#,
    );
    env.write("tools/answer.py", ANSWER);
    env.write("event.json", r#"{"error_type": "KeyError"}"#);
    env.write("outputs.jsonl", r#"{"id": "1", "text": "fine"}"#);
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
    let binary = callosum_testkit::fakes::program("callosum");
    let folder = binary.parent().unwrap().display();
    let path = format!("{folder}:/usr/local/bin:/usr/bin:/bin");
    let mut failed = Vec::new();
    for example in examples(&env) {
        if ENDLESS.iter().any(|endless| example.contains(endless)) {
            continue;
        }
        let shell = env.program(PathBuf::from("/bin/sh")).env("PATH", &*path);
        let shell = shell.without("CALLOSUM_TEST_IDS");
        let output = shell.arguments(["-c", &example]).run();
        let is_not_there = NOT_THERE.iter().any(|name| example.contains(name));
        let is_understood = !output.stderr.contains("Usage:");
        if output.code != 0 && !(is_not_there && is_understood && output.code <= 3) {
            failed.push(format!("{example}: {}\n{}", output.code, output.stderr));
        }
        // Whoever is not there would be asked for by later ones.
        if let Some(other) = example.strip_prefix("callosum executor register ") {
            let other = other.split(' ').next().unwrap();
            if other != "mine" {
                env.run(["executor", "remove", other]).success();
            }
        }
        if example.contains("disable scout") {
            env.run(["executor", "enable", "scout"]).success();
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// An executor that speaks the protocol, in a few lines of Python.
const ANSWER: &str = r#"
import json, sys
request = json.load(sys.stdin)
if request["prompt"].startswith("fail"):
    sys.exit("cannot")
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
    assert!(page.contains("\\fBcallosum ledger query\\fR"), "{page}");
    let unknown = env.run(["generate", "man", "ledger", "shwo"]).ended_with(2);
    let told = "`callosum ledger` has no command `shwo`\nhint: callosum ledger --help\n";
    assert!(unknown.stderr.contains(told), "{}", unknown.stderr);
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

/// Data on stdout, talk on stderr; a task that failed has no entry, and the journal tells of it.
#[test]
fn an_error_says_what_why_and_what_to_do() {
    let env = two_languages();
    let says = |task: &str, hint: &str| {
        let output = env.run(["ledger", "show", task]).ended_with(1);
        assert_eq!(output.stdout, "");
        let told =
            format!("error: no entry `{task}` in the ledger or its archives\nhint: {hint}\n");
        assert_eq!(output.stderr, told);
    };
    says("cal_2020_01_01_0001", "callosum ledger query");
    env.write("tools/answer.py", ANSWER);
    let register = ["executor", "register", "mine", "--command"];
    let register = env.callosum().arguments(register);
    register
        .arguments(["python3 tools/answer.py"])
        .run()
        .success();
    env.run(["delegate", "fail here", "--executor", "mine"])
        .ended_with(1);
    says(
        "cal_2026_01_02_0001",
        "callosum audit query --task cal_2026_01_02_0001",
    );
}

/// What was mistyped is told apart from what is not there.
#[test]
fn a_mistyped_executor_is_named_as_it_was_meant_and_leaves_nothing() {
    let env = two_languages();
    for arguments in [
        &["executor", "check", "scuot"][..],
        &["delegate", "map", "--executor", "scuot"],
    ] {
        let output = env.run(arguments).ended_with(2);
        let told = "error: no executor `scuot` is registered, did you mean `scout`?";
        assert!(output.stderr.starts_with(told), "{}", output.stderr);
    }
    assert!(!env.project().join(".cal_memory.json").exists());
}

/// Nobody's home becomes a project by the way, since all below would belong to it; on purpose it does.
#[test]
fn a_home_becomes_a_project_on_purpose_alone() {
    let env = two_languages();
    let home = env.home();
    let delegate = || {
        let delegate = env.callosum().in_folder(&home);
        delegate.arguments(["delegate", "Map it"]).run()
    };
    let refused = delegate().ended_with(2).stderr;
    assert!(
        refused.contains("is your home folder, not a project"),
        "{refused}"
    );
    assert!(!home.join("registry.json").exists());
    let way = "callosum init --ledger";
    assert!(refused.ends_with(&format!("{way}\n")), "{refused}");
    let init = env.callosum().in_folder(&home);
    let init = init.arguments(way.split(' ').skip(1));
    init.run().success();
    delegate().success();
}

/// The reference page is the help of every command: a changed word of help is seen in review.
#[test]
fn the_reference_page_is_the_help_of_every_command() {
    let env = callosum_testkit::TestEnv::new();
    let page = env.run(["generate", "reference"]).success().stdout;
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    let published = std::fs::read_to_string(file).unwrap();
    let differs = page
        .lines()
        .zip(published.lines())
        .find(|(one, other)| one != other);
    assert!(
        page == published,
        "docs/reference/cli.md is out of date at {differs:?}: callosum generate reference > docs/reference/cli.md"
    );
    for verb in verbs(&env, &[]) {
        let heading = format!("\n## callosum {}\n", verb.join(" "));
        assert!(page.contains(&heading) || verb == ["help"], "{heading}");
    }
}
