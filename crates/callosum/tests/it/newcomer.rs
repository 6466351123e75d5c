//! A newcomer's hour, replayed: each reason for which a new user would have removed Callosum, as the commands that showed it.
//!
//! `cargo xtask newcomer` runs these tests and prints each command with its output. Everything runs with the defaults, as a
//! new user has them: none of the variables by which other tests choose where state is and that every question is agreed to.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

/// A repository with a few files, as a new user would have it.
fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "src/sessions.rs",
        "pub fn partitioned() -> bool {\n    // SameSite is set elsewhere.\n    false\n}\n",
    );
    env.write("src/main.rs", "mod sessions;\nfn main() {}\n");
    env.write("README.md", "# Shop\n");
    env.git_init();
    env
}

/// Runs a command as a new user does, and prints both for the transcript.
fn run(env: &TestEnv, words: &[&str]) -> Output {
    let run = env.callosum().arguments(words);
    let run = run.without("CALLOSUM_STATE").without("CALLOSUM_ASSUME_YES");
    transcript(words, run.run())
}

#[expect(
    clippy::print_stdout,
    reason = "the transcript is what `cargo xtask newcomer` is for"
)]
fn transcript(words: &[&str], output: Output) -> Output {
    println!(
        "$ callosum {}\n{}{}",
        words.join(" "),
        output.stdout,
        output.stderr
    );
    output
}

/// Sends an event to a hook, as a client does.
fn hook(env: &TestEnv, client: &str, word: &str, event: &Value) -> Output {
    let words = ["hook", client, word];
    let run = env.callosum().arguments(words).input(event.to_string());
    let run = run.without("CALLOSUM_STATE").without("CALLOSUM_ASSUME_YES");
    transcript(&words, run.run())
}

/// What a session of this client reads when it starts.
fn session_start(env: &TestEnv, client: &str) -> String {
    let event = json!({
        "session_id": "s-1", "cwd": env.project(), "hook_event_name": "SessionStart", "source": "startup",
    });
    let output = hook(env, client, "session-start", &event).success();
    output.stdout
}

/// What the guard answers to a command of Claude Code: `allow`, `ask` or `deny`.
fn decision(env: &TestEnv, command: &str) -> String {
    let event = json!({
        "session_id": "s-1", "cwd": env.project(), "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": command},
    });
    let output = hook(env, "claude", "pre-tool-use", &event);
    if output.stdout.trim().is_empty() {
        return "allow".to_owned();
    }
    let said = output.json();
    let decision = &said["hookSpecificOutput"]["permissionDecision"];
    decision.as_str().unwrap_or("allow").to_owned()
}

/// Five decisions: two that the code shows, the user's word, and two assumptions.
fn decide_five(env: &TestEnv) {
    for (words, evidence) in [
        (
            "Keep sessions in one module of their own",
            &["--cite", "src/main.rs:1"][..],
        ),
        (
            "Cookies are not partitioned by default",
            &["--cite", "src/sessions.rs:1"],
        ),
        (
            "Ship on Fridays only after the checklist was read",
            &["--source=user"],
        ),
        (
            "The cache is never larger than the working set",
            &["--source=assumption"],
        ),
        (
            "Clients retry a failed request three times",
            &["--source=assumption"],
        ),
    ] {
        let all: Vec<&str> = ["session", "decide", words]
            .iter()
            .chain(evidence)
            .copied()
            .collect();
        run(env, &all).success();
    }
}

/// U1: nothing refuses the user's own `/clear`, and with the gate on, the user's word and marked assumptions permit it.
#[test]
fn u1_a_person_may_clear_their_own_context() {
    let env = repository();
    run(&env, &["init", "--yes"]).success();
    decide_five(&env);
    let event = json!({"session_id": "s-1", "cwd": env.project()});
    hook(&env, "claude", "pre-clear", &event).success();
    run(&env, &["init", "--yes", "--sessions", "--gate", "plugin"]).success();
    hook(&env, "claude", "pre-clear", &event).success();
    run(&env, &["session", "check"]).success();
}

