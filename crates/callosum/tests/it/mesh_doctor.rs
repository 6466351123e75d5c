//! What `doctor` and `status` say of the mesh: each part by itself, with one way to look or to mend.

use std::{fs, path::PathBuf};

use callosum_host::{Disk, FileLock};
use callosum_testkit::TestEnv;
use serde_json::Value;

use crate::mesh_owners::{Client, with_a_task};

/// What the doctor says of the mesh: name, outcome, what was found and what helps, a line each.
fn told(env: &TestEnv) -> Vec<[String; 4]> {
    let doctor = env.run(["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap().iter();
    let ours = checks.filter(|check| check["name"].as_str().unwrap().starts_with("mesh"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lines = ours.map(|check| ["name", "outcome", "found", "hint"].map(|key| text(&check[key])));
    lines.collect()
}

/// The one check that is of this name and outcome.
#[track_caller]
fn only(told: &[[String; 4]], name: &str, outcome: &str) -> (String, String) {
    let mut found = told
        .iter()
        .filter(|told| told[0] == name && told[1] == outcome);
    let [_, _, what, hint] = found
        .next()
        .unwrap_or_else(|| panic!("{name} {outcome}: {told:#?}"));
    assert_eq!(found.next(), None, "{told:#?}");
    (what.clone(), hint.clone())
}

/// Everything that is not well, by its name.
fn unwell(told: &[[String; 4]]) -> Vec<&str> {
    let unwell = told.iter().filter(|told| told[1] != "ok");
    unwell.map(|told| &*told[0]).collect()
}

fn begun() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    let send = [
        "mesh", "message", "send", "codex", "look", "--as", "person", "--id", "m",
    ];
    env.run(send).success();
    let folder = env.machine_home().join("mesh");
    (env, folder)
}

/// CALC-FAIL-1: without a mesh there is nothing to say; with one, each part is a line.
#[test]
fn a_mesh_in_order_is_told_part_by_part() {
    let env = TestEnv::new();
    let (found, _) = only(&told(&env), "mesh", "ok");
    assert!(found.contains("none yet"), "{found}");
    assert!(!env.machine_home().join("mesh").exists());
    let (env, _) = begun();
    let told = told(&env);
    assert_eq!(unwell(&told), [""; 0], "{told:#?}");
    for (name, part) in [
        ("mesh, configuration", "ok"),
        ("mesh, lock", "free"),
        ("mesh, log", "1 event, 1 KB in 1 file"),
        ("mesh, board", "as of event 1"),
        ("mesh, bridge file", "matches the log, revision 1"),
        ("mesh, leases and claims", "0 leases and 0 claims"),
        ("mesh, waiting", "1 message, the oldest for "),
        ("mesh, daemon", "none"),
    ] {
        let (found, _) = only(&told, name, "ok");
        assert!(found.contains(part), "{name}: {found}");
    }
    let text = env.run(["doctor", "-v"]).success().stdout;
    assert!(text.contains("mesh, log: 1 event"), "{text}");
}

/// CALC-FAIL-1: what is wrong with the log and its lock is named, with a command that looks.
#[test]
fn what_is_wrong_with_the_log_is_named() {
    let (env, folder) = begun();
    let log = folder.join("events/00000000000000000001.jsonl");
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend_from_slice(b"not an event\n{\"seq\":2");
    fs::write(&log, bytes).unwrap();
    let lock = FileLock::try_acquire(&Disk::real(), &folder.join("events.lock")).unwrap();
    let found = told(&env);
    let (log_found, _) = only(&found, "mesh, log", "ok");
    assert!(
        log_found.contains("the last line is incomplete"),
        "{log_found}"
    );
    let (damaged, hint) = only(&found, "mesh, log", "warning");
    assert!(damaged.starts_with("1 line that is no event"), "{damaged}");
    let looked = env.program("sh".into()).arguments(["-c", &hint]).run();
    assert!(
        looked.stdout.contains("2:not an event"),
        "{hint}: {looked:?}"
    );
    let (held, hint) = only(&found, "mesh, lock", "warning");
    let holder = format!("held by process {}", std::process::id());
    let is_named = held.contains(&holder) || held.contains("held by another process");
    assert!(is_named, "{held}");
    assert!(
        hint.starts_with("fuser -v ") && hint.ends_with("events.lock"),
        "{hint}"
    );
    drop(lock);
    fs::remove_file(&log).unwrap();
    fs::remove_dir(folder.join("events")).unwrap();
    fs::write(folder.join("events"), "x").unwrap();
    let doctor = env.run(["doctor", "--json"]).ended_with(1);
    assert_eq!(doctor.json()["healthy"], false);
    let (_, hint) = only(&told(&env), "mesh, log", "failed");
    assert!(hint.starts_with("ls -lR "), "{hint}");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "x").unwrap();
    let (found, hint) = only(&told(&env), "mesh", "failed");
    assert!(found.ends_with("is not a folder"), "{found}");
    env.program("sh".into())
        .arguments(["-c", &hint])
        .run()
        .success();
    only(&told(&env), "mesh", "ok");
}

/// CALC-FAIL-1: a board that is remembered in another form, and a bridge file that is not in step, not JSON, or no file.
#[test]
fn what_is_wrong_with_what_follows_from_the_log_is_named_and_mended_by_its_hint() {
    let (env, folder) = begun();
    fs::write(folder.join("board.json"), "{}").unwrap();
    let bridge = folder.join("orchestrator_bridge.json");
    let text = fs::read_to_string(&bridge).unwrap();
    let edited = text.replace(
        "\"discoveries\": []",
        "\"discoveries\": [{\"content\": \"by hand\"}]",
    );
    assert_ne!(text, edited);
    fs::write(&bridge, edited).unwrap();
    let run = |hint: &str| {
        let shell = env.program("sh".into());
        let path = env.callosum().command();
        let program = PathBuf::from(path.get_program());
        let hint = hint.replace("callosum", &program.display().to_string());
        shell.arguments(["-c", &hint]).run()
    };
    let found = told(&env);
    let (_, hint) = only(&found, "mesh, board", "warning");
    env.program("sh".into())
        .arguments(["-c", &hint])
        .run()
        .success();
    let (step, hint) = only(&found, "mesh, bridge file", "warning");
    assert!(
        step.starts_with("differs from the log: it is at revision 1"),
        "{step}"
    );
    run(&hint).success();
    let found = told(&env);
    assert_eq!(unwell(&found), [""; 0], "{found:#?}");
    fs::write(&bridge, "{ \"messages\": ]").unwrap();
    fs::write(folder.join("bridge.d/mine.json"), "{}").unwrap();
    let found = told(&env);
    let bridge_lines = found.iter().filter(|told| told[0] == "mesh, bridge file");
    let lines: Vec<_> = bridge_lines.map(|told| (&*told[1], &*told[2])).collect();
    assert_eq!(lines[0], ("warning", "1 addition not applied yet"));
    assert!(lines[1].1.starts_with("not applied: "), "{lines:?}");
    // It is kept, and its author told.
    run(&hint).ended_with(1);
    only(&told(&env), "mesh, bridge file", "ok");
    fs::remove_file(&bridge).unwrap();
    fs::create_dir(&bridge).unwrap();
    let (_, hint) = only(&told(&env), "mesh, bridge file", "warning");
    env.program("sh".into())
        .arguments(["-c", &hint])
        .run()
        .success();
    only(&told(&env), "mesh, bridge file", "ok");
}

/// CALC-L3-1, CALC-FAIL-1: what was put beside the bridge file and is never taken over is told wherever somebody looks.
#[test]
fn what_is_never_taken_over_is_told_wherever_somebody_looks() {
    let (env, folder) = begun();
    let stray = folder.join("bridge.d/codex/notes.txt");
    env.write(&stray, "{\"messages\": []}");
    let (found, _) = only(&told(&env), "mesh, bridge file", "warning");
    assert!(found.contains("does not end in .json"), "{found}");
    let status = env.run(["status", "--json"]).json();
    assert_eq!(status["mesh"]["ignored"], 1);
    let status = env.run(["status"]).stdout;
    assert!(
        status.contains("1 addition beside the bridge file is never applied; callosum doctor"),
        "{status}"
    );
    let bridge = env.run(["mesh", "bridge", "--json"]).success();
    assert!(bridge.stderr.contains("is never applied"), "{bridge:?}");
    let left = bridge.json()["ignored"].clone();
    assert_eq!(left[0]["reason"], "does not end in .json");
    let digest = env.run(["mesh", "digest", "--to", "codex"]).success();
    let line = "notes.txt\" does not end in .json and is never applied: run `callosum doctor`\n";
    assert!(digest.stdout.contains(line), "{}", digest.stdout);
    let begins = serde_json::json!({
        "hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": env.project(),
    });
    let hook = env.callosum().arguments(["hook", "codex", "session-start"]);
    let begun = hook.input(begins.to_string()).run().success();
    assert!(begun.stdout.contains("is never applied"), "{begun:?}");
    fs::remove_file(&stray).unwrap();
    let bridge = env.run(["mesh", "bridge"]).success();
    assert_eq!(bridge.stderr, "");
    assert_eq!(unwell(&told(&env)), [""; 0]);
}

/// CALC-FAIL-1: what the user configured of it that does not count, and a place whose address is missing.
#[test]
fn what_is_wrong_with_its_configuration_is_named() {
    let (env, _) = begun();
    env.write(
        env.configuration(),
        "[mesh]\nlease = \"block\"\n[sinks.team]\nkind = \"discord\"\nurl_env = \"HOOK\"\n",
    );
    let found = told(&env);
    let (fault, _) = only(&found, "mesh, configuration", "failed");
    assert!(
        fault.contains(
            "`mesh.lease` is unknown (allowed: leases, routes, roles, examples, notify, \
             output_folders, digest, resume_after_limit, fleet)"
        ),
        "{fault}"
    );
    let (sink, hint) = only(&found, "mesh, configuration", "warning");
    assert!(sink.contains("sink team: $HOOK is not set"), "{sink}");
    assert_eq!(hint, "export HOOK=https://…");
    env.write(env.configuration(), "[mesh\n");
    only(&told(&env), "mesh, configuration", "failed");
}

/// CALC-FAIL-1, CALC-PAT-2: what sessions hold that are gone, letters that are dead, and a daemon that was killed are named.
#[cfg(target_os = "linux")]
#[test]
fn what_is_left_behind_is_named() {
    let env = with_a_task();
    let mut client = Client::at_work(&env);
    let found = told(&env);
    assert_eq!(unwell(&found), [""; 0], "{found:#?}");
    let (held, _) = only(&found, "mesh, leases and claims", "ok");
    assert_eq!(held, "1 lease and 1 claim held");
    client.0.kill().unwrap();
    client.0.wait().unwrap();
    let folder = env.machine_home().join("mesh");
    fs::write(folder.join("serve.json"), "{}").unwrap();
    let send = [
        "mesh",
        "message",
        "send",
        "nobody-here",
        "x",
        "--as",
        "person",
    ];
    let found = told(&env);
    let (held, hint) = only(&found, "mesh, leases and claims", "warning");
    assert!(
        held.starts_with("1 lease and 1 claim of sessions that ended"),
        "{held}"
    );
    assert_eq!(hint, "callosum mesh task list");
    let (daemon, hint) = only(&found, "mesh, daemon", "warning");
    assert!(daemon.contains("was killed or hangs"), "{daemon}");
    assert_eq!(hint, "callosum serve --detach");
    env.run(send).ended_with(1);
    let found = told(&env);
    let (dead, hint) = only(&found, "mesh, waiting", "warning");
    assert_eq!(dead, "1 message that could not be delivered");
    assert_eq!(hint, "callosum mesh message list --dead");
    only(&found, "mesh, leases and claims", "ok");
    let status = env.run(["status", "--json"]).success().json();
    assert_eq!(status["mesh"]["dead_letters"], 1, "{status}");
    assert_eq!(status["mesh"]["tasks_pending"], 1);
    assert_eq!(status["health"], "attention");
    let text = env.run(["status"]).success().stdout;
    assert!(
        text.contains("mesh      0 messages waiting, 1 task pending, 0 in progress, 0 leases"),
        "{text}"
    );
    assert!(text.contains("callosum mesh message list --dead"), "{text}");
}

/// CALC-SEC-1: what is wrong with the user's own configuration is named with file, key and what is allowed, by each that looks.
#[test]
fn the_users_configuration_is_checked() {
    let env = TestEnv::new();
    env.run(["config", "check"]).success();
    for (text, parts) in [
        ("not toml [[[", &["cannot parse ", "line 1"][..]),
        (
            "[mesh]\nfoo = 1\nleases = \"maybe\"\n",
            &["`mesh.foo` is unknown", "`mesh.leases` is", "warn or block"],
        ),
        ("[sinks.x]\nkind = \"slack\"\n", &["line 2", "discord"]),
        (
            "[executors.scout]\npriority = \"y\"\n",
            &[
                "unknown key `executors`",
                "arbiter, mesh, models, page, sinks",
            ],
        ),
    ] {
        env.write(env.configuration(), text);
        let told = env.run(["config", "check"]).ended_with(1);
        let json = env.run(["config", "check", "--json"]).ended_with(1).json();
        let doctor = env.run(["doctor", "-v"]);
        for part in parts {
            assert!(told.stderr.contains(part), "{text}: {}", told.stderr);
            assert!(json["faults"].to_string().contains(part), "{json}");
            let said = format!("{}{}", doctor.stdout, doctor.stderr);
            assert!(said.contains(part), "{text}: {said}");
        }
        assert_eq!(json["valid"], false);
    }
}

/// CALC-FUT-1, CALC-FAIL-1: what the program tells a session of its lease is no dead letter once that session is over; what an
/// agent wrote to it is.
#[test]
fn a_notice_to_a_session_that_is_over_is_no_dead_letter() {
    let env = TestEnv::new();
    env.write("src/a.rs", "fn a() {}\n");
    let path = env.project().join("src/a.rs");
    env.git_init();
    let hook = |session: &str, word: &str, more: Value| {
        let mut event = serde_json::json!({
            "session_id": session, "cwd": env.project(), "hook_event_name": word,
        });
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        let run = env.callosum().arguments(["hook", "claude", word]);
        run.input(event.to_string()).run().success();
    };
    let take = [
        "mesh",
        "lease",
        "take",
        "src/a.rs",
        "--as",
        "claude",
        "--session",
        "s1",
    ];
    env.run(take).success();
    let edit = serde_json::json!({"tool_name": "Edit", "tool_input": {"file_path": path}});
    hook("s2", "PostToolUse", edit);
    let messages = || {
        let list = ["mesh", "message", "list", "--all", "--json"];
        env.run(list).success().json()["messages"].clone()
    };
    assert_eq!(messages()[0]["from"], "callosum", "{}", messages());
    assert_eq!(messages()[0]["state"], "queued");
    hook("s1", "SessionEnd", serde_json::json!({}));
    assert_eq!(messages()[0]["state"], "dropped");
    assert_eq!(unwell(&told(&env)), [""; 0]);
    env.run([
        "mesh",
        "lease",
        "take",
        "src/b.rs",
        "--as",
        "claude",
        "--session",
        "s3",
    ])
    .success();
    let send = [
        "mesh",
        "message",
        "send",
        "claude@s3",
        "look",
        "--as",
        "codex",
    ];
    env.run(send).success();
    hook("s3", "SessionEnd", serde_json::json!({}));
    let (found, _) = only(&told(&env), "mesh, waiting", "warning");
    assert!(found.starts_with("1 message"), "{found}");
}
