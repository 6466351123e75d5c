//! Small projects to work on.

use std::{
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use callosum_executor::{
    runner::LastTranscript,
    runner::{ExecutionEnvironment, Timeouts},
};
use callosum_host::{Clock, Disk, process::Cancel};
use callosum_json::Checksum;
use callosum_sandbox::Connections;
use callosum_testkit::{Output, TestEnv, fakes};
use serde_json::Value;

pub(crate) use crate::two_languages::two_languages;

/// [`two_languages`] with a registered and preferred executor that is started by `template`.
pub(crate) fn with_executor(template: &str) -> TestEnv {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    register(&env, "fake", template);
    env.run(["executor", "enable", "fake"]).success();
    env
}

/// Registers an executor whose handshake succeeds.
pub(crate) fn register(env: &TestEnv, name: &str, template: &str) {
    register_with(env, name, template, &[]);
}

/// The same, with more options of the registration.
pub(crate) fn register_with(env: &TestEnv, name: &str, template: &str, options: &[&str]) {
    env.callosum()
        .arguments(["executor", "register", name, "--command", template])
        .arguments(options)
        .run()
        .success();
}

/// What an executor is run in without the program around it: neither confined nor bounded.
pub(crate) fn surroundings(env: &TestEnv) -> ExecutionEnvironment {
    ExecutionEnvironment {
        root: env.project(),
        self_program: fakes::program("callosum"),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        temporary: env.folder().join("temporary"),
        confiner: None,
        connections: Connections::default(),
        transcript: LastTranscript::default(),
        cancel: Cancel::new().unwrap(),
        patience: Timeouts::default(),
        slowest_handshake: Duration::from_mins(1),
        client_wait: callosum_executor::output_format::LONGEST_CLIENT_WAIT,
        waits: 3,
        disk: Disk::real(),
        clock: Clock::system(),
    }
}

/// A project with three entries.
pub(crate) fn three_entries() -> TestEnv {
    let env = two_languages();
    for kind in ["scan", "deps", "api"] {
        env.run(["delegate", &format!("about {kind}"), "--kind", kind])
            .success();
    }
    env
}

/// A plan, run; what the kernel asks a person about is approved.
pub(crate) fn carried_out(env: &TestEnv, arguments: &[&str]) -> Output {
    let start = env
        .callosum()
        .without("CALLOSUM_TEST_IDS")
        .arguments(["plan", "run", "--json"])
        .arguments(arguments)
        .run();
    approved(env, start)
}

/// A process that carries a plan out, or on: `plan` with these arguments.
pub(crate) fn started(env: &TestEnv, arguments: &[&str]) -> Child {
    env.callosum()
        .without("CALLOSUM_TEST_IDS")
        .arguments(["plan"])
        .arguments(arguments)
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A process that carries on a run of a plan, and the run's id, once the run is on record.
pub(crate) fn begun(env: &TestEnv, plan: &str) -> (Child, String) {
    let child = started(env, &["run", "--json", "-e", plan]);
    let since = Instant::now();
    let run = loop {
        assert!(since.elapsed() < Duration::from_mins(5), "it never began");
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

/// Waits until a start of this executor is on record.
pub(crate) fn wait_for_start(env: &TestEnv, executor: &str) {
    let spawned = ["audit", "query", "--event", "spawn", "--json"];
    let named = format!("\"{executor}\"");
    let since = Instant::now();
    while !env.run(spawned).stdout.contains(&named) {
        assert!(since.elapsed() < Duration::from_mins(5), "it never began");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Has plans do whatever their capabilities can, and asks nobody.
pub(crate) fn permit_all(env: &TestEnv) {
    let policies = "// callosum-constitution: format 1, version 1\n\
                    @id(\"all\") permit (principal, action, resource);";
    let file = env.configuration().with_file_name("constitution.cedar");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, policies).unwrap();
    env.run(["constitution", "sign", file.to_str().unwrap()])
        .success();
}

/// A run that waits for approval, approved until it does not any more.
pub(crate) fn approved(env: &TestEnv, mut output: Output) -> Output {
    while output.code == 5 {
        let json = output.json();
        if json["blocked_by"][0]["blocked_by"] != "approval" {
            break;
        }
        let run = json["run"].as_str().unwrap().to_owned();
        output = env.run(["plan", "approve", &run, "--json"]);
    }
    output
}

pub(crate) fn only_run(env: &TestEnv) -> String {
    let listed = env.run(["plan", "list", "--json"]).success().json();
    listed["runs"][0]["run"].as_str().unwrap().to_owned()
}

pub(crate) fn prompts(env: &TestEnv) -> Vec<String> {
    let entries = env
        .run(["ledger", "query", "--limit", "100", "--json"])
        .success()
        .json();
    let entries = entries["entries"].as_array().unwrap().clone();
    let mut prompts: Vec<String> = entries
        .iter()
        .map(|entry| entry["metadata"]["prompt"].as_str().unwrap().to_owned())
        .collect();
    prompts.sort();
    prompts
}

/// Appends a record of a plan to the journal, chained to what stands there.
pub(crate) fn appended(env: &TestEnv, status: &str, details: &Value) {
    let journal = env.project().join("cal_audit/2026-01-02.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let last: Value = serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
    let record = serde_json::json!({
        "timestamp": last["timestamp"], "task_id": null, "executor": null, "hash": null, "status": status,
        "seq": last["seq"].as_u64().unwrap() + 1, "event": "plan", "synced": last["seq"], "details": details,
        "prev": last["record"],
    });
    let text_of = record.to_string();
    let body = text_of.strip_suffix('}').unwrap();
    let mut hashed = b"callosum-audit-1".to_vec();
    hashed.extend((body.len() as u64).to_be_bytes());
    hashed.extend(body.as_bytes());
    let hash = Checksum::of(&hashed);
    std::fs::write(&journal, format!("{text}{body},\"record\":\"{hash}\"}}\n")).unwrap();
}
