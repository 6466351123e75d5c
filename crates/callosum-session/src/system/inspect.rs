//! [`survey`]: the status of each file and folder of the three zones, and its new content.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{
    file_status::{FileStatus, standing},
    record::{Checksums, FILE},
    system_files::{CONFIG, pieces},
};
use crate::{
    notes::{Field, Notes, TEMPLATE},
    transaction::{Session, SessionError},
    yaml,
    zones::ZoneError,
};

/// A file or folder of the zones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    /// Path from the root; a folder ends with `/`.
    pub path: String,
    /// Its status.
    pub standing: FileStatus,
    /// New content of the file, if it is written.
    pub(super) then: Option<Vec<u8>>,
    /// Its permissions.
    pub(super) mode: u32,
}

impl Surveyed {
    fn new(path: impl Into<String>, (standing, then): (FileStatus, Option<Vec<u8>>)) -> Self {
        Self {
            path: path.into(),
            standing,
            then,
            mode: 0o644,
        }
    }
}

/// Looks at the zones and changes nothing: the system zone's files, then state, beads and
/// configuration.
///
/// `clients` are those that should have their own forms of the files in the system zone.
pub fn survey(session: &Session<'_>, clients: &[&str]) -> Result<Vec<Surveyed>, SessionError> {
    let mut found = Vec::new();
    let sums = match read(session, FILE)? {
        ZoneInspection::There(bytes) => Checksums::read(bytes.as_deref()),
        ZoneInspection::Outside => None,
    };
    if sums.is_none() {
        found.push(Surveyed::new(FILE, (FileStatus::Foreign, None)));
    }
    let sums = sums.unwrap_or_default();
    for piece in pieces(clients) {
        let status = match read(session, piece.path)? {
            ZoneInspection::There(bytes) => standing(piece, bytes.as_deref(), sums.of(piece.path)),
            ZoneInspection::Outside => (FileStatus::Outside, None),
        };
        found.push(Surveyed {
            mode: piece.mode,
            ..Surveyed::new(piece.path, status)
        });
    }
    for folder in [
        "loa-grimoire/a2a/trajectory/",
        "loa-grimoire/analytics/",
        ".beads/",
    ] {
        found.push(Surveyed::new(folder, folder_status(session, folder)?));
    }
    let notes = match read(session, "loa-grimoire/NOTES.md")? {
        ZoneInspection::There(bytes) => notes_stand(bytes),
        ZoneInspection::Outside => (FileStatus::Outside, None),
    };
    found.push(Surveyed::new("loa-grimoire/NOTES.md", notes));
    let config = match read(session, ".loa.config.yaml")? {
        ZoneInspection::There(bytes) => config_status(bytes.as_deref()),
        ZoneInspection::Outside => (FileStatus::Outside, None),
    };
    found.push(Surveyed::new(".loa.config.yaml", config));
    Ok(found)
}

enum ZoneInspection {
    There(Option<Vec<u8>>),
    Outside,
}

