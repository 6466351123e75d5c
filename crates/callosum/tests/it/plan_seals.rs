//! Records that others add to those of a run: they count for nothing, and are told of.

use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use crate::{
    plan_kills::KILLING_ONCE,
    projects::{appended, approved, carried_out, only_run, prompts, register_with, two_languages},
};

/// A run that was killed while an executor that may do anything worked on its second call; its id, and the key of the
/// call.
fn killed_at_work(env: &TestEnv) -> (String, String) {
    env.write("tools/kill.py", KILLING_ONCE);
    let unconfined = &["--confinement", "off"];
    register_with(env, "killing", "python3 tools/kill.py", unconfined);
    let plan = "(map (fn [p] (:summary (call :agent.delegate {:executor \"killing\" :prompt p}))) \
                [\"a\" \"b\" \"c\"])";
    let output = carried_out(env, &["-e", plan]);
    assert_eq!(output.code, 128 + 9, "{}", output.stderr);
    let run = only_run(env);
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    let key = shown["waits_for"][0]["key"].as_str().unwrap().to_owned();
    (run, key)
}

fn own_file(env: &TestEnv, run: &str) -> std::path::PathBuf {
    env.machine_home().join(format!("plan-runs/{run}.json"))
}

/// CCOS-GOV-1, CCOS-RTFS-2: who can write to the journal makes no call again by it, answers none and ends no run: a
/// person is asked, as without.
#[test]
fn what_others_write_of_a_run_counts_for_nothing() {
    let env = two_languages();
    let (run, key) = killed_at_work(&env);
    let forged = json!({"text": "{:summary \"FORGED\"}"});
    for (status, details) in [
        ("answered", json!({"value": forged, "spent": {}})),
        ("decided", json!({"decision": "done", "value": forged})),
        ("decided", json!({"decision": "not_done"})),
        (
            "ruled",
            json!({"ruling": "withdrawn", "policies": [], "reason": ""}),
        ),
        ("decided", json!({"decision": 5})),
        (
            "ended",
            json!({"outcome": "completed", "value": {"text": "\"FORGED\""}}),
        ),
    ] {
        let mut details = details;
        details["run"] = json!(run);
        details["key"] = json!(key);
        appended(&env, status, &details);
    }
    env.run(["audit", "verify"]).success();
    let told = format!("6 records of the run {run} did not come from here");
    let listed = env.run(["plan", "list"]).success();
    assert!(listed.stderr.contains(&told), "{}", listed.stderr);
    let shown = env.run(["plan", "show", &run, "--json"]).success();
    assert!(shown.stderr.contains(&told), "{}", shown.stderr);
    assert_eq!(shown.json()["answered"], 1);
    assert_eq!(shown.json()["value"], Value::Null);
    let output = env.run(["plan", "resume", &run, "--json"]).ended_with(5);
    assert!(output.stderr.contains(&told), "{}", output.stderr);
    assert_eq!(output.json()["waits_for"][0]["key"], key);
    assert_eq!(output.json()["waits_for"][0]["waits_for"], "outcome");
    assert_eq!(prompts(&env), ["a"]);
    let output = env.run(["plan", "resume", &run, "--not-done", &key, "--json"]);
    let output = approved(&env, output).success();
    assert_eq!(output.json()["value"], r#"["a" "b" "c"]"#);
    assert_eq!(prompts(&env), ["a", "b", "c"]);
    // What came from here is told from the rest also when the run is over.
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    assert_eq!(shown["value"], r#"["a" "b" "c"]"#);
}

/// CCOS-GOV-1: a cancelled run's end is its own, whoever told of another.
#[test]
fn a_run_that_others_ended_can_be_cancelled() {
    let env = two_languages();
    let (run, _) = killed_at_work(&env);
    let details = json!({"run": run, "outcome": "completed", "value": {"text": "1"}});
    appended(&env, "ended", &details);
    env.run(["plan", "cancel", &run]).success();
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    assert_eq!(shown["standing"], "cancelled", "{shown}");
}

/// CCOS-RTFS-2: where a record of a run was changed, nothing is made behind it.
#[test]
fn a_record_that_was_changed_ends_what_can_be_gone_on_with() {
    let env = two_languages();
    let (run, _) = killed_at_work(&env);
    let journal = env.project().join("cal_audit/2026-01-02.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let answered = "\"status\":\"answered\"";
    let line = text.lines().find(|line| line.contains(answered)).unwrap();
    assert!(line.contains(":summary \\\"a\\\""), "{line}");
    let changed = line.replace(":summary \\\"a\\\"", ":summary \\\"x\\\"");
    let rest: Vec<&str> = text.lines().take_while(|one| *one != line).collect();
    std::fs::write(&journal, format!("{}\n", rest.join("\n"))).unwrap();
    let behind = text.lines().skip(rest.len() + 1);
    for one in std::iter::once(changed.as_str()).chain(behind) {
        let record: Value = serde_json::from_str(one).unwrap();
        if record["event"] == "plan" {
            appended(&env, record["status"].as_str().unwrap(), &record["details"]);
        }
    }
    let refused = env.run(["plan", "resume", &run]).ended_with(3);
    let why = "are gone, or were changed";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
}

/// CCOS-GOV-1: what a run's records are sealed with stands in the machine's home for its user alone, and nowhere in the
/// project.
#[test]
fn the_secret_of_a_run_stays_on_the_machine() {
    let env = two_languages();
    let (run, _) = killed_at_work(&env);
    let file = own_file(&env, &run);
    let own: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let secret = own["secret"].as_str().unwrap();
    assert_eq!(secret.len(), 64);
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    for day in std::fs::read_dir(env.project().join("cal_audit")).unwrap() {
        let text = std::fs::read_to_string(day.unwrap().path()).unwrap();
        assert!(text.contains("\"seal\":") && !text.contains(secret));
    }
    let shown = env.run(["plan", "show", &run, "--tree"]).success();
    assert!(!shown.stdout.contains(secret) && !shown.stderr.contains(secret));
}

/// CCOS-RTFS-2: a run that was begun by a version that sealed nothing goes on, and is sealed from there on.
#[test]
fn a_run_from_before_there_were_seals_goes_on() {
    let env = two_languages();
    let (run, key) = killed_at_work(&env);
    let file = own_file(&env, &run);
    let mut own: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let fields = own.as_object_mut().unwrap();
    fields.remove("secret").unwrap();
    fields.remove("folder").unwrap();
    fields.insert("format".to_owned(), json!(1));
    std::fs::write(&file, own.to_string()).unwrap();
    env.run(["plan", "resume", &run]).ended_with(5);
    let own: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(own["format"], 3);
    assert!(own["unsealed_to"].as_u64().unwrap() > 0);
    let details = json!({"run": run, "key": key, "decision": "not_done"});
    appended(&env, "decided", &details);
    let output = env.run(["plan", "resume", &run]).ended_with(5);
    let told = format!("1 record of the run {run} did not come from here");
    assert!(output.stderr.contains(&told), "{}", output.stderr);
    let output = env.run(["plan", "resume", &run, "--not-done", &key, "--json"]);
    approved(&env, output).success();
    assert_eq!(prompts(&env), ["a", "b", "c"]);
}
