//! [`Held::heal`]: missing, blank or broken files are made good from what is known of them.
//!
//! What is broken is set aside and never thrown away, and nothing here keeps anybody from going on:
//! what cannot be healed is said.

use std::{collections::HashSet, fmt};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    bead::{Bead, BeadId, ReadError, Sheet},
    fork::Source,
    notes::{Active, Field, LARGEST_NOTES, Notes, TEMPLATE},
    statement::one_line,
    step::{Held, Session, SessionError, second},
    zones::ZoneError,
};

/// What is wrong with notes of which a crash left blocks unwritten.
const NUL_BYTES: &str = "broken: it has NUL bytes";

/// What the project's history knows of its files, by their names from the root.
pub trait Past {
    /// The file as it was last committed.
    fn file(&self, name: &str) -> Option<Vec<u8>>;
    /// The names of the files that were last committed in a folder, from the root.
    fn files(&self, folder: &str) -> Vec<String>;
    /// The names of the files in a folder, from the root, that are not as they were last committed.
    fn changed(&self, folder: &str) -> Vec<String>;
    /// The names of the files that were ever committed in a folder, from the root; `None` where that
    /// cannot be known.
    fn ever(&self, folder: &str) -> Option<Vec<String>>;
}

/// Where something was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Healer {
    /// What was last committed.
    Git,
    /// The seed's template.
    Template,
    /// The records of agents.
    Trajectory,
    /// The beads.
    Beads,
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
            Self::Trajectory => "trajectory",
            Self::Beads => "beads",
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

/// What git has said of a file already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It is not as it was last committed.
    Changed,
    /// Git was not asked.
    Nothing,
}

impl Session<'_> {
    /// What is missing, blank or broken, for where nothing can be written: none of it is made good.
    pub fn ailing(&self) -> Result<Vec<Healed>, SessionError> {
        let file = self.zones.named(&self.zones.notes());
        let was = match self.notes() {
            Ok(None) => Some("missing".to_owned()),
            Ok(Some(notes)) if notes.is_blank() => Some("blank".to_owned()),
            Ok(Some(notes)) if notes.bytes().contains(&0) => Some(NUL_BYTES.to_owned()),
            Ok(Some(_)) => None,
            Err(error @ SessionError::Zone(_)) => return Err(error),
            Err(error) => Some(error.to_string()),
        };
        let unread = self.beads().list(self.clock.now())?.unread.into_iter();
        let beads = unread.map(|unread| (unread.file, format!("broken: {}", unread.problem)));
        let notes = was.map(|was| (file, was)).into_iter();
        let ailing = notes.chain(beads).map(|(file, was)| Healed {
            file,
            was,
            from: Healer::Nobody,
            aside: None,
        });
        Ok(ailing.collect())
    }
}

