//! Hand-offs that name their receiver, and records of their pickup.
//!
//! A hand-off is in the trajectory of the agent that made it, and is never changed. Its pickup is a
//! record in the trajectory of the receiver, so that both files only ever grow, and each hand-off
//! reaches one session.

use std::{collections::BTreeMap, fmt::Write as _};

use callosum_host::{Disk, OpenHow};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    sanitize::one_line,
    timestamp::second,
    trajectory::{Agent, Record, content_of, day_files, records},
    transaction::{LockedSession, Session, SessionError},
    zones::{ZoneError, Zones},
};

/// The phase of a hand-off (Seed LOA §5.3).
const HANDED_OFF: &str = "session_handoff";

/// The phase of a hand-off that came from another repository.
pub(crate) const RECEIVED: &str = "handoff_received";

/// The phase of its being picked up.
const PICKED_UP: &str = "handoff_picked_up";

/// The phases that are searched for.
const PHASES: [&str; 3] = [HANDED_OFF, RECEIVED, PICKED_UP];

/// Most days with a trajectory that are searched, newest first.
const MOST_DAYS: usize = 14;

/// Most bytes of a file that are looked through, from its end.
const LARGEST: u64 = 8 * 1024 * 1024;

/// A hand-off that waits for an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PendingHandoff {
    /// When it was made.
    pub ts: String,
    /// The agent that made it.
    pub from: String,
    /// That agent's session.
    pub session_id: String,
    /// The root of the repository that it was in, if it is another one.
    pub repository: Option<String>,
    /// The agent that it is for.
    pub to: Option<String>,
    /// The bead that was current.
    pub bead: Option<String>,
    /// Reasoning in progress, on one line.
    pub reasoning: Option<String>,
    /// Claims that nothing showed then, each on one line.
    pub ungrounded: Vec<String>,
}

impl PendingHandoff {
    /// Returns the fields that distinguish it from those of other seconds, agents, sessions and
    /// repositories.
    fn key(&self) -> [String; 4] {
        let repository = self.repository.clone().unwrap_or_default();
        [
            self.from.clone(),
            self.ts.clone(),
            self.session_id.clone(),
            repository,
        ]
    }

    /// Returns a checksum of its content, in 12 digits, that distinguishes it from others of the
    /// same second.
    fn checksum(&self) -> String {
        let none = String::new();
        let texts =
            [&self.to, &self.bead, &self.reasoning].map(|one| one.as_ref().unwrap_or(&none));
        let mut digest = Sha256::new();
        for text in texts.into_iter().chain(&self.ungrounded) {
            digest.update(text.as_bytes());
            digest.update([0]);
        }
        let mut hex = String::new();
        for byte in &digest.finalize()[..6] {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }

    /// Whether a record marks it as picked up. A record of an older version does not distinguish
    /// those of one second.
    fn is_picked_up_by(&self, record: &Record) -> bool {
        let checksum = record.text("handoff_said");
        record.phase() == PICKED_UP
            && picked_up_key(record) == self.key()
            && (checksum.is_empty() || checksum == self.checksum())
    }
}

impl Session<'_> {
    /// Returns the hand-offs for an agent of one of these names that no other session of it has
    /// picked up, newest first. One that came from another repository and names no receiver is for
    /// the next agent to begin.
    ///
    /// One that this very session picked up is included: its context may have been compacted since.
    pub fn waiting_for(
        &self,
        names: &[&str],
        session_id: &str,
    ) -> Result<Vec<PendingHandoff>, SessionError> {
        let mut made = Vec::new();
        let mut picked_up = Vec::new();
        for record in recent(self.disk, self.zones)? {
            match record.phase() {
                // A hand-off to another repository waits there.
                HANDED_OFF
                    if is_one_of(names, record.text("to")) && record.text("to_repo").is_empty() =>
                {
                    made.push(waiting(&record));
                }
                RECEIVED if record.text("to").is_empty() || is_one_of(names, record.text("to")) => {
                    made.push(waiting(&record));
                }
                PICKED_UP => picked_up.push(record),
                _ => {}
            }
        }
        made.retain(|waiting| {
            let mut by = picked_up
                .iter()
                .filter(|record| waiting.is_picked_up_by(record));
            by.all(|record| record.text("session_id") == session_id && !session_id.is_empty())
        });
        made.sort();
        made.dedup();
        made.reverse();
        Ok(made)
    }
}

