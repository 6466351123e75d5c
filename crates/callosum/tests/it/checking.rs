//! Answers are checked: citations as a gate, whole answers, digests, answers that are used again.

use std::thread;

use callosum_testkit::fakes;
use serde_json::json;

use crate::projects::{two_languages, with_executor};

/// Three citations, of which the first holds, the second moved and the third is invented.
const CITING: &str = "`pub fn total(text: &str) -> i64` [src/sum.rs:4], `pub fn total` [src/sum.rs:1], \
                      `pub fn sub` [src/x.rs:900]";

/// LOA-GRD-1: what does not hold is named where a person looks, and kept.
#[test]
fn citations_that_do_not_hold_are_named() {
    let env = with_executor(&fakes::fake(""));
    let output = env.run(["delegate", CITING]).success();
    assert!(
        output
            .stderr
            .contains("1 of 3 citations valid; 1 moved; 1 invented"),
        "{}",
        output.stderr
    );
    let told = "src/x.rs:900 (there is no such file)";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    let shown = env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();
    assert!(
        shown.stdout.contains("src/sum.rs:1 moved to line 4"),
        "{}",
        shown.stdout
    );
}

/// LOA-GRD-1: an answer that names no place is not shown as one that was checked.
#[test]
fn an_answer_without_a_citation_is_told_as_unchecked() {
    let env = with_executor(&fakes::fake(""));
    let told = env.run(["delegate", "map"]).success().stderr;
    assert!(told.contains(" returned, no citations\n"), "{told}");
    assert!(told.contains("warning: the answer cites no code"), "{told}");
    let cited = env.run(["delegate", CITING]).success().stderr;
    assert!(!cited.contains("cites no code"), "{cited}");
}

/// LOA-GRD-1: an answer below the share is sent back once with what fails, then it has failed.
#[test]
fn a_demanded_share_refuses_an_answer_after_one_more_chance() {
    let env = with_executor(&fakes::fake(""));
    let refused = env
        .run(["delegate", CITING, "--require-citations", "0.95", "--json"])
        .ended_with(1)
        .json();
    assert_eq!(refused["error"]["code"], "E003");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("the required share is 0.95"), "{message}");
    let details = refused["error"]["details"].as_str().unwrap();
    assert!(
        details.contains("the full answer is stored as"),
        "{details}"
    );
    let citations = &refused["citations"];
    assert!(
        citations["total"].as_u64() > citations["verified"].as_u64(),
        "{refused}"
    );
    assert!(
        !citations["failing"].as_array().unwrap().is_empty(),
        "{refused}"
    );
    let records = env
        .run(["audit", "query", "--event", "rejected", "--json"])
        .success()
        .json();
    let records = records["records"].as_array().unwrap();
    // What was paid is told for each answer, and in all.
    let paid = records
        .iter()
        .map(|one| one["details"]["tokens_used"].as_u64().unwrap());
    let paid: Vec<u64> = paid.collect();
    assert_eq!(paid.len(), 2, "{records:?}");
    assert!(paid[0] > 0, "{paid:?}");
    assert_eq!(refused["tokens_used"], paid.iter().sum::<u64>());
    env.run(["delegate", CITING, "--require-citations", "0.2"])
        .success();
    env.write(
        "tasks.json",
        json!({"tasks": [{"id": "a", "prompt": CITING, "require_citations": 1}]}).to_string(),
    );
    env.run(["delegate", "--tasks", "tasks.json"]).ended_with(1);
}

/// CAL-SCH-3: an executor that said too little is asked once to say more.
#[test]
fn a_summary_that_is_too_short_is_sent_back_once() {
    let env = with_executor(&fakes::fake(""));
    env.run(["config", "set", "strict_summary", "true"])
        .success();
    // This executor answers with what it was asked, which the complaint makes longer.
    let almost = "what is there ".repeat(142);
    let output = env.run(["delegate", &almost, "--json"]).success().json();
    let summary = output["summary"].as_str().unwrap();
    assert!(summary.contains("2048 to 10240 are required"), "{summary}");
    let rejected = ["audit", "query", "--event", "rejected", "--json"];
    let records = env.run(rejected).success().json();
    assert_eq!(records["records"].as_array().unwrap().len(), 1, "{records}");
    env.run(["delegate", "what is there"]).ended_with(1);
    let records = env.run(rejected).success().json();
    assert_eq!(records["records"].as_array().unwrap().len(), 3, "{records}");
}

