//! `callosum session heal` and `status`: what is lost, broken or written by hand.

use crate::{
    faults::{SmallDisk, command},
    session::project,
};

/// LOA-HEAL-1: a blank NOTES.md and a deleted bead come back from git, a broken bead is set aside,
/// and without git there is the template.
#[test]
fn what_is_broken_is_healed_from_git_or_the_template() {
    let env = project();
    let anew = env.run(["session", "heal"]).success().stdout;
    assert!(
        anew.starts_with("loa-grimoire/NOTES.md: missing, repaired from template\n"),
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
        env.read(healed["healed"][2]["backup_path"].as_str().unwrap()),
        "a: [\n"
    );
    assert_eq!(env.run(["session", "heal"]).success().stdout, "");
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
            .contains("1 decision, 1 of them missing from NOTES.md until now")
    );
    let entry = notes.split("#### ").nth(1).unwrap();
    let entry = entry.split("\n\n").next().unwrap();
    assert!(env.read("loa-grimoire/NOTES.md").contains(entry));
    let cut = notes.find("**Decision**: Use").unwrap() + 16;
    env.write("loa-grimoire/NOTES.md", &notes[..cut]);
    let healed = env.run(["session", "heal"]).success().stdout;
    let line = "loa-grimoire/NOTES.md: missing 1 decision, repaired from trajectory\n";
    assert!(healed.contains(line), "{healed}");
    assert!(env.read("loa-grimoire/NOTES.md").contains(entry));
    assert_eq!(env.run(["session", "heal"]).success().stdout, "");
}

