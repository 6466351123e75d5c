//! Benchmark of a decision, over every command of the corpus.
//!
//! `cargo bench -p callosum-guard` prints a line for each file of the corpus, such as
//! `dangerous/git`, and one for all files. A line has the time of a decision at the median and at
//! the 99th percentile of the commands, then the time of forty patterns that look at the text
//! alone, as published guards write them. The time of one command is the median of several
//! runs, which leaves out other load on the machine. The last lines are the first decision of a
//! process, because a hook decides only once.
//!
//! `cargo bench -p callosum-guard -- slowest` lists the slowest commands instead.
//!
//! This does not use divan, which measures one function and not the differences between commands.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark only reports to the terminal, and starts itself for the first decision of a process"
)]

use std::{
    hint::black_box,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use callosum_guard::{Facts, Policy, decide};
use regex::RegexSet;
use serde::Deserialize;

/// Number of decisions per command.
const RUNS: usize = 25;

/// Number of processes that make a first decision.
const PROCESSES: usize = 41;

/// Patterns over the text, as in guards that do not parse shell.
const PATTERNS: [&str; 40] = [
    r"git\s+reset\s+--hard",
    r"git\s+reset\s+--merge",
    r"git\s+push\s+.*(--force|-f)\b",
    r"git\s+push\s+.*--delete",
    r"git\s+clean\s+-[a-z]*f",
    r"git\s+checkout\s+--\s+",
    r"git\s+checkout\s+\.",
    r"git\s+restore\s+",
    r"git\s+branch\s+-D",
    r"git\s+stash\s+(drop|clear)",
    r"git\s+reflog\s+expire",
    r"git\s+filter-branch",
    r"rm\s+-[a-z]*r[a-z]*f",
    r"rm\s+-[a-z]*f[a-z]*r",
    r"rm\s+-r\s+-f",
    r"rm\s+--recursive",
    r"\brm\s+.*\s/\s*$",
    r"chmod\s+(-R\s+)?777",
    r"chown\s+-R",
    r"sudo\s+",
    r"docker.*--privileged",
    r"docker\s+system\s+prune",
    r"docker\s+volume\s+(rm|prune)",
    r"kubectl\s+delete",
    r"terraform\s+(destroy|apply.*-destroy)",
    r"(?i)drop\s+(table|database|schema)",
    r"(?i)truncate\s+table",
    r"(?i)delete\s+from\s+\w+\s*;?\s*$",
    r"mkfs(\.\w+)?\s",
    r"dd\s+.*of=/dev/",
    r">\s*/dev/(sd|nvme|hd)",
    r"curl\s+.*\|\s*(ba)?sh",
    r"wget\s+.*\|\s*(ba)?sh",
    r":\(\)\s*\{\s*:\|:&\s*\};:",
    r"base64\s+(-d|--decode).*\|\s*(ba)?sh",
    r"find\s+.*-delete",
    r"find\s+.*-exec\s+rm",
    r"xargs\s+.*rm\b",
    r"(shutdown|reboot|poweroff|halt)\b",
    r"(npm|cargo|twine)\s+(publish|upload)",
];

#[derive(Deserialize)]
struct Row {
    command: String,
}

struct Group {
    name: String,
    commands: Vec<String>,
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let Some(what) = asked.iter().find_map(|word| word.strip_prefix("first=")) {
        first(what);
        return;
    }
    let groups = groups();
    if asked.iter().any(|word| word == "slowest") {
        slowest(&groups);
        return;
    }
    println!("| commands | how many | decision, p50 | p99 | most | patterns, p50 | p99 |");
    println!("|---|---|---|---|---|---|---|");
    let patterns = patterns();
    let facts = facts();
    let policy = Policy::default();
    let mut all = (Vec::new(), Vec::new());
    for group in &groups {
        let ours = each(group, |command| {
            black_box(decide(command, &facts, &policy));
        });
        let theirs = each(group, |command| {
            black_box(patterns.matches(command).matched_any());
        });
        row(&group.name, &ours, &theirs);
        all.0.extend(ours);
        all.1.extend(theirs);
    }
    row("all", &all.0, &all.1);
    println!();
    for what in ["decision", "patterns", "nothing"] {
        let times = first_of_processes(what);
        println!(
            "first {what} of a process: p50 {}, p99 {}",
            format_duration(at(&times, 50)),
            format_duration(at(&times, 99))
        );
    }
}

/// Reads the files of the corpus, in the order of their names.
fn groups() -> Vec<Group> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut groups: Vec<Group> = ["dangerous", "harmless"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(corpus.join(folder)).expect("the corpus"))
        .filter_map(|entry| {
            let path = entry.expect("a file").path();
            let name = path.strip_prefix(&corpus).ok()?;
            let name = name.to_str()?.strip_suffix(".jsonl")?.to_owned();
            let text = std::fs::read_to_string(&path).expect("text");
            let commands = text
                .lines()
                .map(|line| serde_json::from_str::<Row>(line).expect("a row").command)
                .collect();
            Some(Group { name, commands })
        })
        .collect();
    groups.sort_by(|one, other| one.name.cmp(&other.name));
    groups
}