/// CAL-SCH-3: a short answer about much is sent back once, and what comes then is kept; one that cites and holds,
/// or is about little, is taken at once.
#[test]
fn a_short_answer_is_sent_back_where_there_was_more_to_say() {
    let env = with_executor(&fakes::fake(""));
    let rejected = || {
        let query = ["audit", "query", "--event", "rejected", "--json"];
        let records = env.run(query).success().json();
        records["records"].as_array().unwrap().len()
    };
    env.run(["delegate", "what is there"]).success();
    assert_eq!(rejected(), 0);
    env.write("large/much.rs", "fn much() {}\n".repeat(2_000));
    let scan = ["delegate", "what is here", "--kind", "scan", "--json"];
    let output = env.run(scan).success();
    let told = "2048 are required; asking once more";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    let output = output.json();
    // This executor answers with what it was asked.
    let summary = output["summary"].as_str().unwrap();
    assert!(summary.contains("sent back"), "{summary}");
    assert!(summary.contains("2048 to 10240 are required"), "{summary}");
    assert_eq!(rejected(), 1);
    let id = output["task_id"].as_str().unwrap();
    let entry = env.run(["ledger", "show", id, "--json"]).success().json();
    assert_eq!(entry["metadata"]["short_summary"], true);
    env.run(["delegate", "what is there", "--path", "src", "--no-cache"])
        .success();
    assert_eq!(rejected(), 1);
    let citing = "It begins with `fn much() {}` [large/much.rs:1].";
    env.run(["delegate", citing]).success();
    assert_eq!(rejected(), 1);
    env.run(["ledger", "verify"]).success();
}

/// CAL-SCH-3: to a question of no kind a short answer that cites is right; one that cites nothing is sent back for
/// that and not for its length, and what is recorded is a question.
#[test]
fn a_plain_question_may_be_answered_shortly() {
    let env = with_executor(&fakes::fake(""));
    env.write("large/much.rs", "fn much() {}\n".repeat(2_000));
    let citing = "It begins with `fn much() {}` [large/much.rs:1].";
    let output = env.run(["delegate", citing, "--json"]).success();
    assert!(
        !output.stderr.contains("asking once more"),
        "{}",
        output.stderr
    );
    let output = output.json();
    assert_eq!(output["kind"], "question");
    let id = output["task_id"].as_str().unwrap();
    let entry = env.run(["ledger", "show", id, "--json"]).success().json();
    assert_eq!(entry["metadata"]["kind"], "question");
    // This executor answers with what it was asked.
    let output = env
        .run(["delegate", "where is it", "--ask-for-citations", "--json"])
        .success()
        .json();
    let summary = output["summary"].as_str().unwrap();
    assert!(
        summary.contains("sent back: not every statement is shown"),
        "{summary}"
    );
    assert!(!summary.contains("2048"), "{summary}");
    let invented = "It begins with `fn nope() {}` [large/none.rs:9].";
    let asked = ["delegate", invented, "--ask-for-citations", "--json"];
    let output = env.run(asked).success().json();
    let summary = output["summary"].as_str().unwrap();
    let told = "\n- large/none.rs:9 (there is no such file)";
    assert!(summary.contains(told), "{summary}");
    let scan = env.run(["delegate", "where", "--executor", "scout", "--json"]);
    assert_eq!(scan.success().json()["kind"], "scan");
}

/// CAL-SCH-3: an answer that might have been committed is not lost where asking once more brings nothing.
#[test]
fn a_short_answer_outlives_the_second_call() {
    let env = with_executor(&fakes::fake(""));
    env.write("large/much.rs", "fn much() {}\n".repeat(2_000));
    let once = ["delegate", "what is here", "--max-spawns", "1", "--json"];
    let once = once.into_iter().chain(["--ask-for-citations"]);
    let output = env.run(once).success().json();
    let summary = output["summary"].as_str().unwrap();
    assert!(!summary.contains("sent back"), "{summary}");
}

/// CAL-SCH-3: the long answer that an executor was asked to shorten is not lost.
#[test]
fn an_answer_that_was_shortened_can_be_shown_whole() {
    let env = with_executor(&fakes::fake("--long"));
    let id = "cal_2026_01_02_0001";
    let output = env.run(["delegate", "tell all"]).success();
    assert!(output.stderr.contains("--answer"), "{}", output.stderr);
    let whole = env.run(["ledger", "show", id, "--answer"]).success();
    assert!(whole.stdout.len() > 20_000, "{}", whole.stdout.len());
    assert!(!whole.stdout.contains("\"status\""), "{}", whole.stdout);
    let entry = env.run(["ledger", "show", id, "--json"]).success().json();
    let hash = entry["metadata"]["answer"]["sha256"].as_str().unwrap();
    assert!(whole.stderr.contains(hash), "{}", whole.stderr);
}

