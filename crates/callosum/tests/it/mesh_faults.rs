//! What a mesh that is busy, broken or full leaves of a session's own recovery and of the guard's verdicts.

use std::{fs, io::Write as _, path::PathBuf};

use callosum_host::{Disk, FileLock};
use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::{contested_files::denied, faults::SmallDisk, neighbours::state};

/// What a session is told of its own project.
const OWN: &str = "Use one pool";

/// What another agent has for it.
const OTHERS: &str = "person says to you: \"look here\"";

/// That it cannot be told of.
const UNTOLD: &str = "Callosum cannot announce this session to other agents: run `callosum doctor`";

/// That nothing of the others can be read.
const UNREAD: &str = "Callosum cannot read what other agents sent you: run `callosum doctor`";

/// A project with something to recover, and a message that waits for Claude.
fn laid_out(env: &TestEnv) {
    env.write("src/a.rs", "pub fn one() {}\n");
    env.git_init();
    env.run(["session", "decide", OWN, "--cite", "src/a.rs:1"])
        .success();
    env.run([
        "mesh",
        "message",
        "send",
        "claude",
        "look here",
        "--as",
        "person",
        "--id",
        "m",
    ])
    .success();
}

fn mesh(env: &TestEnv) -> PathBuf {
    env.machine_home().join("mesh")
}

fn hook(env: &TestEnv, word: &str, more: &Value) -> Output {
    let mut event = json!({"session_id": "s1", "cwd": env.project(), "hook_event_name": word});
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    let run = env.callosum().arguments(["hook", "claude", word]);
    run.input(event.to_string()).run()
}

/// What a session that begins is told.
fn begun(env: &TestEnv) -> String {
    let output = hook(env, "SessionStart", &json!({"source": "startup"})).success();
    let said = output.json();
    let said = said["hookSpecificOutput"]["additionalContext"].as_str();
    said.unwrap_or_default().to_owned()
}

fn edit(env: &TestEnv, word: &str) -> Output {
    let path = env.project().join("src/a.rs");
    let call = json!({"tool_name": "Edit", "tool_input": {"file_path": path}});
    hook(env, word, &call)
}

fn log(env: &TestEnv) -> PathBuf {
    mesh(env).join("events/00000000000000000001.jsonl")
}

/// Has somebody else append for as long as what is given back lives.
fn held(env: &TestEnv) -> FileLock {
    let lock = FileLock::try_acquire(&Disk::real(), &mesh(env).join("events.lock")).unwrap();
    lock.expect("nobody has it")
}

/// CALC-FAIL-1: while another process holds the log, a session that begins has its own recovery and what others left, and is
/// told what is missing; what it was told is told again once it can be noted.
#[test]
fn a_held_log_takes_nothing_from_a_session_that_begins() {
    let env = TestEnv::new();
    laid_out(&env);
    let lock = held(&env);
    // Were the log waited for longer than a hook may take, nothing of this would be told.
    let told = begun(&env);
    for part in [OWN, UNTOLD, OTHERS] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(callosum_citation::tokens::estimate(&told) <= 400, "{told}");
    drop(lock);
    assert_eq!(state(&env, "m"), "queued");
    let told = begun(&env);
    assert!(told.contains(OTHERS) && !told.contains(UNTOLD), "{told}");
    assert_eq!(state(&env, "m"), "delivered");
}

/// CALC-FAIL-1: nor from what is told after an edit, nor from a verdict before one.
#[test]
fn a_held_log_delays_no_verdict_and_hides_no_lease() {
    let env = TestEnv::new();
    laid_out(&env);
    let take = [
        "mesh", "lease", "take", "src/a.rs", "--reason", "renaming", "--as", "reviewer",
    ];
    env.run(take).success();
    env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
    let _lock = held(&env);
    let told = denied(&edit(&env, "PreToolUse")).expect("it is denied");
    assert!(told.contains("rule mesh.lease"), "{told}");
    let told = edit(&env, "PostToolUse").success().stdout;
    assert!(told.contains("reviewer works on"), "{told}");
    // A message that cannot be noted as delivered waits.
    assert!(!told.contains("look here"), "{told}");
    let allowed = hook(
        &env,
        "PreToolUse",
        &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
    );
    assert_eq!(allowed.success().stdout, "{}\n");
}

/// CALC-FAIL-1: a line that was torn off loses nothing else.
#[test]
fn a_torn_log_takes_nothing_from_a_session_that_begins() {
    let env = TestEnv::new();
    laid_out(&env);
    let mut bytes = fs::read(log(&env)).unwrap();
    bytes.extend_from_slice(b"{\"seq\":2,\"origin\":\"");
    fs::write(log(&env), bytes).unwrap();
    let told = begun(&env);
    for part in [OWN, OTHERS] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("callosum doctor"), "{told}");
}

