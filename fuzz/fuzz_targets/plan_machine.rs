//! Any bytes as a program that runs to its end, and as changes of one.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| callosum_fuzz::machine(bytes));
