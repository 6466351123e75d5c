//! `callosum session` and `callosum bead`: what outlives an agent's context.

use callosum_testkit::TestEnv;

use crate::faults::SmallDisk;

/// A project with a file to cite.
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "src/a.rs",
        "pub fn one() {}\npub fn two() {}\n\nfn three() {\n    one();\n}\n",
    );
    env
}

fn trajectory() -> String {
    "loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl".to_owned()
}

/// LOA-GRD-1: the whole way: a decision is kept in three places, an ungrounded one is a no, and
/// evidence that is added makes it a yes again.
#[test]
fn a_decision_is_kept_in_three_places_and_grounded() {
    let env = project();
    let id = env
        .run(["bead", "create", "Pool the sockets"])
        .success()
        .stdout;
    let id = id.trim();
    env.run(["bead", "update", id, "--status", "in_progress", "--current"])
        .success();
    let decided = env
        .run([
            "session",
            "decide",
            "Use one pool",
            "--because",
            "fewer sockets",
            "--cite",
            "src/a.rs:2",
            "--scenario",
            "two at once",
            "--json",
        ])
        .success()
        .json();
    assert_eq!(decided["bead"], id);
    assert_eq!(
        decided["evidence"][0],
        "`pub fn two() {}` [${PROJECT_ROOT}/src/a.rs:2]"
    );
    let notes = env.read("loa-grimoire/NOTES.md");
    assert!(
        notes
            .contains("- Use one pool\n**Decision**: Use one pool\n**Rationale**: fewer sockets\n")
    );
    assert!(
        env.read(format!(".beads/{id}.yaml"))
            .contains("quote: \"pub fn two() {}\"")
    );
    assert!(env.read(trajectory()).contains("\"phase\":\"cite\""));
    let passed = env.run(["session", "grounding"]).success().stdout;
    assert_eq!(
        passed,
        "total_claims=1\ngrounded_claims=1\nassumptions=0\ngrounding_ratio=1.00\nstatus=pass\n"
    );

    let warned = env.run(["session", "decide", "Retry for ever"]).success();
    assert!(
        warned.stderr.contains("nothing shows this decision yet"),
        "{}",
        warned.stderr
    );
    let failed = env.run(["session", "grounding"]).ended_with(1);
    assert!(
        failed
            .stdout
            .ends_with("status=fail\nmessage=Grounding ratio 0.50 below threshold 0.95\n")
    );
    assert!(
        failed.stderr.contains("Retry for ever (no evidence)"),
        "{}",
        failed.stderr
    );
    let ts = warned.stdout.split(' ').next().unwrap().to_owned();
    env.run(["session", "cite", &ts, "src/a.rs:1"]).success();
    env.run(["session", "grounding"]).success();
    env.run(["bead", "diff", id]).success();

    env.write("src/a.rs", "pub fn one() {}\npub fn too() {}\n");
    env.run(["session", "grounding"]).ended_with(1);
    let forked = env.run(["bead", "diff", id, "--json"]).ended_with(1).json();
    assert_eq!(forked["forks"][0]["wins"], "code");
}

/// LOA-GRD-1: the exit codes of the seed's script, and 2 for what is asked wrongly.
#[test]
fn grounding_ends_with_the_codes_of_the_seed() {
    let env = project();
    let nothing = env.run(["session", "grounding"]).success().stdout;
    assert_eq!(nothing, "No trajectory log found for today\n");
    env.write(trajectory(), "{\"phase\":\"think\"}\n");
    let nothing = env.run(["session", "grounding"]).success().stdout;
    assert_eq!(nothing, "grounding_ratio=1.00\nstatus=pass\n");
    env.write(
        trajectory(),
        "{\"phase\":\"cite\",\"grounding\":\"citation\"}\n",
    );
    env.run(["session", "grounding", "implementing-tasks", "0.5"])
        .ended_with(1);
    env.run(["session", "grounding", "implementing-tasks", "0"])
        .success();
    for wrong in [
        &["session", "grounding", "implementing-tasks", "1.50"][..],
        &["session", "grounding", "implementing-tasks", "-1"],
        &["session", "grounding", "../../etc/passwd"],
        &["session", "grounding", "a", "0.9", "more"],
        &["session", "grounding", "a b"],
    ] {
        env.run(wrong).ended_with(2);
    }
    env.write(".calrc", "{ broken");
    env.run(["session", "grounding"]).ended_with(2);
}

