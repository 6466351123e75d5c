//! Decisions of a session that its trajectory does not have: it is lost, or a person wrote them.

use callosum_testkit::TestEnv;

use crate::session::{project, trajectory};

fn add_by_hand(env: &TestEnv, ts: &str, title: &str, body: &str) {
    let notes = env.read("loa-grimoire/NOTES.md");
    let entry =
        format!("#### {ts} - {title}\n**Decision**: {title}\n{body}\n### Pending Questions");
    env.write(
        "loa-grimoire/NOTES.md",
        notes.replacen("### Pending Questions", &entry, 1),
    );
}

fn ts_of(stdout: &str) -> String {
    stdout.split(' ').next().unwrap().to_owned()
}

/// LOA-GRD-1, LOA-TRUTH-1, LOA-HEAL-1: what notes and bead say counts where the trajectory is gone or broken: nothing
/// is cleared or handed off, the fork is shown, and the records come back.
#[test]
fn the_gate_stays_closed_where_the_trajectory_is_lost() {
    for broken in [None, Some(""), Some("\0\0\0\0"), Some("{\"phase\":\"ci")] {
        let env = project();
        env.run(["bead", "create", "Work", "--id", "bd-1"])
            .success();
        env.run(["bead", "update", "bd-1", "--current"]).success();
        let made = env.run(["session", "decide", "Unproven thing"]).success();
        let ts = ts_of(&made.stdout);
        match broken {
            None => std::fs::remove_file(env.project().join(trajectory())).unwrap(),
            Some(bytes) => env.write(trajectory(), bytes),
        }
        let check = env.run(["session", "check"]).ended_with(1).stdout;
        assert!(check.contains("1. grounding: block\n"), "{check}");
        assert!(check.contains("5. trajectory: warn\n"), "{check}");
        assert!(
            check.contains("/NOTES.md:") && check.contains("Unproven thing (no evidence)"),
            "{check}"
        );
        env.run(["hook", "claude", "pre-clear"]).ended_with(2);
        env.run(["session", "handoff"]).ended_with(1);
        let status = env.run(["session", "status"]).success().stdout;
        let fork =
            format!("bead overrides trajectory: the decision of {ts} is not in the trajectory\n");
        assert!(status.contains(&fork), "{status}");
        assert!(status.contains("claims: 0 of 1 grounded\n"), "{status}");
        let healed = env.run(["session", "heal"]).success().stdout;
        let lost = "implementing-tasks-2026-01-02.jsonl: missing 1 decision, repaired from beads\n";
        assert!(healed.contains(lost), "{healed}");
        assert!(env.read(trajectory()).contains("\"healed_from\":\"bead\""));
        assert_eq!(env.run(["session", "heal"]).success().stdout, "");
        env.run(["session", "grounding"]).ended_with(1);
        env.run(["session", "check"]).ended_with(1);
        env.run(["session", "cite", &ts, "src/a.rs:1"]).success();
        let handed = env.run(["session", "handoff", "-v"]).success().stdout;
        let first = "handed off to the next session: 1 decision, with evidence\n";
        assert!(handed.starts_with(first), "{handed}");
        assert!(handed.ends_with(" grounding 1.00\n"), "{handed}");
    }
}

/// LOA-GRD-1: a decision that a person writes as the seed has it is a claim, until it is cited or called an assumption.
#[test]
fn a_decision_that_is_written_by_hand_is_a_claim() {
    let env = project();
    env.write(".loa.config.yaml", "grounding_enforcement: strict\n");
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let quoted = "**Evidence**:\n- `pub fn two() {}` [${PROJECT_ROOT}/src/a.rs:2]\n";
    add_by_hand(&env, "2026-01-02T01:00:00Z", "Grounded", quoted);
    env.run(["session", "check"]).success();
    add_by_hand(&env, "2026-01-02T02:00:00Z", "By hand", "");
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(check.contains(": By hand (no evidence)\n"), "{check}");
    assert!(
        check.contains("callosum session cite 2026-01-02T02:00:00Z PLACE"),
        "{check}"
    );
    let seed = env.run(["session", "grounding"]).success().stdout;
    assert!(seed.starts_with("total_claims=1\n"), "{seed}");
    env.run(["session", "cite", "2026-01-02T02:00:00Z", "src/a.rs:5"])
        .success();
    env.run(["session", "check"]).success();
    add_by_hand(&env, "2026-01-02", "A day alone", "[ASSUMPTION]\n");
    let check = env.run(["session", "check", "--json"]).ended_with(1).json();
    assert_eq!(check["grounding"]["assumptions"], 1);
    let changed = env.read("src/a.rs").replace("two", "too");
    env.write("src/a.rs", changed);
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains(": Grounded (${PROJECT_ROOT}/src/a.rs:2 "),
        "{check}"
    );
}

