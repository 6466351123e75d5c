//! [`LockedSession::heal`]: repairs missing, blank or broken files from what is known of them.
//!
//! Start with [`Past`], the project's history, and [`Healed`], one repair. `notes` heals `NOTES.md`
//! and brings back its decisions, `diagnose` reports problems when nothing can be written, `merges`
//! takes both sides of a merge, `beads` heals the files of beads, `trajectory` brings back records.
//!
//! Broken files are set aside and never thrown away, and nothing here blocks anyone: what cannot be
//! healed is reported.

mod beads;
mod diagnose;
mod merges;
mod notes;
mod trajectory;

use std::fmt;

use callosum_host::DiskError;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    merge::OpenMerge,
    timestamp::second,
    transaction::{LockedSession, Session, SessionError},
    zones::ZoneError,
};

/// Problem of notes in which a crash left blocks unwritten.
const NUL_BYTES: &str = "broken: it contains NUL bytes";

/// The project's history of its files, by their names from the root.
pub trait Past {
    /// Returns the file as it was last committed.
    fn file(&self, name: &str) -> Option<Vec<u8>>;
    /// Returns the names of the files that were last committed in a folder, from the root.
    fn files(&self, folder: &str) -> Vec<String>;
    /// Returns the names of the files in a folder, from the root, that are not as they were last
    /// committed.
    fn changed(&self, folder: &str) -> Vec<String>;
    /// Returns the names of the files that were ever committed in a folder, from the root; `None`
    /// if that is unknown.
    fn ever(&self, folder: &str) -> Option<Vec<String>>;
    /// Returns the files of a folder, from the root, whose staged state differs from the last commit,
    /// or whose removal is staged.
    fn staged(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }
    /// Returns the staged file; `None` if it is not staged to exist.
    fn next(&self, name: &str) -> Option<Vec<u8>> {
        self.file(name)
    }
    /// Returns the files of sessions in which a merge has not finished; `None` if that is unknown.
    fn open_merges(&self) -> Option<Vec<OpenMerge>> {
        Some(Vec::new())
    }
}

/// Source of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairSource {
    /// The last commit.
    Git,
    /// The seed's template.
    Template,
    /// The records of agents.
    Trajectory,
    /// The beads.
    Beads,
    /// The notes.
    Notes,
    /// Both sides of a merge.
    Sides,
    /// No source: an empty folder is created.
    Anew,
    /// Nowhere: it stays as it is.
    Nobody,
    /// Nowhere, since nothing can be written there.
    Denied,
}

impl RepairSource {
    /// Whether it was repaired.
    pub fn has_healed(self) -> bool {
        !matches!(self, Self::Nobody | Self::Denied)
    }
}

impl fmt::Display for RepairSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Git => "git",
            Self::Template => "template",
            Self::Trajectory => "trajectory",
            Self::Beads => "beads",
            Self::Notes => "notes",
            Self::Sides => "both sides",
            Self::Anew => "anew",
            Self::Nobody | Self::Denied => "not healed",
        })
    }
}

/// A file that was not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Healed {
    /// The file, from the root.
    pub file: String,
    /// The problem.
    pub was: String,
    /// Source of the repair.
    pub from: RepairSource,
    /// The path of the broken file now.
    pub aside: Option<String>,
}

impl LockedSession<'_> {
    /// Repairs missing, blank or broken files, and returns each repair with its source.
    pub fn heal(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let past = &self.session.since_rollback(past)?;
        let mut healed = Vec::new();
        let settings = self.heal_settings(past).map(|one| healed.extend(one));
        self.past_what_stays(settings, &mut healed)?;
        let committed = self.heal_committed_records(past, &mut healed);
        self.past_what_stays(committed, &mut healed)?;
        let notes = self.heal_notes(past).map(|one| healed.extend(one));
        self.past_what_stays(notes, &mut healed)?;
        let beads = self.heal_beads(past, &mut healed);
        self.past_what_stays(beads, &mut healed)?;
        let rebuilt = self.rebuild_beads(past).map(|all| healed.extend(all));
        self.past_what_stays(rebuilt, &mut healed)?;
        let decisions = self.heal_decisions(&mut healed);
        self.past_what_stays(decisions, &mut healed)?;
        let records = self.heal_trajectory(&mut healed);
        self.past_what_stays(records, &mut healed)?;
        Ok(healed)
    }

    /// Restores the committed settings if every other file of sessions is lost as well. If the
    /// settings alone are missing, a person may have removed them.
    fn heal_settings(&self, past: &dyn Past) -> Result<Option<Healed>, SessionError> {
        let Session { disk, zones, .. } = self.session;
        let path = zones.real(disk, &zones.config())?;
        for file in [path.clone(), zones.real(disk, &zones.notes())?] {
            if disk.exists(&file)? {
                return Ok(None);
            }
        }
        for folder in [zones.beads(), zones.trajectories()] {
            if !disk.list_dir(&zones.real(disk, &folder)?)?.is_empty() {
                return Ok(None);
            }
        }
        let file = zones.named(&zones.config());
        let Some(bytes) = past.file(&file) else {
            return Ok(None);
        };
        self.write_if_changed(&path, &bytes)?;
        Ok(Some(Healed {
            file,
            was: "missing".to_owned(),
            from: RepairSource::Git,
            aside: None,
        }))
    }

    /// Continues after a link that leads out of the project, since its target is not ours to heal,
    /// and after files that cannot be written.
    fn past_what_stays(
        &self,
        step: Result<(), SessionError>,
        healed: &mut Vec<Healed>,
    ) -> Result<(), SessionError> {
        let (path, was, from) = match step {
            Err(SessionError::Zone(ZoneError::Outside { path })) => {
                let was = "a link that points outside the project".to_owned();
                (path, was, RepairSource::Nobody)
            }
            Err(SessionError::Zone(ZoneError::Disk(error))) if cannot_be_written(&error) => {
                let was = format!("of the wrong kind, and cannot be written: {}", error.source);
                (error.path, was, RepairSource::Denied)
            }
            step => return step,
        };
        let out = Healed {
            file: self.session.zones.named(&path),
            was,
            from,
            aside: None,
        };
        if !healed.contains(&out) {
            healed.push(out);
        }
        Ok(())
    }

    /// Records in the trajectory what was healed, with the source. Failed repairs are not recorded.
    pub fn note_healed(&self, healed: &[Healed]) -> Result<(), SessionError> {
        let ts = second(self.session.clock.now());
        let agent = self.session.agent.to_string();
        let new = healed.iter().filter(|one| one.from.has_healed());
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

    /// Renames a broken file to an unused name in the same directory.
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

/// Whether nothing can be written: the disk is read-only or full, or this user lacks permission.
fn cannot_be_written(error: &DiskError) -> bool {
    error.is_read_only() || error.is_denied() || error.is_full()
}

#[cfg(test)]
mod tests;
