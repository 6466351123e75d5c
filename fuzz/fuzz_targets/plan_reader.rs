//! Any text as a plan's source, as the reader meets it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| callosum_fuzz::reader(text));