/// LOA-GRD-1: what a hand-off has told is not asked again; what is written down after it is, whatever time it has.
#[test]
fn what_was_handed_off_is_not_asked_again() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    add_by_hand(&env, "2026-01-03T00:00:00Z", "Told", "");
    env.run(["session", "check"]).ended_with(1);
    let handed = env.run(["session", "handoff", "--force"]).success().stdout;
    let counted = "handed off to the next session: 2 decisions, 1 with evidence\n";
    assert_eq!(handed, counted);
    env.run(["session", "check"]).success();
    std::fs::remove_file(env.project().join(trajectory())).unwrap();
    env.run(["session", "check"]).success();
    assert!(
        !env.run(["session", "heal"])
            .success()
            .stdout
            .contains("jsonl")
    );
    add_by_hand(&env, "2026-01-02T00:00:01Z", "Of an earlier time", "");
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains("Of an earlier time (no evidence)\n"),
        "{check}"
    );
    assert!(!check.contains(": Told ("), "{check}");
}

/// LOA-GRD-1: what one agent's hand-off has told is not asked again; what the others decided goes on counting.
#[test]
fn what_one_agent_handed_off_is_not_asked_again() {
    let env = project();
    env.run(["session", "decide", "Use one"]).success();
    add_by_hand(&env, "2026-01-02T01:00:00Z", "By hand", "");
    let agent = ["--agent", "reviewing-code"];
    let check = || env.run([&["session", "check"], &agent[..]].concat());
    let said = check().ended_with(1).stdout;
    assert!(said.contains(": By hand (no evidence)\n"), "{said}");
    env.run([&["session", "handoff", "--force"], &agent[..]].concat())
        .success();
    check().success();
    std::fs::remove_file(env.project().join(trajectory())).unwrap();
    let said = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(said.contains(": Use one (no evidence)\n"), "{said}");
    assert!(!said.contains("By hand"), "{said}");
}

/// LOA-GRD-1: a fresh clone answers for nothing that was handed off elsewhere, nor, where nothing was, for what is
/// older than a day.
#[test]
fn a_fresh_clone_does_not_answer_for_old_decisions() {
    let env = project();
    let notes = "## Session Continuity\n### Decision Log\n#### 2025-11-01T00:00:00Z - Old\n\
                 **Decision**: Old\n\n#### 2025-11-03 - Newer\n**Decision**: Newer\n\n### Pending Questions\n";
    env.write("loa-grimoire/NOTES.md", notes);
    env.run(["session", "check"]).success();
    env.run(["session", "heal"]).success();
    let env = project();
    env.write("loa-grimoire/NOTES.md", notes);
    env.write(
        ".beads/bd-1.yaml",
        "id: bd-1\ntitle: Work\ndecisions:\n  - ts: 2025-11-04T00:00:00Z\n    decision: In the bead alone\n\
         handoffs:\n  - session_id: s\n    ended: \"2025-11-02T00:00:00Z\"\n",
    );
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    for lacking in [": Newer (no", ".beads/bd-1.yaml: In the bead alone (no"] {
        assert!(check.contains(lacking), "{check}");
    }
    assert!(!check.contains(": Old ("), "{check}");
    env.run(["session", "cite", "2025-11-04T00:00:00Z", "src/a.rs:1"])
        .success();
    assert!(
        env.read("loa-grimoire/NOTES.md")
            .contains("In the bead alone")
    );
    env.run(["session", "cite", "2025-11-03", "src/a.rs:2"])
        .success();
    env.run(["session", "check"]).success();
}

