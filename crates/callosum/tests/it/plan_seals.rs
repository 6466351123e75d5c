//! Records that others add to those of a run: they count for nothing, and are told of.

use std::time::Duration;

use callosum_host::{Clock, Disk, Ids};
use callosum_ledger::{Ledger, LedgerPaths};
use callosum_plan_run::run::{
    Decided, DecisionWord, RunJournal as _, RunRecord, RunSecret, SealedJournal,
};
use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use crate::{
    plan_kills::KILLING_ONCE,
    projects::{
        appended, approved, carried_out, only_run, permit_all, prompts, register_with,
        two_languages,
    },
    scripts::script,
};

/// A run that was killed while an executor that may do anything worked on its second call; its id, and the key of the
/// call.
fn killed_at_work(env: &TestEnv) -> (String, String) {
    env.write("tools/kill.py", script(KILLING_ONCE));
    permit_all(env);
    let unconfined = &["--sandbox", "off"];
    register_with(env, "killing", "python3 tools/kill.py", unconfined);
    let plan = "(map (fn [p] (:summary (call :agent.delegate {:executor \"killing\" :prompt p}))) \
                [\"a\" \"b\" \"c\"])";
    let output = carried_out(env, &["-e", plan]);
    assert_eq!(output.code, 128 + 9, "{}", output.stderr);
    let run = only_run(env);
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    let key = shown["blocked_by"][0]["key"].as_str().unwrap().to_owned();
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
    let told = format!("6 records of the run {run} that did not come from here");
    let listed = env.run(["plan", "list"]).success();
    assert!(listed.stdout.contains("interrupted *"), "{}", listed.stdout);
    assert!(!listed.stderr.contains("warning"), "{}", listed.stderr);
    let listed = env.run(["plan", "list", "--json"]).success().json();
    assert_eq!(listed["runs"][0]["foreign_records"], 6);
    let shown = env.run(["plan", "show", &run, "--json"]).success();
    assert!(shown.stderr.contains(&told), "{}", shown.stderr);
    assert_eq!(shown.json()["answered"], 1);
    assert_eq!(shown.json()["value"], Value::Null);
    let output = env.run(["plan", "resume", &run, "--json"]).ended_with(5);
    assert!(output.stderr.contains(&told), "{}", output.stderr);
    assert_eq!(output.json()["blocked_by"][0]["key"], key);
    assert_eq!(output.json()["blocked_by"][0]["blocked_by"], "outcome");
    assert_eq!(prompts(&env), ["a"]);
    let output = env.run(["plan", "resume", &run, "--retry-call", &key, "--json"]);
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

/// CCOS-GOV-1: what others append to the records of a run that is over takes nothing away from it.
#[test]
fn a_run_that_is_over_stays_as_it_ended() {
    let env = two_languages();
    let value = carried_out(&env, &["-e", "(:lines (call :fs.read \"README.md\"))"]).success();
    assert_eq!(value.json()["value"], "3");
    let run = only_run(&env);
    for (status, details) in [
        (
            "ended",
            json!({"outcome": "failed", "failure": {"kind": "E", "message": ""}}),
        ),
        ("decided", json!({"decision": 5})),
        ("started", json!({"format": 99})),
    ] {
        let mut details = details;
        details["run"] = json!(run);
        appended(&env, status, &details);
    }
    appended(&env, "ended", &json!({"run": 5}));
    let listed = env.run(["plan", "list"]).success();
    assert!(listed.stdout.contains("completed *"), "{}", listed.stdout);
    let warnings = listed.stderr.matches("warning").count();
    assert_eq!(warnings, 1, "{}", listed.stderr);
    let of_none = "ignoring 1 record without a run";
    assert!(listed.stderr.contains(of_none), "{}", listed.stderr);
    let shown = env.run(["plan", "show", &run[..6]]).success();
    let told = format!("3 records of the run {run} that did not fit those before");
    assert!(shown.stderr.contains(&told), "{}", shown.stderr);
    assert!(shown.stdout.contains("completed"), "{}", shown.stdout);
    let output = env.run(["plan", "resume", &run]).success();
    assert_eq!(output.stdout, "3\n");
}

/// CCOS-RTFS-2: a run of which no record is there any more, as where the journal was stashed, can be given up.
#[test]
fn a_run_without_any_record_can_be_given_up() {
    let env = two_languages();
    let (run, _) = killed_at_work(&env);
    let journal = env.project().join("cal_audit/2026-01-02.jsonl");
    let before = std::fs::read_to_string(&journal).unwrap();
    let others = before.lines().take_while(|line| !line.contains(&run));
    let others: Vec<&str> = others.collect();
    std::fs::write(&journal, format!("{}\n", others.join("\n"))).unwrap();
    let refused = env.run(["plan", "resume", &run]).ended_with(3);
    let hint = format!("callosum plan cancel {run}");
    assert!(refused.stderr.contains(&hint), "{}", refused.stderr);
    let told = env.run(["plan", "cancel", &run]).success().stderr;
    assert!(told.contains("gave up the run"), "{told}");
    assert!(!own_file(&env, &run).exists());
    env.run(["plan", "cancel", &run]).ended_with(1);
}

/// CCOS-RTFS-2: where the last records of a run were cut off, as in a project that was brought back from an older copy, what
/// they stood for is not made again.
#[test]
fn a_run_whose_last_records_are_gone_makes_nothing_twice() {
    let env = two_languages();
    let (run, key) = killed_at_work(&env);
    let journal = env.project().join("cal_audit/2026-01-02.jsonl");
    let before = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = before.lines().collect();
    let is_of_call = |line: &&str| line.contains(&key) && line.contains("\"intended\"");
    let at = lines.iter().position(is_of_call).unwrap();
    let cut = format!("{}\n", lines[..at].join("\n"));
    std::fs::write(&journal, &cut).unwrap();
    let why =
        "the last records of the run are missing or were changed: 6 were written here, but 4 exist";
    let listed = env.run(["plan", "list"]).success();
    assert!(listed.stderr.contains(why), "{}", listed.stderr);
    for refused in [
        env.run(["plan", "show", &run[..8]]).ended_with(3),
        env.run(["plan", "resume", &run]).ended_with(3),
        env.run(["plan", "approve", &run]).ended_with(3),
    ] {
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
        let hint = format!("callosum plan cancel {run}");
        assert!(refused.stderr.contains(&hint), "{}", refused.stderr);
    }
    // Whoever brings it back, as by `git stash pop`, meets nothing that was written meanwhile.
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), cut);
    assert_eq!(prompts(&env), ["a"]);
    // Brought back, it is what it was.
    std::fs::write(&journal, &before).unwrap();
    let shown = env.run(["plan", "show", &run]).success();
    assert!(shown.stdout.contains("interrupted"), "{}", shown.stdout);
    std::fs::write(&journal, &cut).unwrap();
    env.run(["plan", "cancel", &run]).success();
    let listed = env.run(["plan", "list"]).success();
    assert!(listed.stdout.contains("cancelled"), "{}", listed.stdout);
    assert!(!listed.stderr.contains("warning"), "{}", listed.stderr);
    assert!(!own_file(&env, &run).exists());
}

