//! [`Endpoint`]: address of a model's server, and whether a key may be sent there.

use std::net::IpAddr;

use ureq::http::Uri;

/// Address of a server: a scheme, a host, and the path before that of each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    base: String,
    path: String,
    secure: bool,
    loopback: bool,
}

/// Reason why a text is no endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It is no URL.
    #[error("`{}` is not a URL as in http://127.0.0.1:11434", text.escape_debug())]
    NoUrl {
        /// The given text.
        text: String,
    },
    /// It has more than a scheme, a host and a path.
    #[error(
        "an endpoint must not have a user, a query or a fragment: these would be stored in a file"
    )]
    TooMuch,
    /// A key would go over the network for all to read.
    #[error("a key is only sent over https or to this machine itself; `{}` is neither", text.escape_debug())]
    KeyInClear {
        /// The given text.
        text: String,
    },
}

impl Endpoint {
    /// Reads an endpoint; `with_key` is whether a key is to be sent there.
    pub fn parse(text: &str, with_key: bool) -> Result<Self, EndpointError> {
        let no_url = || EndpointError::NoUrl {
            text: text.to_owned(),
        };
        let uri: Uri = text.parse().map_err(|_| no_url())?;
        let authority = uri.authority().ok_or_else(no_url)?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(no_url()),
        };
        if authority.as_str().contains('@') || uri.query().is_some() || text.contains('#') {
            return Err(EndpointError::TooMuch);
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(no_url());
        }
        let endpoint = Self {
            base: format!("{}://{authority}", if secure { "https" } else { "http" }),
            path: uri.path().trim_end_matches('/').to_owned(),
            secure,
            loopback: is_loopback(host),
        };
        if with_key && !endpoint.secure && !endpoint.loopback {
            return Err(EndpointError::KeyInClear {
                text: text.to_owned(),
            });
        }
        Ok(endpoint)
    }

    /// Whether the connection is encrypted.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Whether it is this machine itself.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Returns the port, if the address has one.
    pub fn port(&self) -> Option<u16> {
        self.base.rsplit_once(':')?.1.parse().ok()
    }

    /// Returns the address of a request; `usual` is the path if the endpoint has none of its own.
    pub(super) fn address(&self, usual: &str, request: &str) -> String {
        let path = if self.path.is_empty() {
            usual
        } else {
            &self.path
        };
        format!("{}{path}{request}", self.base)
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    match bare.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-SEC-1: a key never goes over the network in the clear.
    #[test]
    fn a_key_goes_over_https_or_to_this_machine() {
        for (text, may) in [
            ("https://api.example.org/v1", true),
            ("http://127.0.0.1:11434", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:8080", true),
            ("http://LOCALHOST:1", true),
            ("http://api.example.org", false),
            ("http://192.168.1.5:11434", false),
            ("http://localhost.example.org", false),
            ("http://127.0.0.1.example.org", false),
            ("http://[::ffff:1.2.3.4]", false),
        ] {
            assert_eq!(Endpoint::parse(text, true).is_ok(), may, "{text}");
            assert!(Endpoint::parse(text, false).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_no_endpoint_is_refused() {
        for text in [
            "",
            "localhost:11434",
            "/v1",
            "ftp://example.org",
            "file:///etc/passwd",
            "http://",
            "http://a b",
            "https://me:secret@example.org/v1",
            "https://example.org/v1?key=secret",
            "https://example.org/v1#x",
        ] {
            assert!(Endpoint::parse(text, false).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_is_below_the_endpoints_own_path() {
        let at = |text| {
            Endpoint::parse(text, false)
                .unwrap()
                .address("/v1", "/models")
        };
        assert_eq!(
            at("http://127.0.0.1:8080"),
            "http://127.0.0.1:8080/v1/models"
        );
        assert_eq!(
            at("http://127.0.0.1:8080/"),
            "http://127.0.0.1:8080/v1/models"
        );
        assert_eq!(
            at("https://openrouter.ai/api/v1/"),
            "https://openrouter.ai/api/v1/models"
        );
    }
}
