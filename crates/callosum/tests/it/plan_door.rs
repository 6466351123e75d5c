//! Ways round the door that each effect of a plan passes, and what a person sees of a call there.

use std::thread;
use std::time::{Duration, Instant};

use callosum_testkit::{Schema, TestEnv, fakes};
use serde_json::{Value, json};

use crate::projects::{carried_out, only_run, register, register_with, two_languages};

/// What a plan that has to fail fails with.
fn refused(env: &TestEnv, plan: &str) -> String {
    let output = carried_out(env, &["-e", plan]).ended_with(1);
    let error = output.json()["error"].clone();
    assert_eq!(error["kind"], "SecurityViolation", "{error}");
    error["message"].as_str().unwrap().to_owned()
}

/// CCOS-GOV-1: what a project forbids of the board is not done by an event that would come to the same.
#[test]
fn the_board_is_not_changed_by_events() {
    let env = two_languages();
    env.run(["mesh", "task", "add", "a person's"]).success();
    let listed = || env.run(["mesh", "task", "list", "--json"]).success().json();
    let before = listed();
    let task = before["tasks"][0]["id"].as_str().unwrap();
    let publish = |topic: &str, payload: &str| {
        format!("(call :mesh.publish {{:topic \"{topic}\" :payload {payload}}})")
    };
    let handed = "{:id \"round\" :prompt \"p\" :assigned_to \"codex\" :priority 1 :needs []}";
    let told = refused(&env, &publish("calc.task_handoff", handed));
    assert!(told.contains("`:task.add`"), "{told}");
    let completed = format!("{{\"task\" \"{task}\" \"result\" \"done\" \"token\" 1}}");
    refused(&env, &publish("calc.task.completed", &completed));
    assert_eq!(listed(), before);
    let note = "(:topic (call :mesh.publish {:topic \"agent.note\" :payload {:text \"t\"}}))";
    carried_out(&env, &["-e", note]).success();
}

/// Forbids a capability in the project.
fn forbid(env: &TestEnv, capability: &str) {
    let text = format!(
        "// callosum-constitution: format 1, version 1\n\
         @id(\"no\") forbid (principal, action, resource == Capability::\"{capability}\");"
    );
    env.write(".cal_constitution.cedar", text);
}

/// CCOS-GOV-1: what a project forbids of the ledger is not answered as what is known of a matter.
#[test]
fn a_horizon_has_nothing_of_a_ledger_that_is_forbidden() {
    let env = two_languages();
    env.run(["delegate", "about pools", "--kind", "scan"])
        .success();
    let horizon = |sources: &str| {
        format!("(count (:items (call :horizon.build {{:intent \"pools\" {sources}}})))")
    };
    carried_out(&env, &["-e", &horizon("")]).success();
    forbid(&env, "ledger.query");
    for sources in [
        "",
        ":sources [:ledger]",
        ":sources [:intent]",
        ":sources [\"decision\" \"ledger\"]",
    ] {
        refused(&env, &horizon(sources));
    }
    carried_out(&env, &["-e", &horizon(":sources [:decision]")]).success();
}

/// CCOS-GOV-1, CCOS-CAP-1: who is not confined may change what its user may, so that a person is asked before.
#[test]
fn who_is_not_confined_is_handed_nothing_unasked() {
    let env = two_languages();
    let unconfined = &["--sandbox", "off"];
    register_with(&env, "free", &fakes::fake(""), unconfined);
    for call in [
        "(call :agent.free {:prompt \"p\"})",
        "(call :agent.delegate {:executor \"free\" :prompt \"q\"})",
    ] {
        let run = env.callosum().without("CALLOSUM_TEST_IDS");
        let output = run.arguments(["plan", "run", "--json", "-e", call]).run();
        let waits = output.ended_with(5).json()["blocked_by"][0].clone();
        assert_eq!(waits["blocked_by"], "approval", "{waits}");
    }
    let ledger = env.run(["ledger", "query", "--json"]).success().json();
    assert_eq!(ledger["entries"], serde_json::json!([]));
}

