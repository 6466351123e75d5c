//! [`LockedSession::rebuild_beads`]: restores beads that were lost before they were ever committed,
//! as far as trajectories have their records.
//!
//! Decisions, test scenarios and hand-offs come back as recorded, the title if the notes have it.
//! Fields without a record are not invented: they are left out, and named.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::{Map, Value};

use crate::{
    bead::{Bead, BeadId, Sheet},
    decide::bead_item,
    decision_history::decided,
    heal::{Healed, Past, RepairSource},
    sanitize::{Redaction, one_line},
    timestamp::in_order,
    trajectory::{Record, content_of, day_files, records},
    transaction::{BeadChange, LockedSession, SessionError},
};

/// Key of the bead's id in a record.
const MEMBER: &[u8] = b"\"bead_id\"";

/// Files of another program that keeps beads in their folder: beads without a file may belong to
/// it.
const OF_BD: [&str; 3] = ["metadata.json", "issues.jsonl", "beads.db"];

/// The file that remembers which beads were ever committed. It is derived: without it, git is asked.
const GONE: &str = "beads.gone";

/// Fields of a bead that no record has.
const UNKNOWN: &str = "status, priority, needs and next steps";

impl LockedSession<'_> {
    /// Recreates beads that trajectories name, that have no file, and that were never committed:
    /// one that was committed and is gone was deleted. Compressed trajectories are not searched.
    pub(crate) fn rebuild_beads(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let session = &self.session;
        let beads = session.zones.real(session.disk, &session.zones.beads())?;
        for name in OF_BD {
            if session.disk.exists(&beads.join(name))? {
                return Ok(Vec::new());
            }
        }
        let mut named: BTreeSet<BeadId> = BTreeSet::new();
        for file in day_files(session.disk, session.zones)? {
            if !file.is_archived {
                let bytes = content_of(session.disk, &file)?.unwrap_or_default();
                named.extend(beads_in(&bytes));
            }
        }
        let mut lost = Vec::new();
        for id in named {
            if !session.disk.exists(&session.beads().path(&id)?)? {
                lost.push(id);
            }
        }
        self.rebuild(&lost, past)
    }

    /// The same for beads that have no file.
    pub(crate) fn rebuild(
        &self,
        lost: &[BeadId],
        past: &dyn Past,
    ) -> Result<Vec<Healed>, SessionError> {
        let session = &self.session;
        let path = session.zones.own().join(GONE);
        let path = session.zones.real(session.disk, &path)?;
        let known = session.disk.read_if_there(&path)?.unwrap_or_default();
        let mut gone: BTreeSet<BeadId> = String::from_utf8_lossy(&known)
            .lines()
            .filter_map(BeadId::new)
            .collect();
        let mut healed = Vec::new();
        if lost.iter().all(|id| gone.contains(id)) {
            return Ok(healed);
        }
        let folder = session.zones.named(&session.zones.beads());
        let Some(ever) = past.ever(&folder) else {
            return Ok(healed);
        };
        gone = ever
            .iter()
            .filter_map(|name| BeadId::of_file(name.rsplit('/').next()?))
            .collect();
        for id in lost {
            // Without any record of it now, there will be none the next time either.
            if !gone.contains(id) {
                match self.rebuild_bead(id)? {
                    Some(rebuilt) => healed.push(rebuilt),
                    None => {
                        gone.insert(id.clone());
                    }
                }
            }
        }
        let lines: Vec<String> = gone.iter().map(|id| format!("{id}\n")).collect();
        session
            .disk
            .replace_unsynced(&path, lines.concat().as_bytes(), 0o644)?;
        Ok(healed)
    }

    fn rebuild_bead(&self, id: &BeadId) -> Result<Option<Healed>, SessionError> {
        let session = &self.session;
        let path = session.beads().path(id)?;
        let folder = session.zones.named(&session.zones.beads());
        let file = format!("{folder}/{}", id.file());
        if session.disk.exists(&path)? {
            return Ok(None);
        }
        let mut dated: Vec<(String, Vec<BeadChange>)> = Vec::new();
        for day in day_files(session.disk, session.zones)? {
            let bytes = content_of(session.disk, &day)?.unwrap_or_default();
            if day.is_archived || !beads_in(&bytes).contains(id) {
                continue;
            }
            let name = day.path.file_name().unwrap_or_default().to_string_lossy();
            for record in records(&bytes).records {
                if record.text("bead_id") == id.as_str() {
                    dated.push((record.ts().to_owned(), changes_of(&record, &name)));
                }
            }
        }
        // Records from the files of several agents, in the order of their times.
        dated.sort_by(|a, b| in_order(&a.0).cmp(in_order(&b.0)));
        let changes: Vec<BeadChange> = dated.into_iter().flat_map(|(_, changes)| changes).collect();
        if changes.is_empty() {
            return Ok(None);
        }
        let title = self.title_in_notes(id)?;
        let lacks = match title {
            Some(_) => UNKNOWN.to_owned(),
            None => format!("title, {UNKNOWN}"),
        };
        let mut text = format!(
            "# Rebuilt from the trajectory: the file was lost before it was committed. \
             Unknown:\n# {lacks}.\nid: {id}\n"
        );
        if let Some(title) = title {
            let _ = writeln!(text, "title: {}", Value::from(title));
        }
        text.push_str("decisions: []\ntest_scenarios: []\nhandoffs: []\n");
        let unreadable = |source| SessionError::Bead {
            id: id.to_string(),
            source,
        };
        let mut sheet = Sheet::read(&text).map_err(unreadable)?;
        for change in changes {
            sheet = change.made(&sheet).map_err(unreadable)?;
        }
        self.write_if_changed(&path, sheet.text().as_bytes())?;
        Ok(Some(Healed {
            file,
            was: format!("missing and never committed ({lacks} are unknown)"),
            from: RepairSource::Trajectory,
            aside: None,
        }))
    }

    /// Adds decisions to a bead that trajectories have and it lacks, and returns their number. Of
    /// several records of a decision, the last counts.
    pub(crate) fn refill_bead(&self, id: &BeadId) -> Result<usize, SessionError> {
        let session = &self.session;
        let sheet = session.bead(id)?;
        let there = Bead::of(sheet.members()).decisions.into_iter();
        let there: BTreeSet<String> = there.map(|made| made.ts).collect();
        let mut lost: BTreeMap<String, Vec<BeadChange>> = BTreeMap::new();
        for day in day_files(session.disk, session.zones)? {
            let bytes = content_of(session.disk, &day)?.unwrap_or_default();
            if day.is_archived || !beads_in(&bytes).contains(id) {
                continue;
            }
            for record in records(&bytes).records {
                let ts = record.text("decision");
                let is_lost = record.phase() == "cite"
                    && record.text("bead_id") == id.as_str()
                    && !there.contains(ts);
                let changes = if is_lost {
                    changes_of(&record, "")
                } else {
                    Vec::new()
                };
                if !changes.is_empty() {
                    lost.insert(ts.to_owned(), changes);
                }
            }
        }
        let mut made = sheet.clone();
        for change in lost.values().flatten() {
            made = change.made(&made).map_err(|source| SessionError::Bead {
                id: id.to_string(),
                source,
            })?;
        }
        self.write_if_changed(&session.beads().path(id)?, made.text().as_bytes())?;
        Ok(lost.len())
    }

    /// Returns the bead's title in the notes, if it is the current one.
    fn title_in_notes(&self, id: &BeadId) -> Result<Option<String>, SessionError> {
        let Some(notes) = self.session.notes_if_readable()? else {
            return Ok(None);
        };
        let active = notes.active();
        let is_it = active.bead.as_deref() == Some(id.as_str());
        Ok(active.title.filter(|_| is_it).map(|title| one_line(&title)))
    }
}