/// LOA-JIT-1: exactly the lines that are named; lines that moved are found, others are flagged.
#[test]
fn an_identifier_is_resolved_also_after_its_lines_have_moved() {
    let env = project();
    let named = "${PROJECT_ROOT}/src/a.rs:4-6";
    let lines = env.run(["session", "resolve", named]).success().stdout;
    assert_eq!(lines, "fn three() {\n    one();\n}\n");
    env.run(["session", "decide", "Call one", "--cite", "src/a.rs:4-6"])
        .success();
    env.write(
        "src/a.rs",
        "// new\n\npub fn one() {}\nfn three() {\n    one();\n}\n// x\n",
    );
    let moved = env
        .run(["session", "resolve", "${PROJECT_ROOT}/src/a.rs:4-6"])
        .success();
    assert_eq!(moved.stdout, "fn three() {\n    one();\n}\n");
    env.write(
        "src/a.rs",
        "// new\n\n\n// y\npub fn one() {}\nfn three() {\n    one();\n}\n",
    );
    let moved = env.run(["session", "resolve", named]).success();
    assert_eq!(moved.stdout, "fn three() {\n    one();\n}\n");
    assert!(moved.stderr.contains("MOVED to line 6"), "{}", moved.stderr);
    env.write("src/a.rs", "1\n2\n3\n4\n5\n6\n");
    env.run(["session", "resolve", named]).ended_with(1);
    env.run(["session", "resolve", "src/a.rs:1"]).ended_with(2);
    env.run(["session", "resolve", "${PROJECT_ROOT}/../a.rs:1"])
        .ended_with(1);
}

/// LOA-SEC-1: no secret reaches a file, and no link leads one out of the project.
#[test]
fn secrets_are_taken_out_and_links_out_are_refused() {
    let env = project();
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6");
    env.write("src/key.rs", format!("const KEY: &str = \"{token}\";\n"));
    let decided = env
        .run([
            "session",
            "decide",
            &format!("Call with {token}"),
            "--cite",
            "src/key.rs:1",
        ])
        .success();
    assert!(
        decided.stderr.contains("github token"),
        "{}",
        decided.stderr
    );
    for file in ["loa-grimoire/NOTES.md".to_owned(), trajectory()] {
        assert!(!env.read(file).contains(&token));
    }
    env.run(["session", "grounding"]).success();

    let env = project();
    let outside = env.home().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, env.project().join("loa-grimoire")).unwrap();
    env.run(["session", "decide", "Stay inside"]).ended_with(3);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

/// LOA-BEAD-1: beads are made, ordered, waited for and closed, and a broken one is named.
#[test]
fn beads_are_ready_when_what_they_need_is_closed() {
    let env = project();
    env.run(["bead", "create", "First", "--id", "bd-1"])
        .success();
    env.run([
        "bead", "create", "Second", "--id", "bd-2", "--needs", "bd-1", "-p", "0",
    ])
    .success();
    env.run(["bead", "create", "Again", "--id", "bd-2"])
        .ended_with(1);
    env.run(["bead", "create", "Lost", "--needs", "bd-9"])
        .ended_with(1);
    env.write(".beads/bd-3.yaml", "id: bd-3\nid: bd-3\n");
    env.write(".beads/config.yaml", "not: a bead\n");
    let ready = env.run(["bead", "ready"]).success();
    assert_eq!(ready.stdout, "bd-1 P2 open First\n");
    assert!(
        ready.stderr.contains(".beads/bd-3.yaml was not understood"),
        "{}",
        ready.stderr
    );
    env.run(["bead", "close", "bd-1"]).success();
    let ready = env.run(["bead", "ready", "--json"]).success().json();
    assert_eq!(ready["beads"][0]["id"], "bd-2");
    env.write(
        ".beads/bd-4.yaml",
        "id: bd-4 # mine\nstatus: open\nx_own: [1]\n",
    );
    env.run([
        "bead",
        "update",
        "bd-4",
        "--next",
        "try it",
        "--priority",
        "1",
    ])
    .success();
    assert_eq!(
        env.read(".beads/bd-4.yaml"),
        "id: bd-4 # mine\nstatus: open\nx_own: [1]\npriority: 1\nnext_steps:\n  - \"try it\"\n"
    );
    env.run(["bead", "show", "bd-9"]).ended_with(1);
    env.run(["bead", "show", "../x"]).ended_with(2);
}

