//! Commands on a machine that gives no more threads: they say so, or do without.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
    process::{Command, Output},
};

use callosum_testkit::TestEnv;

use crate::projects::two_languages;

/// A user of whom no other process runs, so that the limit counts only what the test starts.
const ALONE: u32 = 61_617;

fn give(path: &Path) {
    chown(path, Some(ALONE), Some(ALONE)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}

/// Runs a command as a user who may have `most` processes and threads.
fn limited(env: &TestEnv, most: usize, words: &[&str]) -> Output {
    let plain = env.callosum().arguments(words).command();
    // bash calls the limit `-u`, dash calls it `-p`.
    let script = format!("ulimit -u {most} 2>/dev/null || ulimit -p {most}; exec \"$@\"");
    let mut command: Command = env.program("/bin/sh".into()).command();
    command.args(["-c", &script, "sh"]);
    command.arg(plain.get_program()).args(plain.get_args());
    command.uid(ALONE).gid(ALONE).output().unwrap()
}

/// CAL-ERR-1: what cannot start a thread does its work without, or ends with an error of its own.
#[test]
fn a_machine_without_another_thread_makes_no_command_panic() {
    if fs::metadata(TestEnv::new().folder()).unwrap().uid() != 0 {
        // Only root can become a user that is alone.
        return;
    }
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    give(&env.folder());
    for (words, expected) in [
        (&["ledger", "verify"][..], Some(0)),
        (&["audit", "verify"], Some(0)),
        (&["doctor"], None),
        (&["serve"], Some(3)),
        (&["mcp"], Some(3)),
        (&["mesh", "subscribe", "--publish"], Some(3)),
    ] {
        // One more than the command itself, which is what waits for Ctrl-C.
        let output = limited(&env, 2, words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(!stderr.contains("panicked"), "{words:?}: {stderr}");
        assert!(
            code.is_some_and(|code| code != 101),
            "{words:?}: {code:?} {stderr}"
        );
        if expected.is_some() {
            assert_eq!(code, expected, "{words:?}: {stderr}");
        }
    }
}
