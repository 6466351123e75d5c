//! [`States`]: what was taken from other projects before, which gives the common ancestor of two
//! versions.
//!
//! Each other project has a file `sync-….json` among our own files, with the version of each part
//! that was last taken without a conflict. It is written last, so that a killed sync is repeated
//! by the next one.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    offer::{Offer, SeenVersion, checksum},
    part::Part,
};
use crate::{
    merge::Kind,
    transaction::{LockedSession, Session, SessionError},
    zones::ZoneError,
};

/// Format version of the file.
const FORMAT: u32 = 1;

/// Digits of the checksum that names a file.
const NAME: usize = 16;

/// The versions that were taken from one other project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    format: u32,
    /// The other project, as the person named it.
    source: String,
    /// The number of the last sync with it.
    pub(super) clock: u64,
    /// The version of each part, by name.
    pub(super) parts: BTreeMap<String, Taken>,
}

/// The version of a part that was taken last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Taken {
    pub(super) sha256: String,
    /// The sync that took it.
    pub(super) clock: u64,
    /// The number of the last of their syncs that took a version of this part and that we know of.
    pub(super) acknowledged: u64,
    /// Its content; none for trajectories, whose records are only added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

impl State {
    /// Returns the state of a project that nothing was taken from.
    fn new(source: &str) -> Self {
        Self {
            format: FORMAT,
            source: source.to_owned(),
            clock: 0,
            parts: BTreeMap::new(),
        }
    }

    /// Returns the common ancestor of our version and theirs, as far as it is known.
    ///
    /// That is the version of theirs that we took last. If they took our current version of a bead
    /// after we last looked at theirs, theirs descends from ours: ours is the ancestor.
    pub(super) fn base<'s>(&'s self, offer: &Offer, part: &Part, ours: &'s str) -> Option<&'s str> {
        let name = part.to_string();
        let taken = self.parts.get(&name);
        if matches!(part, Part::Bead(_)) {
            let own = checksum(ours.as_bytes());
            let seen = offer.seen_of(&name).filter(|seen| seen.sha256 == own);
            let seen = seen.map(|seen| seen.clock).max();
            if seen > taken.map(|taken| taken.acknowledged) {
                return Some(ours);
            }
        }
        taken.and_then(|taken| taken.text.as_deref())
    }

    /// Remembers the version of theirs that our file includes from now on. Returns whether that
    /// changes the state. `clock` is the number of the sync; `has_changed` says whether our file
    /// changed by it.
    ///
    /// A version that changed nothing here keeps its number. Otherwise two projects that sync in
    /// turn would go on to count for ever.
    pub(super) fn take(
        &mut self,
        offer: &Offer,
        part: &Part,
        (theirs, text): (&str, String),
        clock: u64,
        has_changed: bool,
    ) -> bool {
        let name = part.to_string();
        let sha256 = checksum(theirs.as_bytes());
        let latest = offer.seen_of(&name).map(|seen| seen.clock).max();
        let acknowledged = latest.unwrap_or(0);
        if !has_changed
            && let Some(taken) = self.parts.get_mut(&name)
            && taken.sha256 == sha256
        {
            let is_news = acknowledged > taken.acknowledged;
            taken.acknowledged = acknowledged.max(taken.acknowledged);
            return is_news;
        }
        let taken = Taken {
            sha256,
            clock,
            acknowledged,
            // Records are only added, so that no common ancestor is needed.
            text: (part.kind() != Kind::Trajectory).then_some(text),
        };
        self.parts.insert(name, taken);
        self.clock = clock;
        true
    }
}

/// The versions that were taken from every other project.
#[derive(Clone, Debug, Default)]
pub(super) struct States(Vec<State>);

impl States {
    /// Reads all of them. A file that is not readable counts as missing: then the next sync with
    /// that project knows no common ancestor, and removes nothing.
    pub(super) fn read(session: &Session<'_>) -> Result<Self, SessionError> {
        let (disk, zones) = (session.disk, session.zones);
        let own = zones.real(disk, &zones.own())?;
        let mut all = Vec::new();
        for entry in disk.list_dir(&own)? {
            let name = entry
                .name
                .to_str()
                .and_then(|name| name.strip_prefix("sync-"));
            if name.and_then(|name| name.strip_suffix(".json")).is_none() {
                continue;
            }
            let path = zones.real(disk, &own.join(&entry.name))?;
            let bytes = disk.read_if_there(&path)?.unwrap_or_default();
            let state: Option<State> = serde_json::from_slice(&bytes).ok();
            all.extend(state.filter(|state| state.format == FORMAT));
        }
        Ok(Self(all))
    }

    /// Returns the state of one project.
    pub(super) fn of(&self, source: &str) -> State {
        let known = self.0.iter().find(|state| state.source == source);
        known.cloned().unwrap_or_else(|| State::new(source))
    }

    /// Returns the number of the last sync.
    pub(super) fn clock(&self) -> u64 {
        self.0.iter().map(|state| state.clock).max().unwrap_or(0)
    }

    /// Returns the beads that were taken.
    pub(super) fn seen(&self) -> Vec<SeenVersion> {
        let parts = self.0.iter().flat_map(|state| &state.parts);
        let beads = parts.filter(|(name, _)| matches!(Part::parse(name), Some(Part::Bead(_))));
        let seen = beads.map(|(name, taken)| SeenVersion {
            uri: name.clone(),
            sha256: taken.sha256.clone(),
            clock: taken.clock,
        });
        seen.collect()
    }
}

impl LockedSession<'_> {
    /// Remembers what was taken.
    pub(super) fn remember_sync(&self, state: &State) -> Result<(), SessionError> {
        let (disk, zones) = (self.session.disk, self.session.zones);
        let path = zones.real(disk, &file_of(&zones.own(), &state.source))?;
        let bytes = serde_json::to_vec(state).unwrap_or_default();
        disk.replace(&path, &bytes, 0o644)
            .map_err(ZoneError::from)?;
        Ok(())
    }
}

fn file_of(own: &std::path::Path, source: &str) -> PathBuf {
    let name = checksum(source.as_bytes());
    own.join(format!("sync-{}.json", &name[..NAME]))
}
