//! [`Names`]: resolver of host names.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
};

/// Source of a host's addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// This system, with its files and its name servers.
    #[default]
    System,
    /// A list, and no other source.
    Listed(BTreeMap<String, Vec<IpAddr>>),
}

impl Names {
    /// The addresses of a host. Blocks as long as the system's name servers do.
    pub(super) fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![(address, port).into()]);
        }
        match self {
            Self::System => Ok((host, port).to_socket_addrs()?.collect()),
            Self::Listed(hosts) => {
                let addresses = hosts.get(host).ok_or(io::ErrorKind::NotFound)?;
                Ok(addresses
                    .iter()
                    .map(|address| (*address, port).into())
                    .collect())
            }
        }
    }
}
