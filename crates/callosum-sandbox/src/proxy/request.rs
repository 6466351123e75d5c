//! [`ProxyRequest`]: request of a program to a proxy. Pure: bytes in, a host out.

use crate::policy::fit_host;

/// Most bytes of a request, headers included.
pub(super) const LONGEST: usize = 16 * 1024;

/// Request of a program to a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProxyRequest {
    /// The host; an IPv6 address without brackets.
    pub(super) host: String,
    /// The port.
    pub(super) port: u16,
    /// First bytes for the host: a request without encryption, as a server takes it. `None` for
    /// `CONNECT`, which is answered first.
    pub(super) first: Option<Vec<u8>>,
}

/// End of a request: the empty line.
pub(super) const END: &[u8] = b"\r\n\r\n";

/// Reads a request, up to its [`END`].
///
/// `None` if it is neither `CONNECT host:port` nor a request for a whole `http://` address.
pub(super) fn read(bytes: &[u8]) -> Option<ProxyRequest> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (line, headers) = text.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    if method == "CONNECT" {
        let (host, port) = host_and_port(target, None)?;
        return Some(ProxyRequest {
            host,
            port,
            first: None,
        });
    }
    let scheme = target.get(..7)?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return None;
    }
    let rest = &target[7..];
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    let (host, port) = host_and_port(authority, Some(80))?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut first = format!("{method} {slash}{path} {version}\r\n");
    for header in headers.split("\r\n").filter(|header| !header.is_empty()) {
        let name = header
            .split(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        if !matches!(name.as_str(), "connection" | "keep-alive") && !name.starts_with("proxy-") {
            first.push_str(header);
            first.push_str("\r\n");
        }
    }
    // One host a connection: the next request may be for another one.
    first.push_str("Connection: close\r\n\r\n");
    Some(ProxyRequest {
        host,
        port,
        first: Some(first.into_bytes()),
    })
}

fn host_and_port(text: &str, otherwise: Option<u16>) -> Option<(String, u16)> {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if is_port(port) => (host, port.parse().ok()?),
        _ => (text, otherwise?),
    };
    let host = fit_host(host)?;
    (port > 0).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(text: &str) -> Option<(String, u16, Option<String>)> {
        let asked = read(text.as_bytes())?;
        let first = asked.first.map(|first| String::from_utf8(first).unwrap());
        Some((asked.host, asked.port, first))
    }

    #[test]
    fn a_tunnel_is_asked_for_by_host_and_port() {
        assert_eq!(
            asked("CONNECT a.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n"),
            Some(("a.example".into(), 443, None))
        );
        assert_eq!(
            asked("CONNECT [::1]:443 HTTP/1.0\r\n\r\n"),
            Some(("::1".into(), 443, None))
        );
    }

    /// The target server gets the request, and no header reveals the route.
    #[test]
    fn a_request_without_encryption_is_passed_on_to_its_host() {
        assert_eq!(
            asked(
                "POST http://a.example:8080/x?y=1 HTTP/1.1\r\nHost: b.example\r\n\
                 Proxy-Authorization: Basic x\r\nconnection: keep-alive\r\nX: 1\r\n\r\n"
            ),
            Some((
                "a.example".into(),
                8080,
                Some(
                    "POST /x?y=1 HTTP/1.1\r\nHost: b.example\r\nX: 1\r\nConnection: close\r\n\r\n"
                        .into()
                )
            ))
        );
        let short = asked("GET http://a.example?q HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((short.0.as_str(), short.1), ("a.example", 80));
        assert!(short.2.unwrap().starts_with("GET /?q HTTP/1.1\r\n"));
    }

    #[test]
    fn nonsense_is_no_host() {
        for text in [
            "",
            "\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "CONNECT a.example HTTP/1.1\r\n\r\n",
            "CONNECT a.example:0 HTTP/1.1\r\n\r\n",
            "CONNECT a.example:65536 HTTP/1.1\r\n\r\n",
            "CONNECT a.example:443 HTTP/1.1 x\r\n\r\n",
            "CONNECT a.example:443 SSH\r\n\r\n",
            "CONNECT user@a.example:443 HTTP/1.1\r\n\r\n",
            "CONNECT a/b:443 HTTP/1.1\r\n\r\n",
            "GET https://a.example/ HTTP/1.1\r\n\r\n",
            "GET http://user:pass@a.example/ HTTP/1.1\r\n\r\n",
            "GET http:/// HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(asked(text), None, "{text:?}");
        }
    }

    proptest! {
        /// CAL-SEC-1: any bytes give a valid host or none.
        #[test]
        fn any_bytes_are_a_fit_host_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut line = b"CONNECT ".to_vec();
            line.extend(bytes);
            line.extend(b":443 HTTP/1.1\r\n\r\n");
            if let Some(asked) = read(&line) {
                prop_assert!(!asked.host.contains(['/', '@', ' ', '\r', '\n', '*']));
            }
        }
    }
}