fn facts() -> Facts {
    Facts {
        cwd: Some("/home/u/p".to_owned()),
        home: Some("/home/u".to_owned()),
        root: Some("/home/u/p".to_owned()),
        git_dir: Some("/home/u/p/.git".to_owned()),
        ..Facts::default()
    }
}

fn patterns() -> RegexSet {
    RegexSet::new(PATTERNS).expect("patterns")
}

/// Returns the times of the commands of a group, sorted.
fn each(group: &Group, mut run: impl FnMut(&str)) -> Vec<Duration> {
    let mut times: Vec<Duration> = group
        .commands
        .iter()
        .map(|command| usual(|| run(command)))
        .collect();
    times.sort_unstable();
    times
}

/// Returns the median time of [`RUNS`] runs.
fn usual(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[RUNS / 2]
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn row(name: &str, ours: &[Duration], theirs: &[Duration]) {
    let (mut ours, mut theirs) = (ours.to_vec(), theirs.to_vec());
    ours.sort_unstable();
    theirs.sort_unstable();
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} |",
        ours.len(),
        format_duration(at(&ours, 50)),
        format_duration(at(&ours, 99)),
        format_duration(at(&ours, 100)),
        format_duration(at(&theirs, 50)),
        format_duration(at(&theirs, 99)),
    );
}

fn format_duration(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

fn slowest(groups: &[Group]) {
    let facts = facts();
    let policy = Policy::default();
    let mut all: Vec<(Duration, &str)> = groups
        .iter()
        .flat_map(|group| &group.commands)
        .map(|command| {
            let time = usual(|| {
                black_box(decide(command, &facts, &policy));
            });
            (time, command.as_str())
        })
        .collect();
    all.sort_unstable();
    for (time, command) in all.iter().rev().take(40) {
        let start: String = command.chars().take(100).collect();
        println!("{} {start:?}", format_duration(*time));
    }
}

/// Makes the first decision of this process, and prints how many nanoseconds it took.
fn first(what: &str) {
    let command = "cd web && git status --short | head -20";
    let start = Instant::now();
    match what {
        "decision" => {
            black_box(decide(command, &facts(), &Policy::default()));
        }
        "patterns" => {
            black_box(patterns().matches(command).matched_any());
        }
        _ => {}
    }
    println!("{}", start.elapsed().as_nanos());
}

fn first_of_processes(what: &str) -> Vec<Duration> {
    let program = std::env::current_exe().expect("this program");
    let mut times: Vec<Duration> = (0..PROCESSES)
        .map(|_| {
            let output = Command::new(&program)
                .arg(format!("first={what}"))
                .output()
                .expect("a process");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Duration::from_nanos(text.trim().parse().expect("a number"))
        })
        .collect();
    times.sort_unstable();
    times
}
