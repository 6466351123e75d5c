//! Plans whose process is killed: what comes of it is what would have come without, and nothing is made twice.

use std::{
    process::Child,
    thread,
    time::{Duration, Instant},
};

use callosum_testkit::{Schema, TestEnv, fakes};
use serde_json::Value;

use crate::{
    agents::fake,
    plan_runs::FAILING,
    projects::{
        approved, carried_out, only_run, permit_all, prompts, register, register_with, started,
        two_languages, wait_for_start,
    },
    scripts::script,
};

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_mins(5);

/// An executor that kills the process that runs the plan, the first time that it is asked for `b`.
#[cfg(target_os = "linux")]
pub(crate) const KILLING_ONCE: &str = r#"
mark = pathlib.Path(__file__).with_name("killed")
if prompt == "b" and not mark.exists():
    mark.write_text("")
    os.kill(parent(parent(os.getppid())), signal.SIGKILL)
else:
    answer(prompt)
"#;

/// Kills a process that carries a run on once it has started this executor, which does not answer meanwhile.
#[cfg(target_os = "linux")]
fn killed_at_work(env: &TestEnv, executor: &str, mut process: Child) {
    wait_for_start(env, executor);
    process.kill().unwrap();
    process.wait().unwrap();
}

/// CCOS-RTFS-2: a run whose process is killed while an executor works goes on, and no task is stored twice.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_killed_within_a_delegation_goes_on() {
    let env = two_languages();
    env.write("tools/kill.py", script(KILLING_ONCE));
    let unconfined = &["--sandbox", "off"];
    register_with(&env, "killing", "python3 tools/kill.py", unconfined);
    let plan = "(map (fn [p] (:summary (call :agent.delegate {:executor \"killing\" :prompt p}))) \
                [\"a\" \"b\" \"c\"])";
    let output = carried_out(&env, &["-e", plan]);
    assert_eq!(output.code, 128 + 9, "{}", output.stderr);
    let run = only_run(&env);
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    assert_eq!(Schema::published("output-plan-show").fault(&shown), None);
    assert_eq!(shown["answered"], 1);
    // Nobody is waited for: whoever goes on looks first.
    assert_eq!(shown["standing"], "interrupted");
    let listed = env.run(["plan", "list", "--json"]).success().json();
    assert_eq!(listed["runs"][0]["standing"], "interrupted");
    // Nobody has asked what came of it, which going on does first.
    let told = env.run(["plan", "show", &run]).success().stdout;
    let way = format!("  resume: callosum plan resume {run}\n");
    assert!(told.contains(&way), "{told}");
    assert!(told.contains("resuming looks that up first"), "{told}");
    // It is not confined, and may have done anything: a person says that it was not done.
    let output = env.run(["plan", "resume", &run, "--json"]).ended_with(5);
    assert_eq!(
        Schema::published("output-plan-run").fault(&output.json()),
        None
    );
    let waiting = output.json()["blocked_by"][0].clone();
    assert_eq!(waiting["blocked_by"], "outcome");
    assert_eq!(prompts(&env), ["a"]);
    let listed = env.run(["plan", "list", "--json"]).success().json();
    assert_eq!(listed["runs"][0]["standing"], "waiting");
    let told = env.run(["plan", "show", &run]).success().stdout;
    let unknown = "it is unknown whether this call finished before the run was interrupted\n";
    assert!(told.contains(unknown), "{told}");
    let of = "where VALUE is of type [:map [:summary String] [:task String ?]";
    assert!(told.contains(of), "{told}");
    let of = waiting["answer_type"].as_str().unwrap();
    assert!(of.starts_with("[:map [:summary String]"), "{of}");
    let told = env.run(["plan", "resume", &run]).ended_with(5);
    let key = &waiting["key"].as_str().unwrap()[..12];
    let hint =
        format!("callosum plan resume {run} --set-result '{key}=VALUE', or --retry-call {key}\n");
    assert!(told.stderr.ends_with(&hint), "{}", told.stderr);
    let said = format!("{key}={{:summary \"b\"}}");
    for twice in [
        ["--retry-call", key, "--retry-call", &key[..6]],
        ["--set-result", &said, "--retry-call", key],
        ["--set-result", &said, "--set-result", &said],
    ] {
        let resume = env.callosum().arguments(["plan", "resume", &run]);
        let refused = resume.arguments(twice).run().ended_with(2);
        let why = "is named twice: settle it once";
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
    let number = format!("{key}=5");
    let refused = env.run(["plan", "resume", &run, "--set-result", &number]);
    let refused = refused.ended_with(2);
    assert!(
        refused
            .stderr
            .contains("not of type [:map [:summary String]"),
        "{}",
        refused.stderr
    );
    let hint = "a value of type [:map [:summary String] [:task String ?]";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);
    let output = env.run(["plan", "resume", &run, "--retry-call", key, "--json"]);
    let output = approved(&env, output).success();
    assert_eq!(output.json()["value"], r#"["a" "b" "c"]"#);
    assert_eq!(prompts(&env), ["a", "b", "c"]);
    env.run(["audit", "verify"]).success();
    env.run(["ledger", "verify"]).success();
}

