//! [`Presence`]: agents that can begin a task now, judged by sightings of them in terminals.
//!
//! Pure: the facts come from a [`PresenceSource`], which the program provides. Start with
//! [`Presence::absence`]. An agent without sightings is neither present nor absent: its tasks wait
//! for the time of their route.

use std::{fmt, sync::Arc};

use jiff::{SignedDuration, Timestamp};

use crate::{agent::AgentName, board::Session};

/// Time after its end in which an agent counts as gone. Afterward its state is unknown: it may
/// start again for its next task.
const GONE: SignedDuration = SignedDuration::from_mins(10);

/// Time that a dialog waits before its agent counts as blocked: most are answered sooner.
const BLOCKED: SignedDuration = SignedDuration::from_secs(30);

/// Largest age of a look at a dialog. The daemon looks each second while an agent waits for a
/// person.
const BLOCKED_SEEN: SignedDuration = SignedDuration::from_secs(60);

/// State of an agent in a sighting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It runs, and nothing keeps it from a task.
    Present,
    /// A dialog waits for a person.
    Blocked,
    /// The limit of its account is used up.
    Limited {
        /// When the limit ends, if the client says so.
        until: Option<Timestamp>,
    },
    /// Its client has ended.
    Ended,
}

/// An agent, as it was seen in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The agent.
    pub agent: AgentName,
    /// The pane or process, such as `%3`.
    pub place: String,
    /// Its session, if it is known.
    pub session_id: Option<String>,
    /// Process id of its client, if it is known.
    pub pid: Option<u32>,
    /// State of the agent.
    pub activity: Activity,
    /// Since when.
    pub since: Timestamp,
    /// When it was looked at.
    pub seen_at: Timestamp,
}

/// Sightings of all agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// Each agent in each place. Sightings that are too old to be believed are not in it.
    pub sightings: Vec<Sighting>,
}

impl Sighting {
    /// Returns why the agent cannot begin a task here, or `None` if it can.
    fn obstacle(&self, now: Timestamp) -> Option<String> {
        let Self { place, .. } = self;
        let lasted = now.duration_since(self.since);
        match self.activity {
            Activity::Present => None,
            Activity::Ended => Some(format!("ended in {place}")),
            Activity::Limited { until: Some(until) } => {
                (until > now).then(|| format!("has used up its limit in {place}, until {until}"))
            }
            Activity::Limited { until: None } => Some(format!("has used up its limit in {place}")),
            Activity::Blocked => {
                let is_recent = now.duration_since(self.seen_at) <= BLOCKED_SEEN;
                let is_blocked = lasted >= BLOCKED && is_recent;
                is_blocked.then(|| format!("waits for a person's approval in {place}"))
            }
        }
    }

    fn is_forgotten(&self, now: Timestamp) -> bool {
        self.activity == Activity::Ended && now.duration_since(self.since) > GONE
    }

    fn is_of(&self, session: &Session) -> bool {
        let process = session.process.map(|process| process.pid);
        let is_process = process.is_some() && process == self.pid;
        is_process || self.session_id.as_ref() == Some(&session.session_id)
    }
}

impl Presence {
    /// Returns why an agent cannot begin a task now: each place in which it was seen has an obstacle, and no other session of
    /// it is at work. `None` if it can, or if nothing was seen of it.
    pub fn absence(
        &self,
        agent: &AgentName,
        sessions: &[Session],
        now: Timestamp,
    ) -> Option<String> {
        let seen = self.sightings.iter();
        let seen: Vec<&Sighting> = seen
            .filter(|seen| seen.agent == *agent && !seen.is_forgotten(now))
            .collect();
        let mut elsewhere = sessions.iter().filter(|session| session.agent == *agent);
        if elsewhere.any(|session| !seen.iter().any(|seen| seen.is_of(session))) {
            return None;
        }
        let obstacles: Option<Vec<String>> = seen.iter().map(|seen| seen.obstacle(now)).collect();
        let first = obstacles?.into_iter().next()?;
        Some(format!("{agent} {first}"))
    }

    /// Returns whether an agent is known to be able to begin a task.
    pub fn is_present(&self, agent: &AgentName, sessions: &[Session], now: Timestamp) -> bool {
        let is_known = self.sightings.iter().any(|seen| seen.agent == *agent)
            || sessions.iter().any(|session| session.agent == *agent);
        let is_over = |seen: &Sighting| seen.agent != *agent || seen.is_forgotten(now);
        let is_gone = !sessions.iter().any(|session| session.agent == *agent)
            && self.sightings.iter().all(is_over);
        is_known && !is_gone && self.absence(agent, sessions, now).is_none()
    }
}