impl Session<'_> {
    /// Returns the hand-offs of the last days, for whomever, newest first.
    pub fn hand_offs(&self) -> Result<Vec<PendingHandoff>, SessionError> {
        Ok(made(recent(self.disk, self.zones)?))
    }

    /// Returns the number of hand-offs that an agent made in the last days.
    pub(crate) fn handed_off_by(&self, agent: &Agent) -> Result<usize, SessionError> {
        let recent = recent(self.disk, self.zones)?;
        let by = recent.iter().filter(|record| {
            record.phase() == HANDED_OFF && record.text("agent") == agent.as_str()
        });
        Ok(by.count())
    }

    /// Returns every hand-off that a trajectory has, also one that is compressed, newest first.
    pub(crate) fn all_hand_offs(&self) -> Result<Vec<PendingHandoff>, SessionError> {
        let mut found = Vec::new();
        for file in day_files(self.disk, self.zones)? {
            let bytes = content_of(self.disk, &file)?.unwrap_or_default();
            if holds(&bytes, HANDED_OFF) || holds(&bytes, RECEIVED) {
                found.extend(records(&bytes).records);
            }
        }
        Ok(made(found))
    }
}

/// Returns the hand-offs among records, newest first.
fn made(records: Vec<Record>) -> Vec<PendingHandoff> {
    let records = records.into_iter();
    let made = records.filter(|record| matches!(record.phase(), HANDED_OFF | RECEIVED));
    let mut made: Vec<PendingHandoff> = made.map(|record| waiting(&record)).collect();
    made.sort();
    made.dedup();
    made.reverse();
    made
}

/// Whether a name is one of these, ignoring case.
fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

impl LockedSession<'_> {
    /// Writes down that an agent has picked these up, each once.
    pub fn pick_up(
        &self,
        agent: &Agent,
        waiting: &[PendingHandoff],
        session_id: &str,
    ) -> Result<(), SessionError> {
        if waiting.is_empty() {
            return Ok(());
        }
        let session = &self.session;
        let ts = second(session.clock.now());
        let known = recent(session.disk, session.zones)?;
        let is_known = |waiting: &&PendingHandoff| {
            let mut known = known.iter();
            known.any(|record| waiting.is_picked_up_by(record))
        };
        let new = waiting.iter().filter(|waiting| !is_known(waiting));
        let records: Vec<Value> = new
            .map(|waiting| {
                let mut record = json!({
                    "ts": ts, "agent": agent.as_str(), "phase": PICKED_UP,
                    "session_id": one_line(session_id), "from": waiting.from,
                    "handoff_ts": waiting.ts, "handoff_session_id": waiting.session_id,
                    "handoff_said": waiting.checksum(),
                });
                if let Some(repository) = &waiting.repository {
                    record["from_repo"] = repository.as_str().into();
                }
                record
            })
            .collect();
        if records.is_empty() {
            return Ok(());
        }
        self.tell(agent.to_string(), &ts, records)
    }
}

/// Returns the key of the hand-off that a record marks as picked up.
fn picked_up_key(record: &Record) -> [String; 4] {
    ["from", "handoff_ts", "handoff_session_id", "from_repo"]
        .map(|name| record.text(name).to_owned())
}

fn waiting(record: &Record) -> PendingHandoff {
    let some = |name: &str| Some(one_line(record.text(name))).filter(|text| !text.is_empty());
    let ungrounded = record.members.get("ungrounded").and_then(Value::as_array);
    let ungrounded = ungrounded.into_iter().flatten().filter_map(Value::as_str);
    PendingHandoff {
        ts: record.ts().to_owned(),
        from: record.text("agent").to_owned(),
        session_id: record.text("session_id").to_owned(),
        repository: some("from_repo").filter(|_| record.phase() == RECEIVED),
        to: some("to"),
        bead: some(if record.phase() == RECEIVED {
            "from_bead"
        } else {
            "bead_id"
        }),
        reasoning: some("reasoning"),
        ungrounded: ungrounded.map(one_line).collect(),
    }
}

/// Returns hand-offs and pick-ups of the last days, of every agent, oldest day first. Files without
/// any are only searched, not parsed.
fn recent(disk: &Disk, zones: &Zones) -> Result<Vec<Record>, ZoneError> {
    let mut by_day: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for file in day_files(disk, zones)? {
        if file.is_file && !file.is_archived {
            by_day.entry(file.day).or_default().push(file.path);
        }
    }
    let skipped = by_day.len().saturating_sub(MOST_DAYS);
    let mut found = Vec::new();
    for path in by_day.into_values().skip(skipped).flatten() {
        let file = disk.open(&path, OpenHow::READ)?;
        let bytes = file.read_from(file.size()?.saturating_sub(LARGEST))?;
        if !PHASES.iter().any(|phase| holds(&bytes, phase)) {
            continue;
        }
        let all = records(&bytes).records.into_iter();
        found.extend(all.filter(|record| PHASES.contains(&record.phase())));
    }
    Ok(found)
}

fn holds(bytes: &[u8], word: &str) -> bool {
    memchr::memmem::find(bytes, word.as_bytes()).is_some()
}
