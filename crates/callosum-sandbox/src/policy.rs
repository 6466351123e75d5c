//! [`Policy`] and [`Whitelisted`]: what an entry says of its confinement.

use std::fmt;

/// The confinement that an executor needs to run at all (`confinement` in the registry).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// All of it, or the task is refused.
    Required,
    /// As much as the system can; missing parts are recorded.
    #[default]
    BestEffort,
    /// None. Deadlines hold all the same.
    Off,
}

impl Policy {
    /// Its name in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::BestEffort => "best-effort",
            Self::Off => "off",
        }
    }

    /// The policy of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Required, Self::BestEffort, Self::Off]
            .into_iter()
            .find(|policy| policy.as_str() == name)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A host and port that an executor may connect to (`network` in the registry).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whitelisted {
    /// A name or an address, in lower case; an IPv6 address without brackets; `*` for all names.
    pub host: String,
    /// The port; none for all of them, which only `*` may have.
    pub port: Option<u16>,
}

/// The host that matches all names.
pub const ANY: &str = "*";

impl fmt::Display for Whitelisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            None => f.write_str(&self.host),
            Some(port) if self.host.contains(':') => write!(f, "[{}]:{port}", self.host),
            Some(port) => write!(f, "{}:{port}", self.host),
        }
    }
}

/// A text that is no host and port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` must be a host and a port, such as `api.example.com:443` or `*:443`, or `*`", text.escape_debug())]
pub struct InvalidHost {
    /// The given text.
    pub text: String,
}

impl Whitelisted {
    /// Reads `host:port`; names are compared without regard to case and a final dot.
    pub fn parse(text: &str) -> Result<Self, InvalidHost> {
        let wrong = || InvalidHost {
            text: text.to_owned(),
        };
        if text == ANY {
            return Ok(Self {
                host: ANY.to_owned(),
                port: None,
            });
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let host = match host {
            ANY => ANY,
            host => fit_host(host).ok_or_else(wrong)?,
        };
        let port = port
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(wrong)?;
        Ok(Self {
            host: host.to_ascii_lowercase(),
            port: Some(port),
        })
    }
}

/// Returns the host in a text, without the brackets of an address and the final dot of a name;
/// `None` if it is neither.
pub(super) fn fit_host(text: &str) -> Option<&str> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let is_fit = |c: char| match bare {
        Some(_) => c.is_ascii_hexdigit() || matches!(c, ':' | '.'),
        None => c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'),
    };
    let host = bare.unwrap_or(text);
    let host = host.strip_suffix('.').unwrap_or(host);
    (!host.is_empty() && host.len() <= 253 && host.chars().all(is_fit)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_known_by_its_name() {
        for policy in [Policy::Required, Policy::BestEffort, Policy::Off] {
            assert_eq!(Policy::named(policy.as_str()), Some(policy));
        }
        assert_eq!(Policy::named("Off"), None);
    }

    #[test]
    fn hosts_are_compared_as_names_are() {
        let read = |text| Whitelisted::parse(text).map(|w| (w.host, w.port));
        assert_eq!(
            read("API.Example.com.:443"),
            Ok(("api.example.com".into(), Some(443)))
        );
        assert_eq!(read("[::1]:80"), Ok(("::1".into(), Some(80))));
        assert_eq!(read("*:443"), Ok(("*".into(), Some(443))));
        assert_eq!(read("*"), Ok(("*".into(), None)));
        for wrong in [
            "", "a", "a:", ":1", "a:0", "a:65536", "**:443", "[*]:1", "*.a:443", "a b:1", "::1:80",
            "a/b:1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
