//! Real programs under [`callosum_terminal::run`], started by the example `watch`, seen from the caller's side.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests start programs and read files themselves"
)]

mod caller_terminal;
mod keys;
mod pipes;
mod signals;
mod taps;
mod terminal;
mod watcher;
mod window_size;
