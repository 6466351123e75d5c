//! The reader's bounds: any bytes, divided anywhere, with as many errors and as long lines as a tool prints.

#![expect(clippy::unwrap_used, reason = "a test fails on what it cannot unwrap")]
#![expect(
    clippy::disallowed_methods,
    reason = "the rows are read as a test's own files"
)]

use std::{fs, path::Path};

use callosum_diagnose::{Diagnosis, OutputReader, Severity, StreamSource, read};
use proptest::prelude::*;
use serde_json::Value;

const TIME: &str = "2026-01-01T00:00:00Z";

fn whole(bytes: &[u8]) -> Diagnosis {
    read(bytes, StreamSource::Merged, TIME)
}

fn divided(bytes: &[u8], size: usize) -> Diagnosis {
    let mut reader = OutputReader::new(StreamSource::Merged, TIME);
    for part in bytes.chunks(size.max(1)) {
        reader.push(part);
    }
    reader.finish()
}

/// Returns the recorded texts of all families.
fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outputs");
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let text = fs::read_to_string(path).unwrap();
            texts.extend(text.lines().map(|line| {
                let row: Value = serde_json::from_str(line).unwrap();
                row["text"].as_str().unwrap().to_owned()
            }));
        }
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// CAKE-WATCH-1: any bytes are read without a panic, and alike however the reads divide them.
    #[test]
    fn any_bytes_are_read_alike_however_divided(bytes in prop::collection::vec(any::<u8>(), 0..2_000), size in 1_usize..64) {
        prop_assert_eq!(whole(&bytes), divided(&bytes, size));
    }

    /// CAKE-WATCH-1: recorded outputs that are cut, joined and damaged are read without a panic, and alike however divided.
    #[test]
    fn damaged_outputs_are_read_alike_however_divided(
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..3_000, 0_usize..3_000), 1..4),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        size in 1_usize..200,
    ) {
        let texts = texts();
        let mut bytes = Vec::new();
        for (pick, from, length) in &picks {
            let text = pick.get(&texts).as_bytes();
            let from = *from % (text.len() + 1);
            bytes.extend(text[from..].iter().take(*length));
        }
        for (at, byte) in &damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
        }
        prop_assert_eq!(whole(&bytes), divided(&bytes, size));
    }
}

/// Returns as many messages of a compiler.
fn lines_of(count: usize, kind: &str) -> String {
    let lines: Vec<String> = (0..count)
        .map(|number| format!("src/a.c:{number}:5: {kind}: x{number}\n"))
        .collect();
    lines.concat()
}

/// CAKE-WATCH-1: ten thousand errors are counted, and at most two hundred are listed.
#[test]
fn ten_thousand_errors_are_counted() {
    let text: String = lines_of(10_000, "error");
    let diagnosis = whole(text.as_bytes());
    assert_eq!(diagnosis.events.len(), 200);
    assert_eq!(diagnosis.events.len() + diagnosis.more, 10_000);
    assert_eq!(diagnosis.events[0].message, "x0");
}

/// CAKE-WATCH-1: an error behind a thousand warnings is the first event, and a repeat is no second one.
#[test]
fn an_error_behind_many_warnings_comes_first() {
    let mut text: String = lines_of(1_000, "warning");
    text.push_str("src/b.c:7:1: error: broken\nsrc/b.c:7:1: error: broken\n");
    let diagnosis = whole(text.as_bytes());
    assert_eq!(diagnosis.events[0].file_path.as_deref(), Some("src/b.c"));
    assert_eq!(diagnosis.events[0].severity, Severity::High);
    assert_eq!(
        diagnosis
            .events
            .iter()
            .filter(|event| event.message == "broken")
            .count(),
        1
    );
}

/// CAKE-WATCH-1: an error at the edge of a window of lines is reported once and whole.
#[test]
fn an_error_at_the_edge_of_a_window_is_whole() {
    for before in [3_595, 3_598, 3_599, 3_600, 3_601, 3_999, 4_000, 7_199] {
        let text = format!(
            "{}error[E0308]: mismatched types\n --> src/main.rs:2:18\n",
            "fine\n".repeat(before)
        );
        let padded = format!("{text}{}", "fine\n".repeat(5_000));
        for text in [text, padded] {
            let events = whole(text.as_bytes()).events;
            assert_eq!(events.len(), 1, "{before}");
            assert_eq!(events[0].line_number, Some(2), "{before}");
        }
    }
}

/// CAKE-WATCH-1: an error among thousands of repeats of one line is read as it is among other lines.
#[test]
fn repeats_of_a_line_hide_no_error() {
    let error = "error[E0308]: mismatched types\n --> src/main.rs:2:18\n";
    for line in ["y", "", "caf\u{e9} \u{2713}", "src/a.c:1:2: note: x"] {
        for before in [3_999, 4_000, 7_600, 7_601, 20_000] {
            let same = format!("{line}\n").repeat(before);
            let text = format!("{same}{error}{same}{line}x\n{same}{line}");
            let expected = whole(text.as_bytes());
            assert_eq!(expected.events.len(), 1, "{line} {before}");
            assert_eq!(expected.events[0].line_number, Some(2));
            for size in [1, 7, 4_096, 70_000] {
                assert_eq!(
                    divided(text.as_bytes(), size),
                    expected,
                    "{line} {before} {size}"
                );
            }
        }
    }
}

/// CAKE-WATCH-1: an endless line, many long lines and bytes that are no text hide no error behind them.
#[test]
fn long_lines_and_binary_bytes_hide_no_error() {
    let error = b"\nfatal: not a git repository (or any of the parent directories): .git\n";
    let mut endless = vec![b'x'; 3_000_000];
    endless.extend(error);
    let mut binary: Vec<u8> = (0..1_000_000_u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    binary.extend(error);
    let mut long = "y".repeat(10_000).into_bytes();
    long.push(b'\n');
    let mut long = long.repeat(500);
    long.extend(error);
    for bytes in [endless, binary, long] {
        let events = whole(&bytes).events;
        assert!(events.iter().any(|event| event.error_type == "GitError"));
    }
}
