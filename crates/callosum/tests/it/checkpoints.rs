//! `callosum session check` and the gate that asks it: what blocks a clear, and how to go on.

use crate::session::{project, trajectory};

/// LOA-CHK-1, LOA-MARK-1: the way that a refusal names makes a citation good that no longer holds.
#[test]
fn a_refused_clear_passes_by_the_way_that_it_names() {
    let env = project();
    env.write("src/old.rs", "fn old_name() {}\n");
    let decided = [
        "session",
        "decide",
        "Rename the import",
        "--cite",
        "src/old.rs:1",
    ];
    env.run(decided).success();
    env.run(["session", "check"]).success();
    env.write("src/old.rs", "fn another() {}\n");
    let blocked = env.run(["session", "check"]).ended_with(1).stdout;
    let way = "callosum session cite 2026-01-02T03:04:05Z";
    assert!(blocked.contains(&format!(": {way} PLACE\n")), "{blocked}");
    assert!(
        blocked.contains(&format!(": {way} --source assumption")),
        "{blocked}"
    );
    let cite = ["session", "cite", "2026-01-02T03:04:05Z"];
    let assumed = env
        .run([&cite[..], &["--source=assumption", "--json"]].concat())
        .success()
        .json();
    assert_eq!(assumed["replaced"][0], "${PROJECT_ROOT}/src/old.rs:1");
    let counted = env.run(["session", "grounding"]).ended_with(1).stdout;
    assert!(
        counted.starts_with("total_claims=1\ngrounded_claims=0\nassumptions=1\n"),
        "{counted}"
    );
    env.run([&cite[..], &["--source=assumption", "src/old.rs:1"]].concat())
        .ended_with(2);
    env.run(cite).ended_with(2);
    env.run([&cite[..], &["src/old.rs:1"]].concat()).success();
    env.run(["session", "check"]).success();
}

/// LOA-CHK-1: who has marked a decision as an assumption is not told to mark it, and how to go on with it.
#[test]
fn a_checkpoint_advises_what_was_not_done_yet() {
    let env = project();
    env.write(".loa.config.yaml", "grounding_enforcement: strict\n");
    env.run(["session", "decide", "Retry for ever"]).success();
    let way = "continue without evidence: callosum session handoff --force";
    let blocked = env.run(["session", "check"]).ended_with(1).stdout;
    let mark = "callosum session cite 2026-01-02T03:04:05Z --source assumption";
    assert!(blocked.contains(mark) && blocked.contains(way), "{blocked}");
    let mark: Vec<&str> = mark.split(' ').skip(1).collect();
    env.run(mark).success();
    let blocked = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        !blocked.contains("--source assumption") && blocked.contains(way),
        "{blocked}"
    );
    env.run(["session", "handoff", "--force"]).success();
    env.run(["session", "check"]).success();
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
        blocked.starts_with("1. grounding: block\n   Cannot clear: 1 decision lacks evidence\n")
    );
    let hint = "callosum session cite 2026-01-02T03:04:05Z PLACE";
    assert!(blocked.contains(hint), "{blocked}");
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
        none.stderr.contains("no decision matches `nothing`"),
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