/// CAL-SCH-3: so is one that was refused.
#[test]
fn an_answer_that_was_refused_can_be_shown_whole() {
    let env = with_executor(&fakes::fake("--always-long"));
    env.callosum()
        .arguments(["delegate", "tell all"])
        .env("CAL_RETRY_MAX", "0")
        .run()
        .ended_with(1);
    let id = "cal_2026_01_02_0001";
    let whole = env.run(["ledger", "show", id, "--answer"]).success();
    assert!(whole.stdout.len() > 20_000, "{}", whole.stdout.len());
}

/// CAL-PERF-1: what is handed back is bounded and says what it lacks; the ledger has all.
#[test]
fn a_budget_bounds_what_is_handed_back_and_not_what_is_kept() {
    let env = two_languages();
    let whole = env.run(["delegate", "map", "--json"]).success().json();
    let cut = env
        .run(["delegate", "map", "--budget", "100", "--no-cache", "--json"])
        .success()
        .json();
    assert!(cut["tokens_returned"].as_u64().unwrap() <= 100, "{cut}");
    assert!(cut["left_out"]["statements"].as_u64().unwrap() > 0, "{cut}");
    let id = cut["task_id"].as_str().unwrap();
    let entry = env.run(["ledger", "show", id, "--json"]).success().json();
    assert_eq!(entry["summary"], whole["summary"]);
    assert_eq!(whole["left_out"], json!(null));
}

/// REQ-GOV-004: the same request over an unchanged tree is answered from the ledger, and says so.
#[test]
fn the_same_request_over_the_same_tree_is_answered_from_the_ledger() {
    let env = two_languages();
    let ask = |more: &[&str]| {
        let words = ["delegate", "map", "--json"].iter().chain(more);
        env.run(words).success().json()
    };
    let first = ask(&[]);
    assert_eq!(first["cached_from"], json!(null));
    let again = ask(&[]);
    assert_eq!(again["cached_from"]["task_id"], first["task_id"]);
    assert_eq!(again["cached_from"]["age_seconds"], 0);
    assert_eq!(again["summary"], first["summary"]);
    let told = env.run(["delegate", "map"]).success();
    assert!(told.stderr.contains("answered 0 s ago"), "{}", told.stderr);
    assert_eq!(ask(&["--no-cache"])["cached_from"], json!(null));
    assert_eq!(ask(&["--kind", "deps"])["cached_from"], json!(null));
    env.write("src/new.rs", "pub fn new() {}\n");
    assert_eq!(ask(&[])["cached_from"], json!(null));
    let off = env
        .callosum()
        .arguments(["delegate", "map", "--json"])
        .env("CAL_REUSE_ANSWERS", "false")
        .run()
        .success()
        .json();
    assert_eq!(off["cached_from"], json!(null));
    let decisions = env.run(["audit", "query", "--event", "decision"]).success();
    assert!(decisions.stdout.contains("reused"), "{}", decisions.stdout);
    env.run(["replay"]).success();
    env.run(["ledger", "verify"]).success();
}

/// REQ-GOV-004: of runs that ask the same at the same moment one asks, and the others have its answer.
#[test]
fn what_another_run_asks_at_this_moment_is_waited_for() {
    let env = with_executor(&fakes::fake("--slow 400"));
    let ask = |more: &[&str]| {
        let words = ["delegate", "map", "--json"].iter().chain(more);
        env.run(words).success().json()
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(&[]))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let (first, others): (Vec<_>, Vec<_>) = answers
        .iter()
        .partition(|answer| answer["cached_from"].is_null());
    assert_eq!(first.len(), 1, "{answers:?}");
    for other in others {
        assert_eq!(other["cached_from"]["task_id"], first[0]["task_id"]);
        assert_eq!(other["summary"], first[0]["summary"]);
    }
    env.write(
        "tasks.json",
        json!({"tasks": [{"id": "a", "prompt": "twice"}, {"id": "b", "prompt": "twice"}]})
            .to_string(),
    );
    env.run(["delegate", "--tasks", "tasks.json"]).success();
    let spawned = env.run(["audit", "query", "--event", "spawn", "--json"]);
    let spawned = spawned.success().json();
    assert_eq!(spawned["records"].as_array().unwrap().len(), 2, "{spawned}");
    assert_eq!(ask(&["--no-cache"])["cached_from"], json!(null));
}

/// A failed task answers nobody.
#[test]
fn a_failed_answer_is_never_used_again() {
    let env = with_executor(&fakes::fake("--garbage"));
    for _ in 0..2 {
        let failed = env
            .callosum()
            .arguments(["delegate", "map", "--json"])
            .env("CAL_RETRY_MAX", "0")
            .run()
            .ended_with(1)
            .json();
        assert_eq!(failed["error"]["code"], "E003");
        assert_eq!(failed["cached_from"], json!(null));
    }
}

