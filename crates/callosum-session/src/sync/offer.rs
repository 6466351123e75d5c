//! [`Offer`]: the list of a project's session files for another project, and their contents.

use std::collections::HashSet;

use callosum_host::{OpenHow, disk::EntryKind};
use callosum_redact::secrets;
use serde::{Deserialize, Serialize};

use super::{base::States, part::Part};
use crate::{
    fingerprints::Fingerprint,
    merge::Kind,
    trajectory::day_files,
    transaction::{Session, SessionError},
    zones::ZoneError,
};

/// Name of the offer itself.
pub const INDEX: &str = "callosum://session/index";

/// Format version of an offer.
const FORMAT: u32 = 1;

/// Largest file that is offered or taken, in bytes: larger ones do not fit into a message.
pub const LARGEST_PART: u64 = 4 * 1024 * 1024;

/// Most files of an offer.
pub const MOST_PARTS: usize = 20_000;

/// Largest clock: no project syncs that often, and sums stay in range.
const LATEST_CLOCK: u64 = 1 << 48;

/// Files of one project for another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Its version.
    pub format: u32,
    /// Counts the project's syncs: one that follows another, here or there, has the larger number.
    pub clock: u64,
    /// The files.
    pub parts: Vec<OfferedPart>,
    /// Files that are not offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftOut>,
    /// Versions of others' beads that the project has taken, by name once the offer was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) seen: Vec<SeenVersion>,
}

/// A file of an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedPart {
    /// Its name, which is that of a [`Part`].
    pub uri: String,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its content.
    pub sha256: String,
}

/// A file that is not offered, or not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The file, from the root.
    pub file: String,
    /// The reason.
    pub why: String,
}

/// A version of another project's file that was merged without a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeenVersion {
    pub(super) uri: String,
    pub(super) sha256: String,
    /// The sync that took it.
    pub(super) clock: u64,
}

/// Reason why an offer is not usable. Nothing of it is taken then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OfferError {
    /// It is not an offer.
    #[error("its list of session files cannot be read: {0}")]
    Unreadable(String),
    /// A newer program wrote it.
    #[error("its list of session files has format {0}; this program reads format {FORMAT}")]
    Newer(u32),
    /// A name is not that of a session file.
    #[error("it lists `{0}`, which is not the name of a session file")]
    Name(String),
    /// A name occurs twice.
    #[error("it lists `{0}` twice")]
    Twice(String),
    /// It has too many files.
    #[error("it lists more than {MOST_PARTS} session files")]
    TooMany,
}

impl Offer {
    /// Returns the versions of a part that the project took from others.
    pub(super) fn seen_of(&self, name: &str) -> impl Iterator<Item = &SeenVersion> {
        let first = self.seen.partition_point(|seen| *seen.uri < *name);
        let rest = self.seen[first..].iter();
        rest.take_while(move |seen| seen.uri == name)
    }

    /// Reads an offer from elsewhere.
    pub fn read(text: &str) -> Result<Self, OfferError> {
        #[derive(Deserialize)]
        struct Versioned {
            format: u32,
        }
        let unreadable = |error: serde_json::Error| OfferError::Unreadable(error.to_string());
        let Versioned { format } = serde_json::from_str(text).map_err(unreadable)?;
        if format > FORMAT {
            return Err(OfferError::Newer(format));
        }
        let mut offer: Self = serde_json::from_str(text).map_err(unreadable)?;
        offer.seen.sort_by(|a, b| a.uri.cmp(&b.uri));
        if offer.parts.len() > MOST_PARTS {
            return Err(OfferError::TooMany);
        }
        if offer.clock > LATEST_CLOCK {
            return Err(OfferError::Unreadable(
                "its clock is out of range".to_owned(),
            ));
        }
        let mut names = HashSet::new();
        for part in &offer.parts {
            let shown = || part.uri.escape_debug().take(200).collect();
            if Part::parse(&part.uri).is_none() {
                return Err(OfferError::Name(shown()));
            }
            if !names.insert(part.uri.as_str()) {
                return Err(OfferError::Twice(shown()));
            }
        }
        Ok(offer)
    }
}

