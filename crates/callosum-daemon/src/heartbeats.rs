//! [`Heartbeats`]: the last sign of life of each agent, as `GET /health` shows it.
//!
//! An agent that posts a heartbeat is heard of here. The others need none: what their hooks write
//! anyway is looked up when someone asks, so that no hook waits for a request.

use std::{cell::RefCell, collections::BTreeMap};

use callosum_mesh::agent::AgentName;
use jiff::Timestamp;
use serde::Deserialize;

/// Most agents whose heartbeats are kept.
const MOST_AGENTS: usize = 64;

/// Longest name of an agent, in bytes.
const LONGEST_NAME: usize = 128;

/// The last sign of life of each agent, by its name.
pub type SignsOfLife = BTreeMap<String, Timestamp>;

/// The heartbeats that were posted.
#[derive(Debug, Default)]
pub(super) struct Heartbeats(RefCell<SignsOfLife>);

impl Heartbeats {
    /// Notes that an agent is alive, as the body of its request says.
    pub(super) fn beat(&self, body: &[u8], now: Timestamp) -> Result<(), String> {
        #[derive(Deserialize)]
        struct Heartbeat {
            agent: String,
        }
        let Heartbeat { agent } =
            serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if agent.trim().is_empty() || agent.len() > LONGEST_NAME {
            return Err(format!("`agent` must have 1 to {LONGEST_NAME} bytes"));
        }
        let mut known = self.0.borrow_mut();
        known.insert(name_of(agent), now);
        while known.len() > MOST_AGENTS {
            let oldest = known.iter().min_by_key(|(_, at)| **at);
            let Some(oldest) = oldest.map(|(agent, _)| agent.clone()) else {
                break;
            };
            known.remove(&oldest);
        }
        Ok(())
    }

    /// Returns the last sign of life of each agent: its last heartbeat or, if that is later, the
    /// one in `signs`.
    pub(super) fn latest(&self, signs: SignsOfLife) -> BTreeMap<String, String> {
        let mut latest = self.0.borrow().clone();
        for (agent, at) in signs {
            let known = latest.entry(name_of(agent)).or_insert(at);
            *known = at.max(*known);
        }
        let shown = latest.into_iter();
        shown.map(|(agent, at)| (agent, at.to_string())).collect()
    }
}

/// Returns the mesh's name of an agent, so that `gemini` and `gemini-cli` are one.
fn name_of(agent: String) -> String {
    match agent.parse::<AgentName>() {
        Ok(name) => name.as_str().to_owned(),
        Err(_) => agent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// CALC-L5-1, CALC-PAR-1: of an agent, the latest sign of life counts, under the one name that the mesh has for it.
    #[test]
    fn the_latest_sign_of_life_counts() {
        let heartbeats = Heartbeats::default();
        heartbeats.beat(br#"{"agent":"gemini"}"#, at(20)).unwrap();
        heartbeats.beat(br#"{"agent":"My Robot"}"#, at(21)).unwrap();
        let signs = [
            ("gemini-cli", 10),
            ("codex", 30),
            ("claude", 5),
            ("claude-code", 7),
        ];
        let signs = signs.map(|(agent, second)| (agent.to_owned(), at(second)));
        let latest = heartbeats.latest(signs.into_iter().collect());
        let expected = [
            ("My Robot", 21),
            ("claude-code", 7),
            ("codex", 30),
            ("gemini-cli", 20),
        ];
        let expected = expected.map(|(agent, second)| (agent.to_owned(), at(second).to_string()));
        assert_eq!(latest, expected.into_iter().collect());
        for body in ["{}", r#"{"agent":" "}"#, "x"] {
            assert!(heartbeats.beat(body.as_bytes(), at(1)).is_err(), "{body}");
        }
    }

    #[test]
    fn the_oldest_of_too_many_is_forgotten() {
        let heartbeats = Heartbeats::default();
        for second in 0..=MOST_AGENTS {
            let body = format!(r#"{{"agent":"a{second}"}}"#);
            let second = i64::try_from(second).unwrap();
            heartbeats.beat(body.as_bytes(), at(second)).unwrap();
        }
        let latest = heartbeats.latest(SignsOfLife::new());
        assert_eq!(latest.len(), MOST_AGENTS);
        assert!(!latest.contains_key("a0"));
    }
}
