//! Access to the page: which requests are answered, from their headers alone.
//!
//! A page of another origin can make a browser send requests to loopback, and, by a name that it resolves to loopback, even
//! read the answers. So `Host` must be a loopback name, or the name of the proxy; what a page of another origin sends is
//! refused; and a write needs the same origin and the token of the form as well.

use std::net::IpAddr;

use axum::http::{HeaderMap, Method, Uri, header};

use crate::form_token::is_same;

/// Name of the cookie that keeps the token of a proxy.
pub(crate) const COOKIE: &str = "callosum_page";

/// A proxy with TLS, by which the page is reached from other machines.
#[derive(Clone)]
pub struct Proxy {
    /// Name and port in the addresses that people type, such as `agents.example.com`.
    pub host: String,
    /// The secret that a person enters once per browser.
    pub token: String,
}

/// Reason for refusing a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// `Host` names neither loopback nor the proxy.
    Host,
    /// A program of another user sent it, which is not the proxy.
    User,
    /// A page of another origin sent it.
    Origin,
    /// The request came by the proxy, but not over TLS.
    NoTls,
    /// The request came by the proxy, without its token.
    NoToken,
}

impl Refused {
    /// Returns the reason in words.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Host => {
                "the header `Host` names neither a loopback address nor the configured proxy"
            }
            Self::User => "requests from other users of this machine are not allowed",
            Self::Origin => "requests of other pages are not allowed",
            Self::NoTls => {
                "the proxy must serve over TLS, and say so with `X-Forwarded-Proto: https`"
            }
            Self::NoToken => "the token of the page is missing",
        }
    }
}

