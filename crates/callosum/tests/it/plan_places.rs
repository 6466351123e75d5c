//! Where a run is gone on with, and that one process at a time does.

use std::{
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use callosum_testkit::{TestEnv, fakes};

use crate::projects::{register, two_languages};

/// A process that carries on a run of a plan, and the run's id, once the run is on record.
fn begun(env: &TestEnv, plan: &str) -> (Child, String) {
    let child = env
        .callosum()
        .without("CALLOSUM_TEST_IDS")
        .arguments(["plan", "run", "--json", "-e", plan])
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let since = Instant::now();
    let run = loop {
        assert!(since.elapsed() < Duration::from_mins(1), "it never began");
        let listed = env.run(["plan", "list", "--json"]);
        if listed.code == 0
            && let Some(run) = listed.json()["runs"][0]["run"].as_str()
        {
            break run.to_owned();
        }
        thread::sleep(Duration::from_millis(20));
    };
    (child, run)
}

/// CCOS-RTFS-2: who clears away what git does not know of a project takes no run from the process that carries it on.
#[test]
fn a_run_at_work_stays_its_process_s_whatever_is_cleared_away() {
    let env = two_languages();
    register(&env, "silent", &fakes::fake("--silent"));
    let plan = "(call :agent.delegate {:executor \"silent\" :prompt \"a\"})";
    let (mut child, run) = begun(&env, plan);
    std::fs::remove_dir_all(env.project().join(".cal_lock")).unwrap();
    let listed = env.run(["plan", "list", "--json"]).success().json();
    assert_eq!(listed["runs"][0]["standing"], "running");
    let refused = env.run(["plan", "resume", &run]).ended_with(3);
    let why = "another process is carrying on the run";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    env.run(["plan", "cancel", &run]).success();
    child.wait().unwrap();
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    assert_eq!(shown["standing"], "cancelled");
    let locks = std::fs::read_dir(env.machine_home().join("plan-locks")).unwrap();
    let left = locks.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    assert_eq!(left.count(), 0);
}
