//! Tests with a real tmux, and with recorded screens.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests start tmux and write to terminals, and their helpers fail loudly"
)]

mod injection;
mod screens;
mod sensing;
mod tmux;
