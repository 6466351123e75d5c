//! `cargo xtask beads`: how long a new process takes to say what is ready, and where things stand.
//!
//! The same tasks, with the same needs and priorities, are given to us and to Taskwarrior, and both are
//! started in turns, since the figures of a busy machine compare with nothing but each other; so is
//! `callosum --version`, which is what it costs to be started. Where Taskwarrior is not installed, a
//! line says so.
//!
//! What is deliberately not here: a verdict; the numbers go to `docs/performance.md` by hand, with the
//! machine that they were measured on.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use crate::{
    command_of_the_developer,
    release_build::{Release, for_each},
    say,
    scheduling::timed,
    turns::{Started, in_turns},
};

/// How many tasks there are.
const SIZES: [usize; 2] = [1_000, 10_000];

/// Decisions in the notes.
const DECISIONS: usize = 200;

/// Builds the program for release, runs everything, and prints a table.
pub(crate) fn beads(runs: usize) -> ExitCode {
    for_each(SIZES, |size, release| Bench::new(size, release)?.run(runs))
}

/// A project of so many beads, and the same in Taskwarrior's form.
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
            folder: release.target.join("beads").join(size.to_string()),
            callosum: release.callosum.clone(),
        };
        drop(std::fs::remove_dir_all(&bench.folder));
        let laid_out = || {
            let project = bench.project();
            std::fs::create_dir_all(project.join(".beads"))?;
            std::fs::create_dir_all(project.join("src"))?;
            std::fs::create_dir_all(bench.folder.join("task"))?;
            let mut lines = String::new();
            for number in 0..DECISIONS {
                let _ = writeln!(lines, "fn number_{number}() {{}}");
            }
            std::fs::write(project.join("src/a.rs"), lines)?;
            std::fs::create_dir_all(project.join("loa-grimoire"))?;
            std::fs::write(project.join("loa-grimoire/NOTES.md"), notes())?;
            for number in 0..size {
                let path = project.join(format!(".beads/bd-{number}.yaml"));
                std::fs::write(path, sheet(number))?;
            }
            std::fs::write(bench.folder.join("taskrc"), bench.taskrc())?;
            std::fs::write(bench.folder.join("tasks.json"), tasks(size))
        };
        laid_out()
            .map_err(|error: std::io::Error| format!("{}: {error}", bench.folder.display()))?;
        Ok(bench)
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn taskrc(&self) -> String {
        let data = self.folder.join("task");
        format!(
            "data.location={}\nconfirmation=off\nverbose=nothing\nhooks=off\nnews.version=9.9.9\n",
            data.display()
        )
    }

    fn run(&self, runs: usize) -> Result<(), String> {
        let has_task = self
            .task(&["--version"])
            .output()
            .is_ok_and(|output| output.status.success());
        let first = timed(self.callosum(&["bead", "ready"]))?;
        say(&format!(
            "{} beads, first `bead ready`, without an index: {:.1} ms",
            self.size,
            first * 1000.0
        ));
        let mut programs: Vec<Started<'_>> = vec![
            (
                "callosum bead ready",
                Box::new(|| self.callosum(&["bead", "ready"])),
            ),
            (
                "callosum session recover",
                Box::new(|| self.callosum(&["session", "recover"])),
            ),
            (
                "callosum --version",
                Box::new(|| self.callosum(&["--version"])),
            ),
        ];
        if has_task {
            let file = self.folder.join("tasks.json");
            timed(self.task(&["import", &file.display().to_string()]))?;
            programs.push(("task ready", Box::new(|| self.task(&["ready", "limit:10"]))));
        } else {
            say(
                "task ready skipped: `task` is not installed; on Debian, `apt-get install taskwarrior`",
            );
        }
        // The index remembers no file that changed within the last two seconds.
        let begun = Instant::now();
        while begun.elapsed().as_secs() < 3 {
            timed(self.callosum(&["bead", "ready"]))?;
        }
        in_turns(&format!("{} beads", self.size), &programs, runs)
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

    fn task(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer(Path::new("task"));
        command
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command.env("TASKRC", self.folder.join("taskrc"));
        command.env("HOME", &self.folder);
        command
    }
}

/// Whether a task is done, its priority from 0 to 4, and the one that it needs.
fn task(number: usize) -> (bool, usize, Option<usize>) {
    let needs = (!number.is_multiple_of(3) && number > 0).then(|| number - 1);
    (number.is_multiple_of(4), number % 5, needs)
}

fn sheet(number: usize) -> String {
    let (is_done, priority, needs) = task(number);
    let status = if is_done { "closed" } else { "open" };
    let mut text = format!(
        "id: bd-{number}\ntitle: \"Do the thing number {number}\"\ntype: task\nstatus: {status}\npriority: {priority}\n\
         created: 2026-01-{:02}T00:00:00Z\nassignee: null\n",
        number % 28 + 1
    );
    if let Some(needs) = needs {
        let _ = write!(text, "depends_on:\n  - bd-{needs}\n");
    }
    text.push_str(
        "decisions: []\ntest_scenarios: []\nhandoffs: []\nnext_steps:\n  - \"measure it\"\n",
    );
    text
}

fn notes() -> String {
    let mut text = String::from(
        "# Agent Working Memory (NOTES.md)\n\n## Session Continuity\n\n### Active Context\n\
         - **Current Bead**: bd-1 (Do the thing number 1)\n- **Last Checkpoint**: 2026-01-02T03:04:05Z\n\n### Decision Log\n",
    );
    for number in 0..DECISIONS {
        let _ = write!(
            text,
            "\n#### 2026-01-01T{:02}:{:02}:00Z - Decision {number}\n**Decision**: use number {number}\n**Evidence**:\n\
             - `fn number_{number}() {{}}` [${{PROJECT_ROOT}}/src/a.rs:{}]\n",
            number / 60,
            number % 60,
            number + 1
        );
    }
    text
}

/// The same for Taskwarrior, which knows three priorities and none.
fn tasks(size: usize) -> String {
    let uuid = |number: usize| format!("00000000-0000-4000-8000-{number:012}");
    let items = (0..size).map(|number| {
        let (is_done, priority, needs) = task(number);
        let mut item = format!(
            "{{\"uuid\":\"{}\",\"description\":\"Do the thing number {number}\",\"entry\":\"20260101T000000Z\"",
            uuid(number)
        );
        let (status, ended) = if is_done {
            ("completed", ",\"end\":\"20260102T000000Z\"")
        } else {
            ("pending", "")
        };
        let _ = write!(item, ",\"status\":\"{status}\"{ended}");
        if let Some(letter) = ["H", "M", "L"].get(priority) {
            let _ = write!(item, ",\"priority\":\"{letter}\"");
        }
        if let Some(needs) = needs {
            let _ = write!(item, ",\"depends\":[\"{}\"]", uuid(needs));
        }
        item + "}"
    });
    format!("[{}]", items.collect::<Vec<_>>().join(",\n"))
}
