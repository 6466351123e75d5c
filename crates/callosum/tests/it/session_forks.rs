//! `callosum session status`: where code, beads, notes and trajectory disagree, and what was not understood.

use crate::session::project;

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
        "bead overrides NOTES.md: bd-1 is closed, but is still the current bead",
        "bead overrides NOTES.md: the decision of 2026-01-02T",
        "code overrides bead: the decision of 2026-01-02T",
        "a second section `Decision Log`",
        "problem: .beads/bd-2.yaml: ",
    ] {
        assert!(shown.contains(said), "{said} is not in {shown}");
    }
}

/// LOA-TRUTH-1: every open bead is compared with notes, trajectory and code, not the current one alone;
/// one that is closed is not.
#[test]
fn status_compares_every_open_bead() {
    let env = project();
    for id in ["bd-1", "bd-2", "bd-3"] {
        env.run(["bead", "create", "Work", "--id", id]).success();
    }
    env.run(["bead", "update", "bd-1", "--current"]).success();
    let decide = |id: &str| {
        let made = env.run([
            "session",
            "decide",
            "Use one",
            "--cite",
            "src/a.rs:1",
            "--bead",
            id,
            "--json",
        ]);
        let made = made.success().json();
        made["ts"].as_str().unwrap().to_owned()
    };
    let (of_2, of_3) = (decide("bd-2"), decide("bd-3"));
    env.run(["bead", "close", "bd-3"]).success();
    let bead = env.read(".beads/bd-2.yaml").replace("Use one", "Use two");
    env.write(".beads/bd-2.yaml", bead);
    env.write("src/a.rs", "\n");
    let shown = env.run(["session", "status"]).success().stdout;
    for said in [
        format!(
            "bead overrides NOTES.md: the decision of {of_2} has a different text in bd-2: `Use two`, not `Use one`\n"
        ),
        format!("code overrides bead: the decision of {of_2} in bd-2 cites "),
        format!("code overrides NOTES.md: the decision of {of_3} cites "),
    ] {
        assert!(shown.contains(&said), "{said} is not in {shown}");
    }
    assert!(!shown.contains("in bd-3"), "{shown}");
    let of_one = env.run(["bead", "diff", "bd-2"]).ended_with(1).stdout;
    for line in shown.lines().filter(|line| line.contains(&of_2)) {
        assert!(of_one.contains(line), "{line} is not in {of_one}");
    }
    assert!(of_one.contains("bead overrides trajectory: "), "{of_one}");
    let of_2 = env
        .read(".beads/bd-2.yaml")
        .replace("decisions:", "x_decisions:");
    env.write(".beads/bd-2.yaml", of_2);
    let shown = env.run(["session", "status"]).success().stdout;
    let said = "bead overrides trajectory: the decision of ";
    assert!(
        shown.contains(said) && shown.contains(" is not in bd-2\n"),
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
        let seen = |c: char| !callosum_redact::terminal_escape::is_unseen(c);
        assert!(said.chars().all(seen), "{arguments:?}: {said:?}");
    }
    let told = env.run(["session", "recover"]).success().stdout;
    assert!(
        told.starts_with("Bead: bd-1 a\\u{202e}b (open)\n"),
        "{told}"
    );
}

/// LOA-FMT-1: notes that are too large to be read are told with what to do, and nothing is said of what
/// stands in them.
#[test]
fn notes_that_are_too_large_are_said_to_be_unread_and_nothing_else() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let notes = env.project().join("loa-grimoire/NOTES.md");
    let file = std::fs::File::options().write(true).open(&notes).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let shown = env.run(["session", "status"]).success().stdout;
    let said = "problem: `loa-grimoire/NOTES.md` is larger than 64 MiB, and is not read\n";
    assert!(shown.ends_with(said), "{shown}");
    assert!(shown.contains("claims: 1 of 1 grounded\n"), "{shown}");
    for command in ["recover", "check", "handoff"] {
        let refused = env.run(["session", command]).ended_with(3).stderr;
        assert!(
            refused.contains("is larger than 64 MiB, and is not read\n"),
            "{refused}"
        );
        assert!(
            refused.contains("NOTES.md.old && callosum session heal\n"),
            "{refused}"
        );
    }
}

