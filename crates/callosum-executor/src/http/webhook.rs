//! [`Webhook`]: an address to which JSON documents are posted, and which is itself a secret.
//!
//! Deliberately not here: when to post again, which is who posts' own to decide.

use std::{io::Read as _, time::Duration};

use serde_json::Value;
use ureq::Agent;

use super::{
    client::{believing_what_the_machine_believes, start_of},
    endpoint::Endpoint,
    rate_limit,
};
use crate::sanitize::with_causes;

/// Longest time for a post from beginning to end.
const WITHIN: Duration = Duration::from_secs(20);

/// Bytes of a response that are read.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// An address that receives JSON documents by POST.
///
/// The address is a secret, since it is all that posting takes: no error of this type contains it.
pub struct Webhook {
    agent: Agent,
    address: String,
}

/// A response.
#[derive(Clone, Debug, PartialEq)]
pub struct Posted {
    /// The status of HTTP.
    pub status: u16,
    /// The time to wait before the next post, if the response gives one: after a refusal, or
    /// because this was the last that is allowed for now.
    pub after: Option<Duration>,
    /// The beginning of its body.
    pub words: String,
}

/// The text is no address that may be posted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not an https address without user, query and fragment (http only for this machine)")]
pub struct NoWebhook;

/// Nothing was answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct Unposted {
    /// The reason.
    pub words: String,
}

impl Webhook {
    /// Prepares to post to an address. For https, reads the certificates that this machine trusts.
    pub fn new(address: &str) -> Result<Self, NoWebhook> {
        let endpoint = Endpoint::parse(address.trim(), true).map_err(|_| NoWebhook)?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(WITHIN))
            .user_agent(concat!("callosum/", env!("CARGO_PKG_VERSION")));
        if endpoint.is_secure() {
            config = config.tls_config(believing_what_the_machine_believes());
        }
        Ok(Self {
            agent: config.build().new_agent(),
            address: endpoint.address("", ""),
        })
    }

    /// Posts a document, and waits for the response, up to 20 s. A response with any status counts.
    pub fn post(&self, document: &Value) -> Result<Posted, Unposted> {
        let posted = self
            .agent
            .post(&self.address)
            .header("content-type", "application/json")
            .send(document.to_string().as_bytes());
        let response = posted.map_err(|error| Unposted {
            words: self.hidden(&with_causes(&error)),
        })?;
        let status = response.status().as_u16();
        let headers = response.headers();
        let number = |name: &str| {
            let text = headers.get(name)?.to_str().ok()?.trim();
            text.parse::<f64>().ok()
        };
        let is_last = number("x-ratelimit-remaining").is_some_and(|left| left < 1.0);
        let lifted = number("x-ratelimit-reset-after").filter(|_| is_last);
        let wait = number("retry-after").or(lifted).and_then(seconds);
        let wait = wait.or_else(|| rate_limit::reset(headers)?.after);
        let mut bytes = Vec::new();
        let body = response.into_body().into_reader();
        // What can be read of it is what there is to tell.
        drop(body.take(LONGEST_ANSWER).read_to_end(&mut bytes));
        let reply: Option<Value> = serde_json::from_slice(&bytes).ok();
        let reply = reply.and_then(|reply| seconds(reply.get("retry_after")?.as_f64()?));
        Ok(Posted {
            status,
            after: wait.or(reply),
            words: self.hidden(start_of(&String::from_utf8_lossy(&bytes))),
        })
    }

    fn hidden(&self, words: &str) -> String {
        words.replace(&self.address, "[address]")
    }
}

fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-SEC-1: the address is never sent in the clear, and no error contains it.
    #[test]
    fn an_address_is_of_https_or_of_this_machine() {
        for address in [
            "https://127.0.0.1:1/a/secret",
            "http://127.0.0.1:1/a/secret",
        ] {
            assert!(Webhook::new(address).is_ok(), "{address}");
        }
        for address in [
            "http://example.org/secret",
            "secret",
            "",
            "https://a@b.c/secret",
        ] {
            let error = Webhook::new(address).err().unwrap();
            assert!(!error.to_string().contains("secret"));
        }
        let unposted = Webhook::new("http://127.0.0.1:1/a/secret").unwrap();
        let unposted = unposted.post(&Value::Null).unwrap_err();
        assert!(!unposted.words.contains("secret"), "{}", unposted.words);
    }
}
