//! Asking a person before something is written into their settings or their project.

use crate::context::Context;

/// The variable that answers every such question with yes; for scripts.
const ASSUME_YES: &str = "CALLOSUM_ASSUME_YES";

/// A person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Go on.
    Yes,
    /// Do nothing.
    No,
    /// There is no terminal to ask at.
    CannotAsk,
}

/// Returns whether the user agreed beforehand, by `--yes` or by the environment.
pub fn is_given(context: &Context, yes: bool) -> bool {
    yes || context
        .environment
        .get(ASSUME_YES)
        .is_some_and(|value| value == "1")
}