/// Returns the place of a path; `None` if a link leads it out of the project.
pub(super) fn place(session: &Session<'_>, path: &str) -> Result<Option<PathBuf>, SessionError> {
    match session
        .zones
        .real(session.disk, &session.zones.root.join(path))
    {
        Ok(place) => Ok(Some(place)),
        Err(ZoneError::Outside { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn read(session: &Session<'_>, path: &str) -> Result<ZoneInspection, SessionError> {
    let Some(place) = place(session, path)? else {
        return Ok(ZoneInspection::Outside);
    };
    Ok(ZoneInspection::There(session.disk.read_if_there(&place)?))
}

fn folder_status(
    session: &Session<'_>,
    path: &str,
) -> Result<(FileStatus, Option<Vec<u8>>), SessionError> {
    let Some(place) = place(session, path)? else {
        return Ok((FileStatus::Outside, None));
    };
    let is_there = session.disk.exists(&place)?;
    let standing = if is_there {
        FileStatus::Current
    } else {
        FileStatus::Missing
    };
    Ok((standing, None))
}

/// Notes that lack the seed's first section get it; everything else in them stays.
fn notes_stand(bytes: Option<Vec<u8>>) -> (FileStatus, Option<Vec<u8>>) {
    let Some(bytes) = bytes.filter(|bytes| !bytes.trim_ascii().is_empty()) else {
        return (FileStatus::Missing, Some(TEMPLATE.into()));
    };
    let notes = Notes::read(bytes);
    if notes.active_lines().next().is_some() {
        return (FileStatus::Current, None);
    }
    let then = [Field::Bead, Field::Checkpoint, Field::Reasoning]
        .into_iter()
        .fold(notes.clone(), |notes, field| {
            notes.with_active(field, "none")
        });
    (FileStatus::Extended, Some(then.bytes().to_vec()))
}

/// Adds the defaults of missing settings at the end of the file. If the result would not parse as
/// the old settings plus the defaults, the file is left alone.
fn config_status(bytes: Option<&[u8]>) -> (FileStatus, Option<Vec<u8>>) {
    let Some(bytes) = bytes else {
        return (FileStatus::Missing, Some(CONFIG.into()));
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return (FileStatus::Foreign, None);
    };
    let read = |text: &str| match yaml::read(text) {
        Ok(Value::Object(members)) => Some(members),
        Ok(Value::Null) => Some(Map::new()),
        _ => None,
    };
    let (Some(there), Some(all)) = (read(text), read(CONFIG)) else {
        return (FileStatus::Foreign, None);
    };
    let missing: Vec<&String> = all.keys().filter(|key| !there.contains_key(*key)).collect();
    if missing.is_empty() {
        return (FileStatus::Current, None);
    }
    let mut then = text.to_owned();
    if !then.is_empty() && !then.ends_with('\n') {
        then.push('\n');
    }
    for section in CONFIG.split("\n\n") {
        let is_missing = |key: &&String| {
            let heads = |line: &str| {
                line.strip_prefix(key.as_str())
                    .is_some_and(|rest| rest.starts_with(':'))
            };
            section.lines().any(heads)
        };
        if missing.iter().any(is_missing) {
            if !then.is_empty() {
                then.push('\n');
            }
            then.push_str(section.trim_end());
            then.push('\n');
        }
    }
    let mut expected = there;
    for key in missing {
        expected.insert(key.clone(), all[key].clone());
    }
    if read(&then) == Some(expected) {
        (FileStatus::Extended, Some(then.into_bytes()))
    } else {
        (FileStatus::Foreign, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> (FileStatus, Option<String>) {
        let (standing, then) = config_status(Some(text.as_bytes()));
        (
            standing,
            then.map(|bytes| String::from_utf8(bytes).unwrap()),
        )
    }

    /// LOA-FILE-1: settings are added to, with every byte and comment that was there.
    #[test]
    fn settings_get_what_they_lack_and_keep_what_they_say() {
        let mine = "# mine\ngrounding_enforcement: warn # for now\nedd: {enabled: false}\nother: 1";
        let (standing, then) = config(mine);
        let then = then.unwrap();
        assert_eq!(standing, FileStatus::Extended);
        assert!(then.starts_with(mine));
        assert!(then.contains("attention_budget:\n  yellow: 50%"));
        assert!(!then.contains("strict"));
        assert_eq!(config(&then).0, FileStatus::Current);
        assert_eq!(config(CONFIG).0, FileStatus::Current);
        assert_eq!(config_status(None).1.as_deref(), Some(CONFIG.as_bytes()));
        for foreign in ["[1]", "a: [", "edd: 1\n...\n", "\ttab: 1"] {
            assert_eq!(config(foreign), (FileStatus::Foreign, None), "{foreign}");
        }
    }

    #[test]
    fn notes_get_the_seeds_first_section_and_keep_every_byte() {
        let mine = "# Mine\r\n\r\nwords\r\n";
        let (standing, then) = notes_stand(Some(mine.into()));
        let then = String::from_utf8(then.unwrap()).unwrap();
        assert_eq!(standing, FileStatus::Extended);
        assert!(then.contains("- **Current Bead**: none\r\n"), "{then}");
        assert!(mine.lines().all(|line| then.contains(line)));
        assert_eq!(notes_stand(Some(then.into())).0, FileStatus::Current);
        assert_eq!(notes_stand(Some(b" \n".to_vec())).0, FileStatus::Missing);
        assert_eq!(notes_stand(Some(TEMPLATE.into())).0, FileStatus::Current);
    }
}
