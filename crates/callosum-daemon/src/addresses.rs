//! [`Addresses`]: addresses of the daemon, each on loopback and each able to be off.

use std::{
    net::{Ipv4Addr, SocketAddr},
    str::FromStr,
};

/// Seed CALC §4: the port of events over HTTP.
const EVENTS: u16 = 8600;

/// Seed CALC §4: the port of the bus.
const BUS: u16 = 7890;

/// The port of the metrics; the seeds name none, and this is what Prometheus' own examples read.
const METRICS: u16 = 9090;

/// Seed CALC §2: the port of the page.
const PAGE: u16 = 8421;

/// Address of one service, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenTarget {
    /// Nowhere.
    Off,
    /// At an address of loopback.
    At(SocketAddr),
}

/// Addresses of all services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Events over HTTP.
    pub events: ListenTarget,
    /// The bus over WebSocket.
    pub bus: ListenTarget,
    /// Metrics for Prometheus.
    pub metrics: ListenTarget,
    /// The page for people.
    pub page: ListenTarget,
    /// Queries about past sessions. The seed's port is 8000 (Seed CALC §4), which many other programs use, so it is off by
    /// default.
    pub memory: ListenTarget,
}

impl Default for Addresses {
    fn default() -> Self {
        let at = |port| ListenTarget::At(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        Self {
            events: at(EVENTS),
            bus: at(BUS),
            metrics: at(METRICS),
            page: at(PAGE),
            memory: ListenTarget::Off,
        }
    }
}

impl FromStr for ListenTarget {
    type Err = WishError;

    /// Parses `off`, or an address and a port of loopback.
    ///
    /// Any other address is rejected: events are sent without a password and in clear, and the
    /// daemon has no TLS. A tunnel (`ssh -L`) connects another machine.
    fn from_str(text: &str) -> Result<Self, WishError> {
        if text == "off" {
            return Ok(Self::Off);
        }
        let local = text
            .strip_prefix("localhost:")
            .map(|port| format!("127.0.0.1:{port}"));
        let address: SocketAddr = local
            .as_deref()
            .unwrap_or(text)
            .parse()
            .map_err(|_| WishError::NoAddress)?;
        if address.ip().is_loopback() {
            Ok(Self::At(address))
        } else {
            Err(WishError::NotLoopback)
        }
    }
}

/// A text is no address to serve at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WishError {
    /// It is none at all.
    #[error("neither `off` nor an address with a port, such as 127.0.0.1:8600")]
    NoAddress,
    /// Others than this machine would hear.
    #[error(
        "not on loopback: without a token or TLS, anyone on the network could read and write; \
         use a tunnel (ssh -L) to reach it from another machine"
    )]
    NotLoopback,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-SEC-1: loopback only.
    #[test]
    fn only_loopback_is_served() {
        assert_eq!("off".parse(), Ok(ListenTarget::Off));
        for (text, expected) in [
            ("127.0.0.1:8600", "127.0.0.1:8600"),
            ("localhost:0", "127.0.0.1:0"),
            ("[::1]:9", "[::1]:9"),
        ] {
            let expected = ListenTarget::At(expected.parse().unwrap());
            assert_eq!(text.parse::<ListenTarget>(), Ok(expected));
        }
        for text in ["0.0.0.0:8600", "192.168.0.5:8600", "[::]:8600"] {
            assert_eq!(
                text.parse::<ListenTarget>(),
                Err(WishError::NotLoopback),
                "{text}"
            );
        }
        for text in ["", "8600", "127.0.0.1", "example.org:80"] {
            assert_eq!(
                text.parse::<ListenTarget>(),
                Err(WishError::NoAddress),
                "{text}"
            );
        }
    }
}
