//! [`Workspace`]: a nats-server and the daemons of so many machines, which end when it is dropped.

#![expect(
    clippy::disallowed_methods,
    reason = "a chore lays out files beside the program, and reads what the system counts"
)]

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{command_of_the_developer, release_build::target};

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_mins(10);

/// Ticks of processor time in a second, as `/proc` counts them.
const TICKS: f64 = 100.0;

/// Counts of a workspace since its beginning.
pub(super) struct Reading {
    /// Bytes that the server received and sent.
    pub(super) bytes: f64,
    /// Seconds of processors that the server took.
    pub(super) server: f64,
    /// Those of all machines together.
    pub(super) machines: f64,
}

pub(super) struct Workspace {
    server: Child,
    /// Port at which the server tells its counts.
    monitor: u16,
    pub(super) machines: Vec<Machine>,
}

impl Workspace {
    pub(super) fn start(program: &Path, size: usize) -> Result<Self, String> {
        let folder = target()?.join("fleet-cost");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        }
        let ports = folder.join("ports");
        fs::create_dir_all(&ports).map_err(|error| error.to_string())?;
        let store = folder.join("store");
        let text = format!(
            "host: 127.0.0.1\nport: -1\nhttp: \"127.0.0.1:-1\"\njetstream {{ store_dir: \"{}\", max_file_store: 10GB }}\n",
            store.display()
        );
        let configuration = folder.join("server.conf");
        fs::write(&configuration, text).map_err(|error| error.to_string())?;
        let mut command = command_of_the_developer(nats_server());
        command
            .arg("--config")
            .arg(configuration)
            .arg("--ports_file_dir")
            .arg(&ports);
        let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = server.map_err(|error| format!("nats-server cannot be started: {error}"))?;
        let mut workspace = Self {
            server,
            monitor: 0,
            machines: Vec::new(),
        };
        let port = |kind: &str| {
            let files = fs::read_dir(&ports).ok()?.flatten();
            let mut texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
            let ports: Value = serde_json::from_str(&texts.next()?).ok()?;
            let address = ports[kind][0].as_str()?;
            address.rsplit(':').next()?.parse::<u16>().ok()
        };
        wait_for("the server listens", || port("nats").is_some())?;
        let nats = port("nats").unwrap_or_default();
        workspace.monitor = port("monitoring").unwrap_or_default();
        for number in 0..size {
            let machine =
                Machine::start(program, &folder.join(format!("m{number}")), number, nats)?;
            workspace.machines.push(machine);
        }
        wait_for("all machines see each other", || {
            workspace
                .machines
                .iter()
                .all(|machine| machine.peers() == Some(size - 1))
        })?;
        // The first signs of life of all have been read.
        thread::sleep(Duration::from_secs(3));
        Ok(workspace)
    }

    pub(super) fn read(&self) -> Result<Reading, String> {
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.monitor)).map_err(|error| error.to_string())?;
        let counts = get(&mut stream, "/varz")?;
        let counts: Value = serde_json::from_str(&counts).map_err(|error| error.to_string())?;
        let count = |key: &str| counts[key].as_f64().unwrap_or_default();
        let machines = self
            .machines
            .iter()
            .map(|machine| processor_time(machine.pid));
        Ok(Reading {
            bytes: count("in_bytes") + count("out_bytes"),
            server: precise_processor_time(self.server.id()),
            machines: machines.sum(),
        })
    }

    /// Waits until the log of each machine has all that was posted at any.
    pub(super) fn wait(&self) -> Result<(), String> {
        let posted = self
            .machines
            .iter()
            .map(|machine| machine.posted.load(Ordering::Relaxed));
        let posted: usize = posted.sum();
        wait_for("all logs have everything", || {
            self.machines.iter().all(|machine| machine.has() >= posted)
        })
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        for machine in &self.machines {
            drop(machine.command(&["serve", "stop"]).output());
        }
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

pub(super) struct Machine {
    program: PathBuf,
    folder: PathBuf,
    pid: u32,
    page: String,
    posted: AtomicUsize,
}

impl Machine {
    fn start(program: &Path, folder: &Path, number: usize, nats: u16) -> Result<Self, String> {
        let mut machine = Self {
            program: program.to_owned(),
            folder: folder.to_owned(),
            pid: 0,
            page: String::new(),
            posted: AtomicUsize::new(0),
        };
        fs::create_dir_all(machine.project()).map_err(|error| error.to_string())?;
        let remote = "https://github.com/acme/app.git";
        for arguments in [
            &["init", "--quiet"][..],
            &["remote", "add", "origin", remote],
        ] {
            let mut git = command_of_the_developer("git");
            git.args(arguments).current_dir(machine.project());
            machine.goes_well(git)?;
        }
        let text = format!(
            "[mesh.fleet]\nservers = [\"nats://127.0.0.1:{nats}\"]\nworkspace = \"team\"\nuser = \"ana\"\n\
             machine = \"m{number}\"\nrepositories = [\"github.com/acme/*\"]\n"
        );
        fs::write(folder.join("config.toml"), text).map_err(|error| error.to_string())?;
        machine.goes_well(machine.command(&["mesh", "fleet", "join"]))?;
        let serve = [
            "serve",
            "--detach",
            "--json",
            "--events",
            "off",
            "--bus",
            "off",
            "--metrics",
            "off",
            "--rate",
            "1000000",
            "--page",
            "127.0.0.1:0",
        ];
        let output = machine
            .command(&serve)
            .output()
            .map_err(|error| error.to_string())?;
        let serving: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        machine.pid = serving["pid"]
            .as_u64()
            .and_then(|pid| pid.try_into().ok())
            .unwrap_or(0);
        let page = serving["page"].as_str().unwrap_or_default();
        page.trim_start_matches("http://")
            .trim_end_matches('/')
            .clone_into(&mut machine.page);
        Ok(machine)
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer(&self.program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.folder)
            .env("CALLOSUM_HOME", self.folder.join("state"))
            .env("CALLOSUM_CONFIG", self.folder.join("config.toml"))
            .current_dir(self.project())
            .stdin(Stdio::null());
        command
    }

    fn goes_well(&self, mut command: Command) -> Result<(), String> {
        let output = command.output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("{}: {error}", self.folder.display()))
    }

    /// An event of about the size of a task that a person would write.
    pub(super) fn event(&self, kind: &str, id: &str) -> String {
        let name = self
            .folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let id = format!("{name}-{id}");
        let text = format!(
            "{id}: check that the pool of connections closes what it opened, and add a test"
        );
        let (topic, payload) = match kind {
            "task" => ("calc.task_handoff", json!({ "id": id, "prompt": text })),
            "message" => (
                "calc.message",
                json!({ "id": id, "to": "gemini-cli", "content": text }),
            ),
            _ => ("calc.discovery", json!({ "id": id, "content": text })),
        };
        let event = json!({
            "type": topic, "source": "codex", "session_id": "s1", "cwd": self.project(), "payload": payload,
        });
        event.to_string()
    }

    /// Posts events to the daemon.
    pub(super) fn post(&self, events: &[String]) -> Result<(), String> {
        let socket = self.folder.join("state/mesh/serve.sock");
        let mut stream = UnixStream::connect(socket).map_err(|error| error.to_string())?;
        let body = format!("[{}]", events.join(","));
        let length = body.len();
        let request = format!(
            "POST /events?durability=synced HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let answer = exchange(&mut stream, &request)?;
        if !is_good(&answer) {
            return Err(answer);
        }
        self.posted.fetch_add(events.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Number of tasks, messages and discoveries in the log.
    fn has(&self) -> usize {
        let files = fs::read_dir(self.folder.join("state/mesh/events"));
        let files = files.into_iter().flatten().flatten();
        let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
        let topics = [
            "\"calc.task_handoff\"",
            "\"calc.message\"",
            "\"calc.discovery\"",
        ];
        let is_it = |line: &&str| topics.iter().any(|topic| line.contains(topic));
        texts.map(|text| text.lines().filter(is_it).count()).sum()
    }

    /// Number of other machines that it sees.
    fn peers(&self) -> Option<usize> {
        let text = fs::read(self.folder.join("state/mesh/fleet/status.json")).ok()?;
        let status: Value = serde_json::from_slice(&text).ok()?;
        status["peers"].as_array().map(Vec::len)
    }

    /// What an agent is told when its session begins.
    pub(super) fn digest(&self) -> Result<String, String> {
        let mut command = self.command(&["mesh", "digest", "--to", "gemini-cli"]);
        let output = command.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A view of the page.
    pub(super) fn page(&self, view: &str) -> Result<String, String> {
        let connect = || TcpStream::connect(&self.page).map_err(|error| error.to_string());
        let found = get_whole(&mut connect()?, "/", &self.page)?;
        let place = found.lines().find_map(|line| {
            let (name, place) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("location")
                .then(|| place.trim().to_owned())
        });
        let place = place.ok_or_else(|| format!("the page has no project: {found}"))?;
        let base = place.rsplit_once('/').map_or("", |(base, _)| base);
        let answer = get_whole(&mut connect()?, &format!("{base}/{view}"), &self.page)?;
        if is_good(&answer) {
            Ok(answer)
        } else {
            Err(answer.lines().next().unwrap_or_default().to_owned())
        }
    }
}

/// The nats-server: the one that is named, or the one on the PATH.
fn nats_server() -> PathBuf {
    let named = std::env::var_os("CALLOSUM_TEST_NATS_SERVER");
    named.map_or_else(|| "nats-server".into(), PathBuf::from)
}

/// Seconds of processors that the threads of a process have taken, without those that have ended: a server keeps its own.
fn precise_processor_time(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let nanoseconds = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e9
}

/// Seconds of processors that a process has taken, also by threads that have ended.
fn processor_time(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before the last bracket may hold spaces.
    let rest = stat.rsplit(") ").next().unwrap_or_default();
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / TICKS
}

fn get(stream: &mut TcpStream, place: &str) -> Result<String, String> {
    let answer = get_whole(stream, place, "127.0.0.1")?;
    let body = answer
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned());
    body.ok_or(answer)
}

fn get_whole(stream: &mut TcpStream, place: &str, host: &str) -> Result<String, String> {
    // An answer to this version comes in one piece.
    let request = format!("GET {place} HTTP/1.0\r\nHost: {host}\r\n\r\n");
    exchange(stream, &request)
}

/// Whether an answer is that of a request that went well.
fn is_good(answer: &str) -> bool {
    answer.split(' ').nth(1) == Some("200")
}

fn exchange(stream: &mut (impl Read + Write), request: &str) -> Result<String, String> {
    stream
        .write_all(request.as_bytes())
        .map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    stream
        .read_to_end(&mut answer)
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) -> Result<(), String> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > PATIENCE {
            return Err(format!("never: {what}"));
        }
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}
