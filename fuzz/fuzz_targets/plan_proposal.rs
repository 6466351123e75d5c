//! Any bytes as what a model hands in as a plan.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| callosum_fuzz::proposal(bytes));
