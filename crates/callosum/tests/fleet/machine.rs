//! [`Machine`]: a home with a checkout of the shared repository, and what its commands print.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
};

use callosum_testkit::{Output, Run, TestEnv};
use serde_json::Value;

use crate::nats_server::NatsServer;

pub(crate) struct Machine {
    pub(crate) env: TestEnv,
    pub(crate) name: &'static str,
    /// The command that runs a program on its host; empty if it is this one.
    pub(crate) on: Vec<String>,
    /// By how many seconds its clock is wrong.
    pub(crate) clock: Option<&'static str>,
}

impl Machine {
    /// A machine on which nothing was done yet.
    pub(crate) fn bare(name: &'static str) -> Self {
        Self {
            env: TestEnv::new(),
            name,
            on: Vec::new(),
            clock: None,
        }
    }

    /// The same with a checkout.
    pub(crate) fn begun(self) -> Self {
        self.env.git_init();
        let remote = "https://ana:hunter2@github.com/acme/app.git";
        self.env.git(&["remote", "add", "origin", remote]);
        self.run(&["init", "--yes"]).success();
        self
    }

    /// A machine that is configured, and has not joined.
    pub(crate) fn new(name: &'static str, server: &NatsServer, more: &str) -> Self {
        let machine = Self::bare(name).begun();
        machine.configure(&server.address(), more);
        machine
    }

    /// A machine that has joined.
    pub(crate) fn join(name: &'static str, server: &NatsServer) -> Self {
        let machine = Self::new(name, server, "");
        machine.run(&["mesh", "fleet", "join"]).success();
        machine
    }

    pub(crate) fn configure(&self, address: &str, more: &str) {
        self.configure_all(&[address.to_owned()], more);
    }

    pub(crate) fn configure_all(&self, addresses: &[String], more: &str) {
        let name = self.name;
        let text = format!(
            "[mesh.fleet]\nservers = {addresses:?}\nworkspace = \"team\"\nuser = \"ana\"\nmachine = \"{name}\"\n\
             repositories = [\"github.com/acme/*\"]\n{more}\n"
        );
        let file = self.env.configuration();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// The program on this machine, with ids and a clock as on a real one.
    pub(crate) fn callosum(&self, arguments: &[&str]) -> Run {
        let run = match self.on.split_first() {
            None => self.env.callosum(),
            Some((ip, rest)) => {
                let program = callosum_testkit::fakes::program("callosum");
                let run = self.env.program(ip.into()).arguments(rest);
                run.arguments([program])
            }
        };
        let run = run.arguments(arguments).without("CALLOSUM_TEST_IDS");
        match self.clock {
            Some(seconds) => run.env("CALLOSUM_TEST_CLOCK", seconds),
            None => run.without("CALLOSUM_TEST_CLOCK"),
        }
    }

    /// Posts a list of events to the daemon of this machine. Returns the status of the answer. The socket is reached from any
    /// network namespace.
    pub(crate) fn post(&self, events: &[Value]) -> u16 {
        let socket = self.env.machine_home().join("mesh/serve.sock");
        let mut stream = UnixStream::connect(socket).unwrap();
        let body = serde_json::to_vec(events).unwrap();
        let length = body.len();
        let head = format!(
            "POST /events?durability=synced HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        let mut answer = Vec::new();
        // An answer before all was read ends the connection.
        drop(stream.read_to_end(&mut answer));
        let answer = String::from_utf8_lossy(&answer);
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        status.unwrap_or_else(|| panic!("no answer: {answer}"))
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.callosum(arguments).run()
    }

    pub(crate) fn sync(&self) -> Value {
        let synced = self.run(&["mesh", "fleet", "sync", "--json"]);
        synced.success().json()
    }

    pub(crate) fn status(&self) -> Value {
        self.run(&["mesh", "fleet", "status", "--json"])
            .success()
            .json()
    }

    pub(crate) fn add(&self, id: &str, prompt: &str) {
        let add = ["mesh", "task", "add", prompt, "--id", id, "--as", "codex"];
        self.run(&add).success();
    }

    pub(crate) fn claim(&self, id: &str) -> Output {
        let session = format!("session-{}", self.name);
        self.run(&[
            "mesh",
            "task",
            "claim",
            id,
            "--as",
            "codex",
            "--session",
            &session,
            "--json",
        ])
    }

    pub(crate) fn done(&self, id: &str, result: &str) -> Output {
        let session = format!("session-{}", self.name);
        self.run(&[
            "mesh",
            "task",
            "done",
            id,
            "--result",
            result,
            "--as",
            "codex",
            "--session",
            &session,
        ])
    }

    pub(crate) fn task(&self, id: &str) -> Value {
        self.run(&["mesh", "task", "show", id, "--json"])
            .success()
            .json()
    }

    /// The lines of the log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let text = self.log_text();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The log as it is written.
    pub(crate) fn log_text(&self) -> String {
        let folder = self.env.machine_home().join("mesh/events");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let texts = files
            .iter()
            .map(|file| std::fs::read_to_string(file).unwrap());
        texts.collect()
    }

    pub(crate) fn origin(&self) -> String {
        let path = self.env.machine_home().join("mesh/origin");
        std::fs::read_to_string(path).unwrap().trim().to_owned()
    }

    /// Events in the log by the machine that they come from: places in the other log with ids, in the order of this one.
    fn received(&self) -> BTreeMap<String, Vec<(u64, String)>> {
        let mut received: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
        for line in self.log() {
            if let Some(origin) = line["from"]["origin"].as_str() {
                let seq = line["from"]["seq"].as_u64().unwrap();
                let id = line["id"].as_str().unwrap().to_owned();
                received
                    .entry(origin.to_owned())
                    .or_default()
                    .push((seq, id));
            }
        }
        received
    }
}

/// A daemon of a machine, which replicates; killed when it is dropped.
pub(crate) struct Daemon<'m> {
    machine: &'m Machine,
    pid: u64,
}

impl<'m> Daemon<'m> {
    pub(crate) fn start(machine: &'m Machine) -> Self {
        let arguments = [
            "serve",
            "--detach",
            "--json",
            "--events",
            "127.0.0.1:0",
            "--bus",
            "127.0.0.1:0",
            "--metrics",
            "off",
            "--rate",
            "1000000",
        ];
        let serving = machine.run(&arguments).success().json();
        let pid = serving["pid"].as_u64().unwrap();
        Self { machine, pid }
    }

