//! What is searched beside the tree: the ledger's answers, decisions, notes and beads.
//!
//! What cannot be read is told where steps are told, and keeps nobody from searching the rest.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    time::UNIX_EPOCH,
};

use callosum_host::Disk;
use callosum_ledger::{Query, Reader};
use callosum_search::find::{Document, Index, IndexError};
use callosum_session::{
    Session, Zones,
    bead::{Bead, BeadId},
    notes::Notes,
};

use crate::cli::{
    context::Context,
    session::{agent, session, zones},
};

/// The collection of the ledger's answers.
const LEDGER: &str = "ledger";

/// The collection of the decisions in the notes.
const DECISIONS: &str = "decision";

/// The collection of what else the notes say.
const NOTES: &str = "notes";

/// The collection of beads.
const BEADS: &str = "bead";

/// Brings all of them in line.
pub(super) fn update(context: &Context, index: &mut Index) -> Result<(), IndexError> {
    update_answers(context, index)?;
    let zones = zones(context);
    let Ok(agent) = agent(callosum_session::trajectory::DEFAULT_AGENT) else {
        return Ok(());
    };
    let session = session(context, &zones, agent);
    update_notes(context, &session, &zones, index)?;
    update_beads(context, &session, &zones, index)
}

/// Takes up the ledger's entries that came since the last search.
fn update_answers(context: &Context, index: &mut Index) -> Result<(), IndexError> {
    let known = index.known(LEDGER)?;
    let last = known.values().filter_map(|stamp| stamp.parse().ok()).max();
    let mut answers: Vec<Document> = Vec::new();
    let query = Query {
        since: last,
        ..Query::default()
    };
    let read = Reader::open(context.disk.clone(), context.ledger_paths()).and_then(|reader| {
        reader.each(&query, |entry| {
            let prompt = entry
                .metadata
                .get("prompt")
                .and_then(|prompt| prompt.as_str());
            answers.push(Document {
                place: entry.task_id.to_string(),
                stamp: entry.timestamp.to_string(),
                title: prompt.unwrap_or_default().to_owned(),
                text: entry.summary,
            });
        })
    });
    if let Err(error) = read {
        // The tree can be searched all the same.
        context
            .ui
            .detail(&format!("the ledger is not searched: {error}"));
        return Ok(());
    }
    // What was committed stays: an entry that is known need not be read again.
    index.update_documents(LEDGER, answers, |_| true)?;
    Ok(())
}

/// Takes up the notes where they are not what they were at the last search.
fn update_notes(
    context: &Context,
    session: &Session<'_>,
    zones: &Zones,
    index: &mut Index,
) -> Result<(), IndexError> {
    let path = zones.notes();
    let place = zones.named(&path);
    let stamp = stamp(&context.disk, &path);
    if stamp.as_ref() == index.known(NOTES)?.get(&place) {
        return Ok(());
    }
    let notes = match session.notes() {
        Ok(notes) => notes,
        Err(error) => {
            context
                .ui
                .detail(&format!("the notes are not searched: {error}"));
            return Ok(());
        }
    };
    let (Some(notes), Some(stamp)) = (notes, stamp) else {
        index.update_documents(DECISIONS, [], |_| false)?;
        index.update_documents(NOTES, [], |_| false)?;
        return Ok(());
    };
    let decisions = decisions(&notes, &stamp);
    index.update_documents(DECISIONS, decisions, |_| false)?;
    let rest = Document {
        place,
        stamp,
        title: "NOTES.md".to_owned(),
        text: without_decisions(&notes),
    };
    // The last of the two: where a process is killed between them, both are taken up again.
    index.update_documents(NOTES, [rest], |_| false)?;
    Ok(())
}

/// Each decision by its time; those of one time together.
fn decisions(notes: &Notes, stamp: &str) -> Vec<Document> {
    let text = String::from_utf8_lossy(notes.bytes()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let mut by_time: BTreeMap<String, Document> = BTreeMap::new();
    for decision in notes.decisions() {
        let last = decision.last_line.min(lines.len());
        let first = decision.line.saturating_sub(1).min(last);
        let said = lines[first..last].join("\n") + "\n";
        by_time
            .entry(decision.ts.clone())
            .and_modify(|known| known.text.push_str(&said))
            .or_insert(Document {
                place: decision.ts,
                stamp: stamp.to_owned(),
                title: decision.title,
                text: said.clone(),
            });
    }
    by_time.into_values().collect()
}

/// The notes with empty lines where decisions stand, so that each other line keeps its number.
fn without_decisions(notes: &Notes) -> String {
    let text = String::from_utf8_lossy(notes.bytes());
    let mut lines: Vec<&str> = text.lines().collect();
    for decision in notes.decisions() {
        let last = decision.last_line.min(lines.len());
        let first = decision.line.saturating_sub(1).min(last);
        lines[first..last].fill("");
    }
    lines.join("\n")
}

/// Takes up the beads that are not what they were at the last search.
fn update_beads(
    context: &Context,
    session: &Session<'_>,
    zones: &Zones,
    index: &mut Index,
) -> Result<(), IndexError> {
    let listed = zones
        .real(&context.disk, &zones.beads())
        .ok()
        .and_then(|folder| Some((context.disk.list_dir(&folder).ok()?, folder)));
    let (entries, folder) = listed.unwrap_or_default();
    let known: HashMap<String, String> = index.known(BEADS)?.into_iter().collect();
    let mut there: Vec<String> = Vec::new();
    let mut changed: Vec<Document> = Vec::new();
    for entry in entries {
        let Some(id) = entry.name.to_str().and_then(BeadId::of_file) else {
            continue;
        };
        let Some(stamp) = stamp(&context.disk, &folder.join(&entry.name)) else {
            continue;
        };
        there.push(id.to_string());
        if known.get(id.as_str()) == Some(&stamp) {
            continue;
        }
        match session.bead(&id) {
            Ok(sheet) => changed.push(Document {
                place: id.to_string(),
                stamp,
                title: Bead::of(sheet.members()).title,
                text: sheet.text().to_owned(),
            }),
            Err(error) => context
                .ui
                .detail(&format!("a bead is not searched: {error}")),
        }
    }
    there.sort_unstable();
    index.update_documents(BEADS, changed, |place| {
        there
            .binary_search_by(|known| known.as_str().cmp(place))
            .is_ok()
    })?;
    Ok(())
}

/// What tells that a file is as it was; nothing where there is none.
fn stamp(disk: &Disk, path: &Path) -> Option<String> {
    let stat = disk.stat(path).ok()??;
    let since = stat.modified.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {}", stat.len, since.as_nanos()))
}
