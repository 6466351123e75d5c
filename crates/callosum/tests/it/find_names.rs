//! `callosum find` with a name, with dotfiles, and when a signal ends it.

use crate::projects::two_languages;

/// LOA-GRD-3: a name that nothing has ends with 1, though some of its words are there.
#[test]
fn a_name_that_is_nowhere_ends_with_1() {
    let env = two_languages();
    env.write("src/retry.rs", "pub fn backoff_delay() {}\n");
    for name in ["nosuch_delay", "backoffTimeout", "retry::nosuch"] {
        let ended = env.run(["find", name]).ended_with(1);
        assert_eq!(ended.stdout, "", "{name}");
    }
    env.run(["find", "backoffDelay"]).success();
}

#[test]
fn dotfiles_of_code_are_found_and_secrets_are_not() {
    let env = two_languages();
    env.write(".eslintrc.js", "module.exports = { quokka: 1 };\n");
    env.write(".github/workflows/ci.yml", "name: quokka\n");
    env.write(".env", "QUOKKA=1\n");
    env.write(".env.js", "module.exports = 'quokka';\n");
    let found = env.run(["find", "quokka"]).success().stdout;
    for path in [".eslintrc.js", ".github/workflows/ci.yml"] {
        assert!(found.contains(path), "{found}");
    }
    assert!(!found.contains(".env"), "{found}");
}

/// A signal that comes while files are read ends the command with 130, long before all of them are.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_search_that_is_indexing() {
    use std::{process::Stdio, thread, time::Duration};

    let env = two_languages();
    let mut functions = String::new();
    for number in 0..150 {
        functions.push_str("pub fn function_");
        functions.push_str(&number.to_string());
        functions.push_str("(text: &str) -> usize {\n    text.len()\n}\n\n");
    }
    for number in 0..1200 {
        env.write(format!("src/many/file{number}.rs"), &functions);
    }
    for signal in ["INT", "TERM"] {
        let mut find = env.callosum().arguments(["find", "function_7"]).command();
        let find = find.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut find = find.spawn().unwrap();
        let descriptors = format!("/proc/{}/fd", find.id());
        // The index is opened after the signals are watched and before the files are read.
        let is_indexing = || {
            let open = std::fs::read_dir(&descriptors).unwrap();
            open.filter_map(|open| std::fs::read_link(open.ok()?.path()).ok())
                .any(|target| target.ends_with("find.db"))
        };
        while !is_indexing() {
            assert!(find.try_wait().unwrap().is_none(), "it ended too early");
            thread::sleep(Duration::from_millis(2));
        }
        let kill = format!("kill -{signal} {}", find.id());
        env.program("/bin/sh".into())
            .arguments(["-c", &kill])
            .run()
            .success();
        let ended = find.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(130), "{signal}: {stderr}");
        assert!(stderr.contains("interrupted"), "{signal}: {stderr}");
    }
    // What was read before is kept, and the index goes on from there.
    std::fs::remove_dir_all(env.project().join("src/many")).unwrap();
    env.write("src/one.rs", "pub fn quokka() {}\n");
    let found = env.run(["find", "quokka"]).success().stdout;
    assert!(found.contains("src/one.rs"), "{found}");
}
