//! [`Upstream`]: the proxy that this machine itself needs to get out, as its variables name it.
//!
//! Names that a connection is asked for are handed on to it and not looked up here: in a network that
//! wants a proxy, names of the outside often have no address. What the entry names is asked all the
//! same before. Deliberately not here: proxies that are spoken to with TLS or by SOCKS.

use std::{
    fmt,
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ipnet::IpNet;
use percent_encoding::percent_decode_str;

use super::request::LONGEST;

/// Address of the proxy that the variables name.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Upstream {
    /// Its host and port; `None` if the value is invalid, which is reported on first use.
    place: Option<(String, u16)>,
    /// Value of its authorization header.
    authorization: Option<String>,
    /// Hosts that are reached without it, as `NO_PROXY` lists them.
    direct: Vec<Direct>,
}

/// Entry of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Direct {
    /// `*`: every host.
    All,
    /// An address, or a range of them: `10.0.0.0/8`, `fd00::/8`.
    Network(IpNet),
    /// A domain with all below it, in lower case: `corp.example`, `.corp.example`, `*.corp.example`.
    Domain(String),
}

impl Direct {
    /// Reads an entry. Its port does not count; `None` if no host is left without it.
    fn read(entry: &str) -> Option<Self> {
        if let Ok(network) = entry.parse() {
            return Some(Self::Network(network));
        }
        let bare = entry.trim_start_matches('[').trim_end_matches(']');
        let address = bare.parse().ok();
        let address = address.or_else(|| Some(entry.parse::<SocketAddr>().ok()?.ip()));
        if let Some(address) = address {
            return Some(Self::Network(IpNet::from(address)));
        }
        let domain = entry.split(':').next().unwrap_or(entry);
        if domain == "*" {
            return Some(Self::All);
        }
        let domain = domain.trim_start_matches('*').trim_start_matches('.');
        (!domain.is_empty()).then(|| Self::Domain(domain.to_ascii_lowercase()))
    }

    /// Returns true if a host is among those of this entry. A name is not looked up, so it is in no
    /// range of addresses.
    fn has(&self, host: &str, address: Option<IpAddr>) -> bool {
        match self {
            Self::All => true,
            Self::Network(network) => address.is_some_and(|it| network.contains(&it)),
            Self::Domain(domain) => {
                let rest = host.strip_suffix(domain.as_str());
                address.is_none() && rest.is_some_and(|it| it.is_empty() || it.ends_with('.'))
            }
        }
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The password stays out of what is printed.
        f.debug_struct("Upstream")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Upstream {
    /// Reads the variables: `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, in capitals or not. `None` if
    /// they name no proxy.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let either = |name: &str| {
            let found = variable(name).or_else(|| variable(&name.to_ascii_lowercase()));
            found.filter(|value| !value.trim().is_empty())
        };
        let url = either("HTTPS_PROXY").or_else(|| either("ALL_PROXY"))?;
        let direct = either("NO_PROXY").unwrap_or_default();
        Some(Self {
            direct: direct
                .split(|it: char| it == ',' || it.is_whitespace())
                .filter_map(Direct::read)
                .collect(),
            ..Self::at(url.trim())
        })
    }

