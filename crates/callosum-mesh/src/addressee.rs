//! [`Addressee`]: to whom a message is: an agent, or one session of it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::agent::{AgentName, AgentNameError};

/// Most bytes of a session's name.
const LONGEST: usize = 128;

/// To whom a message is: an agent, whichever session of it asks first, or one session alone. Written as
/// `claude-code`, or as `claude-code@SESSION`, with the name that the client gives the session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Addressee {
    /// The agent.
    pub agent: AgentName,
    /// Its session, where one alone is meant.
    pub session: Option<String>,
}

impl Addressee {
    /// Whether it means this agent in this session. One whose session is not known is meant only where any is.
    pub fn is(&self, agent: &AgentName, session: Option<&str>) -> bool {
        let is_session = self.session.is_none() || self.session.as_deref() == session;
        self.agent == *agent && is_session
    }
}

impl From<AgentName> for Addressee {
    fn from(agent: AgentName) -> Self {
        Self {
            agent,
            session: None,
        }
    }
}

impl FromStr for Addressee {
    type Err = AddresseeError;

    fn from_str(text: &str) -> Result<Self, AddresseeError> {
        let (agent, session) = match text.split_once('@') {
            Some((agent, session)) => (agent, Some(session)),
            None => (text, None),
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte);
        let is_session = |session: &str| {
            (1..=LONGEST).contains(&session.len())
                && session.starts_with(|first: char| first.is_ascii_alphanumeric())
                && session.bytes().all(is_plain)
        };
        if let Some(session) = session.filter(|session| !is_session(session)) {
            return Err(AddresseeError::Session {
                found: session.chars().take(LONGEST).collect(),
            });
        }
        Ok(Self {
            agent: agent.parse()?,
            session: session.map(str::to_owned),
        })
    }
}

impl TryFrom<String> for Addressee {
    type Error = AddresseeError;

    fn try_from(text: String) -> Result<Self, AddresseeError> {
        text.parse()
    }
}

impl From<Addressee> for String {
    fn from(addressee: Addressee) -> Self {
        addressee.to_string()
    }
}

impl fmt::Display for Addressee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.agent)?;
        match &self.session {
            Some(session) => write!(f, "@{session}"),
            None => Ok(()),
        }
    }
}

/// The text is not a valid addressee.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddresseeError {
    /// It names no agent.
    #[error(transparent)]
    Agent(#[from] AgentNameError),
    /// The part after `@` is not a valid session name.
    #[error(
        "`{found}` is not a session name: use up to 128 letters, digits, `.`, `_`, `-` and `:`, \
         as its client names it"
    )]
    Session {
        /// Its beginning.
        found: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_addressee_is_an_agent_or_one_session_of_it() {
        let to = |text: &str| text.parse::<Addressee>();
        let any = to("claude").unwrap();
        assert_eq!(any.to_string(), "claude-code");
        let one = to("claude@0f6-1").unwrap();
        assert_eq!(one.to_string(), "claude-code@0f6-1");
        let claude = &any.agent;
        assert!(any.is(claude, None) && any.is(claude, Some("x")));
        assert!(one.is(claude, Some("0f6-1")));
        assert!(!one.is(claude, None) && !one.is(claude, Some("x")));
        assert!(!one.is(&"codex".parse().unwrap(), Some("0f6-1")));
        for none in [
            "",
            "@s",
            "claude@",
            "claude@a b",
            "claude@-x",
            "claude@a@b",
            "a b@s",
            "claude@a`b`",
        ] {
            assert!(to(none).is_err(), "{none}");
        }
    }
}