/// LOA-HEAL-1: the bead that was current is current again, whichever bead a decision was made for by its name.
#[test]
fn the_bead_that_was_current_is_current_again() {
    let env = project();
    for id in ["bd-1", "bd-2"] {
        env.run(["bead", "create", "Work", "--id", id]).success();
    }
    env.run(["bead", "update", "bd-1", "--current"]).success();
    let decide = |more: &[&str]| {
        let words = ["session", "decide", "Use one", "--cite", "src/a.rs:1"];
        env.run([&words, more].concat()).success().stdout
    };
    decide(&[]);
    let of_other = decide(&["--bead", "bd-2"]);
    let ts = of_other.split(' ').next().unwrap();
    env.run(["session", "cite", ts, "src/a.rs:2"]).success();
    std::fs::remove_file(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    env.run(["session", "heal"]).success();
    let notes = env.read("loa-grimoire/NOTES.md");
    assert!(
        notes.contains("- **Current Bead**: bd-1 (Work)\n"),
        "{notes}"
    );
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
        ".beads/bd-1.yaml:1: its id is `bd-9`, but",
        ".beads/bd-1.yaml:2: \"high\" is not a priority",
        ".beads/bd-1.yaml:3: it needs itself through bd-2",
        ".beads/bd-2.yaml:2: \"wip\" is not one of open, ",
        ".beads/bd-3.yaml: it is not a regular file",
        ".beads/bd-4.yaml: it is a link",
        ".beads/bd-5.yaml: it is larger than ",
        "loa-grimoire/NOTES.md:2: NUL bytes",
        ".loa.config.yaml:3: `edd.min_test_scenarios`",
    ] {
        assert!(shown.contains(said), "{said} is not in {shown}");
    }
    let a2a = "loa-grimoire/a2a/trajectory";
    env.write(format!("{a2a}/implementing-tasks-2026-01-02.jsonl/x"), "");
    env.write("elsewhere", "{}\n");
    std::os::unix::fs::symlink(
        env.project().join("elsewhere"),
        env.project().join(a2a).join("other-2026-01-02.jsonl"),
    )
    .unwrap();
    let shown = env.run(["session", "status"]).success().stdout;
    for name in ["implementing-tasks", "other"] {
        let said = format!("{a2a}/{name}-2026-01-02.jsonl:1: not a record");
        assert!(shown.contains(&said), "{said} is not in {shown}");
    }
    let told = env.run(["session", "grounding"]).ended_with(2).stderr;
    assert!(told.contains(" is not a file"), "{told}");
    std::fs::remove_file(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    env.write("loa-grimoire/NOTES.md/x", "");
    let shown = env.run(["session", "status"]).success().stdout;
    assert!(
        shown.contains("loa-grimoire/NOTES.md` is not a regular file"),
        "{shown}"
    );
    let told = env.run(["session", "recover"]).ended_with(3).stderr;
    let hint = "mv loa-grimoire/NOTES.md loa-grimoire/NOTES.md.aside && callosum session heal";
    assert!(told.contains(hint), "{told}");
}

/// LOA-HEAL-1: healing stops nobody: where nothing can be written, it says what is wrong and that it is not healed, and where
/// things stand is told all the same.
#[test]
fn on_a_read_only_disk_healing_says_what_is_wrong() {
    let disk = SmallDisk::with_a_project();
    disk.run(&["bead", "create", "Work", "--id", "bd-1"])
        .success();
    disk.run(&["bead", "update", "bd-1", "--current"]).success();
    std::fs::write(disk.path(".beads/bd-2.yaml"), "a: 1\na: 2\n").unwrap();
    disk.run(&["session", "decide", "Use two"]).success();
    let notes = std::fs::read_to_string(disk.path("loa-grimoire/NOTES.md")).unwrap();
    let (before, entry) = notes.split_once("#### ").unwrap();
    let (_, rest) = entry.split_once("\n\n").unwrap();
    std::fs::write(
        disk.path("loa-grimoire/NOTES.md"),
        format!("{before}{rest}"),
    )
    .unwrap();
    disk.make_read_only();
    let healed = disk.run(&["session", "heal"]).ended_with(1);
    assert!(
        healed
            .stderr
            .contains("files not repaired, because they cannot be written: 2 of 2")
    );
    let lost = "loa-grimoire/NOTES.md: missing 1 decision, not repaired\n";
    assert!(healed.stdout.contains(lost), "{}", healed.stdout);
    assert!(healed.stderr.contains("cannot repair anything here: "));
    assert!(
        healed.stderr.contains("ead-only file system"),
        "{}",
        healed.stderr
    );
    assert!(healed.stdout.contains("\n.beads/bd-2.yaml: broken: "));
    let told = disk.run(&["session", "recover"]).success().stdout;
    assert!(told.starts_with("Bead: bd-1 Work "), "{told}");
    disk.run(&["session", "status"]).success();
    let checked = disk.run(&["session", "check"]).ended_with(3);
    assert!(
        checked.stdout.starts_with("1. grounding: block\n"),
        "{}",
        checked.stdout
    );
    let decided = disk.run(&["session", "decide", "Use one"]).ended_with(3);
    for said in [
        "error: session files cannot be locked or written here\ncaused by: cannot open `",
        "hint: reading still works: callosum session recover\n",
    ] {
        assert!(decided.stderr.contains(said), "{}", decided.stderr);
    }
}

/// LOA-HEAL-1: notes that a crash has left blank or full of NUL bytes are healed from git by whichever command comes first, before
/// anything is written into them, and a decision is there then.
#[test]
fn notes_that_a_crash_left_blank_are_healed_before_they_are_written() {
    for (command, ends_with) in [
        (
            &["session", "decide", "Use two", "--cite", "src/a.rs:2"][..],
            0,
        ),
        (&["session", "check"], 0),
        (
            &["session", "cite", "2026-01-02T03:04:05Z", "src/a.rs:2"],
            0,
        ),
        (&["session", "handoff"], 0),
        (&["session", "checkpoint", "--no-transcript"], 0),
        (&["bead", "update", "bd-1", "--current"], 0),
    ] {
        for damage in ["", " \n\n", "\0\0\0\0"] {
            let env = project();
            env.run(["bead", "create", "Work", "--id", "bd-1"])
                .success();
            env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
                .success();
            let whole = env.read("loa-grimoire/NOTES.md");
            let said = "## Discovered Technical Debt\n- the parser leaks\n";
            let whole = whole.replace("## Discovered Technical Debt\n", said);
            env.write("loa-grimoire/NOTES.md", whole);
            env.git_init();
            env.write("loa-grimoire/NOTES.md", damage);
            let ran = env.run(command).ended_with(ends_with);
            let notes = env.read("loa-grimoire/NOTES.md");
            assert!(notes.contains(said), "{command:?} {damage:?}: {notes}");
            assert!(
                ran.stderr.contains("repaired from git"),
                "{command:?}: {}",
                ran.stderr
            );
        }
    }
}

/// LOA-HEAL-1, LOA-BEAD-1: a bead keeps what a decision leans on that cites nothing, so that it comes back as what it was where notes and trajectory are
/// lost.
#[test]
fn an_assumption_comes_back_from_its_bead_as_one() {
    let env = project();
    env.write(".loa.config.yaml", "grounding_enforcement: strict\n");
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    env.run(["session", "decide", "Perhaps async", "--source=assumption"])
        .success();
    env.run(["session", "decide", "No colours", "--source=user"])
        .success();
    let told = env.run(["session", "decide", "Think so"]).success().stdout;
    let name = told.split(" - ").next().unwrap();
    env.run(["session", "cite", name, "--source=assumption"])
        .success();
    let check = || env.run(["session", "check"]).ended_with(1).stdout;
    let before = check();
    std::fs::remove_dir_all(env.project().join("loa-grimoire")).unwrap();
    env.run(["session", "heal"]).success();
    let notes = env.read("loa-grimoire/NOTES.md");
    for said in [
        "Perhaps async [ASSUMPTION]\n",
        "No colours [USER INPUT]\n",
        "Think so [ASSUMPTION]\n",
    ] {
        assert!(notes.contains(said), "{said} in {notes}");
    }
    let lines = |text: &str| {
        text.lines()
            .filter(|line| line.contains("[ASSUMPTION]"))
            .count()
    };
    assert_eq!(lines(&check()), lines(&before), "{before}");
}

/// LOA-BEAD-1: a bead that this user may not write keeps no decision away, and leaves no step behind that nobody could end.
#[test]
fn a_bead_that_may_not_be_written_keeps_no_decision_away() {
    let env = project();
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["bead", "update", "bd-1", "--current"]).success();
    let mount = ReadOnly::of(&env.project().join(".beads"));
    let decided = env
        .run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    assert!(decided.stderr.contains("bd-1"), "{}", decided.stderr);
    let update = ["bead", "update", "bd-1", "--next", "x"];
    env.run(update).ended_with(3);
    env.run(["session", "decide", "Use two", "--cite", "src/a.rs:2"])
        .success();
    env.run(["session", "check"]).success();
    drop(mount);
    env.run(update).success();
    let notes = env.read("loa-grimoire/NOTES.md");
    assert_eq!(notes.matches("#### ").count(), 2, "{notes}");
}