/// Returns the changes of a bead that a record reports.
fn changes_of(record: &Record, file: &str) -> Vec<BeadChange> {
    match record.phase() {
        "cite" => decided(record).map_or_else(Vec::new, |decision| {
            let scenarios = decision.scenarios.iter();
            let scenarios = scenarios.map(|name| {
                let item = Map::from_iter([("name".to_owned(), name.as_str().into())]);
                BeadChange::Scenario(Value::Object(item))
            });
            let made = BeadChange::Decision(bead_item(&decision));
            std::iter::once(made).chain(scenarios).collect()
        }),
        "session_handoff" => {
            let mut redaction = Redaction::default();
            let mut item = Map::new();
            for (key, value) in [
                ("session_id", redaction.statement(record.text("session_id"))),
                ("ended", redaction.statement(record.ts())),
            ] {
                item.insert(key.to_owned(), value.into());
            }
            let at = format!("trajectory/{file}:{}", record.line);
            item.insert("trajectory_ref".to_owned(), at.into());
            if let Some(ratio @ Value::Number(_)) = record.members.get("grounding_ratio") {
                item.insert("grounding_ratio".to_owned(), ratio.clone());
            }
            vec![BeadChange::Handoff(Value::Object(item))]
        }
        _ => Vec::new(),
    }
}

/// Returns the beads that a trajectory's bytes name, without reading its records.
fn beads_in(bytes: &[u8]) -> BTreeSet<BeadId> {
    let mut found = BTreeSet::new();
    let mut last: &[u8] = &[];
    for at in memchr::memmem::find_iter(bytes, MEMBER) {
        let value = bytes[at + MEMBER.len()..].trim_ascii_start();
        let value = value.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        let Some(value) = value.and_then(|value| value.strip_prefix(b"\"")) else {
            continue;
        };
        let end = value.iter().take(100).position(|byte| *byte == b'"');
        let id = &value[..end.unwrap_or(0)];
        if id != last {
            last = id;
            found.extend(std::str::from_utf8(id).ok().and_then(BeadId::new));
        }
    }
    found
}
