//! Any text as what a model hands in: rejected with reasons, or a plan within what was allowed.

#![no_main]

use callosum_plan::{Allowlist, Library, ProposalRequest, Unbounded, accept};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &str| {
    let allowed = Allowlist::parse(&[":nlp/*"]).expect("the entry is one");
    let request = ProposalRequest {
        allowed: allowed.clone(),
        max_yields: 4,
        unbounded: Unbounded::Refuse,
        parameters: vec!["input".to_owned()],
        library: Library::standard(),
    };
    match accept(json, &request) {
        Ok(accepted) => {
            assert!(accepted.program.capabilities().all(|name| allowed.allows(name)));
        }
        Err(rejections) => assert!(!rejections.is_empty()),
    }
});
