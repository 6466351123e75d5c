//! `callosum session grounding`: the share of claims that have evidence, and when it is not known.

use crate::session::{project, trajectory};

/// LOA-GRD-1: where what has the name of the day's file is none, nobody knows which claims there are.
#[test]
fn grounding_is_not_known_where_the_trajectory_is_no_file() {
    let env = project();
    let path = env.project().join(trajectory());
    std::fs::create_dir_all(&path).unwrap();
    let refused = env.run(["session", "grounding"]).ended_with(2);
    assert!(
        refused.stderr.contains(" is not a file"),
        "{}",
        refused.stderr
    );
    assert_eq!(refused.stdout, "");
    std::fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    env.run(["session", "grounding"]).ended_with(2);
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

/// LOA-MARK-1, LOA-GRD-1: what a person marks by hand in NOTES.md counts as an assumption, also where what it
/// cites is gone; a quote that holds is more than a mark, and the ratio is not raised.
#[test]
fn an_assumption_that_is_marked_by_hand_counts_as_one() {
    let env = project();
    env.write(".loa.config.yaml", "grounding_enforcement: strict\n");
    let decide = |words: &str, more: &[&str]| {
        env.run([&["session", "decide", words], more].concat())
            .success();
    };
    decide("Retry for ever", &[]);
    decide("Use one", &["--cite", "src/a.rs:1"]);
    decide("Use two", &["--cite", "src/a.rs:2"]);
    let grounded = || env.run(["session", "grounding"]).ended_with(1).stdout;
    assert!(grounded().contains("grounded_claims=2\nassumptions=0\n"));
    let notes = env.read("loa-grimoire/NOTES.md");
    let notes = notes.replace(
        "**Decision**: Retry for ever",
        "**Decision**: Retry for ever [ASSUMPTION]",
    );
    let notes = notes.replace(" - Use one\n", " - Use one [ASSUMPTION]\n");
    env.write(
        "loa-grimoire/NOTES.md",
        notes.replace(
            "**Decision**: Use two",
            "[ASSUMPTION]\n**Decision**: Use two",
        ),
    );
    assert!(grounded().contains("grounded_claims=2\nassumptions=1\ngrounding_ratio=0.66\n"));
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains(": Retry for ever ([ASSUMPTION])\n"),
        "{check}"
    );
    env.write("src/a.rs", "pub fn one() {}\n");
    assert!(grounded().contains("grounded_claims=1\nassumptions=2\n"));
}

/// LOA-GRD-1: garbage over a claim without evidence does not open the gate. A byte order mark hides no claim.
#[test]
fn a_line_that_cannot_be_read_keeps_the_gate_closed() {
    let env = project();
    env.write(".loa.config.yaml", "grounding_enforcement: strict\n");
    env.run([
        "session",
        "decide",
        "Retries are capped at three",
        "--source=assumption",
    ])
    .success();
    env.run(["session", "check"]).ended_with(1);
    let claim = env.read(trajectory());
    env.write(trajectory(), format!("\u{feff}{claim}"));
    let marked = env.run(["session", "check"]).ended_with(1);
    assert!(!marked.stderr.contains("no record"), "{}", marked.stderr);
    env.write(trajectory(), format!("\u{0}garbage{claim}"));
    env.write("loa-grimoire/NOTES.md", "");
    let hidden = env.run(["session", "check"]).ended_with(1);
    let output = format!("{}{}", hidden.stdout, hidden.stderr);
    let place = format!("{}:1: this line is not a record", trajectory());
    assert!(output.contains(&place), "{output}");
    assert!(output.contains("session handoff --force"), "{output}");
    env.run(["session", "handoff"]).ended_with(1);
    env.run(["session", "handoff", "--force"]).success();
    env.run(["session", "check"]).success();
}

/// LOA-GRD-1: garbage that a merge brings into the file of an earlier day, or of another agent, or that takes the place of an
/// archive, keeps the gate closed as well. A forced hand-off covers it, also once more is written to that file.
#[test]
fn a_line_of_an_earlier_day_that_cannot_be_read_keeps_the_gate_closed() {
    let folder = "loa-grimoire/a2a/trajectory";
    let earlier = format!("{folder}/implementing-tasks-2026-01-01.jsonl");
    let other = format!("{folder}/reviewing-code-2026-01-01.jsonl");
    let archive = format!("{folder}/archive/implementing-tasks-2025-12-31.jsonl.gz");
    let claim = "{\"ts\":\"2026-01-01T01:00:00Z\",\"phase\":\"cite\",\"claim\":\"x\",\"grounding\":\"assumption\"}\n";
    for (file, before, garbage, line) in [
        (&earlier, "{\"phase\":\"think\"}\n", "\0garbage\n", 2),
        (&earlier, claim, "\u{feff}{\"phase\":\"cite\"}\n", 2),
        (&other, "", "words\n", 1),
        (&archive, "", "no archive", 1),
    ] {
        let env = project();
        env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
            .success();
        env.write(file, before);
        if file == &archive {
            std::fs::remove_file(env.project().join(file)).unwrap();
        }
        env.run(["session", "handoff", "--force"]).success();
        env.run(["session", "check"]).success();
        env.write(file, format!("{before}{garbage}"));
        let hidden = env.run(["session", "check"]).ended_with(1).stdout;
        let place = format!("{file}:{line}: this line is not a record");
        assert!(hidden.contains(&place), "{hidden}");
        env.run(["hook", "claude", "pre-clear"]).ended_with(2);
        env.run(["session", "handoff"]).ended_with(1);
        env.run(["session", "handoff", "--force"]).success();
        env.run(["session", "check"]).success();
        if file != &archive {
            env.write(file, format!("{before}{garbage}{{\"phase\":\"think\"}}\n"));
            env.run(["session", "check"]).success();
            env.write(file, format!("{before}{garbage}more garbage\n"));
            env.run(["session", "check"]).ended_with(1);
        }
    }
}