/// CALC-FAIL-1: whatever stands in the mesh's place, a session has its own recovery, and one line says what is missing; an edit is
/// decided as if there were no mesh.
#[test]
fn whatever_stands_in_the_place_of_the_mesh_a_session_recovers() {
    type Breaks = fn(&TestEnv);
    let breaks: [(&str, Breaks); 9] = [
        (UNTOLD, |env| {
            fs::remove_file(log(env)).unwrap();
            fs::create_dir(log(env)).unwrap();
        }),
        (UNREAD, |env| {
            fs::remove_dir_all(mesh(env).join("events")).unwrap();
            fs::write(mesh(env).join("events"), "x").unwrap();
        }),
        (UNTOLD, |env| {
            fs::remove_file(mesh(env).join("events.lock")).unwrap();
            fs::create_dir(mesh(env).join("events.lock")).unwrap();
        }),
        (UNREAD, |env| {
            fs::write(mesh(env).join("origin"), "../../etc\n").unwrap();
        }),
        (UNREAD, |env| {
            fs::remove_dir_all(mesh(env)).unwrap();
            fs::write(mesh(env), "x").unwrap();
        }),
        (UNREAD, |env| linked(env, "nowhere")),
        (UNREAD, |env| linked(env, "origin")),
        (UNREAD, |env| linked(env, "events.lock/none")),
        (UNREAD, |env| {
            fs::remove_file(mesh(env).join("origin")).unwrap();
            fs::create_dir(mesh(env).join("origin")).unwrap();
        }),
    ];
    for (at, (line, breaks)) in breaks.into_iter().enumerate() {
        let env = TestEnv::new();
        laid_out(&env);
        env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
        breaks(&env);
        let told = begun(&env);
        assert!(told.contains(OWN) && told.contains(line), "{at}: {told}");
        assert_eq!(told.matches("callosum doctor").count(), 1, "{at}: {told}");
        let decided = edit(&env, "PreToolUse").success().stdout;
        assert_eq!(decided, "{}\n", "{at}");
        let after = edit(&env, "PostToolUse").success();
        assert!(!after.stdout.contains("callosum doctor"), "{at}");
    }
}

/// Makes the file with the log's id a symbolic link.
fn linked(env: &TestEnv, to: &str) {
    let origin = mesh(env).join("origin");
    fs::remove_file(&origin).unwrap();
    std::os::unix::fs::symlink(to, origin).unwrap();
}

/// CALC-FAIL-1: each verb ends with an error that names the file if the log's id cannot be read, and `doctor` has a command
/// that moves it away.
#[test]
fn an_id_of_the_log_that_cannot_be_read_ends_each_verb() {
    for (to, why) in [
        ("nowhere", "symbolic link to a missing file"),
        ("events.lock/none", "symbolic link to a missing file"),
        ("origin", "cannot open"),
        ("events", "cannot open"),
    ] {
        let env = TestEnv::new();
        laid_out(&env);
        linked(&env, to);
        let origin = mesh(&env).join("origin").display().to_string();
        let verbs: [&[&str]; 5] = [
            &["mesh", "message", "list"],
            &["mesh", "message", "send", "codex", "x", "--as", "w"],
            &["mesh", "task", "list"],
            &["mesh", "publish", "a.b", "--as", "w"],
            &["mesh", "tail"],
        ];
        for verb in verbs {
            let output = env.run(verb).ended_with(3);
            let said = &output.stderr;
            assert!(said.contains(&origin) && said.contains(why), "{to}: {said}");
        }
        let doctor = env.run(["doctor", "--json"]).json().to_string();
        let moves = format!("mv {origin} {origin}.other");
        assert!(doctor.contains(&moves), "{to}: {doctor}");
        fs::rename(&origin, format!("{origin}.other")).unwrap();
        env.run(["mesh", "message", "list"]).success();
    }
}

/// CALC-FAIL-1: a symbolic link that leads to the id is read.
#[test]
fn an_id_of_the_log_may_be_elsewhere() {
    let env = TestEnv::new();
    laid_out(&env);
    let origin = mesh(&env).join("origin");
    fs::rename(&origin, mesh(&env).join("origin.kept")).unwrap();
    std::os::unix::fs::symlink("origin.kept", origin).unwrap();
    assert_eq!(state(&env, "m"), "queued");
}

/// CALC-FAIL-1: on a full disk what there is can be read all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_takes_nothing_from_a_session_that_begins() {
    let disk = SmallDisk::with_a_machine_home();
    let env = disk.env();
    laid_out(env);
    filled(env);
    let told = begun(env);
    for part in [OWN, OTHERS, UNTOLD] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Fills the small disk of the machine's home but for the last pages of what is there; with which file.
