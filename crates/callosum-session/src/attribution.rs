//! [`Seen`]: the decisions of the notes that belong to sessions that are over.
//!
//! A trajectory shows this by the order of its records: those after the last hand-off count. An
//! entry that a person wrote, or whose trajectory is lost, has no place in that order, and its time
//! may be anything. So a hand-off records the entries that exist. Decisions made before the first
//! session of this checkout belong to no session here.
//!
//! The file is derived. Without it, everything older than the last hand-off in beads or the
//! trajectory is over.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
};

use callosum_host::disk::EntryKind;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use sha2::{Digest as _, Sha256};

use crate::{
    grounding::{Brief, Grounded},
    notes::Notes,
    sanitize::title_of,
    source::Source,
    timestamp::second,
    trajectory::{Agent, Trajectory},
    transaction::{LockedSession, Session, SessionError},
    zones::ZoneError,
};

/// The first word of the file; another version is not read.
const HEAD: &str = "callosum-seen/1";

/// Name of the file, in the same directory as the lock.
const FILE: &str = "seen";

/// Most keys that are kept for entries that the notes no longer have, such as those of another
/// branch.
const MOST_GONE: usize = 4096;

/// Entries that belong to sessions that are over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Decisions made before this time belong to no session here.
    begun: Timestamp,
    /// Time of the last hand-off; equal to `begun` if there was none.
    since: Timestamp,
    /// The entries that were there when a session ended, those of the last one at the end.
    keys: Vec<u64>,
    /// The same, to be found.
    known: HashSet<u64>,
}

impl Seen {
    fn new(begun: Timestamp, since: Timestamp, keys: Vec<u64>) -> Self {
        let known = keys.iter().copied().collect();
        Self {
            begun,
            since,
            keys,
            known,
        }
    }

    /// Whether an entry of the notes was there when a session ended.
    pub(crate) fn has(&self, ts: &str, title: &str) -> bool {
        is_before(ts, self.begun) || self.known.contains(&key(ts, title))
    }

    /// Whether an entry that is now the only one with its time was there, under any title. A day
    /// without a time of day does not identify an entry.
    pub(crate) fn has_time(&self, ts: &str) -> bool {
        is_of_a_time(ts) && self.known.contains(&key_of_time(ts))
    }

    /// Whether an entry with a day, no time of day, and these words was there, under any title.
    pub(crate) fn has_words(&self, ts: &str, words: &str) -> bool {
        !is_of_a_time(ts) && !words.is_empty() && self.known.contains(&key_of_words(ts, words))
    }

    /// Whether an entry without a time in its heading was there.
    pub(crate) fn has_undated(&self, name: &str) -> bool {
        self.known.contains(&key("", name))
    }

    /// Returns it with further entries. Of entries that are gone from the notes, the newest are
    /// kept.
    fn with(self, since: Timestamp, new: Vec<u64>) -> Self {
        let now: HashSet<u64> = new.iter().copied().collect();
        let mut keys: Vec<u64> = self
            .keys
            .into_iter()
            .filter(|key| !now.contains(key))
            .collect();
        keys.drain(..keys.len().saturating_sub(MOST_GONE));
        let mut there = HashSet::new();
        keys.extend(new.into_iter().filter(|key| there.insert(*key)));
        Self::new(self.begun, since, keys)
    }

    /// Whether a decision of a bead is of a session that is over.
    pub(crate) fn is_over(&self, ts: &str) -> bool {
        is_before(ts, self.since)
    }

    fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut head = lines.next()?.split(' ');
        if head.next() != Some(HEAD) {
            return None;
        }
        let (begun, since) = (head.next()?.parse().ok()?, head.next()?.parse().ok()?);
        let keys = lines.filter_map(|line| u64::from_str_radix(line, 16).ok());
        Some(Self::new(begun, since, keys.collect()))
    }

    fn written(&self) -> String {
        let mut text = format!("{HEAD} {} {}\n", self.begun, self.since);
        for key in &self.keys {
            let _ = writeln!(text, "{key:016x}");
        }
        text
    }
}

