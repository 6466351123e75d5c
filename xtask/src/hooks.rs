//! `cargo xtask hooks`: what the guard costs an agent, beside what costs nothing.
//!
//! A hook is a process per call of a tool, so it is measured as one: started, given an event, and waited for, in turns
//! with a static program that does nothing, since the figures of a busy machine compare with nothing but each other; once
//! more with a `cake_config.yaml` of the user and of the project to read. What is started is a copy of the program, as
//! an installation makes one: of a file that a linker has written in pieces the system maps fewer pages at once. Then
//! snapshots of a repository of 10,000 files, beside `git stash create`, each of which must leave the repository's
//! index, refs and objects as they were.
//!
//! What is deliberately not here: a verdict; the numbers go to `docs/performance.md` by hand, with the
//! machine that they were measured on.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use crate::{
    command_of_the_developer,
    release_build::{Release, with_release},
    say,
};

/// How many files the repository has.
const FILES: usize = 10_000;

/// How many of them are changed.
const EDITS: usize = 20;

/// How often each snapshot is taken.
const SNAPSHOTS: usize = 9;

/// The guard's configuration: its name, and the seed's own example with a rule.
const CONFIG: (&str, &str) = (
    "cake_config.yaml",
    "version: \"1.0\"\nstrictness: balanced\nescalation:\n  max_strikes: 4\n  cooldown_minutes: 5\n  \
     human_notification:\n    enabled: false\n    webhook: \"\"\nperformance:\n  max_latency_ms: 300\n  \
     max_memory_mb: 1024\nsafety:\n  require_confirmation: false\n  audit_all_commands: true\nrules:\n  \
     - {id: my.deploy, tools: [deploy], when: [prod], severity: block, reason: people deploy}\n",
);

/// Builds the program for release, runs everything, and prints what it took.
pub(crate) fn hooks(runs: usize) -> ExitCode {
    with_release(|release| Bench::new(release)?.run(runs))
}

/// A folder to run in, and the programs.
struct Bench {
    folder: PathBuf,
    callosum: PathBuf,
    nothing: PathBuf,
}