/// Looks at the agents when a decision needs it. Costs nothing until then.
#[derive(Clone)]
pub struct PresenceSource(Arc<dyn Fn(Timestamp) -> Presence + Send + Sync>);

impl PresenceSource {
    /// Returns a source that calls a function with the current time.
    pub fn new(look: impl Fn(Timestamp) -> Presence + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    /// Returns what was seen of all agents.
    pub fn look(&self, now: Timestamp) -> Presence {
        (self.0)(now)
    }
}

impl Default for PresenceSource {
    /// Returns a source that has seen nothing.
    fn default() -> Self {
        Self::new(|_| Presence::default())
    }
}

impl fmt::Debug for PresenceSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PresenceSource")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 100_000;

    fn at(seconds_ago: i64) -> Timestamp {
        Timestamp::from_second(NOW - seconds_ago).unwrap()
    }

    fn seen(activity: Activity, since: i64) -> Sighting {
        Sighting {
            agent: "codex".parse().unwrap(),
            place: "%3".to_owned(),
            session_id: Some("s".to_owned()),
            pid: Some(7),
            activity,
            since: at(since),
            seen_at: at(1),
        }
    }

    fn absence(sightings: &[Sighting], sessions: &[Session]) -> Option<String> {
        let presence = Presence {
            sightings: sightings.to_vec(),
        };
        presence.absence(&"codex".parse().unwrap(), sessions, at(0))
    }

    fn session(id: &str) -> Session {
        Session {
            agent: "codex".parse().unwrap(),
            session_id: id.to_owned(),
            machine: "here".to_owned(),
            process: None,
        }
    }

    /// CALC-ROUTE-1: an agent that is gone, limited or blocked cannot begin a task, and any other can.
    #[test]
    fn an_agent_is_absent_if_each_of_its_places_has_an_obstacle() {
        let limited = |until: Option<Timestamp>| seen(Activity::Limited { until }, 5);
        for (sighting, expected) in [
            (seen(Activity::Present, 5), None),
            (seen(Activity::Ended, 1), Some("codex ended in %3")),
            (seen(Activity::Ended, 601), None),
            (limited(None), Some("codex has used up its limit in %3")),
            (limited(Some(at(1))), None),
            (seen(Activity::Blocked, 29), None),
            (
                seen(Activity::Blocked, 30),
                Some("codex waits for a person's approval in %3"),
            ),
            (
                Sighting {
                    seen_at: at(61),
                    ..seen(Activity::Blocked, 90)
                },
                None,
            ),
        ] {
            let found = absence(std::slice::from_ref(&sighting), &[session("s")]);
            assert_eq!(found.as_deref(), expected, "{sighting:?}");
        }
        let reset = limited(Some(at(-60)));
        let found = absence(&[reset], &[]).unwrap();
        assert!(
            found.starts_with("codex has used up its limit in %3, until "),
            "{found}"
        );
        assert_eq!(absence(&[], &[]), None);
    }

    /// CALC-ROUTE-1: one place or session that works is enough.
    #[test]
    fn another_pane_or_session_takes_the_task() {
        let ended = seen(Activity::Ended, 1);
        let other = Sighting {
            session_id: None,
            pid: Some(8),
            ..seen(Activity::Present, 1)
        };
        assert_eq!(absence(&[ended.clone(), other], &[]), None);
        assert_eq!(
            absence(std::slice::from_ref(&ended), &[session("other")]),
            None
        );
        assert!(absence(&[ended], &[session("s")]).is_some());
    }

    #[test]
    fn only_an_agent_that_was_seen_is_present() {
        let codex: AgentName = "codex".parse().unwrap();
        let present = |sightings: Vec<Sighting>, sessions: &[Session]| {
            Presence { sightings }.is_present(&codex, sessions, at(0))
        };
        assert!(!present(Vec::new(), &[]));
        assert!(!present(vec![seen(Activity::Ended, 700)], &[]));
        assert!(!present(vec![seen(Activity::Ended, 1)], &[]));
        assert!(present(vec![seen(Activity::Present, 1)], &[]));
        assert!(present(Vec::new(), &[session("s")]));
    }
}
