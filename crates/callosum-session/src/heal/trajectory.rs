//! Repair of a trajectory: committed records come from git; decisions of the session that are lost
//! from its records come from beads and notes.

use std::{collections::HashSet, path::PathBuf};

use jiff::{civil::Date, tz::TimeZone};
use serde_json::Value;

use super::{Healed, Past, RepairSource};
use crate::{
    claim_scope::ClaimScope,
    config::Config,
    merge::{Kind, merged},
    source::Source,
    timestamp::second,
    trajectory::day_files,
    transaction::{LockedSession, Session, SessionError},
    untracked_decisions::Unrecorded,
};

/// A trajectory that git has and the tree lacks, or has in another form.
pub(super) struct Lost {
    /// From the root.
    pub(super) name: String,
    path: PathBuf,
    /// The problem of the file.
    pub(super) was: &'static str,
    /// Its full content, with later records.
    whole: Vec<u8>,
}

impl Session<'_> {
    /// Returns trajectories that were committed and are gone, truncated, or begun from scratch
    /// without the committed part. Old files that were compressed or removed are not lost, nor are
    /// those that a person removed in git, such as by a revert that is not committed. Staged
    /// content counts as committed.
    pub(super) fn lost_records(&self, past: &dyn Past) -> Result<Vec<Lost>, SessionError> {
        let (disk, zones) = (self.disk, self.zones);
        let folder = zones.named(&zones.trajectories());
        let names = past.files(&folder);
        let mut all = Vec::new();
        if names.is_empty() {
            return Ok(all);
        }
        let changed = past.changed(&folder);
        let staged = if changed.is_empty() {
            Vec::new()
        } else {
            past.staged(&folder)
        };
        let kept = Config::load(self)?.retention.archive_days;
        let today = self.clock.now().to_zoned(TimeZone::UTC).date();
        for name in names.into_iter().filter(|name| changed.contains(name)) {
            let file = name.strip_suffix(".gz").unwrap_or(&name);
            let day = file.strip_suffix(".jsonl").and_then(|stem| {
                let at = stem.len().checked_sub(DAY)?;
                stem.get(at..)?.parse::<Date>().ok()
            });
            let age = day.map(|day| (today - day).get_days());
            if age.is_none_or(|age| u64::try_from(age).is_ok_and(|age| age > kept)) {
                continue;
            }
            let path = zones.real(disk, &zones.root.join(&name))?;
            let own = path.file_name().unwrap_or_default().to_string_lossy();
            let archive = zones.real(disk, &zones.trajectories())?;
            let archive = archive.join("archive").join(format!("{own}.gz"));
            if disk.exists(&archive)? {
                continue;
            }
            let known = if staged.contains(&name) {
                let committed = past.file(&name).unwrap_or_default();
                past.next(&name).filter(|next| next.starts_with(&committed))
            } else {
                past.file(&name)
            };
            let (was, whole) = match (disk.read_if_there(&path)?, known) {
                (None, Some(known)) => ("missing", known),
                (Some(there), Some(known)) if is_cut(&there, &known) => ("truncated", known),
                (Some(there), Some(known)) if file == name && is_restarted(&there, &known) => {
                    let Ok(whole) = merged(Kind::Trajectory, None, &known, &there) else {
                        continue;
                    };
                    ("missing its committed records", whole.bytes)
                }
                _ => continue,
            };
            all.push(Lost {
                name,
                path,
                was,
                whole,
            });
        }
        Ok(all)
    }
}

impl LockedSession<'_> {
    /// Restores the [committed records of trajectories](Session::lost_records).
    pub(super) fn heal_committed_records(
        &self,
        past: &dyn Past,
        healed: &mut Vec<Healed>,
    ) -> Result<(), SessionError> {
        for lost in self.session.lost_records(past)? {
            self.write_if_changed(&lost.path, &lost.whole)?;
            healed.push(Healed {
                file: lost.name,
                was: lost.was.to_owned(),
                from: RepairSource::Git,
                aside: None,
            });
        }
        Ok(())
    }

    /// Restores the records of decisions that beads or notes have and no trajectory has. They count
    /// as before, and name their source.
    pub(super) fn heal_trajectory(&self, healed: &mut Vec<Healed>) -> Result<(), SessionError> {
        let session = &self.session;
        let read = session.recorded_since_handoff(ClaimScope::Everyone)?;
        let cited = read.recorded.records.iter().map(|(_, record)| record);
        let cited = cited.filter(|record| record.phase() == "cite");
        let cited = cited.map(|record| (record.text("decision"), record.text("claim")));
        let mut lost = session.unrecorded(cited)?;
        // The age of the others is unknown: they count at their place.
        lost.retain(|lost| lost.decision.is_dated());
        let Some(first) = lost.first() else {
            return Ok(());
        };
        let ts = second(session.clock.now());
        let day = first.decision.ts.get(..10).unwrap_or_default();
        let files = day_files(session.disk, session.zones)?;
        let is_gone = !files.iter().any(|file| file.day.as_str() >= day);
        let file = session.trajectory().file_of(&ts[..10])?;
        for (source, from) in [
            (Source::Bead, RepairSource::Beads),
            (Source::Notes, RepairSource::Notes),
        ] {
            let many = match lost.iter().filter(|lost| lost.from == source).count() {
                0 => continue,
                1 => "1 decision".to_owned(),
                many => format!("{many} decisions"),
            };
            let was = if is_gone {
                format!("missing, with {many}")
            } else {
                format!("missing {many}")
            };
            healed.push(Healed {
                file: session.zones.named(&file),
                was,
                from,
                aside: None,
            });
        }
        let agent = session.agent.to_string();
        let record = |lost: &Unrecorded| lost.record(&agent);
        let records: Vec<Value> = lost.iter().map(record).collect();
        self.tell(agent.clone(), &ts, records)
    }
}

/// Letters of a day, as 2026-01-02.
const DAY: usize = 10;

/// Whether a file is only a prefix of the committed content.
fn is_cut(there: &[u8], known: &[u8]) -> bool {
    there.len() < known.len() && known.starts_with(there)
}

/// Whether a file has none of the committed lines: it was lost, and someone wrote to it since.
fn is_restarted(there: &[u8], known: &[u8]) -> bool {
    let known: HashSet<&[u8]> = lines_of(known).collect();
    !known.is_empty() && !lines_of(there).any(|line| known.contains(line))
}

fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty())
}
