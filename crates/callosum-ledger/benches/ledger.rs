//! Costs of appending and verifying, as ratios measured in one run (CAL-PERF-1, REQ-PERF-005).
//!
//! `cargo bench -p callosum-ledger` prints results for ledgers of four sizes. First the time of a
//! commit of 4 KB next to that of a plain append and fdatasync of the same bytes to a file on the
//! same disk, in turns. Then the time of finding an entry by its id, and of verifying, next to
//! hashing the ledger's bytes. After each, `beside.py` does the same with SQLite, with the seed's
//! own pseudocode and with jq, if there is a Python. Then come commits by several threads. The
//! folder is `TMPDIR`'s. `cargo bench -p callosum-ledger -- SIZE` does one size only, such as
//! `10MB`.
//!
//! Last, an entry is found by its id among ten archives of 250 MB, by a new process each time if
//! the program itself was built in the same profile. `-- archives` does this alone.
//!
//! Not by divan: the result is the ratio of two things measured alternately, under the same load.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark has no reporter but the terminal, and starts Python as a user would"
)]

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use callosum_host::{Clock, Disk, DiskFile, Ids, OpenHow};
use callosum_json::Checksum;
use callosum_ledger::{
    AuditEvent, Event, Ledger, LedgerOptions, LedgerPaths, NewEntry, Reader, RecoverFrom,
    RecoverOptions, Spawn, TaskId, verify,
};
use serde_json::Map;

/// Number of repetitions of each measurement.
const TURNS: usize = 300;

/// Size of an entry's summary.
const SUMMARY: usize = 4 * 1024;

struct Bench {
    folder: tempfile::TempDir,
    disk: Disk,
    paths: LedgerPaths,
    /// An entry in its middle.
    wanted: TaskId,
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |name: &str| {
        let mut sizes = asked
            .iter()
            .filter(|size| !size.starts_with("--"))
            .peekable();
        sizes.peek().is_none() || sizes.any(|size| size == name)
    };
    let sizes = [("1KB", 0), ("10MB", 10), ("100MB", 100), ("250MB", 250)];
    for (name, megabytes) in sizes {
        if is_asked(name) {
            let bench = Bench::with_ledger_of(megabytes * 1_000_000, 2020);
            bench.append(name);
            bench.open(name);
            bench.find(name);
            bench.verify(name);
            bench.beside();
        }
    }
    if is_asked("threads") {
        let bench = Bench::with_ledger_of(0, 2020);
        for threads in [1, 4, 12] {
            bench.commits_of(threads);
        }
    }
    if is_asked("archives") {
        Bench::with_archives(10, 250_000_000).find_among_archives();
    }
}

