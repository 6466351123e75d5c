//! What an executor may read and write when the repository changes below an entry that was registered.

#![cfg(target_os = "linux")]

use std::os::unix::fs::symlink;

use callosum_host::{Disk, disk::EntryKind};
use callosum_testkit::TestEnv;

use crate::confinement::{delegate, is_held, project, summary};

/// Puts a link in place of what is at `path` in the project, as a pull would.
fn turn(env: &TestEnv, path: &str, target: &str) {
    let path = env.project().join(path);
    let disk = Disk::real();
    match disk.stat(&path).unwrap() {
        Some(stat) if stat.kind == EntryKind::Link => drop(disk.remove_file(&path).unwrap()),
        Some(_) => disk.remove_tree(&path).unwrap(),
        None => {}
    }
    symlink(target, &path).unwrap();
}

/// CAL-SEC-1: a folder that an entry may write or read, and that a pull made a link to somewhere else, is not
/// followed: not before a person trusts the entry again, and not after.
#[test]
fn a_granted_folder_that_becomes_a_link_is_not_followed() {
    for (option, place) in [
        ("--allow-write", "out/"),
        ("--allow-read", "data"),
        ("--allow-write", "deep/in/out/"),
        ("--allow-write", "~/../project/out/"),
    ] {
        let script = r#"
for path in ["out/planted", "deep/in/out/planted"]:
    tried(path, lambda: open(path, "w").write("x"))
tried("data/id", lambda: open("data/id").read())
"#;
        let env = project(script, &[option, place]);
        for folder in ["out", "data", "deep/in/out"] {
            env.write(format!("{folder}/.keep"), "");
        }
        summary(&env);
        if !is_held(&env) {
            return;
        }
        let ssh = env.home().join(".ssh");
        for path in ["out", "data", "deep/in/out"] {
            turn(&env, path, ssh.to_str().unwrap());
        }
        let refused = delegate(&env);
        assert_eq!(refused.code, 3, "{place}: {}", refused.stdout);
        assert!(
            refused.stdout.contains("changed since it was trusted"),
            "{place}: {}",
            refused.stdout
        );
        env.run(["trust", "probe"]).success();
        let refused = delegate(&env).ended_with(1);
        let told = format!("leads outside the project, to {}", ssh.display());
        assert!(
            refused.stdout.contains(&told),
            "{place}: {}",
            refused.stdout
        );
        assert!(!ssh.join("planted").exists(), "{place}");
        let checked = env.run(["doctor", "-v"]).stdout;
        assert!(checked.contains(&told), "{place}: {checked}");
    }
}

/// CAL-SEC-1: what leads out of the project cannot be registered by a name within it; the place itself can.
#[test]
fn a_place_outside_is_registered_by_its_own_name_alone() {
    let env = project("", &[]);
    let ssh = env.home().join(".ssh");
    turn(&env, "out", "../home/.ssh");
    for place in ["out/", "../home/.ssh/", "./out/new/"] {
        for option in ["--allow-write", "--allow-read"] {
            let words = [
                "executor",
                "register",
                "wide",
                "--command",
                "python3 tools/probe.py",
            ];
            let refused = env.run(words.iter().chain(&[option, place])).ended_with(2);
            let told = format!("`{place}` leads outside the project, to ");
            assert!(refused.stderr.contains(&told), "{}", refused.stderr);
            assert!(
                refused.stderr.contains(ssh.to_str().unwrap()),
                "{}",
                refused.stderr
            );
        }
    }
    assert!(!ssh.join("new").exists());
}

/// CAL-SEC-1: a link that stays in the project is followed once it is trusted, and only as it was then.
#[test]
fn a_link_within_the_project_is_followed_as_it_was_trusted() {
    let script = r#"tried("out", lambda: open("out/x", "w").write("x"))"#;
    let env = project(script, &[]);
    for folder in ["build", "other"] {
        env.write(format!("{folder}/.keep"), "");
    }
    turn(&env, "out", "build");
    let words = ["executor", "register", "probe", "--command"];
    let more = ["python3 tools/probe.py", "--allow-write", "out/"];
    env.run(words.iter().chain(&more)).success();
    assert_eq!(summary(&env), "out: 1");
    if !is_held(&env) {
        return;
    }
    assert_eq!(env.read("build/x"), "x");
    turn(&env, "out", "other");
    assert_eq!(delegate(&env).code, 3);
    assert!(!env.project().join("other/x").exists());
}
