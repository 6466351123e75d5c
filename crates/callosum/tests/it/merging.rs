//! What two branches did to files of sessions: merged by git with our program, without it, and left to a person.

use std::path::Path;

use callosum_testkit::TestEnv;

use crate::{
    session::project,
    worktrees::{inside, link},
};

/// Commits what was changed in a tree.
fn commit_in(env: &TestEnv, folder: &Path) {
    let folder = folder.to_str().unwrap();
    env.git(&[
        "-C",
        folder,
        "commit",
        "--quiet",
        "--all",
        "--message=changed",
    ]);
}

/// Two branches, each with a decision of its own in the same second, of which one has evidence.
fn parted(env: &TestEnv) {
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.write(
        ".gitattributes",
        "loa-grimoire/NOTES.md merge=callosum\nloa-grimoire/a2a/trajectory/*.jsonl merge=callosum\n.beads/*.yaml merge=callosum\n",
    );
    env.git_init();
    let linked = link(env);
    let branch = linked.to_str().unwrap();
    inside(env, &linked, ["session", "decide", "Branch off"]).success();
    env.git(&["-C", branch, "add", "--all"]);
    env.git(&["-C", branch, "commit", "--quiet", "--message=branch"]);
    env.run(["session", "decide", "Stay", "--cite", "src/a.rs:2"])
        .success();
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message=main"]);
}

#[track_caller]
fn is_merged(env: &TestEnv) {
    let notes = env.read("loa-grimoire/NOTES.md");
    for title in ["Use one", "Stay", "Branch off"] {
        assert_eq!(
            notes.matches(&format!(" - {title}\n")).count(),
            1,
            "{notes}"
        );
    }
    assert!(!notes.contains("<<<<<<<"), "{notes}");
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains("Cannot clear: 1 decision lacks evidence\n"),
        "{check}"
    );
    assert!(check.contains(": Branch off (no evidence)\n"), "{check}");
    let seed = env.run(["session", "grounding"]).ended_with(1).stdout;
    assert!(
        seed.starts_with("total_claims=3\ngrounded_claims=2\n"),
        "{seed}"
    );
}

/// LOA-ZONE-1, LOA-GRD-1: git merges the sessions of two branches by `session merge`, where it is told of it.
#[test]
fn git_merges_the_sessions_of_two_branches() {
    let env = project();
    parted(&env);
    let driver = format!(
        "merge.callosum.driver='{}' session merge %O %A %B --path %P",
        env!("CARGO_BIN_EXE_callosum")
    );
    env.git(&["-c", &driver, "merge", "--quiet", "other"]);
    is_merged(&env);
    let odd = ["a", "b", "c", "--path", "src/a.rs"];
    let odd = env
        .run(["session", "merge"].iter().chain(&odd))
        .ended_with(1);
    assert!(
        odd.stderr.contains("`src/a.rs` is not a session file"),
        "{}",
        odd.stderr
    );
}

/// LOA-CHK-1, LOA-HEAL-1: a merge that git left to a person shuts the gate by its name, and is finished with both sides when that is
/// asked for, not by itself.
#[test]
fn a_merge_that_git_left_is_named_and_healed() {
    let env = project();
    parted(&env);
    let merge = env.program("git".into());
    let merge = merge.arguments([
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.org",
        "merge",
        "other",
    ]);
    merge.run().ended_with(1);
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains("Cannot clear: loa-grimoire/NOTES.md:"),
        "{check}"
    );
    assert!(check.contains(": an unfinished merge\n"), "{check}");
    assert!(
        check.contains("finish the merge") && !check.contains("======="),
        "{check}"
    );
    let healed = env.run(["session", "heal"]).success().stdout;
    assert_eq!(
        healed
            .matches("an unfinished merge, repaired from both sides")
            .count(),
        2,
        "{healed}"
    );
    is_merged(&env);
}

/// Merges the branch with a program for it that is not there.
fn merge_without_its_program(env: &TestEnv) {
    let driver = "merge.callosum.driver=/nowhere/callosum session merge %O %A %B --path %P";
    let merge = env.program("git".into());
    let merge = merge.arguments([
        "-c",
        driver,
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.org",
        "merge",
        "other",
    ]);
    merge.run().ended_with(1);
}

