//! What the targets for the language of plans call: the same functions as the tests of that crate.

#[path = "../../crates/callosum-plan/tests/it/fuzzing/mod.rs"]
mod fuzzing;

use callosum_plan::Value;

/// Any text, as the reader meets it.
pub fn reader(text: &str) {
    fuzzing::reader(text);
}

/// Any text, as the compiler meets it.
pub fn compiler(text: &str) {
    fuzzing::compiler(text);
}

/// Any text as a program that runs; where the text is none, what is drawn from its bytes.
pub fn machine(bytes: &[u8]) {
    let answers: Vec<Value> = ["1", "nil", "[1 2]", "{:a 1}", "\"x\"", "-2.5"]
        .iter()
        .filter_map(|text| Value::read(text).ok())
        .collect();
    if let Ok(text) = std::str::from_utf8(bytes) {
        fuzzing::machine(text, &answers);
    }
    fuzzing::machine(
        &fuzzing::mutation::changed_program(&mut drawing(bytes)),
        &answers,
    );
}

/// Any text as a model's JSON, and what is drawn from its bytes.
pub fn proposal(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        fuzzing::proposal(text);
    }
    fuzzing::proposal(&fuzzing::changed_proposal(&mut drawing(bytes)));
}

/// Draws from two bytes at a time, and zero where they have ended.
fn drawing(bytes: &[u8]) -> impl FnMut(usize) -> usize {
    let (pairs, _) = bytes.as_chunks::<2>();
    let mut pairs = pairs.iter();
    move |below| {
        let drawn = pairs.next().copied().unwrap_or_default();
        usize::from(u16::from_le_bytes(drawn)) % below
    }
}
