//! `callosum session heal` and `status`: what is lost, broken or written by hand.

use crate::{faults::SmallDisk, session::project};

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
        let said = format!("{a2a}/{name}-2026-01-02.jsonl:1: it is no record");
        assert!(shown.contains(&said), "{said} is not in {shown}");
    }
    let told = env.run(["session", "grounding"]).ended_with(2).stderr;
    assert!(told.contains(" is not a file"), "{told}");
    std::fs::remove_file(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    env.write("loa-grimoire/NOTES.md/x", "");
    let shown = env.run(["session", "status"]).success().stdout;
    assert!(
        shown.contains("loa-grimoire/NOTES.md` is no file"),
        "{shown}"
    );
    let told = env.run(["session", "recover"]).ended_with(3).stderr;
    let hint = "mv loa-grimoire/NOTES.md loa-grimoire/NOTES.md.aside && callosum session heal";
    assert!(told.contains(hint), "{told}");
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
    let decided = disk.run(&["session", "decide", "Use one"]).ended_with(3);
    for said in [
        "error: no session can be written here\ncaused by: cannot open `",
        "hint: what is there can be read all the same: callosum session recover\n",
    ] {
        assert!(decided.stderr.contains(said), "{}", decided.stderr);
    }
}
