//! `cargo xtask sessions`: how long a new process takes to look at what a session claims.
//!
//! A trajectory with so many claims, each with a quote from one of fifty files, and notes with the same
//! decisions: grounding, the checkpoint before a clear, where things stand, recovery, the hook where a context begins, and a
//! checkpoint of the time between are started in turns with
//! `jq`, which only reads the trajectory, and with `callosum --version`, which is what a process costs.
//!
//! What is deliberately not here: a verdict; the numbers go to `docs/performance.md` by hand.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use crate::{
    command_of_the_developer,
    release_build::{Release, for_each},
    turns::{Started, in_turns},
};

/// How many claims there are.
const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];

/// The trajectory that further claims go to: of a day that comes after every checkpoint.
const NEWEST: &str = "implementing-tasks-2099-01-01.jsonl";

/// How many files are cited.
const FILES: usize = 50;

/// Builds the program for release, runs everything, and prints a line for each.
pub(crate) fn sessions(runs: usize) -> ExitCode {
    for_each(SIZES, |size, release| Bench::new(size, release)?.run(runs))
}

/// A project whose session claims so much.
struct Bench {
    size: usize,
    folder: PathBuf,
    callosum: PathBuf,
}

impl Bench {
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn new(size: usize, release: &Release) -> Result<Self, String> {
        let bench = Self {
            size,
            folder: release.target.join("sessions").join(size.to_string()),
            callosum: release.callosum.clone(),
        };
        drop(std::fs::remove_dir_all(&bench.folder));
        let project = bench.project();
        let laid_out = || {
            std::fs::create_dir_all(project.join("src"))?;
            std::fs::create_dir_all(project.join("loa-grimoire/a2a/trajectory"))?;
            for file in 0..FILES {
                let mut text = String::new();
                for line in 0..size.div_ceil(FILES) {
                    let _ = writeln!(text, "fn number_{file}_{line}() {{}}");
                }
                std::fs::write(project.join(format!("src/a{file}.rs")), text)?;
            }
            std::fs::write(project.join("loa-grimoire/NOTES.md"), notes(size))?;
            let folder = project.display().to_string();
            let event = format!(
                "{{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s\",\"cwd\":{folder:?},\"source\":\"startup\"}}"
            );
            std::fs::write(bench.folder.join("event.json"), event)?;
            std::fs::write(bench.trajectory(), trajectory(size))
        };
        laid_out()
            .map_err(|error: std::io::Error| format!("{}: {error}", bench.folder.display()))?;
        Ok(bench)
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn trajectory(&self) -> PathBuf {
        self.project()
            .join("loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl")
    }

    fn run(&self, runs: usize) -> Result<(), String> {
        let ours = |words: &'static [&str]| move || self.callosum(words);
        let trajectory = self.trajectory();
        let programs: Vec<Started<'_>> = vec![
            (
                "callosum session grounding",
                Box::new(ours(&["session", "grounding", "implementing-tasks"])),
            ),
            (
                "callosum session check",
                Box::new(ours(&["session", "check"])),
            ),
            (
                "callosum session status",
                Box::new(ours(&["session", "status"])),
            ),
            (
                "callosum session recover",
                Box::new(ours(&["session", "recover"])),
            ),
            (
                "jq over the trajectory",
                Box::new(|| {
                    let mut command = command_of_the_developer(Path::new("jq"));
                    command.args(["-s", "[.[] | select(.phase == \"cite\")] | length"]);
                    command.arg(&trajectory).stdin(Stdio::null());
                    command
                }),
            ),
            (
                "callosum hook claude session-start",
                Box::new(|| self.begin()),
            ),
            (
                "callosum session checkpoint, of a new claim",
                Box::new(|| self.after_a_claim(["session", "checkpoint", "--no-transcript"])),
            ),
            ("callosum --version", Box::new(ours(&["--version"]))),
        ];
        in_turns(&format!("{} claims", self.size), &programs, runs)
    }