/// CCOS-RTFS-2: a known client has its own login to write to and nothing else, so that one that was killed at work
/// changed nothing: the run goes on with it, and asks nobody.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_was_killed_with_its_run_is_asked_again() {
    let env = two_languages();
    fake("claude", "ok", 0).install(&env);
    env.run(["executor", "discover"]).success();
    let listed = env.run(["executor", "list", "--json"]).success().stdout;
    assert!(listed.contains("~/.claude/.credentials.json"), "{listed}");
    let program = env.programs().join("claude");
    let script = std::fs::read_to_string(&program).unwrap();
    let slow = script.replacen("#!/bin/sh\n", "#!/bin/sh\nsleep 60\n", 1);
    std::fs::write(&program, slow).unwrap();
    let plan = "(:summary (call :agent.claude {:prompt \"map it\"}))";
    killed_at_work(&env, "claude", started(&env, &["run", "-e", plan]));
    std::fs::write(&program, script).unwrap();
    assert_eq!(prompts(&env), [""; 0]);
    let run = only_run(&env);
    let output = env.run(["plan", "resume", &run, "--json"]);
    let spawned = ["audit", "query", "--event", "spawn", "--json"];
    let reached = env.run(spawned).success().stdout;
    if reached.contains("landlock") {
        let output = output.success().json();
        assert_eq!(output["value"], "\"SUMMARY: fine\"", "{output}");
    } else {
        output.ended_with(5);
    }
}

/// CCOS-RTFS-2: what a killed executor may have changed is judged by what it was allowed when it was called, whatever its
/// entry says by now.
#[cfg(target_os = "linux")]
#[test]
fn an_executor_that_could_write_when_it_was_killed_is_not_asked_again() {
    let env = two_languages();
    let may_write = &["--allow-write", "build/", "--idle-timeout", "10m"];
    register_with(&env, "writer", &fakes::fake("--silent"), may_write);
    let plan = "(:summary (call :agent.writer {:prompt \"w\"}))";
    let run = started(&env, &["run", "-e", plan]).wait().unwrap();
    assert_eq!(run.code(), Some(5));
    let run = only_run(&env);
    killed_at_work(&env, "writer", started(&env, &["approve", &run]));
    let mut registry: Value = serde_json::from_str(&env.read("registry.json")).unwrap();
    for executor in registry["executors"].as_array_mut().unwrap() {
        executor.as_object_mut().unwrap().remove("writable");
    }
    env.write("registry.json", registry.to_string());
    env.run(["trust", "--yes"]).success();
    let asked = env.run(["plan", "resume", &run, "--json"]).ended_with(5);
    assert_eq!(asked.json()["blocked_by"][0]["blocked_by"], "outcome");
    assert_eq!(prompts(&env), [""; 0]);
}

