//! Network access of a confined executor: to the hosts of its entry and nowhere else.
//!
//! Start with [`Proxy`], which serves the inner loopback from outside while an executor runs.
//! Programs that support proxies ask it for a host ([`request`]). A port of this machine's own
//! loopback that the entry names is available under its own number. [`rules`] decides, first by
//! name and then by the addresses that the name has. Each connection, allowed or not, is reported
//! ([`Connection`]).
//!
//! Deliberately not here: inspection of the data. A host that accepts any data gets it.

mod connection;
mod request;
mod resolver;
mod rules;
mod server;
mod upstream;

#[cfg(test)]
mod tests;

pub use self::server::Proxy;
pub use self::{
    connection::{Connection, Connections, Verdict},
    resolver::Names,
    upstream::Upstream,
};
