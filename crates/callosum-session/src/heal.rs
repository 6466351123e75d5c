//! [`Held::heal`]: missing, blank or broken files are made good from what is known of them.
//!
//! What is broken is set aside and never thrown away, and nothing here keeps anybody from going on:
//! what cannot be healed is said.

use std::fmt;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    bead::{BeadId, ReadError, Sheet},
    notes::{LARGEST_NOTES, Notes, TEMPLATE},
    step::{Held, SessionError, second},
    zones::ZoneError,
};

/// What the project's history knows of its files, by their names from the root.
pub trait Past {
    /// The file as it was last committed.
    fn file(&self, name: &str) -> Option<Vec<u8>>;
    /// The names of the files that were last committed in a folder, from the root.
    fn files(&self, folder: &str) -> Vec<String>;
}

/// Where something was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Healer {
    /// What was last committed.
    Git,
    /// The seed's template.
    Template,
    /// Nothing: an empty folder is made.
    Anew,
    /// Nowhere: it stays as it is.
    Nobody,
}

impl fmt::Display for Healer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Git => "git",
            Self::Template => "template",
            Self::Anew => "anew",
            Self::Nobody => "not healed",
        })
    }
}

/// A file that was not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Healed {
    /// The file, from the root.
    pub file: String,
    /// What was wrong with it.
    pub was: String,
    /// Where it was taken from.
    pub from: Healer,
    /// Where the broken one stands now.
    pub aside: Option<String>,
}