/// LOA-CHK-1: the checkpoint blocks by its exit code, names its seven steps, and is quiet where the
/// project says so; the hand-off begins a new count, and recovery fits its budget.
#[test]
fn a_checkpoint_blocks_and_a_new_session_recovers() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current", "--next", "go on"])
        .success();
    env.run(["session", "decide", "Retry for ever"]).success();
    let blocked = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        blocked.starts_with("1. grounding: block\n   Cannot clear: 1 decisions lack evidence\n")
    );
    assert_eq!(
        blocked
            .lines()
            .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
            .count(),
        7
    );
    env.write(".loa.config.yaml", "grounding_enforcement: warn\n");
    env.run(["session", "check"]).success();
    env.write(".loa.config.yaml", "grounding_enforcement: strict\n");
    let refused = env.run(["session", "handoff"]).ended_with(1);
    assert!(refused.stdout.starts_with("1. grounding: block\n"));
    assert!(refused.stderr.contains("session handoff --force"));
    let handed = env.run(["session", "handoff", "--force", "--json"]);
    let handed = handed.success().json();
    assert_eq!(handed["bead"], "bd-1");
    assert_eq!(
        (&handed["forced"], &handed["next_session_ready"]),
        (&true.into(), &false.into())
    );
    assert!(
        env.read(trajectory())
            .contains("\"ungrounded\":[\"Retry for ever\"]")
    );
    let passed = env.run(["session", "grounding"]).success().stdout;
    assert_eq!(passed, "grounding_ratio=1.00\nstatus=pass\n");
    let told = env.run(["session", "recover"]).success().stdout;
    assert!(told.starts_with("Bead: bd-1 Work (open)\n"), "{told}");
    assert!(
        told.contains("Next: go on\nDecided: Retry for ever [no evidence]\n"),
        "{told}"
    );
    assert_eq!(env.run(["session", "recover"]).success().stdout, told);
    let about = env
        .run(["session", "recover", "--level", "2", "retry"])
        .success()
        .stdout;
    assert!(about.contains("Retry for ever"));
    let none = env
        .run(["session", "recover", "--level", "2", "nothing"])
        .success();
    assert_eq!(none.stdout, "");
    assert!(
        none.stderr.contains("is about `nothing`"),
        "{}",
        none.stderr
    );
    let all = env
        .run(["session", "recover", "--level", "3"])
        .success()
        .stdout;
    assert_eq!(all, env.read("loa-grimoire/NOTES.md"));
    env.run(["session", "recover", "--level", "4"])
        .ended_with(2);
}

/// LOA-TRUTH-1: where files do not say the same, the fork is shown with the side that is believed,
/// and what was not understood with its line.
#[test]
fn status_shows_forks_and_what_was_not_understood() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let calm = env.run(["session", "status", "--json"]).success().json();
    assert_eq!(
        (calm["grounded"].clone(), calm["forks"].clone()),
        (1.into(), serde_json::json!([]))
    );
    env.run(["bead", "close", "bd-1"]).success();
    let notes = env
        .read("loa-grimoire/NOTES.md")
        .replace("**Decision**: Use one", "**Decision**: Use two");
    env.write(
        "loa-grimoire/NOTES.md",
        format!("{notes}### Decision Log\n"),
    );
    env.write(".beads/bd-2.yaml", "a: 1\na: 2\n");
    env.write("src/a.rs", "\n");
    let shown = env.run(["session", "status"]).success().stdout;
    for said in [
        "bead is believed, not NOTES.md: bd-1 is closed, and stands as the current bead",
        "bead is believed, not NOTES.md: the decision of 2026-01-02T",
        "code is believed, not bead: the decision of 2026-01-02T",
        "a second section `Decision Log`",
        "not understood: .beads/bd-2.yaml: ",
    ] {
        assert!(shown.contains(said), "{said} is not in {shown}");
    }
}

