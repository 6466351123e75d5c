//! Collections that are searched besides the tree: the ledger's answers, decisions, notes and
//! beads.
//!
//! Sources that cannot be read are reported as details, and do not stop the search of the rest.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::UNIX_EPOCH;

use callosum_host::Disk;
use callosum_ledger::{Query, Reader};
use callosum_search::{Document, Index, IndexError, IndexProgress};
use callosum_session::bead::{Bead, BeadId};
use callosum_session::notes::Notes;
use callosum_session::{Session, Zones};

use crate::context::Context;
use crate::many;
use crate::report::Progress;
use crate::session::{agent, session};

/// The collection of the ledger's answers.
const LEDGER: &str = "ledger";

/// Bytes of answers that the index keeps, about. A ledger of 250 MB made an index of twice that.
const MOST_ANSWERS: u64 = 64 << 20;

/// Answers between two changes of the progress line.
const PER_LINE: u64 = 50;

/// The collection of the decisions in the notes.
const DECISIONS: &str = "decision";

/// The collection of what else the notes say.
const NOTES: &str = "notes";

/// The collection of beads.
const BEADS: &str = "bead";

/// Brings all of them in line.
pub fn update(context: &Context, index: &mut Index, progress: &Progress) -> Result<(), IndexError> {
    update_answers(context, index, progress)?;
    progress.now("reading notes and beads".to_owned());
    let zones = context.zones();
    let Ok(agent) = agent(callosum_session::trajectory::DEFAULT_AGENT) else {
        return Ok(());
    };
    let session = session(context, &zones, agent);
    update_notes(context, &session, &zones, index)?;
    update_beads(context, &session, &zones, index)
}

/// Takes up the ledger's entries that came since the last search, one in memory at a time, and drops the oldest beyond
/// [`MOST_ANSWERS`].
fn update_answers(
    context: &Context,
    index: &mut Index,
    progress: &Progress,
) -> Result<(), IndexError> {
    let mut known = index.sizes(LEDGER)?;
    known.sort_unstable_by(|one, other| other.1.cmp(&one.1));
    let last = known.iter().find_map(|(_, stamp, _)| stamp.parse().ok());
    let known = known.into_iter().map(|(place, _, bytes)| (place, bytes));
    let budget = AnswerBudget::new(known, MOST_ANSWERS);
    let mut read = 0_u64;
    let mut left_out = 0_u64;
    let query = Query {
        since: last,
        ..Query::default()
    };
    let reader = Reader::open(context.disk.clone(), context.ledger_paths());
    let each = |add: &mut dyn FnMut(Document) -> IndexProgress| {
        let mut taken = IndexProgress::More;
        reader?.each(&query, |entry| {
            let place = entry.task_id.to_string();
            // The newest entry comes first.
            if taken == IndexProgress::Ended || !budget.takes(&place, entry.summary.len() as u64) {
                left_out += 1;
                return;
            }
            read += 1;
            if read.is_multiple_of(PER_LINE) {
                progress.now(format!("reading the ledger: {read} answers"));
            }
            let prompt = entry.metadata.get("prompt");
            let prompt = prompt.and_then(|prompt| prompt.as_str());
            taken = add(Document {
                place,
                stamp: entry.timestamp.to_string(),
                title: prompt.unwrap_or_default().to_owned(),
                text: entry.summary,
            });
        })
    };
    // What was committed stays: an entry that is known need not be read again.
    if let Err(error) = index.stream_documents(LEDGER, each, |place| budget.keeps(place))? {
        // The tree can be searched all the same.
        context
            .report
            .detail(&format!("the ledger is not searched: {error}"));
    } else if left_out > 0 {
        let left_out = many(left_out, "older answer");
        let mib = MOST_ANSWERS >> 20;
        let what = format!("{left_out} not searched: the index keeps the newest {mib} MiB");
        context.report.detail(&what);
    }
    Ok(())
}

/// Decides which answers fit into the index, the newest first.
struct AnswerBudget {
    most: u64,
    /// Bytes of the known answers that are as new as this one or newer, by its place.
    known: HashMap<String, u64>,
    /// Bytes that came since.
    added: Cell<u64>,
}

impl AnswerBudget {
    /// `known` are the places and bytes of what the index has, the newest first.
    fn new(known: impl Iterator<Item = (String, u64)>, most: u64) -> Self {
        let mut sum = 0;
        let known = known.map(|(place, bytes)| {
            sum += bytes;
            (place, sum)
        });
        Self {
            most,
            known: known.collect(),
            added: Cell::new(0),
        }
    }

    /// Takes an answer that is newer than all that is known, or known. Returns false if it does not fit any more.
    fn takes(&self, place: &str, bytes: u64) -> bool {
        if self.known.contains_key(place) {
            return true;
        }
        let added = self.added.get() + bytes;
        // Nothing older takes the room of one that was left out.
        self.added.set(added);
        added <= self.most
    }

    /// Returns whether a known answer still fits after the newer ones.
    fn keeps(&self, place: &str) -> bool {
        let newer = self.known.get(place).copied().unwrap_or_default();
        self.added.get().saturating_add(newer) <= self.most
    }
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
                .report
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
        let passage = lines[first..last].join("\n") + "\n";
        by_time
            .entry(decision.ts.clone())
            .and_modify(|known| known.text.push_str(&passage))
            .or_insert(Document {
                place: decision.ts,
                stamp: stamp.to_owned(),
                title: decision.title,
                text: passage.clone(),
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
                .report
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

/// Returns a stamp that changes with the file; `None` if there is no file.
fn stamp(disk: &Disk, path: &Path) -> Option<String> {
    let stat = disk.stat(path).ok()??;
    let since = stat.modified.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {}", stat.len, since.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_answers_fit_and_the_oldest_go() {
        let known = [("c", 40), ("b", 30), ("a", 30)];
        let known = known.map(|(place, bytes)| (place.to_owned(), bytes));
        let budget = AnswerBudget::new(known.into_iter(), 100);
        assert!(["a", "b", "c"].iter().all(|place| budget.keeps(place)));
        assert!(budget.takes("c", 40), "it is known");
        assert!(budget.takes("d", 20));
        let kept = ["a", "b", "c"].map(|place| budget.keeps(place));
        assert_eq!(kept, [false, true, true]);
    }

    #[test]
    fn an_older_answer_does_not_take_the_room_of_one_that_is_left_out() {
        let budget = AnswerBudget::new(std::iter::empty(), 100);
        assert!(budget.takes("c", 60));
        assert!(!budget.takes("b", 60));
        assert!(!budget.takes("a", 10));
    }
}
