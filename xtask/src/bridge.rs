//! `cargo xtask bridge`: how much of what six editors add to the bridge file survives, by the way in which they write.
//!
//! A daemon watches the file. By hand, each of six reads it, thinks for up to a second and writes the whole file back, as an
//! agent's edit tool does, twelve times; a second kind of editor does so under a lock that all of them take; others use
//! the verb, and the folder of additions. What the log has in the end is counted, and how many conflicts were told.
//!
//! The verdict: of each run by hand at most one addition is lost, and no more than were told of as overwritten or refused;
//! of every other way none is. The numbers go to `docs/performance.md` by hand, with the machine that they were measured on.

#![expect(
    clippy::disallowed_methods,
    reason = "a chore edits files as an editor does that knows nothing of us"
)]

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    process::{Child, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use callosum_host::{Disk, FileLock};
use serde_json::{Value, json};

use crate::{
    command_of_the_developer,
    release_build::{Release, concluded, with_release},
    say,
};

/// So many edit at once.
const EDITORS: u64 = 6;

/// So often each adds something.
const EDITS: u64 = 12;

/// The longest that one thinks between reading and writing, in milliseconds.
const LONGEST_THOUGHT: u64 = 1000;

/// So many additions of a run by hand may be overwritten before anybody can read them.
const MAY_BE_LOST: usize = 1;

/// Of a way in which nothing is lost, whatever the moments, so many times fewer runs say as much.
const FEWER: u64 = 5;

/// How long something is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// How editors write.
#[derive(Clone, Copy, Debug)]
enum Way {
    Hand,
    Lock,
    Verb,
    DropIn,
}

const WAYS: [(Way, &str); 4] = [
    (Way::Hand, "by hand, thinking up to 1 s"),
    (Way::Lock, "by hand, under a lock"),
    (Way::Verb, "callosum mesh discovery share"),
    (Way::DropIn, "a file in bridge.d"),
];

/// Runs each way so often on a board with so many tasks, and prints what survived of each run.
pub(crate) fn bridge(runs: u64, board: u64, program: Option<&str>) -> ExitCode {
    if let Some(program) = program {
        let target = std::env::temp_dir();
        let measured = PathBuf::from(program).canonicalize();
        let measured = measured.map_err(|error| format!("{program}: {error}"));
        let measured =
            measured.and_then(|callosum| measure(&Release { target, callosum }, runs, board));
        return concluded(measured);
    }
    with_release(|release| measure(release, runs, board))
}

fn measure(release: &Release, runs: u64, board: u64) -> Result<(), String> {
    let all = (EDITORS * EDITS) as usize;
    let mut faults = Vec::new();
    for (way, name) in WAYS {
        let mut told = Vec::new();
        let runs = match way {
            Way::Hand => runs,
            Way::Lock | Way::Verb | Way::DropIn => runs.div_ceil(FEWER),
        };
        for run in 0..runs {
            let place = Place::new(release, run, board).map_err(|error| error.to_string())?;
            let ended = place.run(way, run).map_err(|error| error.to_string())?;
            let (survived, conflicts) = ended;
            let lost = all - survived;
            let may_be_lost = match way {
                Way::Hand => MAY_BE_LOST,
                Way::Lock | Way::Verb | Way::DropIn => 0,
            };
            if lost > may_be_lost {
                faults.push(format!("{name}, run {run}: {lost} of {all} are lost"));
            }
            if lost > conflicts {
                faults.push(format!(
                    "{name}, run {run}: {lost} are lost, and {conflicts} were told of"
                ));
            }
            told.push(ended);
        }
        let survived: Vec<String> = told
            .iter()
            .map(|(survived, _)| survived.to_string())
            .collect();
        let conflicts: usize = told.iter().map(|(_, conflicts)| conflicts).sum();
        say(&format!(
            "{name}: {} of {all} ({conflicts} conflicts told)",
            survived.join(" "),
        ));
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n"))
    }
}

/// A machine's home with a daemon.
struct Place {
    callosum: PathBuf,
    home: PathBuf,
    daemon: Child,
}

impl Drop for Place {
    fn drop(&mut self) {
        // It is ended by its number, whatever became of the run.
        drop(self.daemon.kill());
        drop(self.daemon.wait());
        drop(fs::remove_dir_all(&self.home));
    }
}

impl Place {
    fn new(release: &Release, run: u64, board: u64) -> io::Result<Self> {
        let name = format!("bridge-{}-{run}", std::process::id());
        let home = release.target.join(name);
        fs::create_dir_all(&home)?;
        let callosum = release.callosum.clone();
        let serve = [
            "serve",
            "--events",
            "off",
            "--bus",
            "off",
            "--metrics",
            "off",
            "--page",
            "off",
        ];
        let daemon = command(&callosum, &home).args(serve).spawn()?;
        let place = Self {
            callosum,
            home,
            daemon,
        };
        place.fill(board)?;
        place.said(&["mesh", "bridge"])?;
        // It is there before the first edit.
        let begun = Instant::now();
        while !place.said(&["serve", "status"])?.contains("pid") {
            if begun.elapsed() > PATIENCE {
                return Err(io::Error::other("the daemon does not begin"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(place)
    }

    /// Leaves so many tasks, by one addition.
    fn fill(&self, board: u64) -> io::Result<()> {
        let tasks: Vec<Value> = (0..board)
            .map(|nth| json!({"id": format!("t{nth}"), "prompt": "look at what the last change left to be done in the parser", "created_by": "codex"}))
            .collect();
        let folder = self.home.join("mesh/bridge.d");
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join("board.json"),
            json!({"task_queue": tasks}).to_string(),
        )
    }

    fn said(&self, words: &[&str]) -> io::Result<String> {
        let mut command = command(&self.callosum, &self.home);
        let output = command.args(words).stdout(Stdio::piped()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn file(&self) -> PathBuf {
        self.home.join("mesh/orchestrator_bridge.json")
    }

    /// How many additions are in the log once all editors have ended, and how many conflicts.
    fn run(&self, way: Way, run: u64) -> io::Result<(usize, usize)> {
        thread::scope(|scope| {
            let editors: Vec<_> = (0..EDITORS)
                .map(|editor| scope.spawn(move || self.edit(way, run, editor)))
                .collect();
            for editor in editors {
                let ended = editor.join();
                ended.map_err(|_| io::Error::other("an editor failed"))??;
            }
            io::Result::Ok(())
        })?;
        // What came last is taken over by the daemon, or by this.
        thread::sleep(Duration::from_millis(1500));
        self.said(&["mesh", "bridge"])?;
        let events = |topic: &str| -> io::Result<Vec<Value>> {
            let told = self.said(&["mesh", "tail", "--since", "0", "--topic", topic, "--json"])?;
            let events = told.lines().map(serde_json::from_str);
            Ok(events.collect::<Result<_, _>>()?)
        };
        let found = events("calc.discovery")?;
        let found: BTreeSet<String> = found
            .iter()
            .map(|event| event["payload"]["content"].to_string())
            .collect();
        let conflicts = events("bridge.conflict")?.len() + events("bridge.rejected")?.len();
        Ok((found.len(), conflicts))
    }

    fn edit(&self, way: Way, run: u64, editor: u64) -> io::Result<()> {
        let mut random = run * EDITORS + editor + 1;
        for edit in 0..EDITS {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let thought = Duration::from_millis((random >> 33) % LONGEST_THOUGHT);
            let content = format!("{editor}-{edit}");
            match way {
                Way::Hand => add(&self.file(), &content, thought)?,
                Way::Lock => {
                    thread::sleep(thought);
                    let path = self.home.join("editors.lock");
                    let held = FileLock::acquire(&Disk::real(), &path, PATIENCE);
                    let held = held.map_err(io::Error::other)?;
                    add(&self.file(), &content, Duration::ZERO)?;
                    drop(held);
                }
                Way::Verb => {
                    thread::sleep(thought);
                    self.said(&["mesh", "discovery", "share", &content, "--as", "codex"])?;
                }
                Way::DropIn => {
                    thread::sleep(thought);
                    let folder = self.home.join("mesh/bridge.d");
                    let items = json!({"discoveries": [{"content": content, "source": "codex"}]});
                    let name = format!("{editor}-{edit}.json");
                    let hidden = folder.join(format!(".{name}"));
                    fs::write(&hidden, items.to_string())?;
                    fs::rename(hidden, folder.join(name))?;
                }
            }
        }
        Ok(())
    }
}

/// Reads the file, thinks, and writes it back with an addition, into the same file.
fn add(path: &Path, content: &str, thought: Duration) -> io::Result<()> {
    let begun = Instant::now();
    let mut document = loop {
        // Another may be writing it just now.
        if let Ok(document) = serde_json::from_slice::<Value>(&fs::read(path)?) {
            break document;
        }
        if begun.elapsed() > PATIENCE {
            return Err(io::Error::other("the file stays no JSON"));
        }
        thread::sleep(Duration::from_millis(1));
    };
    thread::sleep(thought);
    if let Some(Value::Array(found)) = document.get_mut("discoveries") {
        found.push(json!({"content": content, "source": "codex"}));
    }
    let text = serde_json::to_vec_pretty(&document)?;
    fs::write(path, text)
}

fn command(callosum: &Path, home: &Path) -> std::process::Command {
    let mut command = command_of_the_developer(callosum);
    command
        .env("CALLOSUM_HOME", home)
        .env("CALLOSUM_CONFIG", home.join("config.toml"))
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
