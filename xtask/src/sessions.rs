//! `cargo xtask sessions`: how long a new process takes to look at what a session claims.
//!
//! A trajectory with so many claims, each with a quote from one of fifty files, and notes with the same
//! decisions: grounding, the checkpoint before a clear, where things stand, and recovery are started in turns with
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
    release::Release,
    say,
    turns::{Started, in_turns},
};

/// How many claims there are.
const SIZES: [usize; 3] = [100, 1_000, 10_000];

/// How many files are cited.
const FILES: usize = 50;

/// Builds the program for release, runs everything, and prints a line for each.
pub(crate) fn sessions(runs: usize) -> ExitCode {
    let done = Release::build().and_then(|release| {
        let mut sizes = SIZES.into_iter();
        sizes.try_for_each(|size| Bench::new(size, &release)?.run(runs))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&fault);
            ExitCode::FAILURE
        }
    }
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
            ("callosum --version", Box::new(ours(&["--version"]))),
        ];
        in_turns(&format!("{} claims", self.size), &programs, runs)
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
    format!(
        "2026-01-02T{:02}:{:02}:{:02}Z",
        number / 3600,
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
