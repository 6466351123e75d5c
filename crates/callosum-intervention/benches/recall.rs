//! Finding similar errors, beside comparing all of them.
//!
//! `cargo bench -p callosum-intervention` fills a database with 10,000 and then 100,000 errors, and prints the median and the
//! 99th percentile of a search, of recording one more error, and of comparing every error by its edit distance.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use callosum_diagnose::{ErrorEvent, Severity, StreamSource};
use callosum_host::Disk;
use callosum_intervention::recall::{Place, RecallDb, Signature, THRESHOLD, similarity};
use jiff::Timestamp;

/// Searches of one run.
const TURNS: usize = 200;

/// Words of the messages.
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

/// Returns the error with this number; each has a name of its own.
fn event(number: usize) -> ErrorEvent {
    let word = |step: usize| WORDS[(number / step + number * step) % WORDS.len()];
    let letters: String = format!("{number:06}")
        .bytes()
        .map(|digit| char::from(b'a' + digit - b'0'))
        .collect();
    ErrorEvent {
        error_type: format!("{}Error", ["Key", "Value", "Type", "Import"][number % 4]),
        file_path: Some(format!("src/{}.py", word(7))),
        line_number: Some(3),
        message: format!(
            "{} {} {} '{letters}' {}",
            word(1),
            word(3),
            word(5),
            word(11)
        ),
        code: None,
        module: None,
        test: None,
        severity: Severity::High,
        stream_source: StreamSource::Merged,
        timestamp: String::new(),
        raw_output: String::new(),
    }
}

/// Prints the median and the 99th percentile.
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let (median, high) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{what}: {median:.1?}, p99 {high:.1?}");
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("recall.db");
    let now: Timestamp = "2026-01-02T03:04:05Z".parse().expect("a time");
    let disk = Disk::real();
    let database = RecallDb::open(&disk, &path, 24, now).expect("a database");
    let place = Place {
        project: "/p".to_owned(),
        client: "bench".to_owned(),
        session: "s".to_owned(),
        command: "make".to_owned(),
    };
    let mut known = Vec::new();
    for count in [10_000, 99_000] {
        for number in known.len()..count {
            let event = event(number);
            known.push(Signature::of_event(&event).normalized);
            database
                .record(&event, &place, now)
                .expect("it is recorded");
        }
        let mut times = Vec::new();
        let mut found = 0;
        for turn in 0..TURNS {
            let text = &known[turn * 7_919 % known.len()];
            let start = Instant::now();
            found += database
                .similar(text, THRESHOLD, 10)
                .expect("it is searched")
                .len();
            times.push(start.elapsed());
        }
        assert!(found >= TURNS, "each finds itself");
        report(&format!("{count} errors, similar"), times);
        let mut times = Vec::new();
        for _ in 0..TURNS {
            let start = Instant::now();
            let database = RecallDb::open(&disk, &path, 24, now).expect("a database");
            database
                .record(&event(1), &place, now)
                .expect("it is recorded");
            times.push(start.elapsed());
        }
        report(&format!("{count} errors, open and record"), times);
        let start = Instant::now();
        let same = known
            .iter()
            .filter(|text| similarity(&known[0], text) >= THRESHOLD)
            .count();
        println!(
            "{count} errors, all compared: {:.1?} ({same} alike)",
            start.elapsed()
        );
    }
}
