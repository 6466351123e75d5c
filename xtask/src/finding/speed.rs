//! `cargo xtask finding-speed`: how long `callosum find` takes in a repository of thousands of files,
//! beside ripgrep.
//!
//! Both answer the same questions in turns, as new processes, since the figures of a busy machine
//! compare with nothing but each other; so does `callosum --version`, which is what it costs to be
//! started. A search after edits asks for what was just written, so it fails where it is not seen. What
//! is deliberately not here: a verdict; the numbers go to `docs/performance.md` by hand.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use crate::{
    command_of_the_developer,
    release_build::{Release, with_release},
    repository::{LARGE, fetch_large, said},
    say,
    scheduling::timed,
};

/// How often an index is made anew.
const FIRST: usize = 3;

/// How many files are edited at once.
const EDITED: usize = 20;

/// What is looked for, by us and by ripgrep, which is given the words of a question one by one.
const QUESTIONS: [(&str, &[&str]); 6] = [
    ("select_for_update", &["-w", "select_for_update"]),
    ("getAbsoluteUrl", &["-w", "get_absolute_url"]),
    ("\"CSRF cookie not set\"", &["-F", "CSRF cookie not set"]),
    (
        "token of a password reset",
        &["-i", "-e", "token", "-e", "password", "-e", "reset"],
    ),
    (
        "where are migrations squashed",
        &["-i", "-e", "migration", "-e", "squash"],
    ),
    (
        "close old database connections",
        &[
            "-i",
            "-e",
            "close",
            "-e",
            "old",
            "-e",
            "database",
            "-e",
            "connection",
        ],
    ),
];

/// Builds the program for release, fetches the package, runs everything, and prints a table.
pub(crate) fn speed(runs: usize) -> ExitCode {
    with_release(|release| Bench::new(release)?.run(runs))
}

/// A repository, and the programs that look into it.
struct Bench {
    folder: PathBuf,
    root: PathBuf,
    callosum: PathBuf,
    has_ripgrep: bool,
}

impl Bench {
    fn new(release: &Release) -> Result<Self, String> {
        let folder = release.target.join("finding-speed");
        drop(std::fs::remove_dir_all(&folder));
        let root = fetch_large(&folder.join("fetched"))?;
        let mut version = command_of_the_developer("rg");
        version.arg("--version");
        let has_ripgrep = said(version).is_ok();
        if !has_ripgrep {
            say("ripgrep skipped: `rg` is not installed; on Debian, `apt-get install ripgrep`");
        }
        Ok(Self {
            folder,
            root,
            callosum: release.callosum.clone(),
            has_ripgrep,
        })
    }

    fn run(&self, runs: usize) -> Result<(), String> {
        let files = self.files()?;
        say(&format!(
            "{LARGE}, {} files that git would take up",
            files.len()
        ));
        let first: Result<Vec<f64>, String> = (0..FIRST)
            .map(|_| {
                self.forget()?;
                timed(self.find(QUESTIONS[0].0))
            })
            .collect();
        tell("the first `find`, without an index", first?);
        say(&format!("the index has {} MB", self.index_bytes()? >> 20));
        self.ask(runs)?;
        self.ask_after_edits(&files, runs)
    }

    /// Each question by each program, again and again.
    fn ask(&self, runs: usize) -> Result<(), String> {
        let mut ours = vec![Vec::new(); QUESTIONS.len()];
        let mut theirs = vec![Vec::new(); QUESTIONS.len()];
        let mut starts = Vec::new();
        for _ in 0..runs {
            for (index, (question, words)) in QUESTIONS.iter().enumerate() {
                ours[index].push(timed(self.find(question))?);
                if self.has_ripgrep {
                    theirs[index].push(timed(self.ripgrep(words))?);
                }
            }
            starts.push(timed(self.ours(&["--version"]))?);
        }
        for (index, (question, words)) in QUESTIONS.iter().enumerate() {
            let printed = said(self.find(question))?.len();
            tell(
                &format!("find {question}, {printed} bytes"),
                std::mem::take(&mut ours[index]),
            );
            if self.has_ripgrep {
                let printed = said(self.ripgrep(words))?.len();
                tell(
                    &format!("rg {}, {printed} bytes", words.join(" ")),
                    std::mem::take(&mut theirs[index]),
                );
            }
        }
        tell("callosum --version", starts);
        Ok(())
    }

    /// A search for what was written into so many files right before.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn ask_after_edits(&self, files: &[String], runs: usize) -> Result<(), String> {
        let edited: Vec<PathBuf> = files
            .iter()
            .filter(|file| Path::new(file).extension().is_some_and(|it| it == "py"))
            .step_by(files.len() / EDITED / 4)
            .take(EDITED)
            .map(|file| self.root.join(file))
            .collect();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for run in 0..runs {
            for path in &edited {
                let fault = |error: std::io::Error| format!("{}: {error}", path.display());
                let mut text = std::fs::read_to_string(path).map_err(fault)?;
                let _ = write!(text, "\n\ndef written_{run}_times():\n    pass\n");
                std::fs::write(path, text).map_err(fault)?;
            }
            let name = format!("written_{run}_times");
            ours.push(timed(self.find(&name))?);
            if self.has_ripgrep {
                theirs.push(timed(self.ripgrep(&["-w", &name]))?);
            }
        }
        tell(&format!("find, {} files edited before", edited.len()), ours);
        if self.has_ripgrep {
            tell("rg, the same", theirs);
        }
        Ok(())
    }

    /// The files that both look into, in the order of their paths.
    fn files(&self) -> Result<Vec<String>, String> {
        let mut git = command_of_the_developer("git");
        git.args(["ls-files", "--others", "--exclude-standard"])
            .current_dir(&self.root);
        let listed = said(git)?;
        Ok(listed.lines().map(str::to_owned).collect())
    }

    fn machine(&self) -> PathBuf {
        self.folder.join("machine")
    }

    fn forget(&self) -> Result<(), String> {
        let folder = self.machine();
        if !folder.exists() {
            return Ok(());
        }
        std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
    }

    fn index_bytes(&self) -> Result<u64, String> {
        let mut all = command_of_the_developer("du");
        all.args(["-s", "-b"]).arg(self.machine().join("search"));
        let listed = said(all)?;
        let first = listed.split_whitespace().next().unwrap_or_default();
        first.parse().map_err(|_| format!("du said {listed}"))
    }

    fn find(&self, question: &str) -> Command {
        self.ours(&["find", question])
    }

    fn ours(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer(&self.callosum);
        command
            .args(arguments)
            .current_dir(&self.root)
            .stdin(Stdio::null());
        command.env("CALLOSUM_HOME", self.machine());
        command.env("CALLOSUM_CONFIG", self.folder.join("configuration"));
        command
    }

    fn ripgrep(&self, arguments: &[&str]) -> Command {
        let mut command = command_of_the_developer("rg");
        command
            .args(["--no-config", "--line-number"])
            .args(arguments)
            .arg(".")
            .current_dir(&self.root)
            .stdin(Stdio::null());
        command
    }
}

/// Says the median and the 90th percentile of seconds, in milliseconds.
fn tell(what: &str, mut seconds: Vec<f64>) {
    seconds.sort_by(f64::total_cmp);
    let at = |percent: usize| seconds[(seconds.len() - 1) * percent / 100] * 1000.0;
    say(&format!(
        "p50 {:>8.1} ms, p90 {:>8.1}, of {}: {what}",
        at(50),
        at(90),
        seconds.len()
    ));
}