    /// What a client starts where a context begins.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore hands a file to the program that it times"
    )]
    fn begin(&self) -> Command {
        let mut command = self.callosum(&["hook", "claude", "session-start"]);
        let event = std::fs::File::open(self.folder.join("event.json"));
        command.stdin(event.map_or_else(|_| Stdio::null(), Stdio::from));
        command
    }

    /// A command of ours, after another agent has claimed something more in the trajectory: that is what a
    /// checkpoint has to write down.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore writes what an agent would write"
    )]
    fn after_a_claim(&self, arguments: [&str; 3]) -> Command {
        let path = self.trajectory().with_file_name(NEWEST);
        let mut text = std::fs::read_to_string(&path).unwrap_or_default();
        let number = self.size + text.lines().count();
        let (cited, line, quote) = place(0);
        let time = time(number);
        let _ = writeln!(
            text,
            "{{\"phase\":\"cite\",\"ts\":\"{time}\",\"agent\":\"implementing-tasks\",\"claim\":\"use number {number}\",\
             \"grounding\":\"citation\",\
             \"evidence\":[{{\"path\":\"${{PROJECT_ROOT}}/{cited}\",\"line\":{line},\"quote\":\"{quote}\"}}]}}"
        );
        // Where it cannot be written, the checkpoint has nothing to do, and is timed all the same.
        drop(std::fs::write(&path, text));
        self.callosum(&arguments)
    }

    fn callosum(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer(&self.callosum);
        command
            .args(arguments)
            .current_dir(self.project())
            .stdin(Stdio::null());
        command.env("CALLOSUM_HOME", self.folder.join("machine"));
        command.env("CALLOSUM_CONFIG", self.folder.join("configuration"));
        command
    }
}

/// When a decision was made: each at a second of its own.
fn time(number: usize) -> String {
    const DAY: usize = 24 * 3600;
    format!(
        "2026-01-{:02}T{:02}:{:02}:{:02}Z",
        2 + number / DAY,
        number % DAY / 3600,
        number / 60 % 60,
        number % 60
    )
}

/// The file, line and quote of a claim.
fn place(number: usize) -> (String, usize, String) {
    let (file, line) = (number % FILES, number / FILES);
    let quote = format!("fn number_{file}_{line}() {{}}");
    (format!("src/a{file}.rs"), line + 1, quote)
}

fn trajectory(size: usize) -> String {
    let mut text = String::new();
    for number in 0..size {
        let (path, line, quote) = place(number);
        let time = time(number);
        let _ = writeln!(
            text,
            "{{\"phase\":\"cite\",\"ts\":\"{time}\",\"agent\":\"implementing-tasks\",\"decision\":\"{time}\",\
             \"claim\":\"use number {number}\",\"title\":\"Decision {number}\",\"grounding\":\"citation\",\
             \"evidence\":[{{\"path\":\"${{PROJECT_ROOT}}/{path}\",\"line\":{line},\"quote\":\"{quote}\"}}]}}"
        );
    }
    text
}

fn notes(size: usize) -> String {
    let mut text = String::from(
        "# Agent Working Memory (NOTES.md)\n\n## Session Continuity\n\n### Active Context\n\
         - **Last Checkpoint**: 2026-01-02T00:00:00Z\n\n### Decision Log\n",
    );
    for number in 0..size {
        let (path, line, quote) = place(number);
        let _ = write!(
            text,
            "\n#### {} - Decision {number}\n**Decision**: use number {number}\n**Evidence**:\n\
             - `{quote}` [${{PROJECT_ROOT}}/{path}:{line}]\n",
            time(number)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-PERF-1: as many decisions as are timed have times that are read as such, each its own.
    #[test]
    fn each_decision_has_a_time_of_its_own() {
        let most = SIZES.into_iter().max().unwrap_or_default() + 1_000;
        let times: Vec<String> = (0..most).map(time).collect();
        let is_time = |text: &String| {
            let (day, rest) = (&text[8..10], &text[11..]);
            day < "32" && rest < "24" && text.len() == 20
        };
        assert!(times.iter().all(is_time));
        assert!(times.is_sorted_by(|a, b| a < b));
    }
}