/// LOA-GRD-1: of two entries of one time each is a claim, also where the trajectory has one of them; the name says which
/// is cited.
#[test]
fn entries_of_one_time_are_claims_of_their_own() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let quoted = "**Evidence**:\n- `pub fn two() {}` [${PROJECT_ROOT}/src/a.rs:2]\n";
    add_by_hand(&env, "2026-01-02", "Proven", quoted);
    add_by_hand(&env, "2026-01-02", "It's dropped", "");
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(check.contains(": It's dropped (no evidence)\n"), "{check}");
    let hint = r"callosum session cite '2026-01-02 - It'\''s dropped' PLACE";
    assert!(check.contains(hint), "{check}");
    env.run(["session", "handoff"]).ended_with(1);
    let name = "2026-01-02 - It's dropped";
    env.run(["session", "cite", name, "src/a.rs:1"]).success();
    let notes = env.read("loa-grimoire/NOTES.md");
    let entry = notes.split("- It's dropped\n").nth(1).unwrap();
    assert!(entry.contains("src/a.rs:1]"), "{notes}");
    let check = env.run(["session", "check"]).success().stdout;
    assert!(check.contains("3 of 3 decisions have evidence"), "{check}");

    let env = project();
    let made = env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"]);
    let ts = ts_of(&made.success().stdout);
    let notes = env.read("loa-grimoire/NOTES.md");
    let copied = format!("### Decision Log\n#### {ts} - Other\n**Decision**: Other\n");
    let by_hand = notes.replacen("### Decision Log\n", &copied, 1);
    env.write("loa-grimoire/NOTES.md", by_hand);
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(check.contains(": Other (no evidence)\n"), "{check}");
    assert!(!check.contains(": Use one ("), "{check}");
}

/// LOA-GRD-1: an entry that was handed off is not asked again where its title is mended, nor where another branch was
/// handed off since.
#[test]
fn what_was_handed_off_is_known_again() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    let before = env.read("loa-grimoire/NOTES.md");
    add_by_hand(&env, "2026-01-02T05:00:00Z", "Of teh one", "");
    env.run(["session", "handoff", "--force"]).success();
    let one = env.read("loa-grimoire/NOTES.md");
    env.write("loa-grimoire/NOTES.md", one.replace("- Of teh", "- Of the"));
    env.run(["session", "check"]).success();
    env.write("loa-grimoire/NOTES.md", before);
    add_by_hand(&env, "2026-01-02T06:00:00Z", "Of the other", "");
    env.run(["session", "check"]).ended_with(1);
    env.run(["session", "handoff", "--force"]).success();
    env.write("loa-grimoire/NOTES.md", one);
    env.run(["session", "check"]).success();
    add_by_hand(&env, "2026-01-02T05:00:00Z", "Of the same time", "");
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(check.contains(": Of the same time (no"), "{check}");
    assert!(!check.contains(": Of teh one ("), "{check}");
}

/// LOA-GRD-1, LOA-FMT-1: an entry is a claim however its time is written; one whose heading is none is named with its line, and
/// is a claim under the heading's words until it is cited or handed off.
#[test]
fn an_entry_counts_whatever_its_heading_is() {
    for ts in [
        "2026-01-02 11:00",
        "2026/01/02",
        "02.01.2026",
        "Jan 2, 2026",
        "[2026-01-02]",
        "20260102T110000Z",
    ] {
        let env = project();
        env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
            .success();
        add_by_hand(&env, ts, "By hand", "");
        let check = env.run(["session", "check"]).ended_with(1).stdout;
        assert!(check.contains(": By hand (no evidence)\n"), "{ts}: {check}");
        assert!(check.contains("session cite 2026-01-02"), "{ts}: {check}");
    }
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    add_by_hand(&env, "Some day", "By hand", "");
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(check.contains(": By hand (no evidence)\n"), "{check}");
    assert!(check.contains("3. decision log: warn\n"), "{check}");
    assert!(check.contains("is named by its heading"), "{check}");
    assert!(
        check.contains("session cite 'Some day - By hand' PLACE"),
        "{check}"
    );
    env.run(["hook", "claude", "pre-clear"]).ended_with(2);
    env.run(["session", "handoff"]).ended_with(1);
    env.run(["session", "heal"]).success();
    env.run(["session", "cite", "Some day - By hand", "src/a.rs:1"])
        .success();
    assert!(
        env.read("loa-grimoire/NOTES.md")
            .contains("#### Some day - By hand\n**Decision**: By hand\n**Evidence**")
    );
    let check = env.run(["session", "check"]).success().stdout;
    assert!(!check.contains("is not in the notes"), "{check}");
    add_by_hand(&env, "Another day", "Told", "");
    env.run(["session", "check"]).ended_with(1);
    env.run(["session", "handoff", "--force"]).success();
    let check = env.run(["session", "check"]).success().stdout;
    assert!(check.contains("3. decision log: warn\n"), "{check}");
}

