//! Access checks: only this user's programs on this machine may send requests, and no page in a
//! browser.
//!
//! A page of another origin can make a browser send requests to loopback, and, by a name that it
//! resolves to loopback, even read the answers. The headers of a browser show that: `Origin`,
//! `Sec-Fetch-Site`, and `Host`, which then is not a loopback name.

use std::net::IpAddr;

use hyper::{HeaderMap, Uri, header};

/// Reason for rejecting a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// `Host` is missing, or is no name of this machine's loopback.
    Host,
    /// A page in a browser sent it.
    Page,
    /// A program of another user's sent it.
    User,
}

impl Refused {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Host => "the header `Host` does not name a loopback address of this machine",
            Self::Page => "requests from browser pages are not allowed",
            Self::User => "requests from other users of this machine are not allowed",
        }
    }

    /// As a label of a metric.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Page => "page",
            Self::User => "user",
        }
    }
}

/// Whether a request for this with these headers is answered.
pub(super) fn check(uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let is_here = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().is_ok_and(is_loopback),
        _ => false,
    };
    // As to a proxy: it says the host as well.
    let is_meant = uri
        .authority()
        .is_none_or(|host| is_loopback(host.as_str()));
    if !is_here || !is_meant {
        return Err(Refused::Host);
    }
    let is_own = |site: &header::HeaderValue| site == "none" || site == "same-origin";
    let mut sites = headers.get_all("sec-fetch-site").iter();
    if headers.contains_key(header::ORIGIN) || !sites.all(is_own) {
        return Err(Refused::Page);
    }
    Ok(())
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() && !name.is_empty() => name,
        _ => host,
    };
    let inner = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    name.eq_ignore_ascii_case("localhost")
        || inner
            .unwrap_or(name)
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(headers: &[(&'static str, &'static str)]) -> Result<(), Refused> {
        let headers = headers.iter().map(|(name, value)| {
            let name = header::HeaderName::from_static(name);
            (name, header::HeaderValue::from_static(value))
        });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        check(&Uri::from_static("/events"), &map)
    }

    /// CALC-SEC-1: a request in the form for a proxy is held to the host that it names there.
    #[test]
    fn a_request_for_another_host_is_refused_wherever_that_is_named() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, header::HeaderValue::from_static("localhost"));
        let of = |uri: &'static str| check(&Uri::from_static(uri), &headers);
        assert_eq!(of("http://evil.example/health"), Err(Refused::Host));
        assert_eq!(of("http://127.0.0.1:8600/health"), Ok(()));
    }

    /// CALC-SEC-1: only what is addressed to loopback is answered.
    #[test]
    fn only_names_of_loopback_are_answered() {
        for host in [
            "localhost",
            "LOCALHOST:8600",
            "127.0.0.1:8600",
            "127.1.2.3",
            "[::1]:8600",
            "[::1]",
        ] {
            assert_eq!(checked(&[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8600",
            "10.0.0.1",
            "localhost.evil",
            "",
            ":8600",
            "0.0.0.0",
        ] {
            assert_eq!(checked(&[("host", host)]), Err(Refused::Host), "{host}");
        }
        assert_eq!(checked(&[]), Err(Refused::Host));
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(checked(&twice), Err(Refused::Host));
    }

    /// CALC-SEC-1: no page in a browser is answered, not even one that this machine serves.
    #[test]
    fn no_page_is_answered() {
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("origin", "http://localhost:3000"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            let headers = [("host", "localhost:8600"), (name, value)];
            assert_eq!(checked(&headers), Err(Refused::Page), "{name}: {value}");
        }
        let typed = [("host", "localhost"), ("sec-fetch-site", "none")];
        assert_eq!(checked(&typed), Ok(()));
    }
}
