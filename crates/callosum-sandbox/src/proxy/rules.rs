//! [`may_ask`] and [`may_reach`]: which connections an entry allows. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::policy::{ANY, Whitelisted};

/// Reason for denying a connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Denied {
    /// The entry does not name the host with this port.
    #[error("the entry does not name it under `network`")]
    NotNamed,
    /// `*` matches names, and this is an address.
    #[error("addresses must be listed explicitly")]
    BareAddress,
    /// A name led somewhere inside.
    #[error("its address is {address}, which is not public and not listed explicitly")]
    NotPublic {
        /// The address of the name.
        address: IpAddr,
    },
}

/// Checks whether a program may ask for a host at all, before any lookup.
///
/// Names are compared without regard to case and a final dot.
pub(super) fn may_ask(named: &[Whitelisted], host: &str, port: u16) -> Result<(), Denied> {
    let is_named = |one: &Whitelisted| same_host(&one.host, host) && one.port == Some(port);
    if named.iter().any(is_named) {
        return Ok(());
    }
    let is_any = |one: &Whitelisted| one.host == ANY && one.port.is_none_or(|any| any == port);
    match named.iter().any(is_any) {
        true if host.parse::<IpAddr>().is_ok() => Err(Denied::BareAddress),
        true => Ok(()),
        false => Err(Denied::NotNamed),
    }
}

/// Returns the addresses of a host that a program may connect to, once [`may_ask`] has allowed the
/// host.
///
/// Only public ones, unless the entry names the address itself: a name's owner decides where it
/// leads, and must not decide that it leads into this machine or its network.
pub(super) fn may_reach(
    named: &[Whitelisted],
    host: &str,
    addresses: &[SocketAddr],
) -> Result<Vec<SocketAddr>, Denied> {
    let is_local = |port: u16| {
        let mut named = named.iter();
        same_host("localhost", host)
            && named.any(|one| same_host("localhost", &one.host) && one.port == Some(port))
    };
    let may = |address: &&SocketAddr| {
        let ip = address.ip();
        is_public(ip)
            || (ip.is_loopback() && is_local(address.port()))
            || named
                .iter()
                .any(|one| one.host.parse() == Ok(ip) && one.port == Some(address.port()))
    };
    let reachable: Vec<SocketAddr> = addresses.iter().filter(may).copied().collect();
    match (reachable.is_empty(), addresses.first()) {
        (true, Some(first)) => Err(Denied::NotPublic {
            address: first.ip(),
        }),
        _ => Ok(reachable),
    }
}

fn same_host(named: &str, asked: &str) -> bool {
    if named == ANY {
        return false;
    }
    match (named.parse::<IpAddr>(), asked.parse::<IpAddr>()) {
        (Ok(named), Ok(asked)) => named == asked,
        _ => named.eq_ignore_ascii_case(asked.strip_suffix('.').unwrap_or(asked)),
    }
}

/// Whether an address is one of the public Internet (IANA's special-purpose registries).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded(address) {
        return is_public_v4(inner);
    }
    let [first, second, ..] = address.segments();
    // Global unicast is 2000::/3, without documentation.
    first & 0xe000 == 0x2000 && !(first == 0x2001 && second == 0x0db8)
}

/// The IPv4 address that an IPv6 address leads to: mapped, 6to4, or by way of NAT64.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let joined = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(joined(high, low))
        }
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(all: &[&str]) -> Vec<Whitelisted> {
        let all = all.iter().map(|text| Whitelisted::parse(text));
        all.collect::<Result<_, _>>().unwrap()
    }

    /// CAL-SEC-1: what is not named is not reached, however it is spelled.
    #[test]
    fn only_what_is_named_may_be_asked_for() {
        let entry = named(&[
            "api.example.com:443",
            "Dotted.example.:443",
            "10.0.0.1:80",
            "[::1]:90",
        ]);
        for (host, port) in [
            ("api.example.com", 443),
            ("API.Example.com.", 443),
            ("dotted.example", 443),
            ("dotted.example.", 443),
            ("10.0.0.1", 80),
            ("::1", 90),
            ("0:0::1", 90),
        ] {
            assert_eq!(may_ask(&entry, host, port), Ok(()), "{host}");
        }
        for (host, port) in [
            ("api.example.com", 80),
            ("evil.api.example.com", 443),
            ("api.example.com.evil.org", 443),
            ("example.com", 443),
            ("api.example.com..", 443),
            ("10.0.0.2", 80),
            ("", 443),
            ("*", 443),
        ] {
            assert_eq!(may_ask(&entry, host, port), Err(Denied::NotNamed), "{host}");
        }
    }

    #[test]
    fn any_host_is_any_name_and_no_address() {
        assert_eq!(may_ask(&named(&["*"]), "a.example", 8080), Ok(()));
        let entry = named(&["*:443"]);
        assert_eq!(may_ask(&entry, "a.example", 443), Ok(()));
        assert_eq!(may_ask(&entry, "a.example", 80), Err(Denied::NotNamed));
        for bare in ["127.0.0.1", "8.8.8.8", "::1"] {
            assert_eq!(may_ask(&entry, bare, 443), Err(Denied::BareAddress));
        }
    }

    /// CAL-SEC-1: the owner of a name cannot make it lead into the machine or its network.
    #[test]
    fn a_name_leads_to_public_addresses_only() {
        let inside = [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
        ];
        let entry = named(&["a.example:443", "*"]);
        for text in inside {
            let address: IpAddr = text.parse().unwrap();
            let found = may_reach(&entry, "a.example", &[(address, 443).into()]);
            assert_eq!(found, Err(Denied::NotPublic { address }), "{text}");
            // Unless the entry names that very address.
            let spelled = SocketAddr::from((address, 443)).to_string();
            let entry = named(&["a.example:443", &spelled]);
            let found = may_reach(&entry, "a.example", &[(address, 443).into()]);
            assert_eq!(found, Ok(vec![(address, 443).into()]), "{text}");
            let other = may_reach(&entry, "a.example", &[(address, 444).into()]);
            assert!(other.is_err(), "{text}");
        }
        for text in ["8.8.8.8", "1.1.1.1", "2606:4700::1", "64:ff9b::808:808"] {
            let address: SocketAddr = (text.parse::<IpAddr>().unwrap(), 443).into();
            let both = [address, ([127, 0, 0, 1], 443).into()];
            assert_eq!(may_reach(&entry, "a.example", &both), Ok(vec![address]));
        }
    }

    #[test]
    fn localhost_is_this_machine_and_nothing_else() {
        let entry = named(&["localhost:80"]);
        let local: SocketAddr = ([127, 0, 0, 1], 80).into();
        let near: SocketAddr = ([10, 0, 0, 1], 80).into();
        assert_eq!(
            may_reach(&entry, "localhost", &[near, local]),
            Ok(vec![local])
        );
        assert!(may_reach(&entry, "localhost", &[near]).is_err());
        let any = named(&["*", "*:80", "localhost:81"]);
        assert!(may_reach(&any, "localhost", &[local]).is_err());
    }
}
