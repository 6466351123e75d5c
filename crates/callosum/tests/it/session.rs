//! `callosum session`: what outlives an agent's context.

use callosum_testkit::TestEnv;

/// A project with a file to cite.
pub(super) fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "src/a.rs",
        "pub fn one() {}\npub fn two() {}\n\nfn three() {\n    one();\n}\n",
    );
    env
}

pub(super) fn trajectory() -> String {
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
            "--reason",
            "fewer sockets",
            "--cite",
            "src/a.rs:2",
            "--acceptance",
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
        warned.stderr.contains("this decision has no evidence yet"),
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
    assert_eq!(forked["forks"][0]["trusted_source"], "code");
}

/// LOA-GRD-1: each decision is listed with the status of its citations as the tree is now, newest first.
#[test]
fn decisions_are_listed_with_the_status_of_their_citations() {
    let env = project();
    let empty = env.run(["session", "decisions"]).success();
    assert!(empty.stderr.contains("no decisions"), "{}", empty.stderr);
    for (words, place) in [("Use one pool", "src/a.rs:2"), ("Keep three", "src/a.rs:4")] {
        env.run(["session", "decide", words, "--cite", place])
            .success();
    }
    env.run([
        "session",
        "decide",
        "Drop retries",
        "--source",
        "assumption",
    ])
    .success();
    env.run([
        "session",
        "handoff",
        "--reason",
        "continue with the pool",
        "--force",
    ]);
    // Line 2 moves down, line 4 changes.
    env.write("src/a.rs", "\n\n\npub fn two() {}\nfn four() {\n}\n");
    let output = env.run(["session", "decisions", "--json"]).success().json();
    let decisions = output["decisions"].as_array().unwrap();
    let titles: Vec<&str> = decisions
        .iter()
        .map(|made| made["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["Drop retries", "Keep three", "Use one pool"]);
    assert_eq!(decisions[0]["status"], "assumption");
    assert_eq!(decisions[1]["status"], "stale");
    let moved = &decisions[2]["citations"][0];
    assert_eq!(
        (&moved["status"], &moved["line_now"], &moved["holds"]),
        (&"MOVED".into(), &4.into(), &true.into())
    );
    let handed = &output["handoffs"][0];
    assert_eq!(handed["reasoning"], "continue with the pool");
    let last = env.run(["session", "decisions", "--limit", "1"]).success();
    assert!(
        last.stdout.ends_with("Drop retries [assumption]\n"),
        "{}",
        last.stdout
    );
    assert!(
        last.stderr.contains("older decisions: 2"),
        "{}",
        last.stderr
    );
}

/// A refusal says in words why a place cannot be cited.
#[test]
fn a_place_that_is_missing_or_outside_is_refused_in_words() {
    let env = project();
    for (place, why) in [
        ("src/gone.rs:1", "cannot be cited: there is no such file"),
        (
            "../a.rs:1",
            "cannot be cited: the file is not in this project",
        ),
    ] {
        let refused = env.run(["session", "decide", "Use two", "--cite", place]);
        let printed = refused.ended_with(1).stderr;
        assert!(printed.contains(why), "{printed}");
    }
}

/// LOA-GRD-1: what sessions and git write themselves is no evidence.
#[test]
fn records_of_our_own_are_not_cited() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    let trajectory = trajectory();
    for path in [
        "loa-grimoire/NOTES.md",
        "./loa-grimoire//NOTES.md",
        ".beads/bd-1.yaml",
        ".git/config",
        &trajectory,
    ] {
        let place = format!("{path}:1");
        let refused = env.run(["session", "decide", "Use two", "--cite", &place]);
        let said = refused.ended_with(1).stderr;
        assert!(
            said.contains("files written by sessions or git are not evidence"),
            "{said}"
        );
    }
    assert!(!env.read("loa-grimoire/NOTES.md").contains("Use two"));
    env.write("loa-grimoire/prd.md", "# What is wanted of it\n");
    env.run([
        "session",
        "decide",
        "Want",
        "--cite",
        "loa-grimoire/prd.md:1",
    ])
    .success();
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
    let absolute = env.project().join("src/a.rs:1");
    for place in ["src/a.rs:1", absolute.to_str().unwrap()] {
        let line = env.run(["session", "resolve", place]).success().stdout;
        assert_eq!(line, "1\n", "{place}");
    }
    env.run(["session", "resolve", "src/a.rs"]).ended_with(2);
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
    let title = format!("Rotate {token}");
    let made = env
        .run(["bead", "create", &title, "--id", "bd-1"])
        .success();
    let changed = [
        "bead",
        "update",
        "bd-1",
        "--title",
        &title,
        "--current",
        "--decision",
        &title,
    ];
    for said in [made, env.run(changed).success()] {
        assert!(said.stderr.contains("github token"), "{}", said.stderr);
    }
    for file in [
        "loa-grimoire/NOTES.md".to_owned(),
        trajectory(),
        ".beads/bd-1.yaml".to_owned(),
    ] {
        assert!(!env.read(file).contains(&token));
    }

    let env = project();
    let outside = env.home().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, env.project().join("loa-grimoire")).unwrap();
    env.run(["session", "decide", "Stay inside"]).ended_with(3);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

/// LOA-HEAL-1: settings that are no file have their defaults, which is said, and heal ends with 0
/// whatever leads out of the project.
#[test]
fn settings_that_are_no_file_and_links_out_stop_nothing() {
    let env = project();
    std::fs::create_dir(env.project().join(".loa.config.yaml")).unwrap();
    for command in ["recover", "check", "handoff", "heal", "status"] {
        env.run(["session", command]).success();
    }
    let named =
        "problem: .loa.config.yaml:1: it is not a regular file; all settings use their defaults";
    let status = env.run(["session", "status"]).success().stdout;
    assert!(status.contains(named), "{status}");
    let env = project();
    let outside = env.home().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::create_dir_all(env.project().join("loa-grimoire")).unwrap();
    std::os::unix::fs::symlink(&outside, env.project().join("loa-grimoire/a2a")).unwrap();
    let healed = env.run(["session", "heal"]).success();
    assert!(
        healed.stdout.contains("link that points outside"),
        "{}",
        healed.stdout
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

/// LOA-HEAL-1: what a torn write left of a decision is made whole before another is added.
#[test]
fn a_decision_after_a_torn_write_leaves_no_stump() {
    let env = project();
    env.write("src/old.rs", "fn old_name() {}\n");
    env.run([
        "session",
        "decide",
        "Keep the name",
        "--cite",
        "src/old.rs:1",
    ])
    .success();
    let notes = env.read("loa-grimoire/NOTES.md");
    let cut = notes.find("**Evid").unwrap() + "**Evid".len();
    env.write("loa-grimoire/NOTES.md", &notes[..cut]);
    let torn = env.run(["session", "status"]).success().stdout;
    assert!(torn.contains("an incomplete field"), "{torn}");
    env.run(["session", "decide", "Go on"]).success();
    let notes = env.read("loa-grimoire/NOTES.md");
    assert!(
        notes.contains("- `fn old_name() {}` [${PROJECT_ROOT}/src/old.rs:1]\n"),
        "{notes}"
    );
    assert!(!notes.contains("**Evid\n"), "{notes}");
    let status = env.run(["session", "status"]).success().stdout;
    assert!(!status.contains("breaks off"), "{status}");
}

/// LOA-SEC-1: a secret that a person wrote into the notes by hand goes nowhere from there.
#[test]
fn a_secret_in_an_entry_by_hand_is_told_nowhere() {
    let env = project();
    env.run(["session", "decide", "Use one pool", "--source=assumption"])
        .success();
    let secret = "ghp_aB3dE5fG7hJ9kL1mN3pQrSaB3dE5fG7hJ9kL";
    let notes = env.read("loa-grimoire/NOTES.md");
    let heading = "#### 2026-01-02T03:04:05Z";
    let by_hand = format!("#### 2026-01-02T05:00:00Z - Log in with {secret}\n\n{heading}");
    env.write(
        "loa-grimoire/NOTES.md",
        notes.replacen(heading, &by_hand, 1),
    );
    let told = |arguments: &[&str], code| {
        let output = env.run(arguments).ended_with(code);
        let told = format!("{}{}", output.stdout, output.stderr);
        assert!(told.contains("Log in with"), "{told}");
        assert!(!told.contains(secret), "{told}");
    };
    told(&["session", "check"], 1);
    told(&["session", "recover"], 0);
    told(&["session", "recover", "--level", "2"], 0);
    env.run(["session", "handoff", "--force"]).success();
    let kept = env.read(trajectory());
    assert!(
        kept.contains("Log in with") && !kept.contains(secret),
        "{kept}"
    );
}

/// LOA-HEAL-1: a folder of beads that is not there is made, and that is said.
#[test]
fn a_folder_of_beads_that_is_missing_is_made_anew() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let healed = env.run(["session", "heal"]).success();
    assert_eq!(healed.stdout, ".beads: missing, recreated\n");
}

/// LOA-BUD-1: a transcript that is not there is named, and what to do without it.
#[test]
fn a_transcript_that_is_not_there_is_named() {
    let env = project();
    for (command, hint) in [
        ("budget", "callosum session budget\n"),
        (
            "checkpoint",
            "callosum session checkpoint --no-transcript\n",
        ),
    ] {
        let gone = env
            .run(["session", command, "--transcript", "gone.jsonl"])
            .ended_with(1)
            .stderr;
        assert!(
            gone.starts_with("error: there is no transcript `"),
            "{gone}"
        );
        assert!(gone.ends_with(hint), "{gone}");
    }
    let time = "2020-01-01T00:00:00Z";
    let unknown = env
        .run(["session", "cite", time, "src/a.rs:1"])
        .ended_with(1)
        .stderr;
    assert!(
        unknown.contains("no decision has the time 2020-01-01T00:00:00Z"),
        "{unknown}"
    );
    assert!(
        unknown.contains("callosum session recover --level 2"),
        "{unknown}"
    );
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
    // One word of two is no feature, nor are both far from one another, nor what a licence or a lock file says.
    let between = "    one(1, 2, 3);\n".repeat(9);
    let scattered = format!("fn provider() {{\n    single();\n{between}    sign(saml);\n}}\n");
    env.write("src/provider.rs", scattered);
    env.write("LICENSE-MIT", "no saml provider, nor a single sign-on\n");
    env.write("uv.lock", "saml provider = single_sign_on\n");
    let flag = r#"{"phase":"ghost","feature":"SSO","queries":[]}"#;
    env.write(trajectory(), format!("{flag}\n"));
    let blocked = env.run(["session", "check"]).ended_with(1).stdout;
    let step = "[UNVERIFIED GHOST] SSO: fewer than two queries were run: callosum session ghost 'SSO' --query";
    assert!(blocked.contains(step), "{blocked}");
    let ghost = |queries: [&str; 2], control: &str| {
        env.callosum()
            .arguments(["session", "ghost", "SSO", "--control", control])
            .arguments(queries.iter().flat_map(|query| ["--query", query]))
            .run()
    };
    let same = ghost(["saml provider", "provider saml"], "three").ended_with(1);
    assert!(
        same.stderr.contains(
            "the search does not prove that `SSO` is missing: the queries are too similar"
        ),
        "{}",
        same.stderr
    );
    let vain = ghost(["saml provider", "single sign-on"], "quaternion").ended_with(1);
    assert!(
        vain.stderr.contains("no positive control found"),
        "{}",
        vain.stderr
    );
    env.run(["session", "check"]).ended_with(1);
    let gone = ghost(["saml provider", "single sign-on"], "three").success();
    assert!(
        gone.stdout.starts_with("SSO: not found\n"),
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
        healed.stderr.contains("compressed because of age"),
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
        handed.stderr.contains("removed because of age"),
        "{}",
        handed.stderr
    );
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
            env.run(["init", "--ledger", "--share"]).success();
        }
        env.run(["session", "handoff", "--to", name, "--reason", name])
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
            .contains("Handoff to scout by implementing-tasks at ")
    );
}
