//! [`Session::zone_reached`]: the zone in which each client's context was when it was last looked
//! at.
//!
//! A client's hook asks it after every call of a tool, so that a checkpoint is written once as a context
//! comes into a fuller zone, and not at each call from there on. It is derived: without it, the last
//! checkpoint of the same transcript counts.

use crate::{
    budget::Zone,
    trajectory::Record,
    transaction::{LockedSession, Session, SessionError},
};

/// The file that remembers it: a line a transcript, the newest last.
const REACHED: &str = "contexts";

/// Most transcripts that are remembered.
const MOST: usize = 32;

impl Session<'_> {
    /// Returns the zone that the context of a transcript of this name was in at the last look;
    /// `None` if it is not known. Reads one small file.
    pub fn zone_reached(&self, transcript: &str) -> Result<Option<Zone>, SessionError> {
        let known = self.reached()?;
        Ok(zone_in(&known, transcript))
    }

    fn reached(&self) -> Result<String, SessionError> {
        let path = self
            .zones
            .real(self.disk, &self.zones.own().join(REACHED))?;
        let bytes = self.disk.read_if_there(&path)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl LockedSession<'_> {
    /// Remembers the zone in which the context of a transcript is now, lower ones too: one that was
    /// compacted may come into the fuller zone again.
    pub fn note_zone(&self, transcript: &str, zone: Zone) -> Result<(), SessionError> {
        let session = &self.session;
        let known = session.reached()?;
        if zone_in(&known, transcript) == Some(zone) || transcript.contains(['\n', '\t']) {
            return Ok(());
        }
        let others: Vec<&str> = known
            .lines()
            .filter(|line| {
                line.split_once('\t')
                    .is_some_and(|(_, of)| of != transcript)
            })
            .collect();
        let new = format!("{zone}\t{transcript}");
        let kept = others[others.len().saturating_sub(MOST - 1)..].iter();
        let lines: Vec<&str> = kept.copied().chain([new.as_str(), ""]).collect();
        let text = lines.join("\n");
        let path = session.zones.own().join(REACHED);
        let path = session.zones.real(session.disk, &path)?;
        Ok(session
            .disk
            .replace_unsynced(&path, text.as_bytes(), 0o644)?)
    }
}

fn zone_in(known: &str, transcript: &str) -> Option<Zone> {
    let mut lines = known.lines().filter_map(|line| line.split_once('\t'));
    let (zone, _) = lines.rfind(|(_, of)| *of == transcript)?;
    Zone::named(zone)
}

/// Returns the zone in the last checkpoint of a transcript.
pub(crate) fn zone_recorded<'r>(
    mut records: impl DoubleEndedIterator<Item = &'r Record>,
    transcript: &str,
) -> Option<Zone> {
    let last = records.rfind(|record| record.text("transcript") == transcript)?;
    Zone::named(last.text("zone"))
}
