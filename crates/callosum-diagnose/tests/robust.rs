//! Any text is read without a panic, and events name what the text has.

#![expect(clippy::unwrap_used, reason = "a test fails on what it cannot unwrap")]
#![expect(
    clippy::disallowed_methods,
    reason = "the rows are read as a test's own files"
)]

use std::{fs, path::Path, sync::LazyLock};

use callosum_diagnose::{StreamSource, error_type, read};
use proptest::prelude::*;
use serde_json::Value;

/// The recorded outputs, positive and negative.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outputs");
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            for line in fs::read_to_string(&path).unwrap().lines() {
                let row: Value = serde_json::from_str(line).unwrap();
                texts.push(row["text"].as_str().unwrap().to_owned());
            }
        }
    }
    texts.sort();
    texts
});

/// Returns a text without the part between two shares of its length, and with another text in its place.
fn altered(text: &str, from: f64, to: f64, other: &str) -> String {
    let at = |share: f64| text.floor_char_boundary((text.len() as f64 * share) as usize);
    let (from, to) = (at(from.min(to)), at(from.max(to)));
    format!("{}{other}{}", &text[..from], &text[to..])
}

fn check(text: &str) {
    let diagnosis = read(
        text.as_bytes(),
        StreamSource::Merged,
        "2026-01-01T00:00:00Z",
    );
    for event in diagnosis.events {
        assert!(error_type::is_class(&event.error_type), "{event:?}");
        assert!(event.line_number != Some(0), "{event:?}");
        assert!(event.file_path.as_deref() != Some(""), "{event:?}");
        assert!(!event.message.contains('\n'), "{event:?}");
        assert!(!event.raw_output.is_empty(), "{event:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// CAKE-WATCH-1: outputs that are cut, mixed or damaged are read without a panic.
    #[test]
    fn damaged_outputs_are_read(
        index in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        from in 0.0..1.0_f64,
        to in 0.0..1.0_f64,
        noise in "[ -~\u{e9}\u{2502}\u{276f}\t\n'\"`:()\\[\\]{}0-9]{0,12}",
        is_mixed in any::<bool>(),
    ) {
        let text = index.get(&TEXTS);
        let insert = if is_mixed {
            other.get(&TEXTS).lines().take(3).collect::<Vec<_>>().join("\n")
        } else {
            noise
        };
        check(&altered(text, from, to, &insert));
    }
}