/// Waits until a process is over, and no longer than this.
fn lives_for(process: &mut Child, patience: Duration) {
    let since = Instant::now();
    while since.elapsed() < patience && process.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Carries a plan out in processes that are killed once `until` returns, which is called with the number of each, until it is
/// over; `settle` is asked where it waits for a person. Returns what it came to.
fn killed_and_gone_on_with(
    env: &TestEnv,
    plan: &str,
    until: impl Fn(u64, &mut Child),
    mut settle: impl FnMut(&str, &Value),
) -> Value {
    let mut run: Option<String> = None;
    for number in 0..200_u64 {
        let mut child = match &run {
            None => started(env, &["run", "--json", "-e", plan]),
            Some(run) => started(env, &["resume", run, "--json"]),
        };
        until(number, &mut child);
        // One that is over is not hit.
        drop(child.kill());
        let output = child.wait_with_output().unwrap();
        if run.is_none() {
            let listed = env.run(["plan", "list", "--json"]).json();
            run = listed["runs"][0]["run"].as_str().map(str::to_owned);
        }
        if let Ok(json) = serde_json::from_slice::<Value>(&output.stdout) {
            if json["outcome"] == "completed" {
                return json["value"].clone();
            }
            match &run {
                Some(run) if json["blocked_by"][0]["key"].is_string() => {
                    settle(run, &json["blocked_by"][0]);
                }
                _ => panic!("{json}"),
            }
        }
    }
    panic!("it never ended");
}

/// CCOS-RTFS-2: the same, killed by SIGKILL at ten moments, again and again until it is over.
#[test]
fn a_run_that_is_killed_at_any_moment_comes_to_the_same() {
    let env = two_languages();
    register(&env, "slow", &fakes::fake("--slow 30"));
    let plan = "(step-parallel \
                 (reduce (fn [sum p] (+ sum (:tokens (call :agent.delegate {:executor \"slow\" :prompt p})))) \
                   0 [\"a\" \"b\"]) \
                 (:summary (call :agent.delegate {:executor \"slow\" :prompt \"c\"})))";
    let expected = {
        let other = two_languages();
        register(&other, "slow", &fakes::fake("--slow 30"));
        let output = carried_out(&other, &["-e", plan]).success();
        output.json()["value"].clone()
    };
    let until = |number, child: &mut Child| match number {
        0..10 => lives_for(child, Duration::from_millis(40 + number * 35)),
        _ => lives_for(child, PATIENCE),
    };
    let ended = killed_and_gone_on_with(&env, plan, until, |run, waiting| {
        let key = waiting["key"].as_str().unwrap();
        match waiting["blocked_by"].as_str() {
            Some("approval") => drop(env.run(["plan", "approve", run])),
            // It has no place to write to, so nothing was done, but where the system can't hold it to that
            // nobody but a person knows.
            _ => drop(env.run(["plan", "resume", run, "--retry-call", key])),
        }
    });
    assert_eq!(ended, expected);
    assert_eq!(prompts(&env), ["a", "b", "c"]);
    env.run(["audit", "verify"]).success();
}

/// CCOS-RTFS-2: what does nothing twice under its key is made once by a run that is killed at forty moments, and
/// nobody is asked.
#[test]
fn what_answers_by_key_is_made_once_and_asks_nobody() {
    let env = two_languages();
    let plan = "(map (fn [p] (do (call :mesh.publish {:topic \"agent.note\" :payload {:text p}}) \
                (:task (call :task.add {:prompt p})))) [\"a\" \"b\" \"c\" \"d\"])";
    let until = |number, child: &mut Child| match number {
        0..40 => lives_for(child, Duration::from_millis(12 + number * 11 % 130)),
        _ => lives_for(child, PATIENCE),
    };
    let ended = killed_and_gone_on_with(&env, plan, until, |_, waiting| {
        panic!("a person is asked: {waiting}");
    });
    let left = env.run(["mesh", "task", "list", "--json"]).success().json();
    let mut left: Vec<&str> = left["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["id"].as_str().unwrap())
        .collect();
    left.sort_unstable();
    let ended = ended.as_str().unwrap();
    let mut told: Vec<&str> = ended
        .split('"')
        .filter(|part| part.starts_with("plan-"))
        .collect();
    told.sort_unstable();
    assert_eq!(left.len(), 4);
    assert_eq!(left, told);
}

/// CCOS-RTFS-2: decisions of a run that is killed at forty moments, most of them within a decision, are made once
/// each, and nobody is asked.
#[test]
fn a_decision_is_made_once_and_asks_nobody() {
    let env = two_languages();
    let plan = "(map (fn [p] (:title (call :session.decide {:decision p :because \"w\" :assume true}))) \
                [\"a\" \"b\" \"c\" \"d\" \"e\" \"f\" \"g\" \"h\"])";
    let until = |number, child: &mut Child| match number {
        0..40 => lives_for(child, Duration::from_millis(12 + number * 7 % 90)),
        _ => lives_for(child, PATIENCE),
    };
    let ended = killed_and_gone_on_with(&env, plan, until, |_, waiting| {
        panic!("a person is asked: {waiting}");
    });
    let all = ["a", "b", "c", "d", "e", "f", "g", "h"];
    assert_eq!(ended, format!("[\"{}\"]", all.join("\" \"")));
    let notes = std::fs::read_to_string(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    for words in all {
        let entry = format!("**Decision**: {words} ");
        assert_eq!(notes.matches(&entry).count(), 1, "{notes}");
    }
    assert_eq!(
        notes.matches("**Decision**: ").count(),
        all.len(),
        "{notes}"
    );
}

/// Waits until no process is there any more that was started in this environment, also one that is only about to
/// become another program.
#[cfg(target_os = "linux")]
fn wait_for_end_of_all(env: &TestEnv) {
    let folder = env.folder();
    let is_there = || {
        let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.any(|one| {
            let works_in = std::fs::read_link(one.path().join("cwd"));
            works_in.is_ok_and(|place| place.starts_with(&folder))
        })
    };
    let since = Instant::now();
    while is_there() {
        assert!(since.elapsed() < PATIENCE, "something goes on");
        thread::sleep(Duration::from_millis(5));
    }
}

/// CCOS-RTFS-2: an executor that may do anything is asked once, by its own log, wherever the run was killed: a
/// person looks there, and nothing is made again by itself.
#[cfg(target_os = "linux")]
#[test]
fn what_does_not_answer_by_key_is_made_once_as_a_person_says() {
    let env = two_languages();
    // The first one works until its run was killed.
    let answering = "while pathlib.Path(__file__).with_name('held').exists(): time.sleep(0.01)\n\
        time.sleep(0.05)\n\
        answer(prompt)";
    let logging = FAILING.replace("sys.exit(1)", answering);
    env.write("tools/log.py", script(&logging));
    env.write("tools/held", "");
    permit_all(&env);
    let unconfined = &["--sandbox", "off", "--idle-timeout", "10m"];
    register_with(&env, "logging", "python3 tools/log.py", unconfined);
    let all = ["a", "b", "c", "d", "e", "f"];
    let plan = "(map (fn [p] (:summary (call :agent.logging {:prompt p :fresh true}))) \
                [\"a\" \"b\" \"c\" \"d\" \"e\" \"f\"])";
    let log = env.project().join("tools/asked");
    let held = env.project().join("tools/held");
    let asked = || std::fs::read_to_string(&log).unwrap_or_default();
    let mut questions = 0;
    let until = |number, child: &mut Child| match number {
        0 => {
            let since = Instant::now();
            while asked().is_empty() {
                assert!(since.elapsed() < PATIENCE, "it never began");
                thread::sleep(Duration::from_millis(2));
            }
            child.kill().unwrap();
            std::fs::remove_file(&held).unwrap();
        }
        1..30 => lives_for(child, Duration::from_millis(60 + number * 37 % 260)),
        _ => lives_for(child, PATIENCE),
    };
    let ended = killed_and_gone_on_with(&env, plan, until, |run, waiting| {
        assert_eq!(waiting["blocked_by"], "outcome", "{waiting}");
        questions += 1;
        wait_for_end_of_all(&env);
        let key = waiting["key"].as_str().unwrap();
        let shown = env.run(["plan", "show", run, "--json"]).success().json();
        let prompt = all[usize::try_from(shown["answered"].as_u64().unwrap()).unwrap()];
        let said = format!("{key}={{:summary \"{prompt}\"}}");
        let settled: &[&str] = if asked().contains(prompt) {
            &["--set-result", &said]
        } else {
            &["--retry-call", key]
        };
        // It goes on, until it is killed again.
        let resume = ["resume", run, "--json"];
        let mut going_on = started(&env, &[&resume[..], settled].concat());
        // On a slow machine it would come to nothing else.
        let patience = if questions < 30 {
            Duration::from_millis(90)
        } else {
            PATIENCE
        };
        lives_for(&mut going_on, patience);
        drop(going_on.kill());
        drop(going_on.wait());
    });
    assert_eq!(ended, r#"["a" "b" "c" "d" "e" "f"]"#);
    assert_eq!(asked(), "abcdef");
    assert!(questions > 0, "it was never killed at work");
}
