//! The way out of a confined executor's network: to the hosts of its entry and nowhere else.
//!
//! Start with [`Proxy`], which serves the inner loopback from outside while an executor runs:
//! programs that know what a proxy is ask it for a host ([`asked`]), and a port that the entry
//! names of this machine's own loopback is there under its own number. [`rules`] decides, over
//! names first and then over the addresses that they turn out to have. Each connection, allowed or
//! not, is told ([`Connection`]).
//!
//! What is deliberately not here: looking into what is sent. A host that takes anything takes it.

mod connection;
mod request;
mod resolver;
mod rules;
mod server;
mod upstream;

#[cfg(test)]
mod tests;

pub(super) use self::server::Proxy;
pub use self::{
    connection::{Connection, Connections, Verdict},
    resolver::Names,
    upstream::Upstream,
};