impl Bench {
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn new(release: &Release) -> Result<Self, String> {
        let folder = release.target.join("hooks");
        drop(std::fs::remove_dir_all(&folder));
        let repository = folder.join("repository");
        let bench = Self {
            callosum: folder.join("callosum"),
            nothing: folder.join("nothing"),
            folder,
        };
        let laid_out = || {
            for number in 0..FILES {
                let path = bench.file(number);
                std::fs::create_dir_all(path.parent().unwrap_or(&repository))?;
                std::fs::write(path, format!("the content of file {number}\n"))?;
            }
            std::fs::copy(&release.callosum, &bench.callosum)?;
            std::fs::write(bench.folder.join("nothing.rs"), "fn main() {}\n")
        };
        laid_out().map_err(|error| format!("{}: {error}", bench.folder.display()))?;
        let mut rustc = command_of_the_developer("rustc");
        rustc.args(["-O", "-C", "target-feature=+crt-static", "-o"]);
        rustc
            .arg(&bench.nothing)
            .arg(bench.folder.join("nothing.rs"));
        ended(rustc.status())?;
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message=begin"],
        ] {
            ended(bench.git(arguments).status())?;
        }
        Ok(bench)
    }

    fn file(&self, number: usize) -> PathBuf {
        self.file_at(&format!("d{}/f{number}.txt", number % 100))
    }

    fn file_at(&self, path: &str) -> PathBuf {
        self.folder.join("repository").join(path)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn run(&self, runs: usize) -> Result<(), String> {
        for command in ["git status", "git reset --hard"] {
            self.events(runs, command, "")?;
        }
        let (users, projects) = (self.folder.join(CONFIG.0), self.file_at(CONFIG.0));
        for path in [&users, &projects] {
            std::fs::write(path, CONFIG.1).map_err(|error| error.to_string())?;
        }
        self.events(runs, "git status", ", two cake_config.yaml")?;
        for path in [&users, &projects] {
            std::fs::remove_file(path).map_err(|error| error.to_string())?;
        }
        self.snapshots()
    }

    fn events(&self, runs: usize, command: &str, more: &str) -> Result<(), String> {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            let mut nothing = command_of_the_developer(&self.nothing);
            without.push(self.time(&mut nothing, command)?);
            let mut hook = self.callosum(&["hook", "claude", "pre-tool-use"]);
            with.push(self.time(&mut hook, command)?);
        }
        report("a program that does nothing", &mut without);
        report(&format!("hook, `{command}`{more}"), &mut with);
        Ok(())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn snapshots(&self) -> Result<(), String> {
        let mut first = vec![self.snapshot()?];
        report("snapshot, the first", &mut first);
        let (mut ours, mut stash) = (Vec::new(), Vec::new());
        for _ in 0..SNAPSHOTS {
            ours.push(self.snapshot()?);
        }
        report("snapshot, nothing changed", &mut ours);
        ours.clear();
        for round in 0..SNAPSHOTS {
            for edit in 0..EDITS {
                let path = self.file(round * EDITS + edit);
                std::fs::write(&path, format!("edit {round}\n"))
                    .map_err(|error| error.to_string())?;
            }
            stash.push(self.time(&mut self.git(&["stash", "create"]), "")?);
            ours.push(self.snapshot()?);
        }
        report(&format!("git stash create, {EDITS} edits"), &mut stash);
        report(&format!("snapshot, {EDITS} edits"), &mut ours);
        Ok(())
    }

    /// Takes a snapshot, and fails where that changes anything of the repository's own.
    fn snapshot(&self) -> Result<Duration, String> {
        let before = self.standing()?;
        let took = self.time(
            &mut self.callosum(&["--no-progress", "snapshot", "create"]),
            "",
        )?;
        if self.standing()? == before {
            return Ok(took);
        }
        Err("a snapshot changed the repository's index, refs or objects".to_owned())
    }

    /// The repository's index, its refs, and how many objects it has.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore looks at its files with what the standard library has"
    )]
    fn standing(&self) -> Result<[Vec<u8>; 3], String> {
        let index = std::fs::read(self.file_at(".git/index")).map_err(|error| error.to_string())?;
        let said = |arguments: &[&str]| {
            let output = self.git(arguments).output();
            output
                .map(|output| output.stdout)
                .map_err(|error| error.to_string())
        };
        Ok([
            index,
            said(&["for-each-ref"])?,
            said(&["count-objects", "--verbose"])?,
        ])
    }

    fn callosum(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer(&self.callosum);
        command.args(arguments);
        command.env("CALLOSUM_HOME", self.folder.join("home"));
        command.env("CALLOSUM_CONFIG", self.folder.join("config.toml"));
        command
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer("git");
        command.current_dir(self.folder.join("repository"));
        command.args([
            // Nothing tidies up behind a snapshot's back.
            "-c",
            "maintenance.auto=false",
            "-c",
            "gc.auto=0",
            "-c",
            "user.name=Bench",
            "-c",
            "user.email=bench@example.org",
        ]);
        command.args(arguments);
        command
    }

    /// How long a program takes from its start to its end, with an event to read.
    fn time(&self, program: &mut Command, command: &str) -> Result<Duration, String> {
        let event = format!(
            "{{\"cwd\": \"{}\", \"tool_name\": \"Bash\", \"tool_input\": {{\"command\": \"{command}\"}}}}",
            self.folder.join("repository").display()
        );
        program
            .current_dir(self.folder.join("repository"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = program.spawn().map_err(|error| error.to_string())?;
        if let Some(mut input) = child.stdin.take() {
            // Who reads nothing may be gone.
            drop(input.write_all(event.as_bytes()));
        }
        child.wait().map_err(|error| error.to_string())?;
        Ok(begun.elapsed())
    }
}

fn ended(status: std::io::Result<std::process::ExitStatus>) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("a program ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}

fn report(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    say(&format!(
        "{name:<42} p50 {:>7.2} ms   p99 {:>7.2} ms   of {}",
        at(50).as_secs_f64() * 1e3,
        at(99).as_secs_f64() * 1e3,
        times.len(),
    ));
}