/// CCOS-RTFS-2: the same where all that is gone is that an executor was started, which no run's record tells.
#[test]
fn an_executor_whose_start_is_off_the_record_is_not_asked_again() {
    let env = two_languages();
    let (run, key) = killed_at_work(&env);
    let journal = env.project().join("cal_audit/2026-01-02.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let is_ruled = |line: &&str| line.contains(&key) && line.contains("\"ruled\"");
    let at = lines.iter().position(is_ruled).unwrap();
    assert!(
        lines[at + 1..]
            .iter()
            .any(|line| line.contains("\"spawn\""))
    );
    std::fs::write(&journal, format!("{}\n", lines[..=at].join("\n"))).unwrap();
    let output = env.run(["plan", "resume", &run, "--json"]).ended_with(5);
    assert_eq!(output.json()["blocked_by"][0]["blocked_by"], "outcome");
    env.run(["plan", "cancel", &run]).success();
    let left = std::fs::read_dir(own_file(&env, &run).parent().unwrap()).unwrap();
    assert_eq!(left.count(), 0);
}

/// CCOS-RTFS-2: a run whose own records do not add up, as a version left it that took two words for one call, is not gone on
/// with, and can be cancelled.
#[test]
fn a_run_whose_own_records_do_not_add_up_can_be_cancelled() {
    let env = two_languages();
    let (run, key) = killed_at_work(&env);
    let own: Value = serde_json::from_slice(&std::fs::read(own_file(&env, &run)).unwrap()).unwrap();
    let secret: RunSecret = serde_json::from_value(own["secret"].clone()).unwrap();
    let paths = LedgerPaths::in_root(env.project());
    let clock = Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO);
    let ledger = Ledger::open(Disk::real(), paths, clock, Ids::random()).unwrap();
    let journal = SealedJournal::new(ledger, secret, 6, None);
    let decided = RunRecord::Decided(Decided {
        key: serde_json::from_value(json!(key)).unwrap(),
        decision: DecisionWord::NotDone,
        value: None,
    });
    let twice = [decided.clone(), decided];
    journal.tell(&run.parse().unwrap(), &twice).unwrap();
    let refused = env.run(["plan", "resume", &run]).ended_with(3);
    let hint = format!("or end the run: callosum plan cancel {run}");
    assert!(refused.stderr.contains(&hint), "{}", refused.stderr);
    env.run(["plan", "cancel", &run]).success();
    let listed = env.run(["plan", "list"]).success();
    assert!(listed.stdout.contains("cancelled"), "{}", listed.stdout);
    assert!(!own_file(&env, &run).exists());
}