fn key(ts: &str, title: &str) -> u64 {
    let digest = Sha256::digest(format!("{ts}\0{title}"));
    digest[..8]
        .iter()
        .fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// Returns the key of an entry that alone has its time; no title is like this.
fn key_of_time(ts: &str) -> u64 {
    key(ts, "\0")
}

/// Returns the key of the words of an entry with a day alone; no title has the same form.
fn key_of_words(ts: &str, words: &str) -> u64 {
    key(ts, &format!("\0{words}"))
}

/// Returns the keys of the words of entries with a day alone, limited to those that are wanted.
fn keys_of_words(notes: &Notes, wanted: impl Fn(&str, &str) -> bool) -> Vec<u64> {
    let of_days = notes.decisions_where(|ts, title| !is_of_a_time(ts) && wanted(ts, title));
    let with_words = of_days.iter().filter(|entry| !entry.words().is_empty());
    let keys = with_words.map(|entry| key_of_words(&entry.ts, entry.words()));
    keys.collect()
}

/// Returns the keys of entries.
fn keys_of(entries: &[(String, String)]) -> Vec<u64> {
    let mut many: BTreeMap<&str, usize> = BTreeMap::new();
    for (ts, _) in entries {
        *many.entry(ts).or_default() += 1;
    }
    let titled = entries.iter().map(|(ts, title)| key(ts, title));
    let alone = many.iter().filter(|(_, many)| **many == 1);
    titled.chain(alone.map(|(ts, _)| key_of_time(ts))).collect()
}

/// Returns the names of the entries without a time in their heading.
fn undated_of(notes: &Notes) -> Vec<String> {
    let undated = notes.undated().into_iter();
    undated.map(|decision| decision.ts).collect()
}

/// Whether it says more than a day.
fn is_of_a_time(ts: &str) -> bool {
    ts.len() > 10
}

/// Whether a time as a person may write it is before another. A day is before any time of a later
/// day.
fn is_before(ts: &str, at: Timestamp) -> bool {
    if let Ok(time) = ts.parse::<Timestamp>() {
        return time < at;
    }
    let at = at.to_zoned(TimeZone::UTC).datetime();
    match ts.parse::<DateTime>() {
        Ok(time) if is_of_a_time(ts) => time < at,
        Ok(time) => time.date() < at.date(),
        Err(_) => ts
            .get(..10)
            .is_some_and(|day| day < at.date().to_string().as_str()),
    }
}

impl Session<'_> {
    /// Returns what is over, as recorded, or else as the hand-offs show it.
    pub(crate) fn seen(&self) -> Result<Seen, SessionError> {
        let path = self.zones.real(self.disk, &self.zones.own().join(FILE))?;
        let stat = self.disk.stat(&path)?;
        let known = match stat.map(|stat| stat.kind) {
            Some(EntryKind::File) => self.disk.read_if_there(&path)?,
            // The next writer sets anything else at this path aside.
            _ => None,
        };
        let known = known.and_then(|bytes| Seen::read(&String::from_utf8_lossy(&bytes)));
        match known {
            Some(seen) => Ok(seen),
            None => self.seen_first(),
        }
    }

    /// Computes what is over if nothing was recorded: everything before the last hand-off in the
    /// trajectory or beads. If there was none, everything before today.
    fn seen_first(&self) -> Result<Seen, SessionError> {
        let now = self.clock.now();
        let own = Trajectory {
            agent: Agent::default(),
            ..self.trajectory()
        };
        let handoff = own.kept_since_handoff::<Brief>()?.handoff;
        let handoff = handoff.map(|(_, record)| record.ts().to_owned());
        let rows = self.beads().list(now)?.rows.into_iter();
        let ended = rows.map(|row| row.ended).chain(handoff);
        let ended = ended.filter_map(|ts| ts.parse::<Timestamp>().ok());
        let last = ended.filter(|ts| *ts <= now).max();
        let today = || format!("{}T00:00:00Z", &second(now)[..10]).parse().ok();
        let begun = last.or_else(today).unwrap_or(now);
        // Entries without a time could be of any age: those that exist now count as seen.
        let undated = match self.notes() {
            Ok(Some(notes)) => undated_of(&notes),
            Ok(None) | Err(_) => Vec::new(),
        };
        let keys = undated.iter().map(|name| key("", name));
        Ok(Seen::new(begun, begun, keys.collect()))
    }
}

