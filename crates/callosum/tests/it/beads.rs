//! `callosum bead`: tasks that wait for each other, are taken back, and are told to `bd`.

use callosum_testkit::TestEnv;

use crate::session::{project, trajectory};

/// LOA-BEAD-1: beads are made, ordered, waited for and closed, and a broken one is named.
#[test]
fn beads_are_ready_when_what_they_need_is_closed() {
    let env = project();
    let none = env.run(["bead", "ready"]).success();
    assert_eq!(none.stdout, "");
    assert_eq!(none.stderr, "no open beads: callosum bead create TITLE\n");
    let recovered = env.run(["session", "recover"]).success();
    assert_eq!(recovered.stdout, "");
    assert!(
        recovered.stderr.starts_with("nothing to recover yet: "),
        "{}",
        recovered.stderr
    );
    env.run(["bead", "create", "First", "--id", "bd-1"])
        .success();
    env.run([
        "bead",
        "create",
        "Second",
        "--id",
        "bd-2",
        "--add-dep",
        "bd-1",
        "-p",
        "0",
    ])
    .success();
    env.run(["bead", "update", "bd-1", "--status", "blocked"])
        .success();
    let none = env.run(["bead", "ready"]).success();
    assert_eq!(none.stdout, "");
    assert_eq!(
        none.stderr,
        "no bead is ready, 2 waiting or held back: callosum bead list\n"
    );
    env.run(["bead", "update", "bd-1", "--status", "open"])
        .success();
    env.run(["bead", "create", "Again", "--id", "bd-2"])
        .ended_with(1);
    env.run(["bead", "create", "Lost", "--add-dep", "bd-9"])
        .ended_with(1);
    env.write(".beads/bd-3.yaml", "id: bd-3\nid: bd-3\n");
    env.write(".beads/config.yaml", "not: a bead\n");
    let ready = env.run(["bead", "ready"]).success();
    assert_eq!(ready.stdout, "bd-1 P2 open First\n");
    assert!(
        ready.stderr.contains("cannot parse .beads/bd-3.yaml: "),
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

/// A `bd` that knows one bead, and writes down what it is told.
fn with_bd(env: &TestEnv, prints: &str) {
    env.write(".beads/metadata.json", "{}");
    let told = env.folder().join("told");
    let script = format!(
        "#!/bin/sh\ncase \"$1 $2\" in\n\"ready --json\") printf '%s' '{prints}' ;;\n\
         \"show bd-1\") printf '%s' '{{\"schema_version\":1,\"data\":[{{\"id\":\"bd-1\",\"title\":\"Pool\",\"status\":\"closed\",\"priority\":2}}]}}' ;;\n\
         create*|update*|close*) printf '%s\\n' \"$*\" >> {} ;;\n*) echo 'issue not found' >&2; exit 1 ;;\nesac\n",
        told.display()
    );
    let program = env.programs().join("bd");
    std::fs::write(&program, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
}

/// LOA-FMT-1: why a bead's file is not read is said in words that a person can act on, with its line and
/// something to paste.
#[test]
fn a_bead_that_is_not_read_is_told_with_its_line_and_what_to_do() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-9"])
        .success();
    env.write(".beads/bd-1.yaml", "id: bd-1\ntitle: a\ntitle: b\n");
    env.write(".beads/bd-2.yaml", "id: bd-2\n\ttitle: a\n");
    let latin = env.project().join(".beads/bd-3.yaml");
    std::fs::write(&latin, b"id: bd-3\ntitle: \xe9t\xe9\n").unwrap();
    std::fs::create_dir(env.project().join(".beads/bd-4.yaml")).unwrap();
    let listed = env.run(["bead", "ready"]).success();
    let file = ".beads/bd-3.yaml";
    for (id, said, hint) in [
        (
            "bd-1",
            "not a bead: duplicate key `title` (line 3)",
            "callosum session heal",
        ),
        (
            "bd-2",
            "not a bead: indented with a tab instead of spaces (line 2)",
            "callosum session heal",
        ),
        (
            "bd-3",
            "it is not UTF-8 (line 2)",
            "iconv -f latin1 -t utf-8 .beads/bd-3.yaml",
        ),
        ("bd-4", "it is not a regular file", "callosum session heal"),
    ] {
        assert!(listed.stderr.contains(said), "{}", listed.stderr);
        for command in [&["show", id][..], &["update", id, "--next", "x"]] {
            let refused = env.run([&["bead"], command].concat()).ended_with(3).stderr;
            assert!(
                refused.contains(&format!("cannot read bead `{id}`: {said}\n")),
                "{refused}"
            );
            assert!(refused.contains(hint), "{refused}");
        }
    }
    assert_eq!(
        std::fs::read(&latin).unwrap(),
        b"id: bd-3\ntitle: \xe9t\xe9\n",
        "{file}"
    );
}

/// The same `bd`, which knows another one as well.
fn knows(env: &TestEnv, id: &str, shown: &str) {
    let program = env.programs().join("bd");
    let script = std::fs::read_to_string(&program).unwrap();
    let line = format!("\"show {id}\") printf '%s' '{shown}' ;;\n\"show bd-1\")");
    std::fs::write(&program, script.replace("\"show bd-1\")", &line)).unwrap();
}

/// LOA-BEAD-1: a hand-off by way of a bead is one of the session, in that bead, and only where the
/// checkpoint permits it.
#[test]
fn a_bead_is_handed_off_where_the_checkpoint_permits_it() {
    let env = project();
    for id in ["bd-1", "bd-2"] {
        env.run(["bead", "create", "Work", "--id", id]).success();
    }
    env.run(["bead", "update", "bd-1", "--current"]).success();
    let hand_off = || {
        env.run([
            "bead",
            "update",
            "bd-2",
            "--decision",
            "Stop here",
            "--handoff",
            "the pool is too small",
        ])
    };
    let blocked = hand_off().ended_with(1);
    assert!(
        blocked.stderr.contains("not handed off"),
        "{}",
        blocked.stderr
    );
    assert!(!env.read(".beads/bd-2.yaml").contains("handoffs:\n  -"));
    env.write(".loa.config.yaml", "grounding_enforcement: warn\n");
    env.run([
        "bead",
        "update",
        "bd-2",
        "--handoff",
        "the pool is too small",
    ])
    .success();
    let bead = env.run(["bead", "show", "bd-2", "--json"]).success().json();
    assert_eq!(bead["handoffs"].as_array().unwrap().len(), 1);
    assert_eq!(bead["decisions"].as_array().unwrap().len(), 1);
    let other = env.run(["bead", "show", "bd-1", "--json"]).success().json();
    assert_eq!(other["handoffs"].as_array().unwrap().len(), 0);
    let trajectory = env.read(trajectory());
    let record = trajectory.lines().last().unwrap();
    for said in [
        "\"phase\":\"session_handoff\"",
        "\"bead_id\":\"bd-2\"",
        "the pool is too small",
    ] {
        assert!(record.contains(said), "{record}");
    }
    env.run(["bead", "update", "bd-9", "--handoff", "x"])
        .ended_with(1);
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
    let fork = "bd overrides bead: bd-1 is closed";
    assert!(status.stdout.contains(fork), "{}", status.stdout);

    // One that it alone has is shown, and has a file of ours as soon as something is written into it.
    let of_7 = r#"[{"id":"bd-7","title":"Its \"own\"","status":"in_progress","priority":0}]"#;
    knows(&env, "bd-7", of_7);
    let shown = env.run(["bead", "show", "bd-7"]).success().stdout;
    let said = "\nid: bd-7\ntitle: \"Its \\\"own\\\"\"\nstatus: \"in_progress\"\npriority: 0\n";
    assert!(shown.ends_with(said), "{shown}");
    assert_eq!(
        env.run(["bead", "show", "bd-7", "--json"]).success().json()["priority"],
        0
    );
    env.run(["bead", "show", "bd-8"]).ended_with(1);
    let made = env
        .run(["bead", "update", "bd-7", "--current", "--next", "look"])
        .success();
    assert_eq!(made.stdout, "bd-7 P0 in_progress Its \"own\"\n");
    assert!(
        made.stderr.contains("created .beads/bd-7.yaml from `bd`"),
        "{}",
        made.stderr
    );
    std::fs::remove_file(env.project().join(".beads/bd-7.yaml")).unwrap();
    env.run([
        "session",
        "decide",
        "Look first",
        "--bead",
        "bd-7",
        "--source=user",
    ])
    .success();
    assert!(env.read(".beads/bd-7.yaml").contains("Look first"));
    env.run(["bead", "update", "bd-8", "--next", "x"])
        .ended_with(1);

    // Whatever it prints, ours is listed, and that is said.
    with_bd(&env, "no tasks");
    let ready = env.run(["bead", "ready"]).success();
    let ours = "bd-7 P0 in_progress Its \"own\"\nbd-1 P1 open Pool\n";
    assert_eq!(ready.stdout, ours);
    assert!(
        ready.stderr.contains("in a form that is known"),
        "{}",
        ready.stderr
    );
    std::fs::remove_file(env.project().join(".beads/metadata.json")).unwrap();
    let ready = env.run(["bead", "ready"]).success();
    assert_eq!(ready.stderr, "");
}

/// LOA-BEAD-1: a bead that is made is made in `bd` too, unless it has one of that id; where it takes none, ours is there, and that is said.
#[test]
fn a_bead_that_is_made_is_told_to_bd() {
    let env = project();
    with_bd(&env, "[]");
    let told = || std::fs::read_to_string(env.folder().join("told")).unwrap_or_default();
    let make = |title: &str, id: &str| {
        let arguments = ["--id", id, "--type", "bug", "-p", "1"];
        env.run(["bead", "create", title].iter().chain(&arguments))
            .success()
    };
    assert_eq!(make("Say why", "bd-5").stderr, "");
    let made = "create --id bd-5 --title Say why --type bug --priority 1\n";
    assert_eq!(told(), made);
    // It has this one.
    make("Pool", "bd-1");
    assert_eq!(told(), made);
    let program = env.programs().join("bd");
    let script = std::fs::read_to_string(&program).unwrap();
    let refuses = "create*) echo 'the prefix is shop' >&2; exit 1 ;;\n\"show bd-1\")";
    std::fs::write(&program, script.replace("\"show bd-1\")", refuses)).unwrap();
    let refused = make("Say where", "bd-6").stderr;
    assert!(
        refused.contains("`bd create` failed: the prefix is shop"),
        "{refused}"
    );
    assert!(env.read(".beads/bd-6.yaml").contains("Say where"));
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
    // An option that was forgotten is no change.
    update(&[]).ended_with(2);
    update(&["--add-dep", "bd-1", "--next", "one", "--next", "two"]).success();
    let listed = env.run(["bead", "list"]).success().stdout;
    assert_eq!(
        listed,
        "bd-1 P2 open Work\nbd-2 P2 open Work (waits for bd-1)\n"
    );
    env.run(["bead", "update", "bd-1", "--add-dep", "bd-2"])
        .ended_with(1);
    update(&["--add-dep", "bd-9"]).ended_with(1);
    update(&["--remove-dep", "bd-1", "--clear-next", "--next", "three"]).success();
    update(&["--remove-dep", "bd-1"]).ended_with(1);
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
        .run(["session", "decide", "Use one", "--source=assumption"])
        .success();
    let said = "the decision is not part of the current bead `bd-1`: ";
    assert!(made.stderr.contains(said), "{}", made.stderr);
    env.write(".beads/bd-1.yaml", "id: bd-1\ntitle: Work\n");
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message=state"]);
    std::fs::remove_file(env.project().join(".beads/bd-1.yaml")).unwrap();
    let made = env
        .run(["session", "decide", "Use two", "--json"])
        .success();
    let healed =
        ".beads/bd-1.yaml: missing (1 decision restored from the trajectory), repaired from git";
    assert!(made.stderr.contains(healed), "{}", made.stderr);
    assert_eq!(made.json()["bead"], "bd-1");
    let told = env.run(["session", "recover"]).success().stdout;
    assert!(told.contains("Decided: Use one [assumption]\n"), "{told}");
}