/// LOA-HEAL-1: where one folder cannot be written, what stands elsewhere is healed all the same, and what stays is told.
#[test]
fn what_cannot_be_written_keeps_nothing_else_from_being_healed() {
    let env = project();
    for id in ["bd-1", "bd-2"] {
        env.run(["bead", "create", "Work", "--id", id]).success();
    }
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    let whole = env.read("loa-grimoire/NOTES.md");
    std::fs::remove_file(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    for id in ["bd-1", "bd-2"] {
        std::fs::remove_file(env.project().join(format!(".beads/{id}.yaml"))).unwrap();
    }
    let mount = ReadOnly::of(&env.project().join(".beads"));
    let healed = env.run(["session", "heal"]).ended_with(1);
    for said in [
        "loa-grimoire/NOTES.md: missing, repaired from git\n",
        "and cannot be written: Read-only file system",
        ", not repaired\n",
    ] {
        assert!(healed.stdout.contains(said), "{}", healed.stdout);
    }
    assert_eq!(env.read("loa-grimoire/NOTES.md"), whole);
    drop(mount);
    env.run(["session", "heal"]).success();
    assert!(env.read(".beads/bd-2.yaml").contains("Work"));
}

/// LOA-HEAL-1: where no record can be written, what is healed is told, and no step is left that every later one would fail by.
#[test]
fn records_that_cannot_be_written_keep_nothing_from_going_on() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    let mount = ReadOnly::of(&env.project().join("loa-grimoire/a2a/trajectory"));
    std::fs::remove_file(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    let healed = env.run(["session", "heal"]).success();
    let line = "loa-grimoire/NOTES.md: missing, repaired from git\n";
    assert!(healed.stdout.contains(line), "{}", healed.stdout);
    let warned = "the repair is not recorded in a trajectory: ";
    assert!(healed.stderr.contains(warned), "{}", healed.stderr);
    env.run(["bead", "create", "Work", "--id", "bd-1"])
        .success();
    env.run(["session", "decide", "Use two"]).ended_with(3);
    env.run(["bead", "create", "More", "--id", "bd-2"])
        .success();
    drop(mount);
    env.run(["session", "heal"]).success();
    let notes = env.read("loa-grimoire/NOTES.md");
    assert_eq!(notes.matches("#### ").count(), 2, "{notes}");
    env.run(["session", "recover"]).success();
}

/// LOA-HEAL-1: a trajectory that was added to be committed next is healed as it was added, and one that git was told to take out
/// stays out.
#[test]
fn records_that_git_is_to_commit_are_healed_as_committed_ones() {
    let env = project();
    env.run(["session", "decide", "Use one", "--cite", "src/a.rs:1"])
        .success();
    env.git_init();
    env.run(["session", "decide", "Use two", "--cite", "src/a.rs:2"])
        .success();
    let folder = env.project().join("loa-grimoire/a2a/trajectory");
    let files = std::fs::read_dir(&folder).unwrap().map(|one| one.unwrap());
    let file = files
        .map(|one| one.path())
        .find(|one| one.is_file())
        .unwrap();
    let whole = std::fs::read_to_string(&file).unwrap();
    env.git(&["add", "-A"]);
    std::fs::remove_file(&file).unwrap();
    let healed = env.run(["session", "heal"]).success().stdout;
    assert!(
        healed.contains(": missing, repaired from git\n"),
        "{healed}"
    );
    let there = std::fs::read_to_string(&file).unwrap();
    assert!(there.starts_with(&whole), "{there}");
    env.git(&["rm", "--quiet", "--cached", "-rf", "loa-grimoire/a2a"]);
    std::fs::remove_file(&file).unwrap();
    let healed = env.run(["session", "heal"]).success().stdout;
    assert!(!healed.contains("repaired from git"), "{healed}");
}

/// A folder that is mounted over itself and cannot be written, until it is dropped.
struct ReadOnly(std::path::PathBuf);

impl ReadOnly {
    /// Panics where it cannot be mounted: tests run as root, who may.
    fn of(folder: &std::path::Path) -> Self {
        let at = folder.to_str().unwrap();
        assert!(command("mount", &["--bind", at, at]));
        let mount = Self(folder.to_owned());
        assert!(command("mount", &["-o", "remount,ro,bind", at]));
        mount
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        command("umount", &["-l", self.0.to_str().unwrap_or_default()]);
    }
}