impl LockedSession<'_> {
    /// Records that sessions begin here, if none did before.
    pub(crate) fn note_begun(&self) -> Result<(), SessionError> {
        let session = &self.session;
        let path = session.zones.own().join(FILE);
        if session
            .disk
            .exists(&session.zones.real(session.disk, &path)?)?
        {
            return Ok(());
        }
        self.note_seen(&session.seen_first()?)
    }

    /// Writes down that the session of these notes is over.
    pub(crate) fn note_ended(&self, notes: &Notes, now: Timestamp) -> Result<(), SessionError> {
        let seen = self.session.seen()?;
        let entries = notes.headings().into_iter();
        let new: Vec<(String, String)> = entries
            .filter(|(ts, _)| !is_before(ts, seen.begun))
            .collect();
        let mut keys = keys_of(&new);
        keys.extend(keys_of_words(notes, |ts, _| !is_before(ts, seen.begun)));
        keys.extend(undated_of(notes).iter().map(|name| key("", name)));
        self.note_seen(&seen.with(now, keys))
    }

    /// Records that a hand-off of one agent covered these claims, limited to those that no
    /// trajectory has. The other entries of the notes stay with the session.
    pub(crate) fn note_covered(
        &self,
        notes: &Notes,
        claims: &[Grounded],
    ) -> Result<(), SessionError> {
        let claims = claims.iter().map(|found| &found.claim);
        let covered = claims.filter(|claim| claim.said_in != Source::Trajectory);
        let covered =
            covered.filter_map(|claim| Some((claim.decision.clone()?, title_of(&claim.text))));
        let covered: HashMap<String, String> = covered.collect();
        if covered.is_empty() {
            return Ok(());
        }
        let seen = self.session.seen()?;
        let entries = notes.headings().into_iter();
        let entries: Vec<(String, String)> = entries
            .filter(|(ts, title)| {
                covered.contains_key(ts) || covered.contains_key(&format!("{ts} - {title}"))
            })
            .collect();
        let mut keys = keys_of(&entries);
        keys.extend(keys_of_words(notes, |ts, title| {
            covered.contains_key(ts) || covered.contains_key(&format!("{ts} - {title}"))
        }));
        let undated = undated_of(notes).into_iter();
        let undated = undated.filter(|name| covered.contains_key(name));
        keys.extend(undated.map(|name| key("", &name)));
        keys.extend(covered.iter().map(|(ts, title)| key(ts, title)));
        let since = seen.since;
        self.note_seen(&seen.with(since, keys))
    }

    fn note_seen(&self, seen: &Seen) -> Result<(), SessionError> {
        let session = &self.session;
        let path = session.zones.own().join(FILE);
        let path = session.zones.real(session.disk, &path)?;
        let written = seen.written();
        let done = session
            .disk
            .replace_unsynced(&path, written.as_bytes(), 0o644);
        Ok(done.map_err(ZoneError::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_in_every_way_that_people_write_them() {
        let at: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        for (ts, before) in [
            ("2026-01-02T03:04:04Z", true),
            ("2026-01-02T03:04:05Z", false),
            ("2026-01-02T02:04:06-01:00", false),
            ("2026-01-02T03:04", true),
            ("2026-01-02T03:05", false),
            ("2026-01-02", false),
            ("2026-01-01", true),
            ("2026-01-01Tnoon", true),
            ("2026-01-02Tnoon", false),
        ] {
            assert_eq!(is_before(ts, at), before, "{ts}");
        }
    }

    #[test]
    fn what_was_seen_is_read_as_it_was_written() {
        let seen = Seen::new(
            "2026-01-02T00:00:00Z".parse().unwrap(),
            "2026-01-03T00:00:00.5Z".parse().unwrap(),
            vec![key("2026-01-02", "a"), 7],
        );
        let read = Seen::read(&seen.written()).unwrap();
        assert_eq!(read, seen);
        assert!(read.has("2026-01-02", "a") && !read.has("2026-01-02", "b"));
        assert!(read.has("2026-01-01", "b") && read.is_over("2026-01-02T23:59:59Z"));
        assert_eq!(Seen::read("callosum-seen/2 a b\n"), None);
    }

    #[test]
    fn what_the_notes_have_no_more_is_kept_up_to_a_bound() {
        let at: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
        let there = |from: u64, to: u64| (from..to).collect::<Vec<u64>>();
        let gone = MOST_GONE as u64;
        let seen = Seen::new(at, at, Vec::new()).with(at, there(0, gone + 9));
        let seen = seen.with(at, there(gone + 8, gone + 10));
        assert_eq!(seen.keys, there(8, gone + 10));
        assert_eq!(Seen::read(&seen.written()).unwrap(), seen);
    }
}
