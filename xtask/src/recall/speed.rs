//! `cargo xtask recall-speed`: first index, update and query of many past sessions, compared with ripgrep over the same files.
//!
//! Each is a process of its own, and the programs alternate, since times of a busy machine compare with nothing but each other.
//! The daemon is asked by HTTP on one connection. Not here: a verdict; the numbers go to `docs/performance/memory.md` by hand.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::generate::{Random, generate, word};
use crate::{
    command_of_the_developer,
    release_build::{Release, with_release},
    repository::fetch_model,
    say,
};

/// Queries of each kind.
const QUERIES: usize = 40;

/// Queries of the daemon.
const ASKED: usize = 300;

/// Turns that are added before an update.
const ADDED: usize = 100;

/// Builds the program for release, writes sessions with so many turns, measures, and prints a table.
pub(crate) fn speed(turns: usize) -> ExitCode {
    with_release(|release| Bench::new(release, turns)?.run())
}

/// A home with sessions, and the program.
struct Bench {
    home: PathBuf,
    project: PathBuf,
    program: PathBuf,
}

impl Bench {
    fn new(release: &Release, turns: usize) -> Result<Self, String> {
        let folder = release.target.join("recall-speed");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        }
        let home = folder.join("home");
        let (made, bytes) = generate(&home, turns)?;
        say(&format!(
            "{made} turns in {:.0} MB of session files",
            bytes as f64 / 1e6
        ));
        let project = folder.join("project");
        fs::create_dir_all(&project).map_err(|error| error.to_string())?;
        Ok(Self {
            home,
            project,
            program: release.callosum.clone(),
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(&self.project)
            .env_clear();
        command.env("HOME", &self.home).env("PATH", "/usr/bin:/bin");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn run(&self) -> Result<(), String> {
        self.measure("words")?;
        let model = self.home.join(".config/callosum/model");
        match fetch_model(&model) {
            Ok(()) => self.measure("words and meaning"),
            Err(fault) => {
                say(&format!("without a model: {fault}"));
                Ok(())
            }
        }
    }

    fn measure(&self, method: &str) -> Result<(), String> {
        drop(self.command(&["memory", "forget", "--all"]).status());
        let (took, peak) = watched(self.command(&["memory", "on"]))?;
        say(&format!(
            "{method}: first index {:.1} s, {peak:.0} MB at most",
            took.as_secs_f64()
        ));
        let index = fs::metadata(self.home.join(".local/state/callosum/memory/turns.db"));
        let index = index.map_or(0, |index| index.len());
        say(&format!("{method}: index of {:.0} MB", index as f64 / 1e6));
        let unchanged = self.find("nothing");
        let mut updates = Vec::new();
        for round in 0..5 {
            self.append(round)?;
            updates.push(self.find("nothing"));
        }
        say(&format!(
            "{method}: `find --sessions` with nothing new {}, after {ADDED} new turns {}",
            shown(&mut [unchanged]),
            shown(&mut updates)
        ));
        let (mut ours, mut others, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for question in questions(QUERIES) {
            ours.push(self.find(&question));
            let mut rg = command_of_the_developer("rg");
            rg.args([
                "--hidden",
                "--files-with-matches",
                "--ignore-case",
                "--fixed-strings",
            ]);
            for word in question.split(' ') {
                rg.args(["-e", word]);
            }
            rg.current_dir(&self.home)
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            others.push(timed(rg));
            starts.push(timed(self.command(&["--version"])));
        }
        say(&format!(
            "{method}: query as a new process {}, rg {}, `--version` {}",
            shown(&mut ours),
            shown(&mut others),
            shown(&mut starts)
        ));
        let mut daemon = Daemon::start(self)?;
        let mut answers = Vec::new();
        for question in questions(ASKED) {
            answers.push(daemon.ask(&question)?);
        }
        answers.drain(..ASKED / 10);
        let peak = memory(daemon.child.id()).unwrap_or(0.0);
        say(&format!(
            "{method}: query of the daemon {}, its memory {peak:.0} MB",
            shown(&mut answers)
        ));
        Ok(())
    }

    fn find(&self, question: &str) -> Duration {
        timed(self.command(&["find", "--sessions", "--all-projects", question]))
    }

    /// Adds turns to sessions of Claude Code.
    fn append(&self, round: usize) -> Result<(), String> {
        let folder = self.home.join(".claude/projects/-home-ana-src-project0");
        let entries = fs::read_dir(&folder).map_err(|error| error.to_string())?;
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        files.sort_unstable();
        let file = files.get(round).ok_or("too few sessions")?;
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(file)
            .map_err(|error| error.to_string())?;
        let mut random = Random::new(round as u64 + 5);
        for turn in 0..ADDED {
            let words: Vec<String> = (0..60).map(|_| word(random.below(9000))).collect();
            let line = json!({
                "type": "assistant", "uuid": format!("new-{round}-{turn}-{}", random.below(1 << 30)), "timestamp": "2026-11-01T00:00:00Z",
                "message": { "role": "assistant", "content": [{ "type": "text", "text": words.join(" ") }] },
            });
            writeln!(file, "{line}").map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Returns questions of common and rare words, of names, and of parts of names.
fn questions(count: usize) -> Vec<String> {
    let mut random = Random::new(97);
    let one = |at: usize| match at % 4 {
        0 => word(40 * random.below(300) + 13),
        1 => format!(
            "{} {} {}",
            word(random.below(60)),
            word(random.below(3000)),
            word(random.below(20_000))
        ),
        2 => format!(
            "{} {}",
            word(40 * random.below(300) + 29),
            word(random.below(900))
        ),
        _ => format!(
            "{} {} {} {}",
            word(random.below(20)),
            word(random.below(200)),
            word(random.below(2000)),
            word(random.below(9000))
        ),
    };
    (0..count).map(one).collect()
}

fn timed(mut command: Command) -> Duration {
    let begun = Instant::now();
    drop(command.status());
    begun.elapsed()
}

/// Runs a command, and returns its time and the most memory that it had, in megabytes.
fn watched(mut command: Command) -> Result<(Duration, f64), String> {
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut peak: f64 = 0.0;
    loop {
        peak = peak.max(memory(child.id()).unwrap_or(0.0));
        if child
            .try_wait()
            .map_err(|error| error.to_string())?
            .is_some()
        {
            return Ok((begun.elapsed(), peak));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the most memory that a process had, in megabytes.
fn memory(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

/// Returns median and 95th percentile.
fn shown(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: usize| {
        times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1000.0
    };
    format!("{:.1} ms (p95 {:.1})", at(50), at(95))
}

/// The daemon, with one connection.
struct Daemon {
    child: Child,
    stream: BufReader<TcpStream>,
}

impl Daemon {
    fn start(bench: &Bench) -> Result<Self, String> {
        let off = [
            "--events",
            "off",
            "--bus",
            "off",
            "--metrics",
            "off",
            "--page",
            "off",
        ];
        let mut command = bench.command(&["serve", "--json", "--memory", "127.0.0.1:0"]);
        command.args(off).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut output = BufReader::new(output);
        let mut text = String::new();
        let serving: Value = loop {
            let read = output
                .read_line(&mut text)
                .map_err(|error| error.to_string())?;
            match serde_json::from_str(&text) {
                Ok(serving) => break serving,
                Err(error) if read == 0 => return Err(format!("{text}: {error}")),
                Err(_) => {}
            }
        };
        let address = serving["memory"]
            .as_str()
            .ok_or_else(|| format!("{serving} has no address"))?;
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        let stream = BufReader::new(stream);
        Ok(Self { child, stream })
    }

    fn ask(&mut self, question: &str) -> Result<Duration, String> {
        let body = json!({ "query": question, "k_rag": 5, "max_tokens": 300 }).to_string();
        let request = format!(
            "POST /query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let begun = Instant::now();
        let failed = |error: std::io::Error| error.to_string();
        self.stream
            .get_mut()
            .write_all(request.as_bytes())
            .map_err(failed)?;
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            self.stream.read_line(&mut line).map_err(failed)?;
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).map_err(failed)?;
        let took = begun.elapsed();
        if String::from_utf8_lossy(&body).contains("related_turns") {
            Ok(took)
        } else {
            Err(String::from_utf8_lossy(&body).into_owned())
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