/// U2: no session reads ranks, routes or a doctrine that no one configured, and no file of the client says any.
#[test]
fn u2_agents_get_no_ranks() {
    let env = repository();
    run(&env, &["init", "--yes", "--sessions"]).success();
    decide_five(&env);
    let mut texts: Vec<String> = ["claude", "codex", "gemini", "qwen"]
        .iter()
        .map(|client| session_start(&env, client))
        .collect();
    let laid = env.project().join("CLAUDE.md");
    texts.extend(laid.exists().then(|| env.read("CLAUDE.md")));
    for text in &texts {
        for word in [
            "COMMANDER",
            "ANALYST",
            "REVIEWER",
            "Your role",
            "ios-build",
            "crm-math",
            "don't compact",
        ] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

/// U3: a session starts with whole decisions, and no digest of the ledger is pasted.
#[test]
fn u3_a_session_starts_with_whole_decisions() {
    let env = repository();
    run(&env, &["init", "--yes", "--sessions"]).success();
    run(&env, &["delegate", "--kind", "scan", "Map it"]).success();
    decide_five(&env);
    let text = session_start(&env, "claude");
    for title in [
        "Clients retry a failed request three times",
        "The cache is never larger than the working set",
        "Ship on Fridays only after the checklist was read",
    ] {
        assert!(text.contains(title), "{title} is not in {text}");
    }
    for pasted in ["Scout does not interpret", "# scan", "Read 3 files"] {
        assert!(!text.contains(pasted), "{pasted} in {text}");
    }
}

/// U4: a citation proves that a quote exists, and is not called more than that.
#[test]
fn u4_a_quote_that_was_found_is_called_that() {
    let env = repository();
    run(&env, &["init", "--yes", "--sessions"]).success();
    let decide = [
        "session",
        "decide",
        "SameSite defaults to Lax",
        "--cite",
        "src/sessions.rs:1",
    ];
    run(&env, &decide).success();
    let text = session_start(&env, "claude");
    assert!(text.contains("[quote found]"), "{text}");
    assert!(!text.contains("[verified]"), "{text}");
    let comment = [
        "session",
        "decide",
        "SameSite is set here",
        "--cite",
        "src/sessions.rs:2",
    ];
    run(&env, &comment);
    let text = session_start(&env, "claude");
    assert!(!text.contains("[verified]"), "{text}");
}

/// U5: a question leaves nothing in the tree, and a default `init` leaves nothing for `git add -A`.
#[test]
fn u5_nothing_is_left_in_the_repository() {
    let env = repository();
    run(&env, &["delegate", "--kind", "scan", "Map it"]).success();
    run(&env, &["find", "partitioned"]).success();
    let all = [
        "status",
        "--porcelain",
        "--ignored",
        "--untracked-files=all",
    ];
    assert_eq!(env.git(&all), "");
    // Without a terminal and without --yes, init prints its plan and changes nothing.
    let plan = run(&env, &["init"]).ended_with(1);
    assert!(plan.stdout.len() + plan.stderr.len() > 0);
    assert_eq!(env.git(&all), "");
    run(&env, &["init", "--yes"]).success();
    run(&env, &["delegate", "--kind", "scan", "Map it"]).success();
    env.git(&["add", "-A"]);
    assert_eq!(env.git(&["diff", "--cached", "--name-only"]), "");
    run(&env, &["uninstall", "--purge", "--yes"]).success();
    assert_eq!(env.git(&all), "");
}

/// U6: zones are shares of the model's window, so that one test log makes no session red.
#[test]
fn u6_one_log_makes_no_session_red() {
    let env = repository();
    run(&env, &["init", "--yes", "--sessions"]).success();
    let transcript = env.folder().join("t.jsonl");
    let line = |input: u32| {
        json!({
            "type": "assistant", "sessionId": "s-1", "cwd": env.project(), "uuid": input.to_string(),
            "message": {"role": "assistant", "id": input.to_string(), "model": "claude-sonnet-4-5",
                "usage": {"input_tokens": input, "output_tokens": 10,
                    "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}},
        })
        .to_string()
    };
    env.write(&transcript, format!("{}\n{}\n", line(12_000), line(34_079)));
    let path = transcript.display().to_string();
    let budget = run(
        &env,
        &["session", "budget", "--transcript", &path, "--json"],
    );
    assert_eq!(budget.success().json()["zone"], "green");
}

/// U7: what loses nothing is not stopped, and every rule has a line that lowers it.
#[test]
fn u7_nothing_safe_is_blocked_for_good() {
    let env = repository();
    for (command, expected) in [
        ("git reset --hard", "allow"),
        ("git checkout .", "allow"),
        ("git clean -fd", "allow"),
        ("git branch -D gone", "allow"),
        ("sudo apt-get update", "ask"),
        ("sudo ls", "ask"),
    ] {
        assert_eq!(decision(&env, command), expected, "{command}");
    }
    env.write("src/main.rs", "mod sessions;\nfn main() { println!(); }\n");
    assert_eq!(decision(&env, "git stash && git reset --hard"), "allow");
    for command in ["git reset --hard", "docker compose down -v"] {
        assert_eq!(decision(&env, command), "deny", "{command}");
        let refused = run(&env, &["guard", "allow", command]).ended_with(1);
        let line = refused
            .stderr
            .lines()
            .find_map(|line| line.split("callosum ").nth(1));
        let words: Vec<&str> = line.unwrap().trim_end_matches('`').split(' ').collect();
        run(&env, &words).success();
        assert_eq!(decision(&env, command), "ask", "{command}");
    }
}
