//! Tests with a real tmux, and with recorded screens.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests start tmux and write to terminals, and their helpers fail loudly"
)]

#[cfg(target_os = "linux")]
mod injection;
#[cfg(target_os = "linux")]
mod mailbox;
mod screens;
#[cfg(target_os = "linux")]
mod sensing;
mod tmux;