    /// Asks it to end, and waits.
    pub(crate) fn stop(&self) {
        self.machine.run(&["serve", "stop"]).success();
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        // The number may be another's by now.
        let name = std::fs::read_to_string(format!("/proc/{}/comm", self.pid));
        if name.is_ok_and(|name| name.trim() == "callosum") {
            let kill = self.machine.env.program("kill".into());
            kill.arguments(["-KILL", &self.pid.to_string()]).run();
        }
    }
}

/// Compares the logs: each event of another machine is there once, in the order of its log and as its log has it, and all
/// other machines have the same.
pub(crate) fn check_logs(machines: &[&Machine]) {
    for machine in machines {
        let own: BTreeMap<u64, Value> = machine
            .log()
            .into_iter()
            .filter(|line| line["from"].is_null())
            .map(|line| (line["seq"].as_u64().unwrap(), line))
            .collect();
        let mut sent = None;
        for other in machines.iter().filter(|other| other.name != machine.name) {
            let received = other
                .received()
                .remove(&machine.origin())
                .unwrap_or_default();
            assert!(
                received.is_sorted_by(|one, other| one.0 < other.0),
                "{} has events of {} twice or in another order",
                other.name,
                machine.name
            );
            for (seq, id) in &received {
                assert_eq!(own[seq]["id"], **id, "{seq} of {}", machine.name);
            }
            let sent = sent.get_or_insert_with(|| received.clone());
            assert_eq!(
                *sent, received,
                "{} lacks events of {}",
                other.name, machine.name
            );
        }
    }
}

/// Has all of them send and receive until each has all.
pub(crate) fn sync_all(machines: &[&Machine]) {
    for _ in 0..2 {
        for machine in machines {
            machine.sync();
        }
    }
}