/// Decides whether a request is answered.
pub(crate) fn check(
    proxy: Option<&Proxy>,
    is_other_user: bool,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Refused> {
    let host = single(headers, header::HOST.as_str()).ok_or(Refused::Host)?;
    let by_proxy = proxy.filter(|proxy| proxy.host.eq_ignore_ascii_case(host));
    if is_other_user && by_proxy.is_none() {
        return Err(Refused::User);
    }
    let is_known = |name: &str| {
        is_loopback(name) || proxy.is_some_and(|proxy| proxy.host.eq_ignore_ascii_case(name))
    };
    if !is_known(host) || uri.authority().is_some_and(|name| !is_known(name.as_str())) {
        return Err(Refused::Host);
    }
    let scheme = if by_proxy.is_some() { "https" } else { "http" };
    let own = format!("{scheme}://{host}");
    let is_write = !matches!(*method, Method::GET | Method::HEAD);
    let origin = headers.get_all(header::ORIGIN).iter();
    let mut origins = origin.map(|origin| {
        origin
            .to_str()
            .is_ok_and(|origin| origin.eq_ignore_ascii_case(&own))
    });
    let is_own_site = |site: &str| site == "same-origin" || site == "none";
    let site = headers.get("sec-fetch-site");
    let is_other_site = site.is_some_and(|site| !site.to_str().is_ok_and(is_own_site));
    if is_other_site || headers.get_all("sec-fetch-site").iter().count() > 1 {
        return Err(Refused::Origin);
    }
    match (origins.next(), origins.next()) {
        (None, _) if is_write => return Err(Refused::Origin),
        (None, _) | (Some(true), None) => {}
        _ => return Err(Refused::Origin),
    }
    if let Some(proxy) = by_proxy {
        if single(headers, "x-forwarded-proto") != Some("https") {
            return Err(Refused::NoTls);
        }
        let given = bearer(headers).or_else(|| cookie(headers));
        if !given.is_some_and(|given| is_same(&proxy.token, given)) {
            return Err(Refused::NoToken);
        }
    }
    Ok(())
}

/// The only value of a header; `None` if there is none, or there are several.
fn single<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    single(headers, header::AUTHORIZATION.as_str())?.strip_prefix("Bearer ")
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = single(headers, header::COOKIE.as_str())?;
    let mut pairs = cookies
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(name, value)| (name == COOKIE).then_some(value))
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
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn checked(method: &Method, headers: &[(&'static str, &str)]) -> Result<(), Refused> {
        let proxy = Proxy {
            host: "agents.example.com".to_owned(),
            token: "secret".to_owned(),
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        check(
            Some(&proxy),
            false,
            method,
            &Uri::from_static("/p/x/now"),
            &map,
        )
    }

    /// CALC-SEC-1: a name that resolves to loopback gets no answer.
    #[test]
    fn only_loopback_names_and_the_proxy_are_answered() {
        for host in [
            "127.0.0.1:8421",
            "localhost:8421",
            "[::1]:8421",
            "LOCALHOST",
        ] {
            assert_eq!(checked(&Method::GET, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8421",
            "10.0.0.1",
            "127.0.0.1.evil",
            "",
            "0.0.0.0:8421",
        ] {
            assert_eq!(
                checked(&Method::GET, &[("host", host)]),
                Err(Refused::Host),
                "{host}"
            );
        }
        assert_eq!(checked(&Method::GET, &[]), Err(Refused::Host));
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(checked(&Method::GET, &twice), Err(Refused::Host));
    }

    /// CALC-SEC-1: another user's program gets an answer only as the proxy.
    #[test]
    fn other_users_are_refused() {
        let mut headers = HeaderMap::new();
        headers.insert("host", HeaderValue::from_static("127.0.0.1:8421"));
        let uri = Uri::from_static("/");
        assert_eq!(
            check(None, true, &Method::GET, &uri, &headers),
            Err(Refused::User)
        );
        assert_eq!(check(None, false, &Method::GET, &uri, &headers), Ok(()));
    }

    /// CALC-SEC-1: a page of another origin reads nothing and writes nothing.
    #[test]
    fn requests_of_other_pages_are_refused() {
        let host = ("host", "127.0.0.1:8421");
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("origin", "http://127.0.0.1:3000"),
            ("origin", "http://localhost:8421"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            for method in [Method::GET, Method::POST] {
                assert_eq!(
                    checked(&method, &[host, (name, value)]),
                    Err(Refused::Origin),
                    "{value}"
                );
            }
        }
        let own = ("origin", "http://127.0.0.1:8421");
        assert_eq!(checked(&Method::POST, &[host, own]), Ok(()));
        assert_eq!(
            checked(&Method::POST, &[host, own, own]),
            Err(Refused::Origin)
        );
        // Without an origin, no browser sent it, or one that hides it.
        assert_eq!(checked(&Method::POST, &[host]), Err(Refused::Origin));
        assert_eq!(
            checked(&Method::GET, &[host, ("sec-fetch-site", "none")]),
            Ok(())
        );
    }

    #[test]
    fn a_proxy_needs_tls_and_the_token() {
        let host = ("host", "agents.example.com");
        let tls = ("x-forwarded-proto", "https");
        assert_eq!(checked(&Method::GET, &[host]), Err(Refused::NoTls));
        assert_eq!(checked(&Method::GET, &[host, tls]), Err(Refused::NoToken));
        let wrong = ("authorization", "Bearer secreT");
        assert_eq!(
            checked(&Method::GET, &[host, tls, wrong]),
            Err(Refused::NoToken)
        );
        let right = ("authorization", "Bearer secret");
        assert_eq!(checked(&Method::GET, &[host, tls, right]), Ok(()));
        let kept = ("cookie", "a=b; callosum_page=secret");
        assert_eq!(checked(&Method::GET, &[host, tls, kept]), Ok(()));
        let own = ("origin", "https://agents.example.com");
        assert_eq!(checked(&Method::POST, &[host, tls, kept, own]), Ok(()));
        let plain = ("origin", "http://agents.example.com");
        assert_eq!(
            checked(&Method::POST, &[host, tls, kept, plain]),
            Err(Refused::Origin)
        );
    }
}