    fn at(url: &str) -> Self {
        let rest = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => return Self::default(),
            None => url,
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (who, place) = match authority.rsplit_once('@') {
            Some((who, place)) => (Some(who), place),
            None => (None, authority),
        };
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()),
            None => (place, Some(80)),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Self {
            place: port
                .filter(|_| !host.is_empty())
                .map(|port| (host.to_owned(), port)),
            authorization: who.map(|who| {
                let who: Vec<u8> = percent_decode_str(who).collect();
                BASE64_STANDARD.encode(who)
            }),
            direct: Vec::new(),
        }
    }

    /// Whether connections to a host go through it.
    pub(super) fn leads_to(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        // An IPv4 address that is written as IPv6 is in the ranges of the former.
        let address = host.parse::<IpAddr>().ok().map(|it| it.to_canonical());
        if host == "localhost" || address.is_some_and(|it| it.is_loopback()) {
            return false;
        }
        !self.direct.iter().any(|direct| direct.has(&host, address))
    }

    /// Opens a way to a host.
    pub(super) fn connect(&self, host: &str, port: u16, within: Duration) -> io::Result<TcpStream> {
        let Some((proxy, proxy_port)) = &self.place else {
            let what = "HTTPS_PROXY is not a proxy of the form http://host:port";
            return Err(io::Error::other(what));
        };
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in (proxy.as_str(), *proxy_port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, within) {
                Ok(stream) => return self.ask(stream, host, port, within),
                Err(error) => last = error,
            }
        }
        let what = format!("cannot reach the proxy {proxy}:{proxy_port}: {last}");
        Err(io::Error::new(last.kind(), what))
    }

    fn ask(
        &self,
        mut stream: TcpStream,
        host: &str,
        port: u16,
        within: Duration,
    ) -> io::Result<TcpStream> {
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.to_owned()
        };
        let mut asked = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
        if let Some(authorization) = &self.authorization {
            asked.push_str("Proxy-Authorization: Basic ");
            asked.push_str(authorization);
            asked.push_str("\r\n");
        }
        asked.push_str("\r\n");
        stream.set_read_timeout(Some(within))?;
        stream.write_all(asked.as_bytes())?;
        // Byte by byte: what follows is the host's.
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if answer.len() >= LONGEST || stream.read(&mut byte)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            answer.push(byte[0]);
        }
        stream.set_read_timeout(None)?;
        let line = String::from_utf8_lossy(&answer);
        let status = line.split(' ').nth(1).unwrap_or_default();
        if status == "200" {
            return Ok(stream);
        }
        let status: String = status
            .chars()
            .filter(char::is_ascii_digit)
            .take(3)
            .collect();
        Err(io::Error::other(format!(
            "this machine's proxy answers {status}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<Upstream> {
        Upstream::of(|name| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn a_proxy_is_read_from_the_usual_variables() {
        assert_eq!(of(&[("NO_PROXY", "a")]), None);
        assert_eq!(of(&[("HTTPS_PROXY", " ")]), None);
        for (url, place) in [
            ("http://proxy.corp:3128/", Some(("proxy.corp", 3128))),
            ("proxy.corp:3128", Some(("proxy.corp", 3128))),
            ("HTTP://u:p@proxy.corp", Some(("proxy.corp", 80))),
            ("http://[::1]:8080", Some(("::1", 8080))),
            ("socks5://proxy.corp:1080", None),
            ("http://proxy:port", None),
            ("http://", None),
        ] {
            let read = of(&[("https_proxy", url)]).unwrap().place;
            let read = read.as_ref().map(|(host, port)| (host.as_str(), *port));
            assert_eq!(read, place, "{url}");
        }
    }

    #[test]
    fn what_is_to_be_reached_directly_is() {
        let upstream = of(&[
            ("ALL_PROXY", "http://p:1"),
            (
                "NO_PROXY",
                "corp.example, .inner.example,*.more.example,10.0.0.1:80",
            ),
        ])
        .unwrap();
        for direct in [
            "corp.example",
            "a.corp.example",
            "A.Inner.example",
            "x.more.example",
            "localhost",
            "127.0.0.1",
            "10.0.0.1",
        ] {
            assert!(!upstream.leads_to(direct), "{direct}");
        }
        for other in ["api.example", "notcorp.example", "10.0.0.2"] {
            assert!(upstream.leads_to(other), "{other}");
        }
        let none = of(&[("ALL_PROXY", "http://p:1"), ("NO_PROXY", "a,, *")]).unwrap();
        assert!(!none.leads_to("api.example"));
    }

    #[test]
    fn addresses_and_ranges_are_reached_directly() {
        let direct =
            "10.0.0.0/8 192.168.1.7,::1,fd00::/8,[2001:db8::1]:443,[2001:db8::2],2001:db8::3";
        let upstream = of(&[("ALL_PROXY", "http://p:1"), ("NO_PROXY", direct)]).unwrap();
        for direct in [
            "10.0.0.1",
            "10.255.0.1",
            "::ffff:10.0.0.1",
            "192.168.1.7",
            "::1",
            "fd00::1",
            "FD12:3456::1",
            "2001:db8::1",
            "2001:db8::2",
            "2001:DB8:0::3",
        ] {
            assert!(!upstream.leads_to(direct), "{direct}");
        }
        for other in [
            "11.0.0.1",
            "192.168.1.8",
            "::2",
            "fe00::1",
            "2001:db8::4",
            "10.example",
        ] {
            assert!(upstream.leads_to(other), "{other}");
        }
        // Above, the loopback is direct without being listed.
        assert_eq!(
            Direct::read("::1").map(|direct| direct.has("::1", "::1".parse().ok())),
            Some(true)
        );
    }

    /// LOA-SEC-1: the password reaches the proxy and is not printed.
    #[test]
    fn a_tunnel_is_requested_and_refusals_are_reported() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers = thread::spawn(move || {
            for answer in ["200 ok", "407 who"] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut heard = Vec::new();
                while !heard.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    heard.push(byte[0]);
                }
                let heard = String::from_utf8(heard).unwrap();
                assert!(
                    heard.starts_with("CONNECT api.example:443 HTTP/1.1\r\n"),
                    "{heard}"
                );
                assert!(
                    heard.contains("Proxy-Authorization: Basic dTpwQHNz\r\n"),
                    "{heard}"
                );
                write!(stream, "HTTP/1.1 {answer}\r\nX: y\r\n\r\nworld").unwrap();
            }
        });
        let url = format!("http://u:p%40ss@127.0.0.1:{port}");
        let upstream = of(&[("HTTPS_PROXY", &url)]).unwrap();
        let connect = || upstream.connect("api.example", 443, Duration::from_mins(1));
        let mut heard = String::new();
        connect().unwrap().read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "world");
        let refused = connect().unwrap_err().to_string();
        assert_eq!(refused, "this machine's proxy answers 407");
        answers.join().unwrap();
        assert!(!format!("{upstream:?}").contains("dTpwQHNz"));
        let other = of(&[("HTTPS_PROXY", "socks5://p:1")]).unwrap();
        let error = other.connect("a", 1, Duration::from_secs(1)).unwrap_err();
        assert!(error.to_string().contains("http://host:port"), "{error}");
    }
}