/// LOA-CHK-1, LOA-HEAL-1: where git cannot start the program that merges, it leaves our side without marks: that is named wherever
/// somebody asks, and healed from the three that git keeps, when that is asked for.
#[test]
fn a_merge_whose_program_git_cannot_start_is_named_and_healed() {
    let env = project();
    parted(&env);
    merge_without_its_program(&env);
    let ours = env.read("loa-grimoire/NOTES.md");
    assert!(
        !ours.contains("<<<<<<<") && !ours.contains("Branch off"),
        "{ours}"
    );
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    let named = "loa-grimoire/NOTES.md: an unfinished merge\n";
    assert!(check.contains(&format!("Cannot clear: {named}")), "{check}");
    let status = env.run(["session", "status"]).success().stdout;
    assert!(status.contains(&format!("problem: {named}")), "{status}");
    let refused = env
        .run(["hook", "claude", "pre-clear"])
        .ended_with(2)
        .stderr;
    assert!(refused.contains("an unfinished merge"), "{refused}");
    let refused = env.run(["session", "handoff"]).ended_with(1).stdout;
    assert!(refused.contains(named), "{refused}");
    let nowhere = env.folder().join("nowhere");
    let unasked = env
        .callosum()
        .env("PATH", &nowhere)
        .arguments(["session", "check"]);
    let unasked = unasked.run().ended_with(1).stdout;
    assert!(unasked.contains("cannot ask git which files"), "{unasked}");
    let healed = env.run(["session", "heal"]).success().stdout;
    let from_both = "an unfinished merge, repaired from both sides";
    assert_eq!(healed.matches(from_both).count(), 2, "{healed}");
    is_merged(&env);
    assert!(
        !env.run(["session", "heal"])
            .success()
            .stdout
            .contains("a merge")
    );
}

/// LOA-BEAD-1, LOA-HEAL-1: a bead of which both sides changed one value gets both with git's marks, which nothing but a person
/// takes out; the gate is shut until then.
#[test]
fn a_bead_that_only_a_person_can_merge_keeps_both_sides() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    env.write(".gitattributes", ".beads/*.yaml merge=callosum\n");
    env.git_init();
    let linked = link(&env);
    let branch = linked.to_str().unwrap();
    for (folder, status) in [(&linked, "blocked"), (&env.project(), "in_progress")] {
        inside(&env, folder, ["bead", "update", "bd-1", "--status", status]).success();
        commit_in(&env, folder);
    }
    assert!(
        env.read(".beads/bd-1.yaml").contains("in_progress"),
        "{branch}"
    );
    merge_without_its_program(&env);
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains("Cannot clear: .beads/bd-1.yaml: an unfinished merge"),
        "{check}"
    );
    let healed = env.run(["session", "heal"]).success().stdout;
    assert!(
        healed.contains("both sides changed `status`; both sides are in the file"),
        "{healed}"
    );
    let both = env.read(".beads/bd-1.yaml");
    assert!(both.contains("=======\nstatus: blocked\n"), "{both}");
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.run(["hook", "claude", "session-start"]).success();
    env.run(["session", "heal"]).success();
    assert_eq!(env.read(".beads/bd-1.yaml"), both);
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains(".beads/bd-1.yaml:4: an unfinished merge\n"),
        "{check}"
    );
    let status = env.run(["session", "status"]).success().stdout;
    assert!(
        status.contains(".beads/bd-1.yaml: an unfinished merge (line 4)"),
        "{status}"
    );
}

/// LOA-CHK-1: a file that one branch took out and the other changed blocks by its name while git has not ended the merge, and is
/// left to a person.
#[test]
fn a_file_that_one_branch_took_out_is_named_while_git_merges() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.git_init();
    let linked = link(&env);
    let branch = linked.to_str().unwrap();
    env.git(&["-C", branch, "rm", "--quiet", ".beads/bd-1.yaml"]);
    env.git(&["-C", branch, "commit", "--quiet", "--message=gone"]);
    env.run(["bead", "update", "bd-1", "--status", "in_progress"])
        .success();
    env.git(&["commit", "--quiet", "--all", "--message=status"]);
    merge_without_its_program(&env);
    let there = env.read(".beads/bd-1.yaml");
    let named = ".beads/bd-1.yaml: an unfinished merge";
    let check = env.run(["session", "check"]).ended_with(1).stdout;
    assert!(
        check.contains(&format!("Cannot clear: {named}\n")),
        "{check}"
    );
    let status = env.run(["session", "status"]).success().stdout;
    assert!(status.contains(named), "{status}");
    let healed = env.run(["session", "heal"]).success().stdout;
    assert!(
        healed.contains("theirs deleted it, and ours changed it"),
        "{healed}"
    );
    assert_eq!(env.read(".beads/bd-1.yaml"), there);
    env.git(&["add", ".beads/bd-1.yaml"]);
    env.run(["session", "check"]).success();
}