/// CCOS-GOV-1: a decision cites nothing that a plan may not read, and hands nothing of what it quotes to the plan.
#[test]
fn a_decision_quotes_no_more_than_a_plan_may_read() {
    let env = two_languages();
    env.write(".env", "DB_HOST=internal.example\n");
    env.write("notes.txt", "one line that stands there once\n");
    let decide = |place: &str| {
        format!(
            "(:evidence (call :session.decide {{:decision \"q\" :because \"y\" :cite [\"{place}\"]}}))"
        )
    };
    carried_out(&env, &["-e", "1"]).success();
    for place in [".env:1", ".git/config:1", "cal_audit/2026-01-02.jsonl:1"] {
        let told = refused(&env, &decide(place));
        assert!(told.contains(place.split(':').next().unwrap()), "{told}");
        assert!(!told.contains("internal"), "{told}");
    }
    let cited = carried_out(&env, &["-e", &decide("notes.txt:1")]).success();
    let place = "[\"${PROJECT_ROOT}/notes.txt:1\"]";
    assert_eq!(cited.json()["value"], place);
    let notes = std::fs::read_to_string(env.project().join("loa-grimoire/NOTES.md")).unwrap();
    assert!(notes.contains("one line that stands there once") && !notes.contains("internal"));
    forbid(&env, "fs.read");
    let told = refused(&env, &decide("notes.txt:1"));
    assert!(told.contains("project.no"), "{told}");
    let without = "(:title (call :session.decide {:decision \"q\" :assume true}))";
    carried_out(&env, &["-e", without]).success();
}

/// CCOS-GOV-1: an executor that is no capability, of which no policy can speak, is asked by nobody's leave but its own name's.
#[test]
fn an_executor_that_is_no_capability_is_not_asked() {
    let env = two_languages();
    let template = fakes::fake("");
    for name in ["delegate", "w..x", "w."] {
        let refused = env.run(["executor", "register", name, "--command", &template]);
        let refused = refused.ended_with(2).stderr;
        let why = format!("`{name}` cannot be the name of an executor");
        assert!(refused.contains(&why), "{refused}");
    }
    register(&env, "quick", &template);
    env.run(["executor", "enable", "quick"]).success();
    let named = |name: &str| {
        format!(
            "(:executor (call :agent.delegate {{:executor \"{name}\" :prompt \"p\" :fresh true}}))"
        )
    };
    let unnamed = "(:executor (call :agent.delegate {:prompt \"p\" :kind \"scan\" :fresh true}))";
    let asked = |plan: &str| carried_out(&env, &["-e", plan]).success().json()["value"].clone();
    assert_eq!(asked(&named("quick")), "\"quick\"");
    assert_eq!(asked(unnamed), "\"quick\"");
    // Entries that somebody wrote into the registry, whose command is trusted.
    let before = env.read("registry.json");
    for (key, value) in [
        ("id", json!("delegate")),
        ("id", json!("w..x")),
        ("trust_tier", json!(7)),
        ("sensitive_fields", json!("x")),
    ] {
        let mut registry: Value = serde_json::from_str(&before).unwrap();
        let executors = registry["executors"].as_array_mut().unwrap();
        let quick = executors.iter_mut().find(|one| one["id"] == "quick");
        let quick = quick.unwrap();
        quick[key] = value;
        let name = quick["id"].as_str().unwrap().to_owned();
        env.write("registry.json", registry.to_string());
        env.run(["trust", "--yes"]).success();
        let told = refused(&env, &named(&name));
        assert!(told.contains(&format!("`{name}`")), "{told}");
        assert_eq!(asked(unnamed), "\"scout\"", "{registry}");
    }
}

/// A constitution of the user's by which a person is asked for each call.
pub(crate) fn asks_for_all(env: &TestEnv) {
    let policies = "// callosum-constitution: format 1, version 1\n\
                    @id(\"ask\") @ask(\"it files a task\") permit (principal, action, resource);";
    let file = env.configuration().with_file_name("constitution.cedar");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, policies).unwrap();
    env.run(["constitution", "sign", file.to_str().unwrap()])
        .success();
}

/// CCOS-GOV-1: who approves a call is shown all that it is made with, however long that is.
#[test]
fn who_approves_a_call_sees_all_of_its_arguments() {
    let env = two_languages();
    asks_for_all(&env);
    for words in [100, 2_000] {
        let prompt = format!("{}THE-TAIL", "word ".repeat(words));
        let plan = format!("(call :task.add {{:prompt \"{prompt}\"}})");
        let asked = env
            .callosum()
            .without("CALLOSUM_TEST_IDS")
            .arguments(["plan", "run", "-e", &plan])
            .run()
            .ended_with(5);
        let open = env
            .run(["plan", "list", "--open", "--json"])
            .success()
            .json();
        let run = open["runs"][0]["run"].as_str().unwrap().to_owned();
        let cut = format!("more characters of its arguments: callosum plan show {run}");
        assert!(asked.stderr.contains(&cut), "{}", asked.stderr);
        assert!(!asked.stderr.contains("THE-TAIL"), "{}", asked.stderr);
        let shown = env.run(["plan", "show", &run]).success();
        assert!(shown.stdout.contains(&prompt), "{}", shown.stdout);
        let json = env.run(["plan", "show", &run, "--json"]).success().json();
        let arguments = json["blocked_by"][0]["arguments"].as_str().unwrap();
        assert!(arguments.contains(&prompt), "{arguments}");
        env.run(["plan", "cancel", &run]).success();
    }
}