/// LOA-GRD-1, LOA-FMT-1: what of beads and notes does not count is named where the gate is asked, with its line.
#[test]
fn what_does_not_count_is_named_by_the_check() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.write(
        ".beads/bd-1.yaml",
        "id: bd-1\ntitle: Work\ndecisions:\n  - {ts: 2025-11-01, decision: One}\n  - {ts: 2025-11-01, decision: Other}\n\
         \x20 - decision: Of no time\n",
    );
    env.write(
        ".beads/bd-2.yaml",
        "id: bd-2\ndecisions: []\ntitle: x\ndecisions:\n  - decision: y\n",
    );
    let notes = env.read("loa-grimoire/NOTES.md");
    env.write(
        "loa-grimoire/NOTES.md",
        format!("{notes}\n### Decisions\n#### 2026-01-02 - Elsewhere\n**Decision**: Elsewhere\n"),
    );
    let check = env.run(["session", "check"]).success().stdout;
    for named in [
        ".beads/bd-1.yaml:3: decision 3 has no `ts`, and is ignored",
        ".beads/bd-2.yaml: not a bead: duplicate key `decisions` (line 4)",
        "a section of decisions that is not named `Decision Log` is not read",
    ] {
        assert!(check.contains(named), "{named} is not in {check}");
    }
    env.run(["bead", "close", "bd-1"]).success();
    let check = env.run(["session", "check"]).success().stdout;
    assert!(!check.contains("bd-1.yaml"), "{check}");
}

/// LOA-GRD-1: an entry of a day that was handed off is not asked again where its title is mended; a further one is.
#[test]
fn a_mended_title_under_a_day_is_known_again() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    add_by_hand(&env, "2026-01-02", "Of teh day", "");
    env.run(["session", "handoff", "--force"]).success();
    let notes = env.read("loa-grimoire/NOTES.md");
    let mended = notes.replace("- Of teh day", "- Of the day");
    assert_ne!(mended, notes);
    env.write("loa-grimoire/NOTES.md", mended);
    env.run(["session", "check"]).success();
    add_by_hand(&env, "2026-01-02", "Another", "");
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(check.contains(": Another (no evidence)\n"), "{check}");
    assert!(!check.contains("day ("), "{check}");
}

/// LOA-HEAL-1: a folder in place of a file of ours shuts no gate.
#[test]
fn a_folder_in_place_of_a_file_of_ours_is_set_aside() {
    for name in ["seen", "intent.json", "lock", "contexts"] {
        let env = project();
        env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
            .success();
        let own = env.project().join("loa-grimoire/.session");
        drop(std::fs::remove_file(own.join(name)));
        env.write(own.join(name).join("kept"), "x");
        env.run(["session", "recover"]).success();
        env.run(["session", "check"]).success();
        env.run(["session", "handoff"]).success();
        let aside = own.join(name).with_extension("aside-1");
        assert_eq!(env.read(aside.join("kept")), "x", "{name}");
    }
}

/// LOA-CHK-1: where no sessions are kept, a check writes nothing.
#[test]
fn a_check_without_sessions_writes_nothing() {
    let env = project();
    let check = env.run(["session", "check"]).success().stdout;
    assert!(check.starts_with("1. grounding: pass\n"), "{check}");
    assert!(!env.project().join("loa-grimoire").exists());
}