#[cfg(target_os = "linux")]
fn filled(env: &TestEnv) -> PathBuf {
    let full = env.machine_home().join("rest");
    assert!(fs::write(&full, vec![0; 1024 * 1024]).is_err());
    full
}

/// CALC-PAT-2, CALC-FAIL-1: on a disk that is full but for the end of the log, what is noted as delivered is in the hook's
/// answer.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_has_nothing_delivered_that_was_not_told() {
    let disk = SmallDisk::with_a_machine_home();
    let env = disk.env();
    laid_out(env);
    let full = filled(env);
    let told = hook(env, "PostToolUse", &json!({"tool_name": "Bash"})).success();
    assert!(told.stdout.contains("look here"), "{}", told.stdout);
    hook(env, "Stop", &json!({})).success();
    fs::remove_file(full).unwrap();
    assert_eq!(state(env, "m"), "seen");
}

/// CALC-FAIL-1: what the log has taken is done, though no other file has room, and what there is can be looked at.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_makes_no_failure_of_what_is_in_the_log() {
    let disk = SmallDisk::with_a_machine_home();
    let env = disk.env();
    laid_out(env);
    filled(env);
    let send = ["mesh", "message", "send", "codex", "full", "--as", "claude"];
    let sent = env.run(send).success();
    assert!(sent.stderr.contains("out of sync"), "{}", sent.stderr);
    env.run(["mesh", "publish", "a.b", "--as", "w"]).success();
    let looks: [&[&str]; 4] = [
        &["mesh", "message", "list"],
        &["mesh", "task", "list"],
        &["mesh", "digest", "--to", "codex"],
        &["mesh", "tail"],
    ];
    for arguments in looks {
        env.run(arguments).success();
    }
    let listed = env.run(["mesh", "message", "list"]).success().stdout;
    assert_eq!(listed.matches(" to codex: full").count(), 1, "{listed}");
}

/// CALC-FAIL-1: a mesh that never answers costs a session the time of its answer, and not its recovery.
#[cfg(target_os = "linux")]
#[test]
fn a_mesh_that_never_answers_leaves_a_session_its_recovery() {
    let env = TestEnv::new();
    laid_out(&env);
    env.write(env.configuration(), "[mesh]\nleases = \"block\"\n");
    let origin = mesh(&env).join("origin");
    fs::remove_file(&origin).unwrap();
    let made = env.program(PathBuf::from("mkfifo")).arguments([&origin]);
    made.run().success();
    let told = begun(&env);
    assert!(told.contains(OWN) && told.contains(UNREAD), "{told}");
    assert_eq!(edit(&env, "PreToolUse").success().stdout, "{}\n");
}

/// CALC-PAT-2: what a hook could not print is not delivered, and neither is it seen: the next one tells it.
#[test]
fn what_a_hook_could_not_print_is_told_again() {
    for word in ["PostToolUse", "SessionStart"] {
        let env = TestEnv::new();
        laid_out(&env);
        for output in [">&-", "> /dev/null", "> /dev/full"] {
            let program = callosum_testkit::fakes::program("callosum");
            let line = format!("exec '{}' hook claude {word} {output}", program.display());
            let event = json!({"session_id": "s1", "cwd": env.project(), "hook_event_name": word});
            let unread = env.program("/bin/sh".into()).arguments(["-c", &line]);
            assert_eq!(unread.input(event.to_string()).run().code, 0, "{output}");
            assert_eq!(state(&env, "m"), "queued", "{word} {output}");
            hook(&env, "Stop", &json!({})).success();
            assert_eq!(state(&env, "m"), "queued", "{word} {output}");
        }
        let told = hook(&env, word, &json!({})).success();
        assert!(told.stdout.contains("look here"), "{word}: {}", told.stdout);
        assert_eq!(state(&env, "m"), "delivered");
    }
}

/// CALC-PAT-2, CALC-FAIL-1: what there is no room to note is not told at each call anew.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_without_any_room_has_nothing_told_twice() {
    let disk = SmallDisk::with_a_machine_home();
    let env = disk.env();
    laid_out(env);
    let full = filled(env);
    // The last page of the log has room as well. Empty lines are nothing.
    let len = fs::metadata(log(env)).unwrap().len();
    let room = (len.next_multiple_of(4096) - len) as usize;
    let mut end = fs::OpenOptions::new().append(true).open(log(env)).unwrap();
    end.write_all(&vec![b'\n'; room.saturating_sub(100)])
        .unwrap();
    let told = hook(env, "PostToolUse", &json!({"tool_name": "Bash"})).success();
    assert!(!told.stdout.contains("look here"), "{}", told.stdout);
    fs::remove_file(full).unwrap();
    let told = hook(env, "PostToolUse", &json!({"tool_name": "Bash"})).success();
    assert!(told.stdout.contains("look here"), "{}", told.stdout);
}

