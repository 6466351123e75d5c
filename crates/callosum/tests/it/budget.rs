//! How full a context is, and checkpoints, from what clients write of their sessions.

use callosum_testkit::{Schema, TestEnv};

/// An answer of Claude Code with its count of tokens.
fn answer(tokens: u64) -> String {
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":10}}}}}}\n"
    )
}

/// A transcript of Claude Code, where it would stand.
fn transcript(env: &TestEnv, lines: &[String]) -> std::path::PathBuf {
    let path = env.home().join(".claude/projects/-p/s-1.jsonl");
    let cwd = env.project();
    let head = format!("{{\"type\":\"mode\",\"cwd\":\"{}\"}}\n", cwd.display());
    env.write(&path, [&head, lines.concat().as_str()].concat());
    path
}

/// LOA-BUD-1: the zones are told from the client's own count, found without being named.
#[test]
fn the_zone_is_told_from_the_newest_transcript_of_the_project() {
    let env = TestEnv::new();
    let none = env.run(["session", "budget"]).ended_with(1);
    assert!(
        none.stderr.contains("no client has written"),
        "{}",
        none.stderr
    );
    transcript(&env, &[answer(12_000), answer(23_000)]);
    let told = env.run(["session", "budget", "--json"]).success().json();
    assert_eq!(told["zone"], "green");
    env.write(
        ".loa.config.yaml",
        "attention_budget:\n  yellow: 5000\n  orange: 10000\n  red: 15000\n",
    );
    let told = env.run(["session", "budget", "--json"]).success().json();
    assert_eq!(
        Schema::published("output-session-budget").fault(&told),
        None
    );
    assert_eq!(told["zone"], "orange");
    assert_eq!(told["tokens"], 11_010);
    assert_eq!(told["client"], "claude");
    assert!(told["advice"].as_str().unwrap().contains("Consider /clear"));
    env.write(
        ".loa.config.yaml",
        "attention_budget:\n  yellow: 5000\n  orange: 50%\n  red: 60%\n",
    );
    let told = env
        .run(["session", "budget", "--window", "200000"])
        .success();
    assert_eq!(
        told.stdout,
        "yellow: 11010 tokens above the first request, 23010 in use (11 % of 200000)\n"
    );
}

/// LOA-BUD-1: the status line shows zone, share, bead and grounding on one line.
#[test]
fn the_status_line_is_one_line_in_the_colours_of_its_zone() {
    let env = TestEnv::new();
    env.write(
        ".loa.config.yaml",
        "attention_budget:\n  yellow: 5000\n  orange: 10000\n  red: 15000\n",
    );
    let path = transcript(&env, &[answer(12_000), answer(13_000)]);
    env.run(["bead", "create", "Pool", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    env.run(["session", "decide", "Nothing shows it"]).success();
    let said = format!(
        r#"{{"transcript_path":"{}","new":[1],"context_window":{{"context_window_size":200000,"current_usage":{{"input_tokens":2000,"cache_read_input_tokens":28000}}}}}}"#,
        path.display()
    );
    let line = |no_color: &str| {
        env.callosum()
            .arguments(["session", "budget", "--statusline"])
            .env("NO_COLOR", no_color)
            .input(said.clone())
            .run()
            .success()
            .stdout
    };
    assert_eq!(line("1"), "red · 15 % · bd-1 · grounding 0.00\n");
    assert!(line("").starts_with("\u{1b}[31;1mred"), "{:?}", line(""));
    let empty = env
        .callosum()
        .arguments(["session", "budget", "--statusline"])
        .env("NO_COLOR", "1")
        .input("{}")
        .run()
        .success();
    assert_eq!(empty.stdout, "green · 0 tokens · bd-1 · grounding 0.00\n");
    // Before the first answer there is no transcript, and nothing was added yet.
    let first = env
        .callosum()
        .arguments(["session", "budget", "--statusline"])
        .env("NO_COLOR", "1")
        .input(said.replace(&path.display().to_string(), "/no/such/transcript.jsonl"))
        .run()
        .success();
    assert_eq!(first.stdout, "green · 15 % · bd-1 · grounding 0.00\n");
    env.callosum()
        .arguments(["session", "budget", "--statusline"])
        .input("no JSON")
        .run()
        .ended_with(2);
}

/// LOA-DELTA-1: a checkpoint tells what the transcript has since the last one, and once.
#[test]
fn a_checkpoint_is_written_once_per_position_of_a_transcript() {
    let env = TestEnv::new();
    let edit = |path: &str| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"Edit\",\"input\":{{\"file_path\":\"{}/{path}\"}}}}]}}}}\n",
            env.project().display()
        )
    };
    let checkpoint = || {
        env.run(["session", "checkpoint", "--json"])
            .success()
            .json()
    };
    // The hint is a way to have the checkpoint all the same.
    let without = env.run(["session", "checkpoint"]).ended_with(1).stderr;
    assert!(
        without.contains("callosum session checkpoint --no-transcript"),
        "{without}"
    );
    transcript(&env, &[answer(100), edit("src/a.rs")]);
    let first = checkpoint();
    assert_eq!(first["files"][0], "src/a.rs");
    assert_eq!(checkpoint()["written"], false);
    transcript(
        &env,
        &[answer(100), edit("src/a.rs"), edit("b.rs"), answer(9_000)],
    );
    let second = checkpoint();
    assert_eq!(second["files"].as_array().unwrap().len(), 1);
    assert_eq!(second["files"][0], "b.rs");
    let notes = env.read("loa-grimoire/NOTES.md");
    assert!(notes.contains(&format!(
        "- **Last Checkpoint**: {}",
        second["ts"].as_str().unwrap()
    )));
    let trajectory = env.read("loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl");
    assert!(trajectory.contains("\"tokens\":8910"), "{trajectory}");
}