impl Bench {
    /// A project whose ledger has about so many bytes, of tasks of this year: taken over, which
    /// needs one sync only.
    fn with_ledger_of(size: usize, year: usize) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path());
        let mut ledger = String::from("{\"version\":\"1.2\",\"tasks\":[");
        let summary = "a line of a summary, as long as such lines are\\n".repeat(SUMMARY / 48);
        let mut number = 0;
        let id_of = |number: usize| {
            let (month, day) = (1 + number / 280_000, 1 + number / 10_000 % 28);
            format!("cal_{year}_{month:02}_{day:02}_{:04}", number % 10_000)
        };
        while ledger.len() < size {
            let comma = if number > 0 { "," } else { "" };
            write!(
                ledger,
                "{comma}{{\"task_id\":\"{}\",\"executor\":\"scout\",\
                 \"summary\":\"{summary}\",\"tokens_used\":{number},\
                 \"timestamp\":\"2020-01-01T00:00:00Z\"}}",
                id_of(number)
            )
            .expect("writing to memory");
            number += 1;
        }
        ledger.push_str("]}");
        if number > 0 {
            disk.replace(&paths.ledger, ledger.as_bytes(), 0o644)
                .expect("the ledger is written");
        }
        Ledger::create(&disk, &paths, &Clock::system()).expect("the ledger is taken over");
        Self {
            folder,
            disk,
            paths,
            wanted: id_of(number / 2).parse().expect("a task id"),
        }
    }

    /// A project with so many archives of this size, each begun as a project of its own, and a
    /// journal that is begun when they are there.
    fn with_archives(count: usize, size: usize) -> Self {
        let active = Self::with_ledger_of(size, 2020);
        let history = &active.paths.history;
        active.disk.create_dir_all(history).expect("a folder");
        for number in 0..count {
            let made = Self::with_ledger_of(size, 2021 + number);
            made.ledger().rotate().expect("the ledger is archived");
            let files = made.disk.list_dir(&made.paths.history);
            for file in files.expect("the archive is there") {
                let name = file.name.into_string().expect("an archive's name");
                let ending = name.split_once('.').map_or("", |(_, ending)| ending);
                let to = history.join(format!(
                    "cal_memory_202101{:02}_000000.{ending}",
                    number + 1
                ));
                let from = made.paths.history.join(&name);
                active
                    .disk
                    .rename(&from, &to)
                    .expect("the archive is moved");
            }
        }
        let options = RecoverOptions {
            force: true,
            ..RecoverOptions::default()
        };
        let (clock, from) = (Clock::system(), RecoverFrom::LedgerAlone);
        Ledger::recover(&active.disk, &active.paths, &clock, from, options)
            .expect("a journal is begun");
        active
    }

    fn ledger(&self) -> Ledger {
        Ledger::open_with(
            self.disk.clone(),
            self.paths.clone(),
            Clock::system(),
            Ids::random(),
            LedgerOptions {
                rotate_at: u64::MAX,
                ..LedgerOptions::default()
            },
        )
        .expect("the ledger opens")
    }

    fn append(&self, name: &str) {
        let ledger = self.ledger();
        let plain = self
            .disk
            .open(&self.folder.path().join("plain"), OpenHow::CREATE_NEW)
            .expect("a plain file");
        let mut plain_end = 0;
        let (mut plains, mut commits) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let entry = entry(reserve(&ledger), turn);
            let began = Instant::now();
            let stored = ledger.commit(entry).expect("the entry is stored");
            commits.push(began.elapsed());
            plains.push(append_plainly(
                &plain,
                stored.as_json().as_bytes(),
                &mut plain_end,
            ));
        }
        let (plain, commit) = (Quantiles::of(plains), Quantiles::of(commits));
        println!(
            "append of 4 KB to {name}: commit p50 {:.3} ms, p99 {:.3} ms; plain append + fdatasync \
             p50 {:.3} ms, p99 {:.3} ms; ratio of p50 {:.2}",
            commit.p50,
            commit.p99,
            plain.p50,
            plain.p99,
            commit.p50 / plain.p50
        );
    }

    fn open(&self, name: &str) {
        let began = Instant::now();
        drop(self.ledger());
        println!("open of {name}: {:.2} ms", millis(began.elapsed()));
    }

    fn find(&self, name: &str) {
        let mut times = Vec::new();
        for _ in 0..20 {
            let began = Instant::now();
            let reader = Reader::open(self.disk.clone(), self.paths.clone());
            let found = reader.and_then(|reader| reader.find(&self.wanted));
            times.push(began.elapsed());
            found.expect("the ledger is read");
        }
        let find = Quantiles::of(times);
        println!("find an id in {name}: p50 {:.3} ms", find.p50);
    }

    /// Finds one entry of the oldest archive, and asks for one that nothing has; then with the
    /// archives compressed.
    fn find_among_archives(&self) {
        self.find_in_oldest("");
        let archives = self.disk.list_dir(&self.paths.history).expect("a folder");
        let archives = archives.into_iter().filter_map(|entry| {
            let path = self.paths.history.join(entry.name);
            path.extension()
                .is_some_and(|ending| ending == "json")
                .then_some(path)
        });
        let mut asked = vec!["cal_2021_01_05_0042".into(), self.paths.ledger.clone()];
        asked.extend(archives);
        Self::python(&asked);
        let began = Instant::now();
        let compressed = Ledger::compress_archives(&self.disk, &self.paths);
        let count = compressed.expect("the archives are compressed");
        println!(
            "compressed {count} archives in {:.1} s",
            began.elapsed().as_secs_f64()
        );
        self.find_in_oldest(", compressed");
    }

    fn find_in_oldest(&self, how: &str) {
        // The oldest archive is asked last. What is read must be in the cache, as it is by then.
        for (what, id) in [
            ("in the oldest of ten archives", "cal_2021_01_05_0042"),
            ("that nothing has", "cal_2040_01_05_0042"),
        ] {
            let id: TaskId = id.parse().expect("a task id");
            let what = format!("{what}{how}");
            let mut times = Vec::new();
            for _ in 0..100 {
                let began = Instant::now();
                let reader = Reader::open(self.disk.clone(), self.paths.clone());
                let found = reader.and_then(|reader| reader.find(&id));
                times.push(began.elapsed());
                found.expect("the ledgers are read");
            }
            let within = Quantiles::of(times);
            println!(
                "find an id {what}: p50 {:.3} ms, p99 {:.3} ms",
                within.p50, within.p99
            );
            self.show(&what, &id);
        }
    }

    /// Measures the same with the program, started again each time.
    fn show(&self, what: &str, id: &TaskId) {
        let own = std::env::current_exe().expect("this program has a path");
        let Some(program) = own.ancestors().nth(2).map(|folder| folder.join("callosum")) else {
            return;
        };
        let time_of = |arguments: &[&str]| {
            let mut times = Vec::new();
            for _ in 0..100 {
                let mut command = Command::new(&program);
                command.args(arguments).current_dir(self.folder.path());
                let began = Instant::now();
                let ran = command.output();
                times.push(began.elapsed());
                if ran.is_err() {
                    return None;
                }
            }
            Some(Quantiles::of(times))
        };
        match (
            time_of(&["--version"]),
            time_of(&["ledger", "show", id.as_str()]),
        ) {
            (Some(version), Some(show)) => println!(
                "the same by a new process: p50 {:.2} ms, p99 {:.2} ms; `--version` alone: \
                 p50 {:.2} ms; ratio {:.1}",
                show.p50,
                show.p99,
                version.p50,
                show.p50 / version.p50
            ),
            _ => println!("  not by a process {what}: `callosum` is not built"),
        }
    }

    /// Measures the same with other programs.
    fn beside(&self) {
        Self::python(&[self.paths.ledger.clone(), self.wanted.as_str().into()]);
    }

    fn python(arguments: &[PathBuf]) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/beside.py");
        let ran = Command::new("python3").arg(script).args(arguments).status();
        if !ran.is_ok_and(|status| status.success()) {
            println!("  no comparison: python3 is not installed, or failed");
        }
    }

    fn verify(&self, name: &str) {
        // The first run also brings the files into the cache.
        let mut best = Duration::MAX;
        let mut bytes = 0;
        for _ in 0..3 {
            let began = Instant::now();
            let found = verify(&self.disk, &self.paths).expect("the ledger is read");
            best = best.min(began.elapsed());
            assert!(found.is_sound(), "{:?}", found.problems);
            bytes = found.bytes;
        }
        let ledger = self
            .disk
            .read(&self.paths.ledger)
            .expect("the ledger is read");
        let began = Instant::now();
        let hash = Checksum::of(&ledger);
        let hashing = began.elapsed();
        println!(
            "verify of {name}: {:.0} ms for {} MB of ledger, hashlog and journal ({:.0} MB/s); \
             SHA-256 of the ledger file alone {:.0} ms; ratio {:.2} ({hash})",
            millis(best),
            bytes >> 20,
            (bytes >> 20) as f64 / best.as_secs_f64(),
            millis(hashing),
            best.as_secs_f64() / hashing.as_secs_f64()
        );
    }

    /// Entries a second, each with a spawn's record and one event, by so many threads.
    fn commits_of(&self, threads: usize) {
        let ledger = self.ledger();
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for turn in 0..TURNS {
                        let id = reserve(&ledger);
                        ledger
                            .record(AuditEvent::new(Event::State))
                            .expect("the event is queued");
                        ledger.commit(entry(id, turn)).expect("the entry is stored");
                    }
                });
            }
        });
        let rate = (threads * TURNS) as f64 / began.elapsed().as_secs_f64();
        println!("commits by {threads} threads: {rate:.0} a second");
    }
}

fn reserve(ledger: &Ledger) -> TaskId {
    let spawn = Spawn {
        executor: "scout".to_owned(),
        details: Map::new(),
    };
    ledger.reserve(spawn).expect("an id is reserved")
}

fn entry(task_id: TaskId, turn: usize) -> NewEntry {
    NewEntry {
        task_id,
        executor: "scout".to_owned(),
        summary: "x".repeat(SUMMARY),
        tokens_used: turn as u64,
        linked_tasks: Vec::new(),
        timestamp: Clock::system().now(),
        metadata: Map::new(),
    }
}

fn append_plainly(file: &DiskFile, bytes: &[u8], end: &mut u64) -> Duration {
    let began = Instant::now();
    file.write_at(bytes, *end)
        .and_then(|()| file.sync_data())
        .expect("the plain file is written");
    *end += bytes.len() as u64;
    began.elapsed()
}

struct Quantiles {
    p50: f64,
    p99: f64,
}

impl Quantiles {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self {
            p50: millis(times[times.len() / 2]),
            p99: millis(times[times.len() * 99 / 100]),
        }
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
