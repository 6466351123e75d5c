//! `callosum mesh subscribe`: a client that goes on by itself, with and without a daemon.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, Instant},
};

use callosum_testkit::TestEnv;
use serde_json::Value;

use super::daemon::{Daemon, event};

/// How long something may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// One who subscribes; killed when this is dropped.
struct Subscriber {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Subscriber {
    fn start(env: &TestEnv, options: &[&str]) -> Self {
        Self::running(env, "subscribe", options)
    }

    /// One who hears by another verb of the mesh.
    fn running(env: &TestEnv, verb: &str, options: &[&str]) -> Self {
        let arguments = [&["mesh", verb, "--json"], options].concat();
        let mut command = env
            .callosum()
            .arguments(arguments)
            .without("CALLOSUM_TEST_IDS")
            .command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
        }
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
    }

    fn hear(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn number(&self) -> u64 {
        let event = self.hear();
        let number = event["payload"]["number"].as_u64();
        number.unwrap_or_else(|| panic!("{event}"))
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn cursor(state: &std::path::Path) -> Option<u64> {
    let bytes = std::fs::read(state).ok()?;
    let state: Value = serde_json::from_slice(&bytes).ok()?;
    state["cursor"].as_str()?.rsplit_once(':')?.1.parse().ok()
}

/// CALC-L2-1: over a daemon that is killed, files alone, another daemon, and a start of its own, it hears every event
/// once and in order.
#[test]
fn who_subscribes_misses_nothing_over_a_reconnect() {
    let env = TestEnv::new();
    let state = env.project().join("state.json");
    let options = ["--topic", "a.*", "--state", state.to_str().unwrap()];
    let daemon = Daemon::start(&env);
    daemon.post("", &event("a.b", 0)).with(200);
    let subscriber = Subscriber::start(&env, &[&options[..], &["--since", "0"]].concat());
    assert_eq!(subscriber.number(), 0);
    for number in 1..20 {
        daemon.post("", &event("a.b", number)).with(200);
        daemon.post("", &event("other", number)).with(200);
        assert_eq!(subscriber.number(), number as u64);
    }
    daemon.signal("KILL");
    daemon.wait_until_gone();
    let publish = |number: usize| {
        let payload = format!("{{\"number\":{number}}}");
        let name = format!("agent-{number}");
        env.run([
            "mesh",
            "publish",
            "a.b",
            "--payload",
            &payload,
            "--as",
            &name,
        ])
        .success();
    };
    publish(20);
    assert_eq!(subscriber.number(), 20);
    let again = Daemon::start(&env);
    again.post("", &event("a.b", 21)).with(200);
    assert_eq!(subscriber.number(), 21);
    let heard = 20 + 20 + 1;
    let began = Instant::now();
    while cursor(&state) < Some(heard) {
        assert!(began.elapsed() < PATIENCE, "{:?}", cursor(&state));
        std::thread::sleep(Duration::from_millis(5));
    }
    subscriber.kill();
    again.post("", &event("a.b", 22)).with(200);
    // The state comes before what the command line says.
    let subscriber = Subscriber::start(&env, &[&options[..], &["--since", "0"]].concat());
    assert_eq!(subscriber.number(), 22);
    again.post("", &event("a.b", 23)).with(200);
    assert_eq!(subscriber.number(), 23);
}

/// What has one tell what stands on standard input, and remember in this file.
fn publishing(state: &Path) -> [&str; 5] {
    [
        "--publish",
        "--as",
        "codex",
        "--state",
        state.to_str().unwrap(),
    ]
}

/// CALC-L2-1: what is to be told is told by the daemon, by the files, and where neither takes it, later; what is wrong is passed
/// over.
#[test]
fn what_nobody_can_take_waits_and_is_told_later() {
    let env = TestEnv::new();
    let state = env.project().join("state.json");
    let options = publishing(&state);
    let mut subscriber = Subscriber::start(&env, &options);
    // Without a daemon.
    subscriber.say(r#"{"type":"a.b","payload":{"number":1}}"#);
    let told = subscriber.hear();
    assert_eq!(
        (&told["source"], &told["payload"]["number"]),
        (&"codex".into(), &1.into())
    );
    subscriber.say("no event");
    subscriber.say(r#"{"type":"calc.task.claimed","payload":{"task":"none"}}"#);
    subscriber.say(r#"{"type":"a.b","payload":{"number":2}}"#);
    assert_eq!(subscriber.number(), 2);
    // The log takes nothing for a while: its lock is held by somebody else.
    let folder = env.machine_home().join("mesh");
    let disk = callosum_host::Disk::real();
    let lock = callosum_host::LockFile::private()
        .acquire(&disk, &folder.join("events.lock"), PATIENCE)
        .unwrap();
    subscriber.say(r#"{"type":"a.b","payload":{"number":3}}"#);
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(&state).unwrap_or_default();
        if text.contains("\"number\":3") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{text}");
        std::thread::sleep(Duration::from_millis(5));
    }
    subscriber.kill();
    drop(lock);
    let _daemon = Daemon::start(&env);
    let subscriber = Subscriber::start(&env, &options);
    assert_eq!(subscriber.number(), 3, "it waited in the state");
    let events = env.run(["mesh", "tail", "--json"]).success().stdout;
    assert_eq!(events.lines().count(), 3, "{events}");
}

/// CALC-L2-1, CALC-FAIL-1: while one daemon is replaced by another, more than once, what is told by verbs and by a client that goes
/// on is kept once, and who listens hears all of it once, in the order of the log.
#[test]
fn what_is_told_while_the_daemon_is_replaced_is_kept_and_heard_once() {
    const BY_VERB: u64 = 12;
    const BY_CLIENT: u64 = 120;
    let env = TestEnv::new();
    let state = env.project().join("state.json");
    let mut daemon = Daemon::start(&env);
    let listening = Subscriber::start(&env, &["--topic", "a.*", "--since", "0"]);
    let mut telling = Subscriber::start(&env, &publishing(&state));
    std::thread::scope(|scope| {
        let verbs = scope.spawn(|| {
            for number in 0..BY_VERB {
                let payload = format!("{{\"number\":{number}}}");
                let agent = format!("agent-{number}");
                let words = [
                    "mesh",
                    "publish",
                    "a.b",
                    "--as",
                    &agent,
                    "--payload",
                    &payload,
                ];
                let run = env.callosum().arguments(words);
                run.without("CALLOSUM_TEST_IDS").run().success();
            }
        });
        let lines = scope.spawn(|| {
            for number in BY_VERB..BY_VERB + BY_CLIENT {
                telling.say(&event("a.b", number as usize));
                // What it tells it hears as well: half of them wait for the one before.
                if number % 2 == 0 {
                    telling.hear();
                }
            }
        });
        let mut replaced = 0;
        while replaced < 3 || !(verbs.is_finished() && lines.is_finished()) {
            env.run(["serve", "stop"]).success();
            daemon.wait_until_gone();
            daemon = Daemon::start(&env);
            replaced += 1;
        }
    });
    let heard: Vec<(u64, u64)> = (0..BY_VERB + BY_CLIENT)
        .map(|_| {
            let event = listening.hear();
            let number = event["payload"]["number"].as_u64();
            (event["seq"].as_u64().unwrap(), number.unwrap())
        })
        .collect();
    assert!(heard.windows(2).all(|two| two[0].0 < two[1].0), "{heard:?}");
    let mut numbers: Vec<u64> = heard.iter().map(|(_, number)| *number).collect();
    numbers.sort_unstable();
    let all: Vec<u64> = (0..BY_VERB + BY_CLIENT).collect();
    assert_eq!(numbers, all);
    let tail = ["mesh", "tail", "--since", "0", "--topic", "a.*", "--json"];
    let kept = env.run(tail).success().stdout;
    assert_eq!(kept.lines().count(), heard.len(), "{kept}");
}

/// CALC-L2-1, CALC-FAIL-1: where the state has no room on a full disk, who subscribes goes on, says so, and remembers when there is room.
#[cfg(target_os = "linux")]
#[test]
fn a_state_without_room_on_the_disk_ends_nobody() {
    let env = TestEnv::new();
    let folder = env.folder().join("small");
    std::fs::create_dir_all(&folder).unwrap();
    let at = folder.to_str().unwrap();
    let mount = |arguments: &[&str]| env.program("mount".into()).arguments(arguments).run();
    mount(&["-t", "tmpfs", "-o", "size=64k", "callosum-test", at]).success();
    let _mounted = Unmount(&env, at.to_owned());
    let state = folder.join("state.json");
    let options = publishing(&state);
    let mut subscriber = Subscriber::start(&env, &options);
    subscriber.say(&event("a.b", 1));
    assert_eq!(subscriber.number(), 1);
    let filling = folder.join("filling");
    let mut bytes = vec![0; 64 * 1024];
    while std::fs::write(&filling, &bytes).is_err() {
        bytes.truncate(bytes.len() - 1024);
    }
    for number in 2..6 {
        subscriber.say(&event("a.b", number));
        assert_eq!(subscriber.number(), number as u64);
    }
    assert!(subscriber.child.try_wait().unwrap().is_none());
    std::fs::remove_file(&filling).unwrap();
    let began = Instant::now();
    while cursor(&state) != Some(5) {
        assert!(began.elapsed() < PATIENCE, "{:?}", cursor(&state));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Takes a file system away from where it was put.
#[cfg(target_os = "linux")]
struct Unmount<'a>(&'a TestEnv, String);

#[cfg(target_os = "linux")]
impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let arguments = ["-l", &self.1];
        self.0.program("umount".into()).arguments(arguments).run();
    }
}

/// CALC-L2-1: of two who would remember in one file the second is refused, also by a link to it.
#[test]
fn two_who_subscribe_do_not_remember_in_one_file() {
    let env = TestEnv::new();
    let state = env.folder().join("state.json");
    let link = env.folder().join("link.json");
    std::os::unix::fs::symlink(&state, &link).unwrap();
    let path = state.to_str().unwrap();
    let first = Subscriber::start(&env, &["--state", path]);
    let began = Instant::now();
    while cursor(&state).is_none() {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    for path in [path, link.to_str().unwrap()] {
        let said = env.run(["mesh", "subscribe", "--state", path]);
        let said = said.ended_with(3).stderr;
        assert!(said.contains("give each its own state file"), "{said}");
    }
    first.kill();
    env.run([
        "mesh",
        "publish",
        "a.b",
        "--as",
        "codex",
        "--payload",
        "{\"number\": 7}",
    ])
    .success();
    let again = Subscriber::start(&env, &["--state", link.to_str().unwrap()]);
    assert_eq!(again.number(), 7);
    let began = Instant::now();
    while cursor(&state) == Some(0) {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
}

/// CALC-L2-1: a state of a newer version is read by nobody and left as it is.
#[test]
fn a_state_of_a_newer_version_is_left_as_it_is() {
    let env = TestEnv::new();
    let newer = r#"{"format":2,"place":[1]}"#;
    env.write("state.json", newer);
    let refused = env
        .run(["mesh", "subscribe", "--state", "state.json"])
        .ended_with(3);
    assert!(refused.stderr.contains("format 2"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: mv "), "{}", refused.stderr);
    assert_eq!(env.read("state.json"), newer);
    let nowhere = env
        .run(["mesh", "subscribe", "--state", "none/state.json"])
        .ended_with(3);
    assert!(
        nowhere.stderr.contains("hint: mkdir -p "),
        "{}",
        nowhere.stderr
    );
}

/// CALC-L1-1: who follows a log that is removed is told that another has begun, and goes on with that.
#[test]
fn who_follows_a_log_that_is_removed_goes_on_with_the_next() {
    let env = TestEnv::new();
    // Each log has an id of its own.
    let publish = |topic: &str, agent: &str| {
        let words = ["mesh", "publish", topic, "--as", agent];
        let run = env.callosum().arguments(words);
        run.without("CALLOSUM_TEST_IDS").run().success();
    };
    publish("a.b", "codex");
    let follower = Subscriber::running(&env, "tail", &["--follow", "--topic", "a.*"]);
    assert_eq!(follower.hear()["type"], "a.b");
    let folder = env.machine_home().join("mesh");
    std::fs::rename(&folder, folder.with_extension("away")).unwrap();
    publish("a.c", "codex");
    assert_eq!(follower.hear()["notice"], "reset");
    assert_eq!(follower.hear()["type"], "a.c");
}
