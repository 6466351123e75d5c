//! Where a run is gone on with, and that one process at a time does.

use std::path::Path;

use callosum_testkit::fakes;

use crate::projects::{begun, register_with, two_languages, wait_for_start};

/// CCOS-RTFS-2: who clears away what git does not know of a project takes no run from the process that carries it on.
#[test]
fn a_run_at_work_stays_its_process_s_whatever_is_cleared_away() {
    let env = two_languages();
    let patient = &["--idle-timeout", "10m"];
    register_with(&env, "silent", &fakes::fake("--silent"), patient);
    let plan = "(call :agent.delegate {:executor \"silent\" :prompt \"a\"})";
    let (mut child, run) = begun(&env, plan);
    wait_for_start(&env, "silent");
    // The run may put one more there at the same moment.
    let locks = env.project().join(".cal_lock");
    while locks.exists() {
        drop(std::fs::remove_dir_all(&locks));
    }
    let listed = env.run(["plan", "list", "--json"]).success().json();
    assert_eq!(listed["runs"][0]["standing"], "running");
    let refused = env.run(["plan", "resume", &run]).ended_with(3);
    let why = "another process is executing the run";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    env.run(["plan", "cancel", &run]).success();
    child.wait().unwrap();
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    assert_eq!(shown["standing"], "cancelled");
    let locks = std::fs::read_dir(env.machine_home().join("plan-locks")).unwrap();
    let left = locks.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    assert_eq!(left.count(), 0);
}

/// CCOS-RTFS-2: a run whose first half was done in one worktree is not gone on with in another.
#[test]
fn a_run_is_gone_on_with_in_the_worktree_that_it_was_begun_in() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    register_with(
        &env,
        "writer",
        &fakes::fake(""),
        &["--allow-write", "build/"],
    );
    let linked = env.folder().join("linked");
    env.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let plan = "[(:lines (call :fs.read \"README.md\")) \
                 (:summary (call :agent.writer {:prompt \"w\"}))]";
    let in_tree = |tree: &Path, arguments: &[&str]| {
        let run = env.callosum().without("CALLOSUM_TEST_IDS");
        run.in_folder(tree).arguments(arguments).run()
    };
    for (here, there) in [(env.project(), &linked), (linked.clone(), &env.project())] {
        let asked = in_tree(&here, &["plan", "run", "--json", "-e", plan]).ended_with(5);
        let run = asked.json()["run"].as_str().unwrap().to_owned();
        for verb in ["approve", "resume"] {
            let told = in_tree(there, &["plan", verb, &run]).ended_with(1).stderr;
            let why = format!("was started in the worktree `{}`", here.display());
            assert!(told.contains(&why), "{told}");
            let hint = format!("callosum -C {} plan resume {run}", here.display());
            assert!(told.contains(&hint), "{told}");
        }
        in_tree(there, &["plan", "show", &run]).success();
        in_tree(&here, &["plan", "approve", &run]).success();
    }
    let asked = in_tree(&linked, &["plan", "run", "--json", "-e", plan]).ended_with(5);
    let run = asked.json()["run"].as_str().unwrap().to_owned();
    env.git(&["worktree", "remove", "--force", linked.to_str().unwrap()]);
    let told = env.run(["plan", "resume", &run]).ended_with(1).stderr;
    let hint = format!(
        "which no longer exists\nhint: nothing was done; end the run: callosum plan cancel {run}\n"
    );
    assert!(told.ends_with(&hint), "{told}");
    env.run(["plan", "cancel", &run]).success();
}