impl Held<'_> {
    /// Makes good what is missing, blank or broken, and says what was taken from where.
    pub fn heal(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let mut healed = Vec::new();
        healed.extend(self.heal_notes(past)?);
        self.heal_beads(past, &mut healed)?;
        Ok(healed)
    }

    /// Writes down in the trajectory what was healed from where; what nobody could heal is no news.
    pub fn note_healed(&self, healed: &[Healed]) -> Result<(), SessionError> {
        let ts = second(self.session.clock.now());
        let agent = self.session.agent.to_string();
        let new = healed.iter().filter(|one| one.from != Healer::Nobody);
        let records: Vec<Value> = new
            .map(|one| {
                json!({
                    "ts": ts, "agent": agent, "phase": "self_heal", "file": one.file,
                    "was": one.was, "from": one.from.to_string(), "aside": one.aside,
                })
            })
            .collect();
        if records.is_empty() {
            return Ok(());
        }
        self.tell(agent, &ts, records)
    }

    fn heal_notes(&self, past: &dyn Past) -> Result<Option<Healed>, SessionError> {
        let session = &self.session;
        let path = session.zones.real(session.disk, &session.zones.notes())?;
        let name = session.zones.named(&session.zones.notes());
        let (was, is_there) = match session.notes() {
            Ok(None) => ("missing", false),
            Ok(Some(notes)) if notes.is_blank() => ("blank", true),
            Ok(Some(notes)) if notes.bytes().contains(&0) => ("broken: it has NUL bytes", true),
            Ok(Some(_)) => return Ok(None),
            Err(SessionError::TooLarge { .. }) => {
                return Ok(Some(Healed {
                    file: name,
                    was: format!("larger than {LARGEST_NOTES} bytes"),
                    from: Healer::Nobody,
                    aside: None,
                }));
            }
            Err(error) => return Err(error),
        };
        let known = past
            .file(&name)
            .filter(|bytes| !bytes.contains(&0) && !Notes::read(bytes.clone()).is_blank());
        let from = if known.is_some() {
            Healer::Git
        } else {
            Healer::Template
        };
        let aside = if is_there && was != "blank" {
            self.set_aside(&path)?
        } else {
            None
        };
        self.write_if_changed(&path, &known.unwrap_or_else(|| TEMPLATE.into()))?;
        Ok(Some(Healed {
            file: name,
            was: was.to_owned(),
            from,
            aside,
        }))
    }

    fn heal_beads(&self, past: &dyn Past, healed: &mut Vec<Healed>) -> Result<(), SessionError> {
        let session = &self.session;
        let folder = session.zones.real(session.disk, &session.zones.beads())?;
        let folder_name = session.zones.named(&session.zones.beads());
        let names = past.files(&folder_name);
        let is_new = session.disk.create_dir_all(&folder)?;
        let known = names
            .iter()
            .filter_map(|name| BeadId::of_file(name.rsplit('/').next()?));
        let mut known: Vec<BeadId> = known.collect();
        if is_new && known.is_empty() {
            healed.push(Healed {
                file: folder_name.clone(),
                was: "missing".to_owned(),
                from: Healer::Anew,
                aside: None,
            });
        }
        for entry in session.disk.list_dir(&folder)? {
            known.extend(entry.name.to_str().and_then(BeadId::of_file));
        }
        known.sort();
        known.dedup();
        for id in known {
            let was = match session.beads().sheet(&id) {
                Ok(Some(_)) | Err(ReadError::Zone(ZoneError::Outside { .. })) => continue,
                Ok(None) => "missing".to_owned(),
                Err(ReadError::Zone(error)) => return Err(error.into()),
                Err(error) => format!("broken: {error}"),
            };
            let file = format!("{folder_name}/{}", id.file());
            let text = past
                .file(&file)
                .and_then(|bytes| String::from_utf8(bytes).ok());
            let sound = text.filter(|text| Sheet::read(text).is_ok());
            let path = session.beads().path(&id)?;
            let (from, aside) = match sound {
                Some(text) => {
                    let aside = if was == "missing" {
                        None
                    } else {
                        self.set_aside(&path)?
                    };
                    self.write_if_changed(&path, text.as_bytes())?;
                    (Healer::Git, aside)
                }
                None => (Healer::Nobody, None),
            };
            healed.push(Healed {
                file,
                was,
                from,
                aside,
            });
        }
        Ok(())
    }

    /// Gives a broken file a name beside it that nobody has.
    fn set_aside(&self, path: &std::path::Path) -> Result<Option<String>, SessionError> {
        let disk = self.session.disk;
        let now: Timestamp = self.session.clock.now();
        let stamp = second(now).replace([':', '-'], "");
        let base = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for number in 0_u32.. {
            let name = match number {
                0 => format!("{base}.broken-{stamp}"),
                more => format!("{base}.broken-{stamp}-{more}"),
            };
            let aside = path.with_file_name(name);
            if !disk.exists(&aside)? {
                disk.rename(path, &aside)?;
                return Ok(Some(self.session.zones.named(&aside)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use callosum_host::{Clock, Disk};

    use super::*;
    use crate::{step::Session, trajectory::Agent, zones::Zones};

    struct Committed(BTreeMap<&'static str, &'static str>);

    impl Past for Committed {
        fn file(&self, name: &str) -> Option<Vec<u8>> {
            self.0.get(name).map(|text| text.as_bytes().to_vec())
        }

        fn files(&self, folder: &str) -> Vec<String> {
            let all = self.0.keys().filter(|name| name.starts_with(folder));
            all.map(|name| (*name).to_owned()).collect()
        }
    }

    fn heal(
        there: &[(&str, &str)],
        past: &[(&'static str, &'static str)],
    ) -> (Vec<String>, Vec<(String, String)>) {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = disk.canonicalize(folder.path()).unwrap();
        for (name, text) in there {
            let path = root.join(name);
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, text.as_bytes(), 0o644).unwrap();
        }
        let zones = Zones {
            tree: root.clone(),
            root: root.clone(),
        };
        let clock = Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO);
        let session = Session {
            disk: &disk,
            zones: &zones,
            clock: &clock,
            agent: Agent::default(),
        };
        let past = Committed(past.iter().copied().collect());
        let held = session.hold().unwrap();
        let healed = held.heal(&past).unwrap();
        assert!(
            held.heal(&past)
                .unwrap()
                .iter()
                .all(|again| again.from == Healer::Nobody)
        );
        let said = healed
            .iter()
            .map(|one| format!("{} {} {}", one.file, one.was, one.from));
        let mut files = Vec::new();
        for folder in ["loa-grimoire", ".beads"] {
            for entry in disk.list_dir(&root.join(folder)).unwrap() {
                let name = format!("{folder}/{}", entry.name.to_str().unwrap());
                if let Ok(bytes) = disk.read(&root.join(&name)) {
                    files.push((name, String::from_utf8(bytes).unwrap()));
                }
            }
        }
        (said.collect(), files)
    }

    /// LOA-HEAL-1: from what was committed, else from the template, and it never stops.
    #[test]
    fn what_is_missing_comes_from_git_or_the_template() {
        let (said, files) = heal(&[], &[]);
        assert_eq!(
            said,
            [
                "loa-grimoire/NOTES.md missing template",
                ".beads missing anew"
            ]
        );
        assert_eq!(
            files,
            [("loa-grimoire/NOTES.md".to_owned(), TEMPLATE.to_owned())]
        );
        let (said, files) = heal(
            &[
                ("loa-grimoire/NOTES.md", " \n"),
                (".beads/bd-2.yaml", "id: bd-2\n"),
            ],
            &[
                ("loa-grimoire/NOTES.md", "# kept\n"),
                (".beads/bd-1.yaml", "id: bd-1\n"),
                (".beads/config.yaml", "x: 1\n"),
            ],
        );
        assert_eq!(
            said,
            [
                "loa-grimoire/NOTES.md blank git",
                ".beads/bd-1.yaml missing git"
            ]
        );
        assert_eq!(files[0].1, "# kept\n");
        assert_eq!(files.len(), 3);
    }

    /// LOA-HEAL-1: what is broken is set aside, and what nobody knows stays as it is.
    #[test]
    fn what_is_broken_is_set_aside_and_never_thrown_away() {
        let (said, files) = heal(
            &[
                ("loa-grimoire/NOTES.md", "# mine\n\0\0"),
                (".beads/bd-1.yaml", "a: 1\na: 2\n"),
                (".beads/bd-2.yaml", "- x\n"),
            ],
            &[(".beads/bd-1.yaml", "id: bd-1\n")],
        );
        assert_eq!(
            said[0],
            "loa-grimoire/NOTES.md broken: it has NUL bytes template"
        );
        assert!(said[1].starts_with(".beads/bd-1.yaml broken: ") && said[1].ends_with(" git"));
        assert!(
            said[2].starts_with(".beads/bd-2.yaml broken: ") && said[2].ends_with(" not healed")
        );
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "loa-grimoire/NOTES.md",
                "loa-grimoire/NOTES.md.broken-20260102T030405Z",
                ".beads/bd-1.yaml",
                ".beads/bd-1.yaml.broken-20260102T030405Z",
                ".beads/bd-2.yaml"
            ]
        );
        assert_eq!(files[1].1, "# mine\n\0\0");
        assert_eq!(files[4].1, "- x\n");
    }
}
