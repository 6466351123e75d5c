//! Six who edit the bridge file at once, each in its own way, beside a daemon that watches it.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use callosum_host::{Disk, FileLock};
use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use super::daemon::Daemon;

/// So many edit at once.
const EDITORS: usize = 6;

/// So often each adds something.
const EDITS: usize = 4;

/// The longest that one thinks between reading and writing, in milliseconds.
const LONGEST_THOUGHT: usize = 150;

/// How long something is waited for.
const PATIENCE: Duration = Duration::from_secs(90);

fn bridge(env: &TestEnv) -> PathBuf {
    env.machine_home().join("mesh/orchestrator_bridge.json")
}

/// Reads the whole file, thinks, and writes it back with an addition.
fn add_by_hand(env: &TestEnv, content: &str, thought: Duration) {
    let begun = Instant::now();
    let mut document = loop {
        // Another may be writing it just now.
        let bytes = std::fs::read(bridge(env)).unwrap();
        if let Ok(document) = serde_json::from_slice::<Value>(&bytes) {
            break document;
        }
        assert!(begun.elapsed() < PATIENCE, "the file stays no JSON");
        thread::sleep(Duration::from_millis(1));
    };
    thread::sleep(thought);
    let found = document["discoveries"].as_array_mut().unwrap();
    found.push(json!({"content": content, "source": "codex"}));
    let text = serde_json::to_vec_pretty(&document).unwrap();
    std::fs::write(bridge(env), text).unwrap();
}

fn thought(editor: usize, edit: usize) -> Duration {
    let millis = (editor * 37 + edit * 61 + 13) % LONGEST_THOUGHT;
    Duration::from_millis(millis as u64)
}

/// Has each editor add its own in turn, all of them at once.
fn edited(edit: impl Fn(&str, Duration) + Sync) {
    thread::scope(|scope| {
        for editor in 0..EDITORS {
            let edit = &edit;
            scope.spawn(move || {
                for number in 0..EDITS {
                    edit(&format!("{editor}-{number}"), thought(editor, number));
                }
            });
        }
    });
}

/// How many additions are in the log.
fn counted(env: &TestEnv) -> usize {
    env.run(["mesh", "bridge"]);
    let events = |topic: &str| -> Vec<Value> {
        let tail = ["mesh", "tail", "--since", "0", "--topic", topic, "--json"];
        let told = env.run(tail).success().stdout;
        let events = told.lines().map(serde_json::from_str);
        events.collect::<Result<_, _>>().unwrap()
    };
    let added = ["calc.discovery", "calc.message"].map(events).concat();
    let added: BTreeSet<String> = added
        .iter()
        .map(|event| event["payload"]["content"].to_string())
        .collect();
    added.len()
}

/// CALC-L3-1: who takes a lock that all take, asks by a verb, or drops a file loses nothing.
#[test]
fn who_takes_a_lock_asks_or_drops_a_file_loses_nothing() {
    let ways: [fn(&TestEnv, &str); 3] = [
        |env, content| {
            let path = env.machine_home().join("editors.lock");
            let lock = FileLock::acquire(&Disk::real(), &path, PATIENCE).unwrap();
            add_by_hand(env, content, Duration::ZERO);
            drop(lock);
        },
        |env, content| {
            let send = ["mesh", "message", "send", "codex", content, "--id", content];
            env.run(send).success();
        },
        |env, content| {
            let folder = env.machine_home().join("mesh/bridge.d");
            let items = json!({"discoveries": [{"content": content, "source": "codex"}]});
            let hidden = folder.join(format!(".{content}.json"));
            std::fs::write(&hidden, items.to_string()).unwrap();
            std::fs::rename(hidden, folder.join(format!("{content}.json"))).unwrap();
        },
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let env = TestEnv::new();
        let _daemon = Daemon::start(&env);
        env.run(["mesh", "bridge"]).success();
        edited(|content, thought| {
            thread::sleep(thought);
            way(&env, content);
        });
        let begun = Instant::now();
        loop {
            let added = counted(&env);
            if added == EDITORS * EDITS {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "way {number}: {added}");
            thread::sleep(Duration::from_millis(100));
        }
    }
}
