//! Completions that know the project, in a real shell.

use callosum_testkit::{Output, TestEnv};

use crate::projects::two_languages;

/// Completes the last of these words as bash does when a person presses Tab.
fn completed(env: &TestEnv, words: &[&str]) -> Vec<String> {
    let script = env.run(["generate", "completions", "bash"]).success();
    env.write("completions.bash", &script.stdout);
    let program = callosum_testkit::fakes::program("callosum");
    let folder = program.parent().unwrap().display();
    let line = "source ./completions.bash\n\
                COMP_WORDS=(\"$@\"); COMP_CWORD=$(( $# - 1 ))\n\
                function_name=$(complete -p callosum); function_name=${function_name##*-F }\n\
                ${function_name%% *} callosum \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"\n\
                printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    let bash = env
        .program("bash".into())
        .arguments(["-c", line, "bash", "callosum"]);
    let bash = bash
        .env("PATH", format!("{folder}:/usr/bin:/bin"))
        .arguments(words);
    let output = bash.run().success();
    assert_eq!(output.stderr, "", "{words:?}");
    output.stdout.lines().map(str::to_owned).collect()
}

fn values(env: &TestEnv, words: &[&str]) -> Output {
    env.callosum()
        .arguments(["complete", "--"])
        .arguments(words)
        .run()
}

#[test]
fn bash_completes_ids_of_the_project() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    env.run(["deps"]).success();
    env.run(["bead", "create", "Write it down"]).success();
    env.run(["snapshot", "create", "before"]).success();
    let intent = env.run(["intent", "add", "Speed it up"]).success().stdout;
    let intent = intent.trim_end();
    let bead = env.run(["bead", "list", "--json"]).success().json();
    let bead = bead["beads"][0]["id"].as_str().unwrap().to_owned();
    let snapshot = env.run(["snapshot", "list", "--json"]).success().json();
    let snapshot = snapshot["snapshots"][0]["snapshot_id"].as_str().unwrap()[..8].to_owned();
    let tasks = ["cal_2026_01_02_0002", "cal_2026_01_02_0001"];
    assert_eq!(completed(&env, &["ledger", "show", ""]), tasks);
    assert_eq!(
        completed(&env, &["ledger", "diff", tasks[0], "cal_2026_01_02_0001"]),
        tasks[1..]
    );
    assert_eq!(
        completed(&env, &["delegate", "x", "--executor", "s"]),
        ["scout"]
    );
    assert_eq!(
        completed(&env, &["delegate", "x", "--executor", "=", "s"]),
        ["scout"]
    );
    assert_eq!(completed(&env, &["bead", "close", ""]), [bead]);
    assert_eq!(completed(&env, &["intent", "show", "int"]), [intent]);
    assert_eq!(
        completed(&env, &["intent", "add", "x", "--parent", ""]),
        [intent]
    );
    assert_eq!(completed(&env, &["snapshot", "restore", ""]), [snapshot]);
    // All else is completed as before.
    assert_eq!(completed(&env, &["snapsh"]), ["snapshot"]);
    assert!(completed(&env, &["ledger", ""]).contains(&"query".to_owned()));
    assert!(completed(&env, &["delegate", "--kind", ""]).contains(&"deps".to_owned()));
}

/// Tab in a folder that knows nothing prints nothing and writes nothing.
#[test]
fn completing_writes_nothing_and_reports_no_error() {
    let env = TestEnv::new();
    for words in [
        &["ledger", "show", ""][..],
        &["executor", "runs", "wait", ""],
        &["plan", "show", ""],
        &["bead", "show", ""],
        &["snapshot", "diff", ""],
        &["-C", "no-such-folder", "ledger", "show", ""],
        &["frobnicate", ""],
        &[""],
    ] {
        let output = values(&env, words).success();
        assert_eq!((&*output.stdout, &*output.stderr), ("", ""), "{words:?}");
    }
    assert_eq!(
        values(&env, &["executor", "check", ""]).success().stdout,
        "scout\n"
    );
    let files = std::fs::read_dir(env.project()).unwrap().count();
    assert_eq!(files, 0);
    assert!(!env.machine_home().exists());
    env.write("registry.json", "{ not json");
    let output = values(&env, &["executor", "check", ""]).success();
    assert_eq!((&*output.stdout, &*output.stderr), ("", ""));
}

/// A cloned repository brings file names, and a shell must not run them.
#[test]
fn a_name_that_a_shell_would_run_is_not_offered() {
    let env = two_languages();
    env.run(["bead", "create", "One"]).success();
    let bead = env.run(["bead", "list", "--json"]).success().json();
    let bead = bead["beads"][0]["id"].as_str().unwrap().to_owned();
    let text = env.read(format!(".beads/{bead}.yaml"));
    env.write(".beads/$(touch ran).yaml", text);
    assert_eq!(completed(&env, &["bead", "show", ""]), [bead]);
    assert!(!env.project().join("ran").exists());
}
