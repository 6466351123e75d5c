//! [`KillLoop`]: real processes that store entries and are killed at any moment.
//!
//! The loop kills `ledger-appender`, not a machine: everything that the process had written is
//! there, synced or not. For a loss of power see [`crate::disk`].

use std::{
    collections::HashSet,
    ffi::OsStr,
    fmt,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use callosum_host::{Clock, Disk, Ids};
use callosum_ledger::{Ledger, LedgerPaths, Query, Reader, TaskId, replay, verify};
use serde_json::Value;

/// Number of kills after which the whole ledger is checked, and a new one is begun.
const OF_A_LEDGER: usize = 25;

/// Maximum number of acknowledgments to wait for before a kill.
const ACKNOWLEDGEMENTS: usize = 5;

/// Maximum random delay of the kill: about as long as an entry takes.
const LATER: Duration = Duration::from_millis(3);

/// Kills again and again, and looks after each kill.
#[derive(Debug)]
pub struct KillLoop {
    appender: PathBuf,
    random: fastrand::Rng,
    killed: Killed,
}

/// Counts from a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Killed {
    /// Number of processes killed.
    pub kills: usize,
    /// Number of entries that had been acknowledged; all of them were found.
    pub acknowledged: usize,
    /// Number of whole entries found that were never acknowledged.
    pub unacknowledged: usize,
    /// Number of files that the next opening repaired.
    pub repairs: usize,
}

impl fmt::Display for Killed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kills,
            acknowledged,
            unacknowledged,
            repairs,
        } = self;
        write!(
            f,
            "{kills} kills: {acknowledged} acknowledged entries, none lost; {unacknowledged} more that \
             were whole; {repairs} files brought in line"
        )
    }
}

/// A ledger and its acknowledged entries.
struct Project {
    _folder: tempfile::TempDir,
    paths: LedgerPaths,
    acknowledged: HashSet<TaskId>,
}

impl KillLoop {
    /// A loop that kills what `appender` starts, at moments that are drawn from `seed`.
    pub fn new(appender: impl Into<PathBuf>, seed: u64) -> Self {
        Self {
            appender: appender.into(),
            random: fastrand::Rng::with_seed(seed),
            killed: Killed::default(),
        }
    }

    /// Kills at least this many processes; each third time two that write at once.
    ///
    /// After each kill the ledger opens and has every entry that was acknowledged. After each 25th,
    /// and at the end, it is JSON, `verify` finds nothing, and a replay gives the same bytes.
    /// Panics otherwise.
    pub fn kill(mut self, kills: usize) -> Killed {
        while self.killed.kills < kills {
            let mut project = Project::new();
            let until = kills.min(self.killed.kills + OF_A_LEDGER);
            while self.killed.kills < until {
                let writers = 1 + usize::from(self.random.usize(..3) == 0);
                self.round(&mut project, writers);
            }
            self.killed.acknowledged += project.acknowledged.len();
            self.killed.unacknowledged += project.check_whole() - project.acknowledged.len();
        }
        self.killed
    }

    fn round(&mut self, project: &mut Project, writers: usize) {
        let wanted = self.random.usize(..=ACKNOWLEDGEMENTS);
        let later = LATER.mul_f64(self.random.f64());
        let (sender, acknowledgements) = mpsc::channel();
        let mut running = Vec::new();
        for writer in 0..writers {
            let name = format!("writer-{writer}");
            let mut child = start(&self.appender, &project.paths.root, &name, 0);
            let stdout = child.stdout.take().expect("it was asked for");
            let sender = sender.clone();
            let reader = thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    // Once the kill is decided, the receiver may be gone.
                    drop(sender.send(line));
                }
            });
            running.push((child, reader));
        }
        drop(sender);
        let mut lines: Vec<String> = acknowledgements.iter().take(wanted).collect();
        thread::sleep(later);
        for (child, _) in &mut running {
            child.kill().expect("a child of ours can be killed");
        }
        for (mut child, reader) in running {
            let status = child.wait().expect("a child of ours can be waited for");
            assert!(status.code().is_none(), "it ended by itself, with {status}");
            reader.join().expect("reading lines does not panic");
            self.killed.kills += 1;
        }
        lines.extend(acknowledgements.try_iter());
        self.killed.repairs += project.check(&lines);
    }
}

impl Project {
    fn new() -> Self {
        // In memory where the system has such a file system: a kill asks nothing of a disk.
        let folder = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .expect("a temporary folder can be made");
        Self {
            paths: LedgerPaths::in_root(folder.path()),
            _folder: folder,
            acknowledged: HashSet::new(),
        }
    }

    /// Opens the ledger, and checks for the acknowledged entries. Returns the number of repaired
    /// files.
    fn check(&mut self, lines: &[String]) -> usize {
        let disk = Disk::real();
        let clock = Clock::system();
        if self.acknowledged.is_empty() && lines.is_empty() {
            // It may have been killed before there was a ledger.
            Ledger::create(&disk, &self.paths, &clock).expect("a ledger can be created");
        }
        let ledger = Ledger::open(disk, self.paths.clone(), clock, Ids::random())
            .expect("a ledger opens after a kill");
        let reader = self.reader();
        for line in lines {
            let id: TaskId = line.parse().expect("what is printed is an id");
            let found = reader.find(&id).expect("a ledger can be read after a kill");
            assert!(found.is_some(), "`{id}` was acknowledged and is lost");
            assert!(self.acknowledged.insert(id), "an id was given out twice");
        }
        ledger.repairs().len()
    }

    /// Checks everything. Returns how many entries there are.
    fn check_whole(&self) -> usize {
        let disk = Disk::real();
        let file = disk.read(&self.paths.ledger).expect("the ledger is there");
        let file: Value = serde_json::from_slice(&file).expect("the ledger is JSON");
        let found = verify(&disk, &self.paths).expect("the ledger can be verified");
        assert_eq!(found.problems, []);
        let into = self.paths.root.join("replayed");
        let replayed =
            replay(&disk, &self.paths, None, &into).expect("the journal can be replayed");
        assert_eq!(replayed.difference, None);
        let entries = self.reader().query(&Query::default());
        let entries = entries.expect("the ledger can be read");
        let ids: HashSet<_> = entries.iter().map(|entry| &entry.task_id).collect();
        assert_eq!(ids.len(), entries.len(), "two entries are of one task");
        assert!(self.acknowledged.iter().all(|id| ids.contains(id)));
        let tasks = file["tasks"].as_array().expect("it has tasks");
        assert_eq!(tasks.len() as u64, found.entries);
        let of_all = found.entries + found.archived_entries;
        assert_eq!(of_all, entries.len() as u64);
        entries.len()
    }

    fn reader(&self) -> Reader {
        Reader::open(Disk::real(), self.paths.clone()).expect("the ledger can be read")
    }
}

/// Starts `ledger-appender`, to store this many entries, 0 for no end.
pub fn start(appender: &Path, root: &Path, name: &str, count: usize) -> Child {
    start_with(
        appender,
        &[root.as_os_str(), name.as_ref(), count.to_string().as_ref()],
    )
}

/// Starts `ledger-appender`, to hold the ledger's lock until its standard input ends.
pub fn start_holding(appender: &Path, root: &Path) -> Child {
    start_with(appender, &[root.as_os_str(), "--hold".as_ref()])
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is killed in the midst of its work, while others run"
)]
fn start_with(appender: &Path, arguments: &[&OsStr]) -> Child {
    Command::new(appender)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a program of ours can be started")
}
