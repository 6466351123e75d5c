//! Reads any text as a `cake_config.yaml`: it is read or refused, and what is read decides.

#![no_main]

use callosum_guard::{Facts, config::Config, decide};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(read) = Config::parse("cake_config.yaml", text) {
        let policy = read.config.policy(Vec::new());
        decide("git status && rm -rf /tmp/x", &Facts::default(), &policy);
    }
});
