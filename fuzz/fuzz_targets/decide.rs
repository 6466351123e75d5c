//! Decides over any text, at every strictness: nothing fails, nothing runs on without bound, and
//! the stricter is never the laxer.

#![no_main]

use callosum_guard::{Facts, Policy, Strictness, decide, explain};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let facts = Facts {
        cwd: Some("/home/u/p".to_owned()),
        home: Some("/home/u".to_owned()),
        root: Some("/home/u/p".to_owned()),
        git_dir: Some("/home/u/p/.git".to_owned()),
        ..Facts::default()
    };
    let [minimal, balanced, paranoid] = [
        Strictness::Minimal,
        Strictness::Balanced,
        Strictness::Paranoid,
    ]
    .map(|strictness| {
        let policy = Policy {
            strictness,
            ..Policy::default()
        };
        let verdict = decide(text, &facts, &policy);
        assert_eq!(verdict, explain(text, &facts, &policy).verdict);
        verdict.decision
    });
    assert!(minimal <= balanced && balanced <= paranoid);
});
