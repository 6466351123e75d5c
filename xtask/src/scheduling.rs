//! `cargo xtask scheduling`: jobs a second, ours beside other programs that run jobs.
//!
//! The job is `noop`, an executor that does nothing; five run at a time. The others start it and
//! look at how it ended. We ask it for an answer in the executors' protocol, check that, and keep a
//! ledger entry and audit records of each, unconfined and confined. All run in one go, since the
//! figures of a busy machine compare with nothing but each other. Where a program is not installed,
//! a line says so. What is deliberately not here: a verdict; the numbers go to
//! `docs/performance.md` by hand, with the machine that they were measured on.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use crate::{
    cargo, goes_well,
    release_build::{concluded, target},
    say,
};

/// How many jobs run at a time.
const AT_A_TIME: usize = 5;

/// Builds both programs for release, runs everything, and prints a table.
pub(crate) fn scheduling(jobs: usize) -> ExitCode {
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked", "--release"]);
    build.args(["--package", "callosum", "--package", "callosum-testkit"]);
    build.args(["--bin", "callosum", "--bin", "noop"]);
    if !goes_well(build) {
        return ExitCode::FAILURE;
    }
    concluded(compare(jobs))
}

fn compare(jobs: usize) -> Result<(), String> {
    let bench = Bench::new(jobs)?;
    for (name, needed, script) in bench.peers() {
        if bench.has(needed) {
            report(name, jobs, bench.peer(&script));
        } else {
            say(&format!(
                "{name:<28} skipped: `{needed}` is not installed; on Debian, \
                 `apt-get install parallel task-spooler`"
            ));
        }
    }
    for (name, policy) in [
        ("callosum, unconfined", "off"),
        ("callosum, confined", "required"),
    ] {
        report(name, jobs, bench.ours(policy));
    }
    Ok(())
}

fn report(name: &str, jobs: usize, seconds: Result<f64, String>) {
    match seconds {
        Ok(seconds) => say(&format!(
            "{name:<28} {:>7.0} a second",
            jobs as f64 / seconds
        )),
        Err(fault) => say(&format!("{name:<28} failed: {fault}")),
    }
}

/// A folder to run in, and the programs.
struct Bench {
    jobs: usize,
    folder: PathBuf,
    noop: PathBuf,
    callosum: PathBuf,
}

impl Bench {
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn new(jobs: usize) -> Result<Self, String> {
        let target = target()?;
        let bench = Self {
            jobs,
            folder: target.join("scheduling"),
            noop: target.join("release/noop"),
            callosum: target.join("release/callosum"),
        };
        drop(std::fs::remove_dir_all(&bench.folder));
        let mut makefile = String::from("all:");
        for job in 0..jobs {
            let _ = write!(makefile, " j{job}");
        }
        let _ = writeln!(
            makefile,
            "\nj%:\n\t@{} </dev/null >/dev/null",
            bench.noop.display()
        );
        let written = std::fs::create_dir_all(&bench.folder)
            .and_then(|()| std::fs::write(bench.folder.join("Makefile"), makefile));
        written.map_err(|error| format!("{}: {error}", bench.folder.display()))?;
        Ok(bench)
    }

    /// The others: what they are called, the program that they need, and what a shell runs.
    fn peers(&self) -> [(&'static str, &'static str, String); 4] {
        let (jobs, noop) = (self.jobs, self.noop.display());
        [
            (
                "xargs -P5",
                "xargs",
                format!("seq {jobs} | xargs -P{AT_A_TIME} -n1 {noop}"),
            ),
            ("make -j5", "make", format!("make --silent -j{AT_A_TIME}")),
            (
                "GNU parallel -j5",
                "parallel",
                format!("seq {jobs} | parallel --will-cite -j{AT_A_TIME} '{noop} </dev/null #'"),
            ),
            (
                "task-spooler, 5 slots",
                "tsp",
                format!(
                    "export TS_SOCKET=$PWD/tsp TS_SLOTS={AT_A_TIME} TS_MAXFINISHED={jobs}\n\
                     for job in $(seq {jobs}); do tsp -n {noop} </dev/null; done\n\
                     for job in $(seq 0 $(({jobs} - 1))); do tsp -w $job; done; tsp -K"
                ),
            ),
        ]
    }

    fn has(&self, program: &str) -> bool {
        let mut which = self.shell(&format!("command -v {program}"));
        which.output().is_ok_and(|output| output.status.success())
    }

    fn peer(&self, script: &str) -> Result<f64, String> {
        timed(self.shell(script))
    }

    /// A project of its own, with `noop` as its executor and as many tasks as there are jobs.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn ours(&self, policy: &str) -> Result<f64, String> {
        let project = self.folder.join(policy);
        std::fs::create_dir_all(&project).map_err(|error| error.to_string())?;
        self.callosum(&project, &["init"])?;
        let registry = format!(
            "{{\"executors\": [{{\"id\": \"noop\", \"type\": \"cli\", \"version\": \"1.0.0\", \
             \"status\": \"inactive\", \"capabilities\": {{}}, \"command_template\": \"{}\", \
             \"confinement\": \"{policy}\"}}]}}",
            self.noop.display()
        );
        let tasks: Vec<String> = (0..self.jobs)
            .map(|job| {
                format!(
                    "{{\"id\": \"t{job}\", \"prompt\": \"nothing {job}\", \"executor\": \"noop\"}}"
                )
            })
            .collect();
        let tasks = format!("{{\"tasks\": [{}]}}", tasks.join(","));
        for (name, content) in [("registry.json", registry), ("tasks.json", tasks)] {
            std::fs::write(project.join(name), content).map_err(|error| error.to_string())?;
        }
        self.callosum(&project, &["trust", "--yes"])?;
        self.callosum(&project, &["executor", "check", "noop"])?;
        let run = [
            "delegate",
            "--tasks",
            "tasks.json",
            "--mode",
            "concurrent",
            "--json",
        ];
        let seconds = self.callosum(&project, &run)?;
        let ledger = std::fs::read_to_string(project.join(".cal_memory.json"));
        let ledger = ledger.map_err(|error| error.to_string())?;
        if policy == "required" && !ledger.contains("\"confinement\"") {
            return Err("nothing was confined".to_owned());
        }
        Ok(seconds)
    }

    fn callosum(&self, project: &Path, arguments: &[&str]) -> Result<f64, String> {
        let mut command = self.command(&self.callosum);
        command.args(arguments).current_dir(project);
        command.env("CALLOSUM_HOME", self.folder.join("machine"));
        command.env("CALLOSUM_CONFIG", self.folder.join("configuration"));
        timed(command)
    }

    fn shell(&self, script: &str) -> Command {
        let mut shell = self.command(Path::new("sh"));
        shell.args(["-c", script]);
        shell
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a chore measures programs as the developer's own shell starts them"
    )]
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

/// Runs a command to its good end. Returns the seconds that it took, or its last words.
pub(crate) fn timed(mut command: Command) -> Result<f64, String> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let begun = Instant::now();
    let output = command.output().map_err(|error| error.to_string())?;
    let seconds = begun.elapsed().as_secs_f64();
    if output.status.success() {
        return Ok(seconds);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or("it said nothing");
    Err(format!("{}, {last}", output.status))
}
