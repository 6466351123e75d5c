//! Speed of reading tool output.
//!
//! `cargo bench -p callosum-diagnose` prints MB/s of the whole reader for several kinds of output, and the time that each
//! reader of a tool takes for one window of 4,000 lines. A hook pays for this on every output, so the goal is 100 MB/s
//! of realistic output on one core.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use callosum_diagnose::{OutputReader, StreamSource, each_reader};

/// Bytes of each output.
const SIZE: usize = 16 << 20;

/// Bytes of one read, as a pipe divides them.
const PART: usize = 64 << 10;

/// Runs of each measurement. The fastest counts.
const RUNS: usize = 5;

/// Lines of one window.
const WINDOW: usize = 4_000;

const WORDS: [&str; 32] = [
    "parser", "index", "request", "cache", "token", "buffer", "socket", "module", "reading",
    "handler", "value", "table", "stream", "window", "branch", "config", "engine", "thread",
    "worker", "message", "the", "of", "and", "with", "into", "after", "before", "every", "client",
    "server", "updated", "finished",
];

/// A small generator (Lehmer), so that each run reads the same text.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as usize % limit
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }
}

/// Returns a text of at least [`SIZE`] bytes from the lines that `add` writes.
fn text(mut add: impl FnMut(&mut String, usize, &mut Random)) -> String {
    let mut text = String::with_capacity(SIZE + (64 << 10));
    let mut random = Random(1);
    let mut number = 0;
    while text.len() < SIZE {
        add(&mut text, number, &mut random);
        text.push('\n');
        number += 1;
    }
    text
}

/// Writes a line of a build or of a test run that passes.
fn build_line(text: &mut String, number: usize, random: &mut Random) {
    let (one, two, low) = (random.word(), random.word(), random.below(60));
    // Each tool prints a block of lines.
    let result = match number / 50 % 8 {
        0 => write!(
            text,
            "   Compiling {one}-{two} v0.{low}.{} (/home/dev/app/crates/{one})",
            low / 3
        ),
        1 => write!(
            text,
            "2026-03-02T10:{low:02}:07.{number:06}Z  INFO app::{one}: {two} finished request_id={number} took={low}ms"
        ),
        2 => write!(
            text,
            "[{:3}%] Building CXX object src/{one}/CMakeFiles/{one}.dir/{two}_{number}.cpp.o",
            number % 100
        ),
        3 => write!(text, "test {one}::tests::{two}_is_read_{number} ... ok"),
        4 => write!(
            text,
            "  ✓ {one} › {two} updates the {} ({low} ms)",
            random.word()
        ),
        5 => write!(
            text,
            "tests/test_{one}.py::test_{two}_{number} PASSED                          [{:3}%]",
            number % 100
        ),
        6 => write!(
            text,
            "gcc -O2 -Wall -Iinclude -DNDEBUG -c -o build/{one}/{two}_{number}.o src/{one}/{two}_{number}.c"
        ),
        _ => write!(
            text,
            "GET /api/{one}/{number}?{two}={low} HTTP/1.1 200 {} \"Mozilla/5.0\"",
            number % 9_000
        ),
    };
    result.expect("a string takes any text");
}

/// Writes words up to a length in bytes.
fn words(text: &mut String, length: usize, random: &mut Random) {
    let end = text.len() + length;
    while text.len() < end {
        text.push_str(random.word());
        text.push(' ');
    }
}

/// Writes an error of one of several tools.
fn error(text: &mut String, number: usize) {
    text.push_str(match number % 5 {
        0 => "error[E0308]: mismatched types\n --> src/main.rs:2:18\n  |\n2 |     let x: u32 = \"a\";",
        1 => "src/parse.c:14:5: error: expected ';' before 'return'",
        2 => "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\n    x()\nKeyError: 'x'",
        3 => "fatal: not a git repository (or any of the parent directories): .git",
        _ => "bash: line 3: frobnicate: command not found",
    });
}

/// Returns each kind of output with its name.
fn kinds() -> Vec<(&'static str, String)> {
    vec![
        ("builds and tests", text(build_line)),
        (
            "log with time stamps",
            text(|text, number, random| {
                write!(text, "2026-03-02T10:00:{:02}.{number:06}Z ", number % 60).expect("text");
                words(text, 60, random);
            }),
        ),
        ("words", text(|text, _, random| words(text, 72, random))),
        ("one short line again", text(|text, _, _| text.push('y'))),
        (
            "short lines",
            text(|text, number, random| {
                write!(text, "{} {}", random.word(), number % 1_000).expect("text");
            }),
        ),
        (
            "long lines",
            text(|text, _, random| words(text, 2_000, random)),
        ),
        (
            "endless lines",
            text(|text, _, random| words(text, 100_000, random)),
        ),
        (
            "an error per 1,000 lines",
            text(|text, number, random| {
                if number % 1_000 == 999 {
                    error(text, number / 1_000);
                } else {
                    build_line(text, number, random);
                }
            }),
        ),
    ]
}

/// Returns the shortest time of several runs.
fn fastest(mut run: impl FnMut()) -> Duration {
    (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn main() {
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let kinds = kinds();
    for (name, text) in &kinds {
        if only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        let mut events = 0;
        let time = fastest(|| {
            let mut reader = OutputReader::new(StreamSource::Merged, "2026-01-01T00:00:00Z");
            for part in text.as_bytes().chunks(PART) {
                reader.push(part);
            }
            let diagnosis = reader.finish();
            events = diagnosis.events.len() + diagnosis.more;
        });
        let speed = text.len() as f64 / 1e6 / time.as_secs_f64();
        println!("{name}: {speed:.0} MB/s ({events} events)");
    }
    if only.is_some() {
        return;
    }
    for (name, text) in &kinds {
        if !matches!(*name, "builds and tests" | "an error per 1,000 lines") {
            continue;
        }
        let window: Vec<&str> = text.lines().take(WINDOW).collect();
        println!("\n{name}, microseconds for {WINDOW} lines:");
        each_reader(window.join("\n").as_bytes(), |reader, read| {
            let time = fastest(|| {
                std::hint::black_box(read());
            });
            println!("{:9.1} {reader}", time.as_secs_f64() * 1e6);
        });
    }
}