/// LOA-TRUTH-1, LOA-GRD-1: words and evidence that a person changes in the notes count instead of the record, and the fork is
/// shown.
#[test]
fn what_a_person_changes_in_the_notes_counts_instead_of_the_record() {
    const NOTES: &str = "loa-grimoire/NOTES.md";
    const EVIDENCE: &str = "**Evidence**:\n- `pub fn one() {}` [${PROJECT_ROOT}/src/a.rs:1]\n";
    const FORK: &str = "has a different text or other evidence in the trajectory";
    let env = project();
    env.run([
        "session",
        "decide",
        "Keep the backups",
        "--cite",
        "src/a.rs:1",
    ])
    .success();
    let made = env.read(NOTES);
    let calm = env.run(["session", "check"]).success().stdout;
    assert!(!calm.contains(FORK), "{calm}");
    let reworded = made.replace("Keep the", "Delete the");
    env.write(NOTES, &reworded);
    let check = env.run(["session", "check"]).success().stdout;
    assert!(check.contains(FORK), "{check}");
    let unproven = reworded.replace(EVIDENCE, "");
    assert_ne!(unproven, reworded);
    env.write(NOTES, &unproven);
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(check.contains("/NOTES.md:"), "{check}");
    assert!(
        check.contains(": Delete the backups (no evidence)\n"),
        "{check}"
    );
    env.run(["hook", "claude", "pre-clear"]).ended_with(2);
    env.run(["session", "grounding"]).success();
    let status = env.run(["session", "status"]).success().stdout;
    assert!(
        status.contains("NOTES.md overrides trajectory: the decision of 2026"),
        "{status}"
    );
    assert!(status.contains("claims: 0 of 1 grounded\n"), "{status}");
    let ts = made
        .split("#### ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    env.run(["session", "cite", ts, "src/a.rs:2"]).success();
    let check = env.run(["session", "check"]).success().stdout;
    assert!(!check.contains(FORK), "{check}");
}

/// LOA-TRUTH-1: a bead that has the decision is believed before the notes, and what they lack of it is shown.
#[test]
fn a_bead_is_believed_where_the_notes_were_changed() {
    const NOTES: &str = "loa-grimoire/NOTES.md";
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let cited = "- `pub fn one() {}` [${PROJECT_ROOT}/src/a.rs:1]\n";
    env.write(NOTES, env.read(NOTES).replace(cited, ""));
    env.run(["session", "check"]).success();
    let status = env.run(["session", "status"]).success().stdout;
    assert!(
        status.contains("bead overrides NOTES.md: the decision of 2026"),
        "{status}"
    );
    assert!(
        status.contains("has fewer citations than in bd-1\n"),
        "{status}"
    );

    let bead = env.read(".beads/bd-1.yaml");
    env.write(".beads/bd-1.yaml", bead.replace("Use one", "Use many"));
    let check = env.run(["session", "check"]).success().stdout;
    assert!(
        check.contains("has a different text or other evidence in the trajectory"),
        "{check}"
    );
    let ts = env.read(NOTES);
    let ts = ts.split("#### ").nth(1).unwrap().split(' ').next().unwrap();
    env.write(
        ".beads/bd-1.yaml",
        format!("id: bd-1\ntitle: Work\ndecisions:\n  - ts: {ts}\n    decision: Use none\n"),
    );
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains(".beads/bd-1.yaml: Use none (no evidence)\n"),
        "{check}"
    );
    let status = env.run(["session", "status"]).success().stdout;
    assert!(
        status.contains("bead overrides trajectory: the decision of 2026"),
        "{status}"
    );
    env.run(["session", "cite", ts, "src/a.rs:2"]).success();
    env.run(["session", "check"]).success();
}

/// LOA-GRD-2: a key of the settings that is misspelt is named with the one that was meant, and another program's is not.
#[test]
fn a_misspelt_key_of_the_settings_is_named() {
    let env = project();
    env.write(
        ".loa.config.yaml",
        "grounding_enforcment: warn\nedd:\n  min_test_scenario: 1\nghost_features: 3\n",
    );
    let status = env.run(["session", "status"]).success().stdout;
    for named in [
        "problem: .loa.config.yaml:1: unknown key `grounding_enforcment`, did you mean `grounding_enforcement`?\n",
        "problem: .loa.config.yaml:3: unknown key `edd.min_test_scenario`, did you mean `edd.min_test_scenarios`?\n",
    ] {
        assert!(status.contains(named), "{status}");
    }
    assert!(!status.contains("ghost_features"), "{status}");
    let check = env.run(["session", "check"]).success();
    assert!(check.stderr.contains("did you mean"), "{}", check.stderr);
}
