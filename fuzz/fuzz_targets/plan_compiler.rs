//! Any text as a plan's source, as the compiler meets it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| callosum_fuzz::compiler(text));