/// LOA-HEAL-1: a blank NOTES.md and a deleted bead come back from git, a broken bead is set aside,
/// and without git there is the template.
#[test]
fn what_is_broken_is_healed_from_git_or_the_template() {
    let env = project();
    let anew = env.run(["session", "heal"]).success().stdout;
    assert!(
        anew.starts_with("loa-grimoire/NOTES.md: missing, healed from template\n"),
        "{anew}"
    );
    env.run(["bead", "create", "Kept", "--id", "bd-1"])
        .success();
    env.run(["bead", "create", "Broken", "--id", "bd-2"])
        .success();
    env.run(["session", "decide", "Keep it"]).success();
    env.git_init();
    env.write("loa-grimoire/NOTES.md", "\n");
    std::fs::remove_file(env.project().join(".beads/bd-1.yaml")).unwrap();
    env.write(".beads/bd-2.yaml", "a: [\n");
    let healed = env.run(["session", "heal", "--json"]).success().json();
    assert_eq!(healed["healed"].as_array().unwrap().len(), 3);
    assert!(env.read("loa-grimoire/NOTES.md").contains("Keep it"));
    assert!(env.read(".beads/bd-1.yaml").contains("Kept"));
    assert!(env.read(".beads/bd-2.yaml").contains("Broken"));
    assert_eq!(
        env.read(healed["healed"][2]["aside"].as_str().unwrap()),
        "a: [\n"
    );
    assert_eq!(env.run(["session", "heal"]).success().stdout, "");
}

/// LOA-GRD-3: the search for a missing feature is made by the program, and its record answers the
/// checkpoint.
#[test]
fn a_missing_feature_is_looked_for_and_one_that_is_there_is_shown() {
    let env = project();
    env.write(
        "docs.md",
        "# Single sign-on\n\nLog in by a SAML identity provider.\n",
    );
    let flag = r#"{"phase":"ghost","feature":"SSO","queries":[]}"#;
    env.write(trajectory(), format!("{flag}\n"));
    env.run(["session", "check"]).ended_with(1);
    let ghost = |queries: [&str; 2], control: &str| {
        env.callosum()
            .arguments(["session", "ghost", "SSO", "--control", control])
            .arguments(queries.iter().flat_map(|query| ["--query", query]))
            .run()
    };
    let same = ghost(["saml provider", "provider saml"], "three").ended_with(1);
    assert!(
        same.stderr.contains("the queries do not differ"),
        "{}",
        same.stderr
    );
    let vain = ghost(["saml provider", "single sign-on"], "quaternion").ended_with(1);
    assert!(vain.stderr.contains("no control found"), "{}", vain.stderr);
    env.run(["session", "check"]).ended_with(1);
    let gone = ghost(["saml provider", "single sign-on"], "three").success();
    assert!(
        gone.stdout.starts_with("SSO: is not there\n"),
        "{}",
        gone.stdout
    );
    let checked = env.run(["session", "check"]).success();
    assert!(
        checked.stdout.contains("2. negative grounding: pass"),
        "{}",
        checked.stdout
    );

    let there = ghost(["saml provider", "fn two"], "three").ended_with(1);
    assert!(there.stdout.contains("src/a.rs:2"), "{}", there.stdout);
    env.run(["session", "check"]).success();
}

/// LOA-TRJ-1: healing and handing off compress what is old, and say so.
#[test]
fn old_trajectories_are_compressed_as_the_settings_say() {
    let env = project();
    let old = "loa-grimoire/a2a/trajectory/implementing-tasks-2025-12-20.jsonl";
    env.write(old, "{\"phase\":\"cite\",\"claim\":\"old\"}\n");
    let healed = env.run(["session", "heal", "--json"]).success().json();
    assert_eq!(healed["archived"], serde_json::json!([]));
    env.write(".loa.config.yaml", "trajectory:\n  retention_days: 7\n");
    let healed = env.run(["session", "heal", "--json"]).success();
    assert_eq!(healed.json()["archived"][0], old);
    assert!(
        healed.stderr.contains("compressed, being old"),
        "{}",
        healed.stderr
    );
    let grounding = env.run(["session", "grounding"]).ended_with(1);
    assert!(
        grounding.stdout.contains("total_claims=1"),
        "{}",
        grounding.stdout
    );
    env.write(
        ".loa.config.yaml",
        "trajectory:\n  retention_days: 7\n  archive_days: 8\n",
    );
    let handed = env.run(["session", "handoff", "--force"]).success();
    assert!(
        handed.stderr.contains("removed, being old"),
        "{}",
        handed.stderr
    );
}

