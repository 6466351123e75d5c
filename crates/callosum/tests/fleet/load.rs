//! Many tasks and messages of several machines, and what must hold of them afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::machine::{Machine, check_logs};

/// Longest time after a fault until all logs have everything, on a machine that does nothing else.
const CATCH_UP: Duration = Duration::from_secs(10);

/// Longest wait for something that has no such limit, on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(2);

/// Events that are posted at once.
const LIST: usize = 125;

/// Topics of what a load consists of.
const TOPICS: [&str; 2] = ["calc.task_handoff", "calc.message"];

/// What machines have acknowledged: the ids of tasks and messages by machine.
#[derive(Default)]
pub(crate) struct Acknowledged(BTreeMap<&'static str, BTreeSet<String>>);

impl Acknowledged {
    /// Posts so many tasks and as many messages to a machine. Returns the status of the first answer that is no
    /// acknowledgement.
    pub(crate) fn post(&mut self, machine: &Machine, tag: &str, pairs: usize) -> Option<u16> {
        let name = machine.name;
        let folder = machine.env.project();
        let event = |topic: &str, payload: Value| {
            json!({
                "type": topic, "source": "codex", "session_id": format!("session-{name}"),
                "cwd": folder, "payload": payload,
            })
        };
        let pair = |number: usize| {
            let id = format!("{tag}-{name}-{number}");
            let text = format!(
                "work {number} of {name}: look at {}/src/x.rs",
                folder.display()
            );
            let task = event(TOPICS[0], json!({ "id": id, "prompt": text }));
            let to = if number.is_multiple_of(2) {
                "gemini-cli"
            } else {
                "claude-code"
            };
            let message = json!({ "id": format!("m-{id}"), "to": to, "content": text });
            [task, event(TOPICS[1], message)]
        };
        let events: Vec<Value> = (0..pairs).flat_map(pair).collect();
        for list in events.chunks(LIST) {
            let status = machine.post(list);
            if status != 200 {
                return Some(status);
            }
            let ids = list
                .iter()
                .map(|event| event["payload"]["id"].as_str().unwrap());
            self.0
                .entry(name)
                .or_default()
                .extend(ids.map(str::to_owned));
        }
        None
    }

    pub(crate) fn count(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Whether the logs of all machines have everything.
    fn is_everywhere(&self, machines: &[&Machine]) -> bool {
        machines.iter().all(|machine| {
            let text = machine.log_text();
            machines.iter().all(|from| {
                let origin = format!("\"origin\":\"{}\"", from.origin());
                let is_its = |line: &&str| {
                    let is_foreign = line.contains("\"from\":{");
                    let is_load = TOPICS
                        .iter()
                        .any(|topic| line.contains(&format!("\"{topic}\"")));
                    is_load && is_foreign && line.contains(&origin)
                };
                let expected = self.0.get(from.name).map_or(0, BTreeSet::len);
                from.name == machine.name || text.lines().filter(is_its).count() >= expected
            })
        })
    }

    /// Waits until the logs of all machines have everything. Returns how long that took.
    pub(crate) fn wait(&self, machines: &[&Machine]) -> Duration {
        let begun = Instant::now();
        while !self.is_everywhere(machines) {
            assert!(
                begun.elapsed() < PATIENCE,
                "after {PATIENCE:?} not everything is everywhere: {:?}",
                machines
                    .iter()
                    .map(|machine| machine.status())
                    .collect::<Vec<_>>()
            );
            thread::sleep(Duration::from_millis(100));
        }
        begun.elapsed()
    }

    /// Waits likewise after a fault is over, and not for longer than the issue names.
    pub(crate) fn catch_up(&self, machines: &[&Machine], what: &str) {
        let took = self.wait(machines);
        let most = CATCH_UP.mul_f64(crowd());
        let text = format!("{what}: all is everywhere after {took:.1?}, of {most:.1?}\n");
        std::io::stderr().write_all(text.as_bytes()).unwrap();
        assert!(took < most, "{text}");
    }

    /// Checks that all that was acknowledged is in the log of its machine and of each other one, that the logs agree, and
    /// that no task was claimed twice.
    pub(crate) fn check(&self, machines: &[&Machine]) {
        for machine in machines {
            let log = machine.log();
            let ids: BTreeSet<&str> = log
                .iter()
                .filter(|line| TOPICS.iter().any(|topic| line["type"] == *topic))
                .filter_map(|line| line["payload"]["id"].as_str())
                .collect();
            for (from, acknowledged) in &self.0 {
                let lost = acknowledged.iter().filter(|id| !ids.contains(id.as_str()));
                let lost: Vec<&String> = lost.collect();
                assert!(
                    lost.is_empty(),
                    "{} lacks of {from}: {lost:?}",
                    machine.name
                );
            }
        }
        check_logs(machines);
        check_claims(machines);
        check_boards(machines);
    }
}

/// Number of programs that want each processor of this machine, at least 1.
fn crowd() -> f64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load
        .split(' ')
        .next()
        .and_then(|load| load.parse::<f64>().ok());
    let processors = thread::available_parallelism().map_or(1.0, |count| count.get() as f64);
    (load.unwrap_or(1.0) / processors).max(1.0)
}

/// Checks that each task was claimed once, whatever log that is in.
fn check_claims(machines: &[&Machine]) {
    let mut claims: BTreeMap<String, BTreeSet<(u64, String)>> = BTreeMap::new();
    for line in machines.iter().flat_map(|machine| machine.log()) {
        if line["type"] != "calc.task.claimed" {
            continue;
        }
        let payload = &line["payload"];
        let task = payload["task"].as_str().unwrap().to_owned();
        let fence = payload["fence"]
            .as_u64()
            .expect("a shared task is claimed under a fence");
        let session = line["session_id"].as_str().unwrap_or_default().to_owned();
        claims.entry(task).or_default().insert((fence, session));
    }
    for (task, claims) in claims {
        assert_eq!(
            claims.len(),
            1,
            "{task} was claimed more than once: {claims:?}"
        );
    }
}

/// Checks that all machines show the same tasks in the same state.
fn check_boards(machines: &[&Machine]) {
    let boards = machines.iter().map(|machine| {
        let list = machine.run(&["mesh", "task", "list", "--all", "--json"]);
        let list = list.success().json();
        let tasks = list["tasks"].as_array().unwrap().iter();
        let tasks = tasks.map(|task| {
            let id = task["id"].as_str().unwrap().to_owned();
            (id, (task["status"].clone(), task["result"].clone()))
        });
        tasks.collect::<BTreeMap<_, _>>()
    });
    let boards: Vec<_> = boards.collect();
    for (machine, board) in machines.iter().zip(&boards) {
        assert!(*board == boards[0], "the board of {} differs", machine.name);
    }
}

/// Has all machines claim a task at the same time. Returns who got it; no one if none reached the server.
pub(crate) fn race<'m>(machines: &[&'m Machine], task: &str) -> Option<&'m Machine> {
    let outputs: Vec<_> = thread::scope(|scope| {
        let claims = machines.iter();
        let claims: Vec<_> = claims
            .map(|machine| scope.spawn(move || machine.claim(task)))
            .collect();
        let outputs = claims.into_iter().map(|claim| claim.join().unwrap());
        outputs.collect()
    });
    for output in &outputs {
        assert!([0, 1, 3].contains(&output.code), "{}", output.stderr);
    }
    let won = machines
        .iter()
        .zip(&outputs)
        .filter(|(_, output)| output.code == 0);
    let won: Vec<&Machine> = won.map(|(machine, _)| *machine).collect();
    assert!(won.len() <= 1, "{task} was claimed by several machines");
    won.first().copied()
}

/// Waits for something that has no limit of its own.
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(100));
    }
}