/// CALC-BOOT-1, CALC-FAIL-1: a log that cannot be read is one line of a digest, and no failure.
#[test]
fn a_log_that_cannot_be_read_is_a_line_of_a_digest() {
    let env = TestEnv::new();
    laid_out(&env);
    let events = mesh(&env).join("events");
    fs::rename(&events, mesh(&env).join("other")).unwrap();
    fs::write(&events, "mine").unwrap();
    let digest = ["mesh", "digest", "--to", "codex"];
    let json = env.run(digest.iter().chain(&["--json"])).success().json();
    for told in [
        env.run(digest).success().stdout,
        env.run(digest.iter().chain(&["--mark-delivered"]))
            .success()
            .stdout,
        json["text"].as_str().unwrap().to_owned(),
    ] {
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(
            told.contains("Cannot read news from other agents") && told.contains("callosum doctor"),
            "{told}"
        );
    }
    env.run(["mesh", "message", "list"]).ended_with(3);
    // What the project has is whole all the same.
    env.run(["delegate", "Map it all"]).success();
    let told = env.run(digest).success().stdout;
    assert!(
        told.contains("Cannot read news from other agents")
            && told.contains("- new in the ledger "),
        "{told}"
    );
}

/// CALC-FAIL-1: what stands where it is noted what agents were told is named.
#[test]
fn what_stands_in_the_place_of_notes_is_named() {
    for place in ["news", "told"] {
        let env = TestEnv::new();
        laid_out(&env);
        let path = mesh(&env).join(place);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        }
        fs::write(&path, "mine").unwrap();
        let doctor = env.run(["doctor", "-v"]).stdout;
        assert!(
            doctor.contains(&format!("mesh/{place} is not a folder")),
            "{doctor}"
        );
    }
}

/// CALC-FAIL-1: a link that leads nowhere or to itself, where a folder of the bridge's should be, is named and left alone, and
/// stops no verb of the log's.
#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_named_and_left_alone() {
    for place in ["bridge", "bridge/shown", "bridge/rejected", "bridge.d"] {
        for target in ["nowhere", place.rsplit('/').next().unwrap()] {
            let env = TestEnv::new();
            laid_out(&env);
            let path = mesh(&env).join(place);
            fs::remove_dir_all(&path).unwrap();
            std::os::unix::fs::symlink(target, &path).unwrap();
            let doctor = env.run(["doctor", "-v"]).success().stdout;
            let named = format!("mesh/{place} is a link that leads to no folder");
            assert!(doctor.contains(&named), "{place}: {doctor}");
            let send = [
                "mesh", "message", "send", "codex", "and you", "--as", "claude",
            ];
            env.run(send).success();
            let listed = env.run(["mesh", "message", "list"]).success().stdout;
            assert!(listed.contains("and you"), "{place}: {listed}");
            assert!(path.is_symlink(), "{place}");
        }
    }
}

/// CALC-FAIL-1: what follows from the log and is broken stops no verb; it is set aside, made anew, and `doctor` names it.
#[test]
fn what_is_derived_and_broken_stops_no_verb() {
    let places = [
        ("bridge", false),
        ("bridge/shown", false),
        ("bridge/late", false),
        ("bridge/next.json", true),
        ("bridge.d", false),
        ("board.json", true),
    ];
    for (place, is_folder) in places {
        let env = TestEnv::new();
        laid_out(&env);
        let path = mesh(&env).join(place);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        }
        if is_folder {
            fs::create_dir(&path).unwrap();
        } else {
            fs::write(&path, "mine").unwrap();
        }
        let doctor = env.run(["doctor", "-v"]).stdout;
        assert!(
            doctor.contains(&format!("mesh/{place}")),
            "{place}: {doctor}"
        );
        let listed = env.run(["mesh", "message", "list"]).success();
        assert!(
            listed.stdout.contains("look here"),
            "{place}: {}",
            listed.stdout
        );
        let send = [
            "mesh", "message", "send", "codex", "and you", "--as", "claude",
        ];
        env.run(send).success();
        let again = env.run(["mesh", "message", "list"]).success();
        assert_eq!(again.stderr, "", "{place}");
        let shown = fs::read_to_string(mesh(&env).join("orchestrator_bridge.json")).unwrap();
        assert!(shown.contains("and you"), "{place}: {shown}");
        if place.starts_with("bridge/") || place == "bridge" {
            let aside = mesh(&env).join(format!("{place}.displaced-1"));
            assert!(aside.exists(), "{place}");
            let doctor = env.run(["doctor", "-v"]).stdout;
            assert!(doctor.contains(".displaced-1"), "{place}: {doctor}");
        }
    }
}