/// LOA-HEAL-1, LOA-TRJ-1: what a revert takes out of a trajectory is not lost, also before it is committed; what is cut short is.
#[test]
fn what_git_was_told_to_take_out_of_a_trajectory_is_not_healed() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    env.run(["session", "decide", "Use two", "--cite", "src/a.rs:2"])
        .success();
    commit_in(&env, &env.project());
    let folder = env.project().join("loa-grimoire/a2a/trajectory");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let whole = env.read(file.path());
    env.git(&["revert", "--no-commit", "HEAD"]);
    let before = env.read(file.path());
    assert!(whole.starts_with(&before) && before.len() < whole.len());
    let healed = env.run(["session", "heal"]).success().stdout;
    assert_eq!(env.read(file.path()), before, "{healed}");
    assert!(!env.read("loa-grimoire/NOTES.md").contains("Use two"));
    env.git(&["reset", "--quiet"]);
    env.run(["session", "heal"]).success();
    // Behind it stands that it was healed.
    assert!(env.read(file.path()).starts_with(&whole));
}

/// LOA-HEAL-1, LOA-BEAD-1: a bead that git has left with its marks is healed by the three that git keeps of it: by its lines git has
/// brought together the beginning of one decision and the end of another.
#[test]
fn a_bead_with_marks_is_healed_by_what_git_keeps() {
    let env = project();
    let bead = |decisions: &[(&str, &str, u32)]| {
        let decisions = decisions.iter().map(|(title, time, line)| {
            format!(
                "  - ts: 2026-01-01T{time}Z\n    decision: \"{title}\"\n    rationale: \"w\"\n    evidence:\n      - path: src/a.rs\n        line: {line}\n        quote: \"q{line}\"\n"
            )
        });
        let text = format!(
            "id: bd-1\ntitle: \"Pool\"\nstatus: in_progress\ndecisions:\n{}next_steps:\n  - go on\n",
            decisions.collect::<String>()
        );
        env.write(".beads/bd-1.yaml", text);
    };
    let commit = || env.git(&["commit", "--quiet", "--all", "--message=more"]);
    let base = ("Base", "01:00:00", 1);
    let (left, taken) = (("Left there", "02:00:00", 7), ("Taken over", "03:00:00", 9));
    bead(&[base]);
    env.git_init();
    env.git(&["checkout", "--quiet", "-b", "other"]);
    bead(&[base, left]);
    commit();
    bead(&[base, left, taken]);
    commit();
    env.git(&["checkout", "--quiet", "-"]);
    bead(&[base, ("Ours", "02:30:00", 2)]);
    commit();
    let pick = env.program("git".into());
    let named = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    let pick = pick.arguments(named.into_iter().chain(["cherry-pick", "other"]));
    pick.run().ended_with(1);
    assert!(env.read(".beads/bd-1.yaml").contains("<<<<<<<"));
    env.run(["session", "heal"]).success();
    let healed = env.read(".beads/bd-1.yaml");
    let all = |key: &str| {
        let lines = healed
            .lines()
            .filter_map(|line| line.trim().split_once(key));
        lines
            .map(|(_, value)| value.trim_matches('"').to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        all("decision: "),
        ["Base", "Ours", "Taken over"],
        "{healed}"
    );
    assert_eq!(all("line: "), ["1", "2", "9"], "{healed}");
    // What a person has begun to put right is not begun anew.
    env.git(&["checkout", "--quiet", "--merge", ".beads/bd-1.yaml"]);
    let torn = env.read(".beads/bd-1.yaml");
    env.write(".beads/bd-1.yaml", torn.replace("Taken over", "Taken"));
    env.run(["session", "heal"]).success();
    assert!(env.read(".beads/bd-1.yaml").contains("Taken\""));
}

/// LOA-FMT-1, LOA-GRD-1: one commit that is taken over brings its own decision into all three files, and none of the branch that it
/// comes from; a decision that a branch took back stays so when another is merged into it or it into another.
#[test]
fn git_gets_no_more_of_a_branch_than_it_takes_over() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.write(
        ".gitattributes",
        "loa-grimoire/NOTES.md merge=callosum\nloa-grimoire/a2a/trajectory/*.jsonl merge=callosum\n.beads/*.yaml merge=callosum\n",
    );
    env.git_init();
    let linked = link(&env);
    for words in ["Left there", "Taken over"] {
        inside(
            &env,
            &linked,
            ["session", "decide", words, "--cite", "src/a.rs:1"],
        )
        .success();
        commit_in(&env, &linked);
    }
    env.run(["session", "decide", "Stay", "--cite", "src/a.rs:2"])
        .success();
    let notes = env.read("loa-grimoire/NOTES.md");
    let (before, entry) = notes.split_once("#### ").unwrap();
    let (entry, rest) = entry.split_once("\n\n").unwrap();
    env.write(
        "loa-grimoire/NOTES.md",
        format!("{before}<!--\n#### {entry}\n-->\n\n{rest}"),
    );
    env.git(&["commit", "--quiet", "--all", "--message=main"]);
    let driver = format!(
        "merge.callosum.driver='{}' session merge %O %A %B --path %P",
        env!("CARGO_BIN_EXE_callosum")
    );
    env.git(&["-c", &driver, "cherry-pick", "other"]);
    let titles = || {
        let notes = env.read("loa-grimoire/NOTES.md");
        let lines = notes.lines().zip(notes.lines().skip(1));
        let headings = lines.filter(|(before, _)| *before != "<!--");
        let titles = headings.filter_map(|(_, line)| line.strip_prefix("#### ")?.split_once(" - "));
        titles
            .map(|(_, title)| title.to_owned())
            .collect::<Vec<_>>()
    };
    let records = |words: &str| {
        let folder = env.project().join("loa-grimoire/a2a/trajectory");
        let files = std::fs::read_dir(folder).unwrap();
        let texts = files.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
        texts.map(|text| text.matches(words).count()).sum::<usize>()
    };
    let mut there = titles();
    there.sort();
    assert_eq!(there, ["Stay", "Taken over"]);
    assert_eq!(records("Left there"), 0);
    assert!(records("Taken over") > 0);
    env.git(&["-c", &driver, "merge", "--quiet", "other"]);
    let mut there = titles();
    there.sort();
    assert_eq!(there, ["Left there", "Stay", "Taken over"]);
    assert!(env.read("loa-grimoire/NOTES.md").contains("- Use one\n"));
    let check = env.run(["session", "check"]).success().stdout;
    assert!(check.contains("decisions have evidence"), "{check}");
}

