//! Finding similar errors and recording one more, at 10,000 and nearly 100,000 errors, the most that are kept.
//!
//! `cargo bench -p callosum-intervention` fills a database with errors of two kinds, and prints medians and 99th
//! percentiles. [`realistic`] errors follow templates over a few thousand words, as tools print them. [`dense`] errors
//! share 24 words, so that every word is frequent.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{
    path::Path,
    time::{Duration, Instant},
};

use callosum_diagnose::{ErrorEvent, Severity, StreamSource};
use callosum_host::Disk;
use callosum_intervention::recall::{Place, RecallDb, Signature, THRESHOLD, similarity};
use jiff::Timestamp;

/// Searches of one run.
const TURNS: usize = 400;

/// Words of [`realistic`] messages.
const VOCABULARY: usize = 4_000;

/// Templates of [`realistic`] messages.
const TEMPLATES: u64 = 600;

/// Words of [`dense`] messages.
const WORDS: [&str; 24] = [
    "cannot",
    "find",
    "module",
    "value",
    "missing",
    "field",
    "expected",
    "type",
    "column",
    "table",
    "index",
    "range",
    "request",
    "timeout",
    "refused",
    "parse",
    "token",
    "unexpected",
    "object",
    "attribute",
    "import",
    "name",
    "defined",
    "argument",
];

/// A generator of numbers (SplitMix64): the same seed gives the same errors.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns a rank below `bound`; the chance of a rank falls as 1 over it, as with words of a language (Zipf).
    fn rank(&mut self, bound: usize) -> usize {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (bound as f64).powf(share) as usize - 1
    }
}

/// Returns the word of a rank: syllables that spell the rank, so frequent words are short.
fn word(mut rank: usize) -> String {
    let mut word = String::new();
    loop {
        word.push(char::from(b"bcdfgklmnprstvz"[rank % 15]));
        rank /= 15;
        word.push(char::from(b"aeiou"[rank % 5]));
        rank /= 5;
        if rank == 0 {
            word.push(char::from(b"nrst"[word.len() % 4]));
            return word;
        }
    }
}

fn event_of(error_type: String, file: String, line: u32, message: String) -> ErrorEvent {
    ErrorEvent {
        error_type,
        file_path: Some(file),
        line_number: Some(line),
        message,
        code: None,
        module: None,
        test: None,
        severity: Severity::High,
        stream_source: StreamSource::Merged,
        timestamp: String::new(),
        raw_output: String::new(),
    }
}

/// Returns the error with this number, as tools print them: a template of 2 to 18 words with names, numbers and paths in
/// it. Each has at least one name of its own.
fn realistic(number: usize) -> ErrorEvent {
    let mut own = Numbers(number as u64);
    let template = own.below(TEMPLATES) * own.below(TEMPLATES) / TEMPLATES;
    let mut shape = Numbers(0xface + template);
    let error_type = ["Key", "Type", "Import", "Value", "Attribute", "Compile"];
    let error_type = format!("{}Error", error_type[shape.below(6) as usize]);
    let name =
        |own: &mut Numbers| format!("{}_{}", word(own.rank(VOCABULARY)), word(own.rank(900)));
    let length = 2 + shape.below(17);
    let own_at = shape.below(length);
    let mut words = Vec::new();
    for place in 0..length {
        let fixed = word(shape.rank(VOCABULARY));
        words.push(match shape.below(12) {
            _ if place == own_at => format!("'{}_{}'", name(&mut own), word(number)),
            0 => format!("`{}`", name(&mut own)),
            1 => format!(
                "/srv/{}/{}.py:{}",
                fixed,
                word(own.rank(300)),
                own.below(900)
            ),
            2 => format!("{}", own.below(5_000)),
            _ => fixed,
        });
    }
    let file = format!("src/{}.py", word(own.rank(300)));
    event_of(error_type, file, own.below(400) as u32, words.join(" "))
}

/// Returns the error with this number over [`WORDS`]; each has a name of its own.
fn dense(number: usize) -> ErrorEvent {
    let word = |step: usize| WORDS[(number / step + number * step) % WORDS.len()];
    let letters: String = format!("{number:06}")
        .bytes()
        .map(|digit| char::from(b'a' + digit - b'0'))
        .collect();
    event_of(
        format!("{}Error", ["Key", "Value", "Type", "Import"][number % 4]),
        format!("src/{}.py", word(7)),
        3,
        format!(
            "{} {} {} '{letters}' {}",
            word(1),
            word(3),
            word(5),
            word(11)
        ),
    )
}

/// Prints the median and the 99th percentile.
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let (median, high) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{what}: {median:.1?}, p99 {high:.1?}");
}

/// Runs something [`TURNS`] times, and prints its times.
fn measure(what: &str, mut turn: impl FnMut(usize)) {
    let times = (0..TURNS).map(|number| {
        let start = Instant::now();
        turn(number);
        start.elapsed()
    });
    report(what, times.collect());
}

fn open(path: &Path) -> RecallDb {
    let now: Timestamp = "2026-01-02T03:04:05Z".parse().expect("a time");
    RecallDb::open(&Disk::real(), path, 24, now).expect("a database")
}

/// Fills a database with errors of one kind and measures it twice.
fn run(kind: &str, event: fn(usize) -> ErrorEvent) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("recall.db");
    let now: Timestamp = "2026-01-02T03:04:05Z".parse().expect("a time");
    let place = Place {
        project: "/p".to_owned(),
        client: "bench".to_owned(),
        session: "s".to_owned(),
        command: "make".to_owned(),
    };
    let record = |database: &RecallDb, event: &ErrorEvent| {
        database
            .record(event, &place, now)
            .expect("it is recorded")
            .occurrences
    };
    let mut known: Vec<String> = Vec::new();
    let mut spare = 1_000_000;
    for count in [10_000, 95_000] {
        let database = open(&path);
        let start = Instant::now();
        for number in known.len()..count {
            let event = event(number);
            known.push(Signature::of_event(&event).normalized);
            record(&database, &event);
        }
        println!("{count} {kind} errors: recorded in {:.1?}", start.elapsed());
        let mut found = 0;
        measure("  similar", |turn| {
            let text = &known[turn * 7_919 % known.len()];
            found += database
                .similar(text, THRESHOLD, 10)
                .expect("it is searched")
                .len();
        });
        assert!(found >= TURNS, "each finds itself");
        drop(database);
        let length = Disk::real().read(&path).expect("the file").len();
        println!("  file: {} bytes an error, {found} found", length / count);
        measure("  open", |_| drop(open(&path)));
        measure("  open and search", |turn| {
            let text = &known[turn * 7_919 % known.len()];
            let similar = open(&path).similar(text, THRESHOLD, 10);
            assert!(!similar.expect("it is searched").is_empty());
        });
        measure("  open and record a known error", |_| {
            record(&open(&path), &event(1));
        });
        measure("  open and record a new error", |_| {
            spare += 1;
            assert_eq!(record(&open(&path), &event(spare)), 1);
        });
        let database = open(&path);
        measure("  record a new error", |_| {
            spare += 1;
            assert_eq!(record(&database, &event(spare)), 1);
        });
    }
    let start = Instant::now();
    let same = known
        .iter()
        .filter(|text| similarity(&known[0], text) >= THRESHOLD)
        .count();
    println!("  all compared: {:.1?} ({same} alike)", start.elapsed());
}

fn main() {
    run("realistic", realistic);
    run("dense", dense);
}
