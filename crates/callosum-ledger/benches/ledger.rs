//! What appending and verifying cost, as ratios measured in one run.
//!
//! `cargo bench -p callosum-ledger` prints, for ledgers of four sizes, the time of a commit of
//! 4 KB beside that of a plain append and fdatasync of the same bytes to a file on the same disk,
//! turn by turn; of finding an entry by its id; of verifying, beside hashing the ledger's bytes.
//! After each, `beside.py` does the same with SQLite, with the seed's own pseudocode and with jq,
//! where there is a Python. Last come commits by several threads. The folder is `TMPDIR`'s.
//! `cargo bench -p callosum-ledger -- SIZE` does one size only, such as `10MB`.
//!
//! Not by divan: what is of interest is the ratio of two things measured alternately, under the
//! same load.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark has nobody to tell but the terminal, and starts Python as a user would"
)]

use std::{
    fmt::Write as _,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use callosum_host::{Clock, Disk, DiskFile, Ids, OpenHow};
use callosum_ledger::{
    AuditEvent, Checksum, Event, Ledger, LedgerPaths, NewEntry, Reader, Spawn, TaskId, verify,
};
use serde_json::Map;

/// How often each thing is done.
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
    // The largest is as large as it may be without the first commit archiving it.
    let sizes = [("1KB", 0), ("10MB", 10), ("100MB", 100), ("230MB", 230)];
    for (name, megabytes) in sizes {
        if is_asked(name) {
            let bench = Bench::with_ledger_of(megabytes << 20);
            bench.append(name);
            bench.open(name);
            bench.find(name);
            bench.verify(name);
            bench.beside();
        }
    }
    if is_asked("threads") {
        let bench = Bench::with_ledger_of(0);
        for threads in [1, 4, 12] {
            bench.commits_of(threads);
        }
    }
}

impl Bench {
    /// A project whose ledger has about so many bytes: taken over, which needs one sync only.
    fn with_ledger_of(size: usize) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path());
        let mut ledger = String::from("{\"version\":\"1.2\",\"tasks\":[");
        let summary = "a line of a summary, as long as such lines are\\n".repeat(SUMMARY / 48);
        let mut number = 0;
        let id_of = |number: usize| {
            let (month, day) = (1 + number / 280_000, 1 + number / 10_000 % 28);
            format!("cal_2020_{month:02}_{day:02}_{:04}", number % 10_000)
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

    fn ledger(&self) -> Ledger {
        Ledger::open(
            self.disk.clone(),
            self.paths.clone(),
            Clock::system(),
            Ids::random(),
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

    /// What the same costs others.
    fn beside(&self) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/beside.py");
        let ran = Command::new("python3")
            .arg(script)
            .arg(&self.paths.ledger)
            .arg(self.wanted.as_str())
            .status();
        if !ran.is_ok_and(|status| status.success()) {
            println!("  nothing beside it: python3 is not installed, or failed");
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