impl Held<'_> {
    /// Makes good what is missing, blank or broken, and says what was taken from where.
    pub fn heal(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let mut healed = Vec::new();
        let notes = self.heal_notes(past).map(|one| healed.extend(one));
        self.past_links(notes, &mut healed)?;
        let beads = self.heal_beads(past, &mut healed);
        self.past_links(beads, &mut healed)?;
        let rebuilt = self.rebuild_beads(past).map(|all| healed.extend(all));
        self.past_links(rebuilt, &mut healed)?;
        let decisions = self.heal_decisions(&mut healed);
        self.past_links(decisions, &mut healed)?;
        Ok(healed)
    }

    /// Goes on where a link leads out of the project: what stands there is nobody's to heal.
    fn past_links(
        &self,
        step: Result<(), SessionError>,
        healed: &mut Vec<Healed>,
    ) -> Result<(), SessionError> {
        let Err(SessionError::Zone(ZoneError::Outside { path })) = step else {
            return step;
        };
        let out = Healed {
            file: self.session.zones.named(&path),
            was: "a link that leads out of the project".to_owned(),
            from: Healer::Nobody,
            aside: None,
        };
        if !healed.contains(&out) {
            healed.push(out);
        }
        Ok(())
    }

    /// Makes notes whole that end within a line, as a torn write leaves them, before something is
    /// added to them. What notes of any other form lack is left to [`Held::heal`].
    pub fn heal_torn_notes(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let mut healed = Vec::new();
        let notes = match self.session.notes() {
            Ok(Some(notes)) => notes,
            Ok(None) | Err(SessionError::TooLarge { .. } | SessionError::NotFile { .. }) => {
                return Ok(healed);
            }
            Err(error) => return Err(error),
        };
        if !notes.is_blank() && !notes.bytes().ends_with(b"\n") {
            healed.extend(self.heal_notes(past)?);
            self.heal_decisions(&mut healed)?;
        }
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
        if self.is_complete()? {
            return Ok(None);
        }
        let path = session.zones.real(session.disk, &session.zones.notes())?;
        let name = session.zones.named(&session.zones.notes());
        let (was, is_there) = match session.notes() {
            Ok(None) => ("missing", false),
            Ok(Some(notes)) if notes.is_blank() => ("blank", true),
            Ok(Some(notes)) if notes.bytes().contains(&0) => (NUL_BYTES, true),
            Ok(Some(notes)) if is_cut_short(&notes, past, &name) => ("cut short", true),
            Ok(Some(_)) => return Ok(None),
            Err(SessionError::TooLarge { .. }) => {
                return Ok(Some(Healed {
                    file: name,
                    was: format!("larger than {LARGEST_NOTES} bytes"),
                    from: Healer::Nobody,
                    aside: None,
                }));
            }
            Err(SessionError::NotFile { .. }) => {
                return Ok(Some(Healed {
                    file: name,
                    was: "no file".to_owned(),
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

    /// Brings back the decisions that the notes have lost and others still have, and where the notes
    /// know of none, the current bead and the last checkpoint.
    fn heal_decisions(&self, healed: &mut Vec<Healed>) -> Result<(), SessionError> {
        let session = &self.session;
        if self.is_complete()? {
            return Ok(());
        }
        let notes = match session.notes() {
            Ok(Some(notes)) => notes,
            Ok(None) | Err(SessionError::TooLarge { .. } | SessionError::NotFile { .. }) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let file = session.zones.named(&session.zones.notes());
        let recorded = session.recorded(&notes)?;
        let active = notes.active();
        let mut lacks = |was: String, from| {
            healed.push(Healed {
                file: file.clone(),
                was,
                from,
                aside: None,
            });
        };
        for (source, from) in [
            (Source::Trajectory, Healer::Trajectory),
            (Source::Bead, Healer::Beads),
        ] {
            let lost = recorded.lost.iter().filter(|lost| lost.from == source);
            match lost.count() {
                0 => {}
                1 => lacks("without 1 decision".to_owned(), from),
                many => lacks(format!("without {many} decisions"), from),
            }
        }
        let lost = recorded.lost.into_iter().map(|lost| lost.decision);
        let mut made = notes.with_decisions(&lost.collect::<Vec<_>>());
        if active == Active::default() {
            if let Some(id) = recorded.bead
                && let Ok(sheet) = session.bead(&id)
            {
                let title = one_line(&Bead::of(sheet.members()).title);
                made = made.with_active(Field::Bead, &format!("{id} ({title})"));
                lacks("without its current bead".to_owned(), Healer::Trajectory);
            }
            if let Some(ts) = recorded.checkpoint {
                made = made.with_active(Field::Checkpoint, &ts);
            }
        }
        let path = session.zones.real(session.disk, &session.zones.notes())?;
        self.write_if_changed(&path, made.bytes())?;
        self.note_complete()
    }

    fn heal_beads(&self, past: &dyn Past, healed: &mut Vec<Healed>) -> Result<(), SessionError> {
        let session = &self.session;
        let folder = session.zones.real(session.disk, &session.zones.beads())?;
        let folder_name = session.zones.named(&session.zones.beads());
        self.sweep_beads();
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
        let listing = session.beads().list(session.clock.now())?;
        let sound: HashSet<String> = listing.rows.into_iter().map(|row| row.id).collect();
        let changed = past.changed(&folder_name).into_iter();
        let changed: HashSet<BeadId> = changed
            .filter_map(|name| BeadId::of_file(name.rsplit('/').next()?))
            .collect();
        for id in known {
            let known = if changed.contains(&id) {
                Known::Changed
            } else {
                Known::Nothing
            };
            if !sound.contains(id.as_str()) || known == Known::Changed {
                healed.extend(self.heal_bead(&id, past, known)?);
            }
        }
        Ok(())
    }

    /// Makes good the current bead alone, where it is missing or broken.
    pub fn heal_current_bead(&self, past: &dyn Past) -> Result<Option<Healed>, SessionError> {
        let notes = self.session.notes()?;
        let id = notes.and_then(|notes| BeadId::new(&notes.active().bead?));
        let Some(id) = id else { return Ok(None) };
        let healed = self.heal_bead(&id, past, Known::Nothing)?;
        if healed.as_ref().is_none_or(|one| one.from != Healer::Nobody) {
            return Ok(healed);
        }
        let rebuilt = self.rebuild(std::slice::from_ref(&id), past)?;
        Ok(rebuilt.into_iter().next().or(healed))
    }

    fn heal_bead(
        &self,
        id: &BeadId,
        past: &dyn Past,
        known: Known,
    ) -> Result<Option<Healed>, SessionError> {
        let session = &self.session;
        let folder = session.zones.named(&session.zones.beads());
        let file = format!("{folder}/{}", id.file());
        let there = session.beads().sheet(id);
        if matches!(there, Err(ReadError::Zone(ZoneError::Outside { .. }))) {
            return Ok(None);
        }
        let committed = || {
            let bytes = past.file(&file)?;
            let text = String::from_utf8(bytes).ok()?;
            Sheet::read(&text).is_ok().then_some(text)
        };
        let (was, sound) = match there {
            // What a crash leaves of a file is often still a file of its form.
            Ok(Some(sheet)) => {
                let is_suspect = known == Known::Changed || !sheet.text().ends_with('\n');
                let whole = is_suspect.then(committed).flatten();
                let cut = |whole: &String| {
                    whole.len() > sheet.text().len() && whole.starts_with(sheet.text())
                };
                match whole.filter(cut) {
                    Some(whole) => ("cut short".to_owned(), Some(whole)),
                    None => return Ok(None),
                }
            }
            Ok(None) => ("missing".to_owned(), committed()),
            Err(ReadError::Zone(error)) => return Err(error.into()),
            Err(error) => (format!("broken: {error}"), committed()),
        };
        let path = session.beads().path(id)?;
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
        let was = match from {
            Healer::Git => match self.refill_bead(id)? {
                0 => was,
                1 => format!("{was} (1 decision came back from the trajectory)"),
                many => format!("{was} ({many} decisions came back from the trajectory)"),
            },
            _ => was,
        };
        Ok(Some(Healed {
            file,
            was,
            from,
            aside,
        }))
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

/// Whether the notes end within a line, and go on in what was last committed.
fn is_cut_short(notes: &Notes, past: &dyn Past, name: &str) -> bool {
    let there = notes.bytes();
    let goes_on = |known: Vec<u8>| known.len() > there.len() && known.starts_with(there);
    !there.ends_with(b"\n") && past.file(name).is_some_and(goes_on)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use callosum_host::{Clock, Disk};

    use super::*;
    use crate::{trajectory::Agent, zones::Zones};

    struct Committed(BTreeMap<&'static str, &'static str>);

    impl Past for Committed {
        fn file(&self, name: &str) -> Option<Vec<u8>> {
            self.0.get(name).map(|text| text.as_bytes().to_vec())
        }

        fn files(&self, folder: &str) -> Vec<String> {
            let all = self.0.keys().filter(|name| name.starts_with(folder));
            all.map(|name| (*name).to_owned()).collect()
        }

        fn changed(&self, folder: &str) -> Vec<String> {
            self.files(folder)
        }

        fn ever(&self, folder: &str) -> Option<Vec<String>> {
            Some(self.files(folder))
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

    /// LOA-HEAL-1: a bead that was cut is healed wherever it was cut, and one that a person changed is
    /// not; what the trajectory knows of it and was never committed comes back.
    #[test]
    fn a_bead_is_healed_wherever_it_was_cut() {
        let whole = "id: bd-1\ntitle: Work\nstatus: open\ndecisions: []\nnext_steps:\n  - go on\n";
        let past = [
            ("loa-grimoire/NOTES.md", TEMPLATE),
            (".beads/bd-1.yaml", whole),
        ];
        let record = r#"{"ts":"2026-01-01T00:00:00Z","agent":"a","phase":"cite","decision":"2026-01-01T00:00:00Z","claim":"Use one","bead_id":"bd-1","grounding":"none"}"#;
        let trajectory = "loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-01.jsonl";
        for cut in 0..whole.len() {
            let (said, files) = heal(
                &[
                    ("loa-grimoire/NOTES.md", TEMPLATE),
                    (".beads/bd-1.yaml", &whole[..cut]),
                    (trajectory, record),
                ],
                &past,
            );
            let bead = &files
                .iter()
                .find(|(name, _)| name == ".beads/bd-1.yaml")
                .unwrap()
                .1;
            assert!(
                bead.contains("  - go on\n") && bead.contains("Use one"),
                "{cut}: {bead}"
            );
            assert!(
                said[0].starts_with(".beads/bd-1.yaml ") && said[0].ends_with(" git"),
                "{said:?}"
            );
            assert!(
                said[0].contains("(1 decision came back from the trajectory)"),
                "{said:?}"
            );
        }
        let changed = whole.replace("go on", "go");
        let (said, _) = heal(
            &[
                ("loa-grimoire/NOTES.md", TEMPLATE),
                (".beads/bd-1.yaml", &changed),
            ],
            &past,
        );
        assert_eq!(said, [""; 0]);
    }

    /// LOA-HEAL-1: what a killed process left of a bead that it was writing goes; a person's file of
    /// another name stays.
    #[test]
    fn what_a_killed_process_left_is_swept() {
        let left = [
            ("loa-grimoire/NOTES.md", TEMPLATE),
            (".beads/.bd-1.yaml.4194305-7.tmp", "id: b"),
            (".beads/.mine.4194305-7.tmp", "x"),
        ];
        let (_, files) = heal(&left, &[]);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["loa-grimoire/NOTES.md", ".beads/.mine.4194305-7.tmp"]
        );
    }
}
