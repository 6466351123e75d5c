//! `cargo xtask hooks`: what the guard costs an agent, beside what costs nothing.
//!
//! A hook is a process per call of a tool, so it is measured as one: started, given an event, and
//! waited for, in turns with a static program that does nothing, since the figures of a busy machine
//! compare with nothing but each other. Then snapshots of a repository of 10,000 files, beside `git
//! stash create`. What is deliberately not here: a verdict; the numbers go to
//! `docs/performance.md` by hand, with the machine that they were measured on.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use crate::{cargo, command_of_the_developer, goes_well, say};

/// How many files the repository has.
const FILES: usize = 10_000;

/// How many of them are changed.
const EDITS: usize = 20;

/// How often each snapshot is taken.
const SNAPSHOTS: usize = 9;

/// Builds the program for release, runs everything, and prints what it took.
pub(crate) fn hooks(runs: usize) -> ExitCode {
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked", "--release"]);
    build.args(["--package", "callosum", "--bin", "callosum"]);
    if !goes_well(build) {
        return ExitCode::FAILURE;
    }
    match Bench::new().and_then(|bench| bench.run(runs)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&fault);
            ExitCode::FAILURE
        }
    }
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
    fn new() -> Result<Self, String> {
        let itself = std::env::current_exe().map_err(|error| error.to_string())?;
        let target = itself
            .ancestors()
            .nth(2)
            .ok_or("this program stands in no target folder")?;
        let folder = target.join("hooks");
        drop(std::fs::remove_dir_all(&folder));
        let repository = folder.join("repository");
        let bench = Self {
            callosum: target.join("release/callosum"),
            nothing: folder.join("nothing"),
            folder,
        };
        let laid_out = || {
            for number in 0..FILES {
                let path = bench.file(number);
                std::fs::create_dir_all(path.parent().unwrap_or(&repository))?;
                std::fs::write(path, format!("the content of file {number}\n"))?;
            }
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
        let folder = self
            .folder
            .join("repository")
            .join(format!("d{}", number % 100));
        folder.join(format!("f{number}.txt"))
    }

    fn run(&self, runs: usize) -> Result<(), String> {
        for (name, command) in [
            ("git status", "git status"),
            ("git reset --hard", "git reset --hard"),
        ] {
            let (mut without, mut with) = (Vec::new(), Vec::new());
            for _ in 0..runs {
                let mut nothing = command_of_the_developer(&self.nothing);
                without.push(self.time(&mut nothing, command)?);
                let mut hook = self.callosum(&["hook", "claude", "pre-tool-use"]);
                with.push(self.time(&mut hook, command)?);
            }
            report("a program that does nothing", &mut without);
            report(&format!("hook, `{name}`"), &mut with);
        }
        self.snapshots()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn snapshots(&self) -> Result<(), String> {
        let create = ["--no-progress", "snapshot", "create"];
        let mut first = vec![self.time(&mut self.callosum(&create), "")?];
        report("snapshot, the first", &mut first);
        let (mut ours, mut stash) = (Vec::new(), Vec::new());
        for _ in 0..SNAPSHOTS {
            ours.push(self.time(&mut self.callosum(&create), "")?);
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
            ours.push(self.time(&mut self.callosum(&create), "")?);
        }
        report(&format!("git stash create, {EDITS} edits"), &mut stash);
        report(&format!("snapshot, {EDITS} edits"), &mut ours);
        Ok(())
    }

    fn callosum(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer(&self.callosum);
        command.args(arguments);
        command.env("CALLOSUM_HOME", self.folder.join("home"));
        command
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer("git");
        command.current_dir(self.folder.join("repository"));
        command.args([
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
        "{name:<32} p50 {:>7.2} ms   p99 {:>7.2} ms   of {}",
        at(50).as_secs_f64() * 1e3,
        at(99).as_secs_f64() * 1e3,
        times.len(),
    ));
}