/// A run of which a newer version keeps something is neither gone on with nor ended by this one.
#[test]
fn what_a_newer_version_keeps_of_a_run_is_left_to_it() {
    let env = two_languages();
    let (run, _) = killed_at_work(&env);
    let file = own_file(&env, &run);
    let newer = json!({"format": 9, "something": "else"}).to_string();
    std::fs::write(&file, &newer).unwrap();
    for refused in [
        env.run(["plan", "resume", &run]).ended_with(3),
        env.run(["plan", "cancel", &run]).ended_with(3),
    ] {
        let why = "was written by a newer version (format 9; this version reads 4)";
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), newer);
}

/// CCOS-RTFS-2: what processes left that were killed before a run was on record goes with the next run.
#[test]
fn what_was_left_of_runs_that_never_were_is_cleared() {
    let env = two_languages();
    let (run, _) = killed_at_work(&env);
    let kept = std::fs::read_to_string(own_file(&env, &run)).unwrap();
    let id = |number: u8| format!("00000000-0000-4000-8000-0000000000{number}");
    let elsewhere = kept.replace("\"folder\": \"", "\"folder\": \"/elsewhere");
    for (number, text) in [(11, &kept), (12, &elsewhere)] {
        std::fs::write(own_file(&env, &id(number)), text).unwrap();
    }
    let half = own_file(&env, ".x.json.1-0.tmp").with_extension("");
    std::fs::write(&half, "{").unwrap();
    let secret = format!("x=\"ghp_{}\"", "a1B2".repeat(9));
    let plan = "(defplan p (x) x)";
    carried_out(&env, &["-e", plan, "--param", &secret]).ended_with(2);
    let names = std::fs::read_dir(own_file(&env, &run).parent().unwrap()).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            let ending = std::path::Path::new(name).extension();
            ending.is_none_or(|ending| ending != "start")
        })
        .collect();
    names.sort();
    let mut expected = [
        format!("{}.json", id(12)),
        format!("{run}.json"),
        format!("{run}.tally"),
    ];
    expected.sort();
    assert_eq!(names, expected);
    env.run(["plan", "resume", &run]).ended_with(5);
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
    let why = "are missing or were changed";
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
    fields.remove("tree").unwrap();
    fields.insert("format".to_owned(), json!(1));
    std::fs::write(&file, own.to_string()).unwrap();
    env.run(["plan", "resume", &run]).ended_with(5);
    let own: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(own["format"], 4);
    assert!(own["unsealed_to"].as_u64().unwrap() > 0);
    let details = json!({"run": run, "key": key, "decision": "not_done"});
    appended(&env, "decided", &details);
    let output = env.run(["plan", "resume", &run]).ended_with(5);
    let told = format!("1 record of the run {run} that did not come from here");
    assert!(output.stderr.contains(&told), "{}", output.stderr);
    let output = env.run(["plan", "resume", &run, "--retry-call", &key, "--json"]);
    approved(&env, output).success();
    assert_eq!(prompts(&env), ["a", "b", "c"]);
}