/// A `bd` that knows one bead, and writes down what it is told.
fn with_bd(env: &TestEnv, prints: &str) {
    env.write(".beads/metadata.json", "{}");
    let told = env.folder().join("told");
    let script = format!(
        "#!/bin/sh\ncase \"$1 $2\" in\n\"ready --json\") printf '%s' '{prints}' ;;\n\
         \"show bd-1\") printf '%s' '{{\"schema_version\":1,\"data\":[{{\"id\":\"bd-1\",\"title\":\"Pool\",\"status\":\"closed\",\"priority\":2}}]}}' ;;\n\
         update*|close*) printf '%s\\n' \"$*\" >> {} ;;\n*) echo 'issue not found' >&2; exit 1 ;;\nesac\n",
        told.display()
    );
    let program = env.programs().join("bd");
    std::fs::write(&program, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
}

/// LOA-BEAD-1, LOA-TRUTH-1: where `bd` is used, it is asked, told, and believed in what it owns.
#[test]
fn bd_is_asked_told_and_believed_where_it_is_used() {
    let env = project();
    env.run(["bead", "create", "Pool", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    with_bd(
        &env,
        r#"[{"id":"bd-1","title":"Pool"},{"id":"bd-7","title":"Its own","status":"open","priority":0}]"#,
    );
    let ready = env.run(["bead", "ready"]).success();
    assert_eq!(ready.stdout, "bd-7 P0 open Its own\nbd-1 P2 open Pool\n");
    env.run(["session", "decide", "Use one pool", "--cite", "src/a.rs:1"])
        .success();
    env.run(["session", "handoff"]).success();
    env.run(["bead", "update", "bd-1", "--status", "blocked", "-p", "1"])
        .success();
    env.run(["bead", "update", "bd-1", "--next", "ours alone"])
        .success();
    env.run([
        "bead",
        "update",
        "bd-1",
        "--status",
        "done",
        "--assignee",
        "me",
    ])
    .success();
    env.run(["bead", "update", "bd-1", "--status", "open"])
        .success();
    let told = std::fs::read_to_string(env.folder().join("told")).unwrap();
    assert!(
        told.starts_with("update bd-1 --append-notes Decision of "),
        "{told}"
    );
    assert!(told.contains(": Use one pool\n"), "{told}");
    assert!(told.contains("Hand-off of "), "{told}");
    let changes = "update bd-1 --status blocked --priority 1\nupdate bd-1 --assignee me\nclose bd-1\n\
                   update bd-1 --status open\n";
    assert!(told.ends_with(changes), "{told}");
    let status = env.run(["session", "status"]).success();
    let fork = "bd is believed, not bead: bd-1 is closed";
    assert!(status.stdout.contains(fork), "{}", status.stdout);

    // Whatever it prints, ours is listed, and that is said.
    with_bd(&env, "no tasks");
    let ready = env.run(["bead", "ready"]).success();
    assert_eq!(ready.stdout, "bd-1 P1 open Pool\n");
    assert!(
        ready.stderr.contains("in a form that is known"),
        "{}",
        ready.stderr
    );
    std::fs::remove_file(env.project().join(".beads/metadata.json")).unwrap();
    let ready = env.run(["bead", "ready"]).success();
    assert_eq!(ready.stderr, "");
}

/// LOA-FUT-1: a hand-off names somebody who is there, in whichever case; anybody else is refused, with
/// those who are.
#[test]
fn a_hand_off_names_somebody_who_is_there() {
    let env = project();
    for (name, meant) in [
        ("Codex", "codex"),
        ("CLAUDE-code", "claude"),
        ("gemini-cli", "gemini"),
        ("scout", "scout"),
    ] {
        if name == "scout" {
            env.run(["init", "--no-zones", "--no-hooks"]).success();
        }
        env.run(["session", "handoff", "--to", name, "--reasoning", name])
            .success();
        let said = format!("\"to\":\"{meant}\"");
        assert!(env.read(trajectory()).contains(&said), "{name}");
    }
    let before = env.read(trajectory());
    for name in ["codexx", "reviewing-code", "codex-code-cli", "../x", ""] {
        let refused = env.run(["session", "handoff", "--to", name]).ended_with(2);
        assert!(
            refused.stderr.contains("claude, codex, gemini"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(env.read(trajectory()), before);
    let told = env.run(["session", "recover", "--level", "2"]).success();
    assert!(
        told.stdout
            .contains("Handed over to scout by implementing-tasks at ")
    );
}

/// LOA-HEAL-1, LOA-DELTA-1: decisions that were never committed come back, and who tells of them
/// tells what is there.
#[test]
fn decisions_of_lost_notes_come_back() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let notes = env.read("loa-grimoire/NOTES.md");
    env.write("loa-grimoire/NOTES.md", "");
    let saved = env
        .run(["session", "checkpoint", "--no-transcript"])
        .success();
    assert!(
        saved
            .stdout
            .contains("1 decision, 1 of them missing in NOTES.md until now")
    );
    let entry = notes.split("#### ").nth(1).unwrap();
    let entry = entry.split("\n\n").next().unwrap();
    assert!(env.read("loa-grimoire/NOTES.md").contains(entry));
    let cut = notes.find("**Decision**: Use").unwrap() + 16;
    env.write("loa-grimoire/NOTES.md", &notes[..cut]);
    let healed = env.run(["session", "heal"]).success().stdout;
    let line = "loa-grimoire/NOTES.md: without 1 decision, healed from trajectory\n";
    assert!(healed.contains(line), "{healed}");
    assert!(env.read("loa-grimoire/NOTES.md").contains(entry));
    assert_eq!(env.run(["session", "heal"]).success().stdout, "");
}

/// LOA-BEAD-1: what was said of a bead can be taken back, all beads are listed, and no word is taken
/// that nobody understands.
#[test]
fn what_is_said_of_a_bead_can_be_taken_back() {
    let env = project();
    for id in ["bd-1", "bd-2"] {
        env.run(["bead", "create", "Work", "--id", id]).success();
    }
    let update = |more: &[&str]| {
        let arguments = ["bead", "update", "bd-2"];
        env.run(arguments.iter().chain(more))
    };
    update(&["--needs", "bd-1", "--next", "one", "--next", "two"]).success();
    let listed = env.run(["bead", "list"]).success().stdout;
    assert_eq!(
        listed,
        "bd-1 P2 open Work\nbd-2 P2 open Work (waits for bd-1)\n"
    );
    env.run(["bead", "update", "bd-1", "--needs", "bd-2"])
        .ended_with(1);
    update(&["--needs", "bd-9"]).ended_with(1);
    update(&[
        "--remove-dependency",
        "bd-1",
        "--clear-next",
        "--next",
        "three",
    ])
    .success();
    update(&["--remove-dependency", "bd-1"]).ended_with(1);
    let bead = env.run(["bead", "show", "bd-2", "--json"]).success().json();
    assert_eq!(bead["needs"], serde_json::json!([]));
    assert_eq!(bead["next_steps"], serde_json::json!(["three"]));
    for wrong in [
        ["--status", "wip"],
        ["--priority", "5"],
        ["--priority", "-1"],
    ] {
        update(&wrong).ended_with(2);
    }
    update(&["--status", "blocked"]).success();
    let blocked = ["bead", "list", "--status", "blocked", "--json"];
    let blocked = env.run(blocked).success().json();
    assert_eq!(blocked["beads"][0]["id"], "bd-2");
    assert_eq!(blocked["beads"].as_array().unwrap().len(), 1);
}

/// LOA-FMT-1: what hands wrote and nobody understands is named, each with its file and line.
#[test]
fn what_hands_wrote_is_named_by_its_line() {
    let env = project();
    env.write(
        ".beads/bd-1.yaml",
        "id: bd-9\npriority: high\ndepends_on: [bd-2]\n",
    );
    env.write(
        ".beads/bd-2.yaml",
        "id: bd-2\nstatus: wip\ndepends_on: [bd-1]\n",
    );
    env.write(".beads/bd-3.yaml/x", "");
    std::os::unix::fs::symlink("bd-1.yaml", env.project().join(".beads/bd-4.yaml")).unwrap();
    env.write(".beads/bd-5.yaml", "# ".repeat(3 << 20));
    env.write("loa-grimoire/NOTES.md", "## Session Continuity\n\u{0}\n");
    env.write(
        ".loa.config.yaml",
        "edd:\n  enabled: true\n  min_test_scenarios: many\n",
    );
    let shown = env.run(["session", "status"]).success().stdout;
    for said in [
        ".beads/bd-1.yaml:1: it says that its id is `bd-9`",
        ".beads/bd-1.yaml:2: \"high\" is no priority",
        ".beads/bd-1.yaml:3: it needs itself by way of bd-2",
        ".beads/bd-2.yaml:2: \"wip\" is none of open, ",
        ".beads/bd-3.yaml: it is no file",
        ".beads/bd-4.yaml: it is a link",
        ".beads/bd-5.yaml: it is larger than ",
        "loa-grimoire/NOTES.md:2: bytes that are zero",
        ".loa.config.yaml:3: `edd.min_test_scenarios`",
    ] {
        assert!(shown.contains(said), "{said} is not in {shown}");
    }
    std::fs::remove_file(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    env.write("loa-grimoire/NOTES.md/x", "");
    let shown = env.run(["session", "status"]).success().stdout;
    assert!(
        shown.contains("loa-grimoire/NOTES.md` is no file"),
        "{shown}"
    );
}

/// LOA-SEC-1: what nobody sees is shown, also where a program reads it.
#[test]
fn what_nobody_sees_is_shown() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run([
        "bead",
        "update",
        "bd-1",
        "--current",
        "--title",
        "a\u{202e}b",
    ])
    .success();
    env.run(["session", "decide", "Use\u{200b} one\u{2066}"])
        .success();
    for arguments in [
        &["session", "recover"][..],
        &["session", "recover", "--level", "2"],
        &["session", "recover", "--level", "3"],
        &["session", "status"],
        &["bead", "show", "bd-1"],
        &["bead", "ready"],
        &["bead", "list"],
    ] {
        let said = env.run(arguments).success().stdout;
        let seen = |c: char| !callosum_evidence::terminal::is_unseen(c);
        assert!(said.chars().all(seen), "{arguments:?}: {said:?}");
    }
    let told = env.run(["session", "recover"]).success().stdout;
    assert!(
        told.starts_with("Bead: bd-1 a\\u{202e}b (open)\n"),
        "{told}"
    );
}

/// LOA-BEAD-1: a current bead that is broken is healed before something is written to it, or passed
/// over with a word; the decision is kept.
#[test]
fn a_broken_current_bead_keeps_no_decision_away() {
    let env = project();
    env.git_init();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    env.write(".beads/bd-1.yaml", "a: 1\na: 2\n");
    let made = env
        .run(["session", "decide", "Use one", "--assume"])
        .success();
    let said = "the current bead `bd-1` has no part in it: ";
    assert!(made.stderr.contains(said), "{}", made.stderr);
    env.write(".beads/bd-1.yaml", "id: bd-1\ntitle: Work\n");
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message=state"]);
    std::fs::remove_file(env.project().join(".beads/bd-1.yaml")).unwrap();
    let made = env
        .run(["session", "decide", "Use two", "--json"])
        .success();
    assert!(
        made.stderr
            .contains(".beads/bd-1.yaml: missing, healed from git")
    );
    assert_eq!(made.json()["bead"], "bd-1");
    let told = env.run(["session", "recover"]).success().stdout;
    assert!(told.contains("Decided: Use one [assumption]\n"), "{told}");
}

/// LOA-HEAL-1: healing stops nobody: where nothing can be written, it says what is wrong, and where
/// things stand is told all the same.
#[test]
fn on_a_read_only_disk_healing_says_what_is_wrong() {
    let disk = SmallDisk::with_a_project();
    disk.run(&["bead", "create", "Work", "--id", "bd-1"])
        .success();
    disk.run(&["bead", "update", "bd-1", "--current"]).success();
    std::fs::write(disk.path(".beads/bd-2.yaml"), "a: 1\na: 2\n").unwrap();
    disk.make_read_only();
    let healed = disk.run(&["session", "heal"]).success();
    assert!(healed.stderr.contains("nothing can be healed here: "));
    assert!(
        healed.stderr.contains("ead-only file system"),
        "{}",
        healed.stderr
    );
    assert!(healed.stdout.starts_with(".beads/bd-2.yaml: broken: "));
    let told = disk.run(&["session", "recover"]).success().stdout;
    assert!(told.starts_with("Bead: bd-1 Work "), "{told}");
    disk.run(&["session", "status"]).success();
    disk.run(&["session", "decide", "Use one"]).ended_with(3);
}
