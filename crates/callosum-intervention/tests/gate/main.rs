//! Messages that the gate accepts and refuses, by what is checked.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

mod command;
mod corpus;
mod event;
mod form;
mod hostile;

use std::sync::LazyLock;

use callosum_intervention::voice::{EventFacts, Gate, GateFacts, Verdict};

/// A guard that allows everything: what the gate refuses under it, it refuses by itself.
fn check_under(event: Option<EventFacts<'_>>, message: &str) -> Verdict {
    static GATE: LazyLock<Gate> = LazyLock::new(|| Gate::built_in().unwrap());
    GATE.check(
        message,
        &GateFacts {
            allows: &|_| true,
            exists: &|file| {
                [
                    "src/cart.rs",
                    "src/other.rs",
                    "requirements.txt",
                    "Cargo.toml",
                    "tests/test_a.py",
                    "run.sh",
                ]
                .contains(&file)
            },
            declares: &|program| ["shopctl", "make seed"].contains(&program),
            event,
        },
    )
}

const EVENT: EventFacts<'static> = EventFacts {
    error_type: "SyntaxError",
    file: Some("src/cart.rs"),
    line: Some(42),
    test: Some("cart::tests::adds"),
    fix_file: Some("src/price.rs"),
    message: None,
    fixes: [None, None],
};
