//! The handshake: four steps after which an executor may get tasks, or not (seed CAL §6.2).
//!
//! [`handshake`] asks, [`judge`] decides over the answers, and [`Handshake::apply`] writes the
//! outcome into the entry. Nothing else makes an executor active. A client is asked for its version
//! and its options instead (`client`), and a server for its models or tools (`server`).

mod client;
mod server;
mod steps;

pub(crate) use self::server::offers;
pub use self::{
    server::wait_until_ready,
    steps::{
        ANSWER_WITHIN, Handshake, HandshakeFault, Outcome, Step, StepName, handshake, judge, ping,
    },
};