/// CCOS-GOV-1: an approved run goes on without the process that approved it, and its calls show what they took.
#[test]
fn an_approved_run_goes_on_in_the_background() {
    let env = two_languages();
    asks_for_all(&env);
    let plan = "(:task (call :task.add {:prompt \"a\"}))";
    env.run(["plan", "run", "-e", plan]).ended_with(5);
    let run = only_run(&env);
    let approved = env.run(["plan", "approve", &run, "--detach", "--json"]);
    let approved = approved.success().json();
    assert_eq!(approved["outcome"], "detached");
    assert_eq!(Schema::published("output-plan-run").fault(&approved), None);
    let began = Instant::now();
    let shown = loop {
        let shown = env.run(["plan", "show", &run, "--json"]).success().json();
        if shown["standing"] == "completed" {
            break shown;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{shown}");
        thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(Schema::published("output-plan-show").fault(&shown), None);
    let call = &shown["tree"]["children"][0];
    let actions = call["children"].as_array().unwrap();
    let answer = actions.iter().find(|action| action["kind"] == "answer");
    assert!(answer.unwrap()["elapsed_ms"].is_u64(), "{shown}");
    assert!(call["elapsed_ms"].is_null(), "{shown}");
}

/// CCOS-GOV-1: what a run has read of notes and prompts bounds where it may send, by whatever way it read them.
#[test]
fn what_was_read_counts_by_where_it_stands() {
    let env = two_languages();
    let text = "// callosum-constitution: format 1, version 1\n\
                @id(\"no\") forbid (principal, action, resource == Capability::\"mesh.publish\") \
                when { context.sensitivity >= 2 };";
    env.write(".cal_constitution.cedar", text);
    env.write("loa-grimoire/NOTES.md", "# Notes\n");
    env.write("sub/loa-grimoire/NOTES.md", "# Notes\n");
    env.write(".beads/bd-a1b2.md", "# A bead\n");
    env.write("README.md", "# It\n");
    std::os::unix::fs::symlink("loa-grimoire/NOTES.md", env.project().join("plain.md")).unwrap();
    let told = "(call :mesh.publish {:topic \"agent.note\" :payload {:n (str n)}})";
    for read in [
        "(call :fs.read \"loa-grimoire/NOTES.md\")",
        "(call :fs.read \"plain.md\")",
        "(call :fs.read \"sub/loa-grimoire/NOTES.md\")",
        "(call :fs.read {:path \"./.beads/bd-a1b2.md\"})",
        "(call :ledger.query)",
        "(call :chain.query {:run :this})",
    ] {
        let why = refused(&env, &format!("(let [n {read}] {told})"));
        assert!(why.contains("project.no"), "{read}: {why}");
    }
    let plan = format!("(let [n (call :fs.read \"README.md\")] (:topic {told}))");
    carried_out(&env, &["-e", &plan]).success();
}

/// CCOS-RTFS-2: a copy of a project's folder is not where its runs were begun; one that was moved is moved back.
#[test]
fn a_run_is_gone_on_with_in_the_folder_that_it_was_begun_in() {
    let env = two_languages();
    asks_for_all(&env);
    let plan = "(:task (call :task.add {:prompt \"planted\"}))";
    env.run(["plan", "run", "-e", plan]).ended_with(5);
    let run = only_run(&env);
    let own = env.machine_home().join(format!("plan-runs/{run}.json"));
    let kept = std::fs::read(&own).unwrap();
    let (project, copy) = (env.project(), env.folder().join("a copy"));
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .args([&project, &copy])
        .status();
    assert!(copied.unwrap().success());
    let there = |folder: &std::path::Path, verb: &str| {
        let folder = folder.to_str().unwrap();
        let arguments = ["-C", folder, "plan", verb, &run];
        env.callosum()
            .in_folder(env.folder())
            .arguments(arguments)
            .run()
    };
    for verb in ["approve", "resume"] {
        let told = there(&copy, verb).ended_with(1).stderr;
        assert!(told.contains("and this is a copy of it"), "{told}");
        assert!(
            told.contains(&format!("-C {} plan", project.display())),
            "{told}"
        );
    }
    there(&copy, "cancel").success();
    assert_eq!(std::fs::read(&own).unwrap(), kept);
    let moved = env.folder().join("it's moved");
    std::fs::rename(&project, &moved).unwrap();
    let told = there(&moved, "approve").ended_with(1).stderr;
    let shown = moved.display().to_string().replace('\'', r"'\''");
    let back = format!("mv '{shown}' {};", project.display());
    assert!(told.contains(&back), "{told}");
    std::fs::rename(&moved, &project).unwrap();
    env.run(["plan", "approve", &run]).success();
    assert!(!own.exists());
}