/// At a bound the remaining tasks are not started, and each says which bound it was.
#[test]
fn a_bound_of_the_tree_keeps_the_rest_from_being_started() {
    let env = two_languages();
    let tasks: Vec<_> = (0..4)
        .map(|number| json!({"id": format!("t{number}"), "prompt": format!("map {number}")}))
        .collect();
    env.write("tasks.json", json!({"tasks": tasks}).to_string());
    let output = env
        .run([
            "delegate",
            "--tasks",
            "tasks.json",
            "--max-spawns",
            "2",
            "--json",
        ])
        .ended_with(1)
        .json();
    let tasks = output["tasks"].as_array().unwrap();
    let skipped: Vec<_> = tasks
        .iter()
        .filter(|task| task["status"] == "skipped")
        .collect();
    assert_eq!(skipped.len(), 2, "{output}");
    let message = skipped[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("max_spawns of 2"), "{message}");
    assert!(message.contains("executor starts"), "{message}");
    let told = env.run([
        "delegate",
        "--tasks",
        "tasks.json",
        "--max-spawns",
        "1",
        "--no-cache",
    ]);
    let told = told.ended_with(1).stderr;
    assert!(
        told.contains("hint: repeat the command with --max-spawns 2"),
        "{told}"
    );
    let decisions = env.run(["audit", "query", "--event", "decision"]).success();
    assert!(decisions.stdout.contains("over_budget"));
}

/// An executor that delegates again is counted, and held at the depth that is allowed.
#[test]
fn a_delegation_of_an_executor_is_one_deeper() {
    let env = two_languages();
    let deeper = |token: &str| {
        let run = env.callosum().arguments(["delegate", "map", "--no-cache"]);
        run.env("CAL_BUDGET", token).run()
    };
    deeper("2").success();
    let refused = deeper("3").ended_with(1);
    assert!(refused.stderr.contains("max_depth") || refused.stderr.contains("deep"));
    deeper("1.0000").ended_with(3);
    deeper("nonsense").ended_with(3);
    let env = with_executor(&fakes::fake("--env"));
    let heard = env.run(["delegate", "env"]).success();
    assert!(heard.stdout.contains("CAL_BUDGET=1"), "{}", heard.stdout);
}

/// CAL-ERR-6: what our own memory does not allow is not started, and says so.
#[test]
fn a_program_above_its_memory_limit_starts_nothing() {
    let env = two_languages();
    let refused = env
        .callosum()
        .arguments(["delegate", "map", "--json"])
        .env("CAL_MEMORY_LIMIT_MB", "1")
        .run()
        .ended_with(1)
        .json();
    assert_eq!(refused["error"]["code"], "E006");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("memory_limit_mb"), "{message}");
}

/// An executor that fails again and again is left alone, and the next one is asked.
#[test]
fn an_executor_that_fails_again_and_again_is_left_alone() {
    let env = with_executor(&fakes::fake("--garbage"));
    let ask = |more: &[&str]| {
        let words = ["delegate", "map", "--json"].iter().chain(more);
        env.callosum()
            .arguments(words)
            .env("CAL_RETRY_MAX", "0")
            .env("CAL_CIRCUIT_FAILURES", "2")
            .run()
    };
    for _ in 0..2 {
        let failed = ask(&["--executor", "fake"]).ended_with(1).json();
        assert_eq!(failed["error"]["code"], "E003");
    }
    let refused = ask(&["--executor", "fake"]).ended_with(1).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("is paused for"), "{message}");
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("callosum executor check fake"), "{hint}");
    assert_eq!(refused["task_id"], json!(null));
    let status = env.run(["status"]).success();
    assert!(status.stdout.contains("paused"), "{}", status.stdout);
    // However often it is refused, what it failed for stays to be seen.
    for _ in 0..5 {
        ask(&["--executor", "fake"]).ended_with(1);
    }
    let status = env.run(["status", "--json"]).success().json();
    let codes = status["last_failures"].as_array().unwrap().iter();
    let codes: Vec<_> = codes.map(|failure| &failure["code"]).collect();
    assert_eq!(codes, [&json!(null), &json!("E003"), &json!("E003")]);
    let attention = status["attention"].to_string();
    assert!(
        attention.contains("failed repeatedly (last E003: "),
        "{attention}"
    );
    crate::projects::register(&env, "second", &fakes::fake(""));
    env.run(["executor", "enable", "second"]).success();
    let other = ask(&[]).success().json();
    assert_eq!(other["executor"], "second");
    let doctor = env.run(["doctor", "-v"]).success();
    assert!(doctor.stdout.contains("paused for"), "{}", doctor.stdout);
    env.run(["executor", "check", "fake"]).success();
    let status = env.run(["status", "--json"]).success().json();
    assert_eq!(status["attention"], json!([]), "{status}");
    // What was refused meanwhile is on the record.
    let failures = status["last_failures"].to_string();
    assert!(failures.contains("is paused for"), "{failures}");
}