impl Session<'_> {
    /// Lists this project's files for another one, with their checksums. Reads every file.
    pub fn offer(&self) -> Result<Offer, SessionError> {
        let states = States::read(self)?;
        let mut offer = Offer {
            format: FORMAT,
            clock: states.clock(),
            parts: Vec::new(),
            left: Vec::new(),
            seen: states.seen(),
        };
        for (part, size) in self.parts()? {
            let mut left = |why: String| {
                let file = part.file(self.zones);
                offer.left.push(LeftOut { file, why });
            };
            if size > LARGEST_PART {
                left(too_large());
                continue;
            }
            match self.part(&part)? {
                Some(text) => offer.parts.push(OfferedPart {
                    uri: part.to_string(),
                    bytes: text.len() as u64,
                    sha256: checksum(text.as_bytes()),
                }),
                None => left("it is not UTF-8 text".to_owned()),
            }
        }
        if offer.parts.len() > MOST_PARTS {
            // Newest days and all beads come last; the oldest days are the ones to leave out.
            for part in offer.parts.drain(..offer.parts.len() - MOST_PARTS) {
                let why = format!("there are more than {MOST_PARTS} files");
                let file = Part::parse(&part.uri).map(|part| part.file(self.zones));
                let file = file.unwrap_or(part.uri);
                offer.left.push(LeftOut { file, why });
            }
        }
        Ok(offer)
    }

    /// Lists the files that exist, with their sizes: trajectories from the oldest day on, beads by
    /// id, then the notes. Links and compressed trajectories are not among them.
    pub fn parts(&self) -> Result<Vec<(Part, u64)>, SessionError> {
        let (disk, zones) = (self.disk, self.zones);
        let mut parts = Vec::new();
        for day in day_files(disk, zones)? {
            if day.is_file
                && !day.is_archived
                && let Some(stat) = disk.stat(&day.path)?
            {
                let (agent, day) = (day.agent, day.day);
                parts.push((Part::Trajectory { agent, day }, stat.len));
            }
        }
        let folder = zones.real(disk, &zones.beads())?;
        let mut beads = Vec::new();
        for entry in disk.list_dir(&folder)? {
            let id = entry.name.to_str().and_then(crate::bead::BeadId::of_file);
            if entry.kind == EntryKind::File
                && let Some(id) = id
                && let Some(stat) = disk.stat(&folder.join(&entry.name))?
            {
                beads.push((Part::Bead(id), stat.len));
            }
        }
        beads.sort();
        parts.extend(beads);
        let notes = zones.real(disk, &zones.notes())?;
        let stat = disk.stat(&notes)?;
        if let Some(stat) = stat.filter(|stat| stat.kind == EntryKind::File) {
            parts.push((Part::Notes, stat.len));
        }
        Ok(parts)
    }

    /// Reads a file as others get it: without secrets. `None` if it does not exist, is not a
    /// regular file, is too large, or is not UTF-8 text. Fails if a link leads out of the project.
    pub fn part(&self, part: &Part) -> Result<Option<String>, SessionError> {
        let bytes = self.part_bytes(part)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.map(|text| without_secrets(part.kind(), &text)))
    }

    /// Reads the bytes of a file under the same conditions.
    pub(super) fn part_bytes(&self, part: &Part) -> Result<Option<Vec<u8>>, SessionError> {
        let (disk, zones) = (self.disk, self.zones);
        let path = zones.root.join(part.file(zones));
        let path = zones.real(disk, &path)?;
        let Some(stat) = disk.stat(&path)? else {
            return Ok(None);
        };
        if stat.kind != EntryKind::File || stat.len > LARGEST_PART {
            return Ok(None);
        }
        let file = match disk.open(&path, OpenHow::READ) {
            Err(error) if error.is_absent() => return Ok(None),
            file => file.map_err(ZoneError::from)?,
        };
        let bytes = file.read_all().map_err(ZoneError::from)?;
        Ok((bytes.len() as u64 <= LARGEST_PART).then_some(bytes))
    }
}

/// Returns the reason to leave out a file that is too large.
pub(super) fn too_large() -> String {
    format!("it is larger than {} MiB", LARGEST_PART >> 20)
}

/// Returns the SHA-256 of a content.
pub(super) fn checksum(bytes: &[u8]) -> String {
    Fingerprint::new(bytes).digest().to_owned()
}

/// Returns a text without its secrets. A record that would not be one any more is left out.
pub(super) fn without_secrets(kind: Kind, text: &str) -> String {
    let masked = secrets::mask(text).text;
    if kind != Kind::Trajectory || masked == text {
        return masked;
    }
    // A secret may seem to span records; each must remain a line.
    let lines = text.split_inclusive('\n').filter_map(|line| {
        let masked = secrets::mask(line.trim_end_matches('\n')).text;
        let is_record = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
        let end = if line.ends_with('\n') { "\n" } else { "" };
        (is_record(&masked) || !is_record(line)).then(|| masked.replace('\n', " ") + end)
    });
    lines.collect()
}
