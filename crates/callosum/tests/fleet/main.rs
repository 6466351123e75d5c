//! Several machines and a real nats-server: two homes of one user stand for two machines.
//!
//! ```text
//! cargo test -p callosum --features nats --test fleet
//! ```
//!
//! The server is the program that `CALLOSUM_TEST_NATS_SERVER` names, or `nats-server` on the PATH; without one the tests fail.
//! A test program of its own, since the usual tests need no server.

#![expect(
    clippy::disallowed_methods,
    reason = "a test starts a server, writes its configuration, and reads logs beside the program"
)]
#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

mod claims;
mod exchange;
mod faults;
/// Machines that share a workspace.
mod machine;
/// A server of a test's own.
mod nats_server;
mod permissions;
