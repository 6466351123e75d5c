//! Several machines and a real nats-server: two homes of one user stand for two machines, and in `hosts` each has a network
//! namespace of its own.
//!
//! ```text
//! cargo test -p callosum --features nats --test fleet
//! ```
//!
//! The server is the program that `CALLOSUM_TEST_NATS_SERVER` names, or `nats-server` on the PATH; without one the tests fail.
//! Those in `hosts` need the rights of root, and are skipped without. TLS needs `openssl`.
//! A test program of its own, since the usual tests need no server.

#![expect(
    clippy::disallowed_methods,
    reason = "a test starts a server, writes its configuration, and reads logs beside the program"
)]
#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

/// An authority that signs the certificates of servers.
mod certificates;
mod claims;
mod exchange;
mod faults;
mod hosts;
/// The bad link of a machine.
mod link;
/// Many tasks and messages, and what must hold of them.
mod load;
/// Machines that share a workspace.
mod machine;
/// A server of a test's own.
mod nats_server;
/// Hosts on a switch.
mod network;
mod permissions;
mod tls;