/// LOA-ZONE-1, LOA-HEAL-1: where git merges several branches at once it asks no program and goes by lines: it gives up and leaves everything as it
/// was, or leaves marks that are healed as any others; one branch after the other is merged by `session merge`.
#[test]
fn several_branches_at_once_are_merged_by_lines() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.write(
        ".gitattributes",
        "loa-grimoire/NOTES.md merge=callosum\nloa-grimoire/a2a/trajectory/*.jsonl merge=callosum\n",
    );
    env.git_init();
    let driver = format!(
        "merge.callosum.driver='{}' session merge %O %A %B --path %P",
        env!("CARGO_BIN_EXE_callosum")
    );
    let decide_on = |branch: &str, words: &str| {
        env.git(&["checkout", "--quiet", "-b", branch, "start"]);
        env.run(["session", "decide", words, "--cite", "src/a.rs:2"])
            .success();
        env.git(&["commit", "--quiet", "--all", "--message=decided"]);
    };
    env.git(&["tag", "start"]);
    for (branch, words) in [("left", "Go left"), ("right", "Go right"), ("own", "Go on")] {
        decide_on(branch, words);
    }
    let merge = |branches: &[&str]| {
        let named = [
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "-c",
            &driver,
            "merge",
        ];
        env.program("git".into())
            .arguments(named.iter().chain(branches))
            .run()
    };
    let titles = || {
        let notes = env.read("loa-grimoire/NOTES.md");
        let titles = ["Use one", "Go left", "Go right", "Go on"];
        titles.map(|title| notes.matches(&format!(" - {title}\n")).count())
    };
    let refused = merge(&["left", "right"]).ended_with(2);
    assert!(
        refused.stdout.contains("Should not be doing an octopus"),
        "{}",
        refused.stdout
    );
    assert_eq!(titles(), [1, 0, 0, 1]);
    for branch in ["left", "right"] {
        merge(&["--quiet", branch]).success();
    }
    assert_eq!(titles(), [1, 1, 1, 1]);

    // Where the first of them is only gone ahead to, git leaves marks.
    env.git(&["checkout", "--quiet", "-B", "own", "start"]);
    merge(&["left", "right"]).ended_with(1);
    assert!(env.read("loa-grimoire/NOTES.md").contains("<<<<<<< "));
    env.run(["session", "check"]).ended_with(1);
    env.run(["session", "heal"]).success();
    assert_eq!(titles(), [1, 1, 1, 0]);
    env.git(&["add", "--all"]);
    env.run(["session", "check"]).success();
}
