//! A table of everything that a hand can do to ledger, journal and checkpoints, each named.
//!
//! Every row is tried at the start, in the middle and at the end. Where the end is not a row of its
//! own, the reason is written there.

use std::{path::Path, time::Duration};

use callosum_host::{Clock, Disk, Ids};
use serde_json::Map;

use super::*;
use crate::{
    Ledger, NewEntry, Spawn,
    canonical::DuplicateKeys,
    chain::JOURNAL,
    checkpoint::{Begin, Witness},
    checksum::Checksum,
    entry::seal,
    rotation,
    signed_note::{SignedNote, SigningKey},
};

/// Five entries, a checkpoint after each: 1 record of the beginning, then 3 for each entry.
struct Project {
    folder: tempfile::TempDir,
    disk: Disk,
    paths: LedgerPaths,
    witness: Witness,
    clock: Clock,
}

const ENTRIES: usize = 5;
const RECORDS: usize = 1 + 3 * ENTRIES;
/// The last record tells of the last checkpoint, which cannot cover it.
const SIGNED: usize = RECORDS - 1;

impl Project {
    fn new() -> Self {
        Self::of("2026-11-02T10:00:00Z")
    }

    /// Another one, begun a day later, so that no task is the same.
    fn other() -> Self {
        Self::of("2026-11-03T10:00:00Z")
    }

    fn of(start: &str) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        let paths = LedgerPaths::in_root(folder.path().join("project"));
        let project = Self {
            disk: Disk::real(),
            witness: Witness::in_home(&folder.path().join("home"), &paths.root),
            clock: Clock::fixed(start.parse().unwrap(), Duration::from_millis(1)),
            folder,
            paths,
        };
        let (disk, paths) = (&project.disk, &project.paths);
        disk.create_dir_all(&paths.root).unwrap();
        Ledger::create(disk, paths, &project.clock).unwrap();
        let ledger = project.open();
        for number in 0..ENTRIES {
            let spawn = Spawn {
                executor: "scout".to_owned(),
                details: Map::new(),
            };
            let entry = NewEntry {
                task_id: ledger.reserve(spawn).unwrap(),
                executor: "scout".to_owned(),
                summary: format!("summary {number} of {start}"),
                tokens_used: 1,
                linked_tasks: Vec::new(),
                timestamp: project.clock.now(),
                metadata: Map::new(),
            };
            ledger.commit(entry).unwrap();
            let made = project.witness.make(disk, paths, Begin::GoOn, &[7; 32]);
            ledger.record(made.unwrap().unwrap().event()).unwrap();
            ledger.flush().unwrap();
        }
        drop(ledger);
        project
    }

    fn open(&self) -> Ledger {
        let (disk, paths) = (self.disk.clone(), self.paths.clone());
        Ledger::open(disk, paths, self.clock.clone(), Ids::sequence()).unwrap()
    }

    fn journal(&self) -> PathBuf {
        crate::journal::day_files(&self.disk, &self.paths.audit).unwrap()[0]
            .path
            .clone()
    }

    fn lines(&self, path: &Path) -> Vec<String> {
        let text = String::from_utf8(self.disk.read(path).unwrap()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn write(&self, path: &Path, lines: &[String]) {
        let mut text = lines.join("\n");
        if !lines.is_empty() {
            text.push('\n');
        }
        self.disk.replace(path, text.as_bytes(), 0o644).unwrap();
    }

    fn verify(&self) -> Verification {
        let scope = Scope {
            archives: true,
            witness: Some(&self.witness),
        };
        verify_within(&self.disk, &self.paths, scope).unwrap()
    }

    /// What is found in this file.
    fn found(&self, path: &Path) -> Option<(Fault, u64)> {
        let found = self.verify();
        let problem = found.problems.iter().find(|problem| problem.path == path);
        problem.map(|problem| (problem.fault, problem.number))
    }

    /// The entries' lines of the ledger, without the commas.
    fn entries(&self) -> Vec<String> {
        let lines = self.lines(&self.paths.ledger);
        let entries = lines.get(3..lines.len() - 2).unwrap_or_default();
        let entry = |line: &String| line.trim().trim_end_matches(',').to_owned();
        entries.iter().map(entry).collect()
    }

    fn write_entries(&self, entries: &[String]) {
        self.write_entries_to(&self.paths.ledger, entries);
    }

    fn write_entries_to(&self, path: &Path, entries: &[String]) {
        let mut lines = vec!["{".to_owned(), "  \"version\": \"1.2\",".to_owned()];
        lines.push("  \"tasks\": [".to_owned());
        for (index, entry) in entries.iter().enumerate() {
            let comma = if index + 1 < entries.len() { "," } else { "" };
            lines.push(format!("    {entry}{comma}"));
        }
        lines.extend(["  ]".to_owned(), "}".to_owned()]);
        self.write(path, &lines);
    }

    /// The checkpoints' notes.
    fn notes(&self) -> Vec<String> {
        let bytes = self.disk.read(&self.witness.path()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let blocks: Vec<_> = text.trim_end().split("\n\n").collect();
        let note = |pair: &[&str]| format!("{}\n\n{}\n", pair[0], pair[1]);
        blocks.chunks(2).map(note).collect()
    }

    fn write_notes(&self, notes: &[String]) {
        let bytes = notes.join("\n");
        let path = self.witness.path();
        self.disk.replace(&path, bytes.as_bytes(), 0o600).unwrap();
    }
}

/// Changes the journal and says what is found in it.
fn journal(change: impl FnOnce(&mut Vec<String>)) -> Option<(Fault, u64)> {
    let project = Project::new();
    let path = project.journal();
    let mut lines = project.lines(&path);
    assert_eq!(lines.len(), RECORDS);
    change(&mut lines);
    project.write(&path, &lines);
    let found = project.found(&path);
    // Verifying is not mending: it is found as often as it is looked for.
    assert_eq!(project.found(&path), found);
    found
}

/// A change of a ledger's entries, and what is found in its file.
type Tampered = fn(&dyn Fn(&mut Vec<String>)) -> Option<(Fault, u64)>;

/// The ledger that is active, and one that was archived.
const LEDGERS: [Tampered; 2] = [|change| active(change), |change| archived(change)];

/// Changes the entries of the ledger file and says what is found in it.
fn active(change: impl FnOnce(&mut Vec<String>)) -> Option<(Fault, u64)> {
    let project = Project::new();
    let mut entries = project.entries();
    change(&mut entries);
    project.write_entries(&entries);
    project.found(&project.paths.ledger)
}

/// The same with a ledger that was archived since, and with its hashlog.
fn archived(change: impl FnOnce(&mut Vec<String>)) -> Option<(Fault, u64)> {
    let project = Project::new();
    let mut entries = project.entries();
    project.open().rotate().unwrap();
    assert_eq!(project.entries().len(), 0);
    change(&mut entries);
    let name = rotation::names(&project.disk, &project.paths.history).unwrap()[0];
    let archive = project.paths.archive(&name);
    project.write_entries_to(&archive, &entries);
    project.found(&archive)
}

/// Changes the checkpoints and says what is found in their file.
fn checkpoints(change: impl FnOnce(&mut Vec<String>)) -> Option<(Fault, u64)> {
    let project = Project::new();
    let mut notes = project.notes();
    assert_eq!(notes.len(), ENTRIES);
    change(&mut notes);
    project.write_notes(&notes);
    project.found(&project.witness.path())
}

/// A record with its hash made anew, behind another one.
fn resealed(line: &str, prev: Option<Checksum>) -> String {
    let (fields, rest) = line.split_at(line.rfind(",\"prev\":\"").unwrap());
    let said = &rest[9..73];
    let prev = prev.map_or_else(|| said.to_owned(), |prev| prev.to_string());
    let mut bytes = format!("{fields},\"prev\":\"{prev}\"").into_bytes();
    JOURNAL.seal(&mut bytes, 0);
    let text = String::from_utf8(bytes).unwrap();
    text.trim_end().to_owned()
}

/// Every record with its hash made anew, so that the chain holds.
fn rechained(lines: &mut [String]) {
    let mut head = Checksum::ZERO;
    for line in lines {
        *line = resealed(line, Some(head));
        head = JOURNAL.check(line.as_bytes()).unwrap();
    }
}

fn number(index: usize) -> u64 {
    index as u64 + 1
}

/// CAL-GOV-4: nothing was done, and nothing is found.
#[test]
fn what_nobody_touched_is_sound_and_signed() {
    let found = Project::new().verify();
    assert_eq!(found.problems, []);
    assert_eq!(found.checkpoints, ENTRIES as u64);
    assert_eq!(found.signed_records, SIGNED as u64);
}

/// CAL-GOV-4: edited, also where the record's own hash was made anew.
#[test]
fn an_edited_record_is_named() {
    for at in [0, 1, RECORDS / 2, RECORDS - 2, RECORDS - 1] {
        let found = journal(|lines| lines[at] = lines[at].replace("2026", "2025"));
        assert_eq!(found, Some((Fault::Edited, number(at))), "edited {at}");
    }
    for at in [0, 1, RECORDS / 2, RECORDS - 6] {
        let found = journal(|lines| {
            let line = lines[at].replace("T10:", "T11:");
            lines[at] = resealed(&line, None);
        });
        assert_eq!(found, Some((Fault::Edited, number(at))), "resealed {at}");
    }
}

/// CAL-GOV-4: the last record, which tells of the last checkpoint and is not signed yet: what it
/// tells must be kept, what else it says is not proven, and the verification says how far it is.
#[test]
fn the_last_record_is_proven_as_far_as_it_tells_of_a_checkpoint() {
    let project = Project::new();
    let path = project.journal();
    let lines = project.lines(&path);
    let with_last = |change: &dyn Fn(&str) -> String| {
        let mut lines = lines.clone();
        let last = lines.pop().unwrap();
        lines.push(resealed(&change(&last), None));
        project.write(&path, &lines);
        project.verify()
    };
    for field in ["\"root\":\"", "\"size\":"] {
        let found = with_last(&|last| {
            let at = last.find(field).unwrap() + field.len();
            let other = if last[at..].starts_with('9') {
                "8"
            } else {
                "9"
            };
            format!("{}{other}{}", &last[..at], &last[at + 1..])
        });
        let [problem] = &found.problems[..] else {
            panic!("{field}: {:?}", found.problems);
        };
        assert_eq!(problem.fault, Fault::CheckpointMissing, "{field}");
        assert_eq!(problem.path, project.witness.path());
    }
    let found = with_last(&|last| last.replace("T10:", "T11:"));
    assert_eq!(found.problems, []);
    assert_eq!(
        (found.records, found.signed_records),
        (RECORDS as u64, SIGNED as u64)
    );
}

/// CAL-GOV-4: deleted; at the end it is a cut tail.
#[test]
fn a_deleted_record_is_named() {
    for at in [0, 1, RECORDS / 2, RECORDS - 2] {
        let found = journal(|lines| drop(lines.remove(at)));
        assert_eq!(found, Some((Fault::Deleted, number(at))), "deleted {at}");
    }
}

/// CAL-GOV-4: inserted, as a line of anything, and as a record that was made to fit.
#[test]
fn an_inserted_record_is_named() {
    for at in [0, 1, RECORDS / 2, RECORDS - 1] {
        let found = journal(|lines| lines.insert(at, "{\"made\":\"up\"}".to_owned()));
        assert_eq!(found, Some((Fault::Inserted, number(at))), "line {at}");
        let found = journal(|lines| {
            let made_up = lines[at].replace("T10:", "T11:");
            lines.insert(at, resealed(&made_up, None));
        });
        assert_eq!(found, Some((Fault::Inserted, number(at))), "fitting {at}");
    }
    // Behind the last record, one that fits is what the program itself would write.
    let found = journal(|lines| {
        lines.pop();
        lines.push("{\"made\":\"up\"}".to_owned());
    });
    assert_eq!(found, Some((Fault::Inserted, number(SIGNED))));
}

/// CAL-GOV-4: reordered and duplicated.
#[test]
fn a_moved_or_doubled_record_is_named() {
    for at in [0, 1, RECORDS / 2, RECORDS - 2] {
        let found = journal(|lines| lines.swap(at, at + 1));
        assert_eq!(found, Some((Fault::Reordered, number(at))), "moved {at}");
    }
    for at in [0, RECORDS / 2, RECORDS - 1] {
        let found = journal(|lines| lines.insert(at + 1, lines[at].clone()));
        let expected = Some((Fault::Duplicated, number(at + 1)));
        assert_eq!(found, expected, "doubled {at}");
    }
}

/// CAL-GOV-4: records of another journal, in the place of ours and among them.
#[test]
fn a_spliced_journal_is_named() {
    let other = Project::other();
    let others = other.lines(&other.journal());
    let found = journal(|lines| lines[..4].clone_from_slice(&others[..4]));
    assert_eq!(found, Some((Fault::Spliced, 1)), "its beginning");
    for at in [1, RECORDS / 2, RECORDS - 1] {
        let expected = Some((Fault::Spliced, number(at)));
        let found = journal(|lines| lines[at..].clone_from_slice(&others[at..]));
        assert_eq!(found, expected, "from {at} on");
        let found = journal(|lines| lines.insert(at, others[at].clone()));
        assert_eq!(found, expected, "one more at {at}");
        let found = journal(|lines| lines[at] = others[at].clone());
        assert_eq!(found, expected, "one instead at {at}");
    }
}

/// CAL-GOV-4: a cut tail, however long, with ledger and hashlog cut to fit as well.
#[test]
fn a_cut_tail_is_named() {
    for left in [1, RECORDS / 2, SIGNED - 1] {
        let found = journal(|lines| lines.truncate(left));
        assert_eq!(found, Some((Fault::TailCut, number(left))), "{left} left");

        let project = Project::new();
        let path = project.journal();
        let mut lines = project.lines(&path);
        lines.truncate(left);
        project.write(&path, &lines);
        for view in [&project.paths.ledger, &project.paths.hashlog] {
            project.disk.remove_file(view).unwrap();
        }
        drop(project.disk.remove_file(&project.paths.watermark()));
        drop(project.open());
        let mut problems = project.verify().problems;
        problems.retain(|problem| problem.path != project.witness.path());
        let faults: Vec<_> = problems.iter().map(|problem| problem.fault).collect();
        // Rebuilding the views is a record, and so another one than was signed.
        let expected = if left + 1 < SIGNED {
            [Fault::TailCut, Fault::Rewritten]
        } else {
            [Fault::Rewritten, Fault::Rewritten]
        };
        assert!(
            faults.len() == 1 && expected.contains(&faults[0]),
            "{problems:?}"
        );
    }
}

/// CAL-GOV-4: everything written anew so that it fits together is not what was signed.
#[test]
fn a_consistent_rewriting_is_named() {
    // The checkpoints are of 3, 6, 9, 12 and 15 records, each of which is named up to.
    for (at, first) in [(0, 1), (2, 1), (RECORDS / 2, 7), (SIGNED - 1, 13)] {
        let project = Project::new();
        let path = project.journal();
        let mut lines = project.lines(&path);
        lines[at] = lines[at].replacen("T10:", "T11:", 1);
        rechained(&mut lines);
        project.write(&path, &lines);
        for view in [&project.paths.ledger, &project.paths.hashlog] {
            project.disk.remove_file(view).unwrap();
        }
        drop(project.disk.remove_file(&project.paths.watermark()));
        drop(project.open());
        let found = project.verify().problems;
        let [problem] = &found[..] else {
            panic!("{at}: {found:?}");
        };
        let number = problem.number;
        assert_eq!((problem.fault, number), (Fault::Rewritten, first), "{at}");
    }
    let other = Project::other();
    let project = Project::new();
    project.disk.remove_file(&project.journal()).unwrap();
    for (from, to) in [
        (&other.paths.ledger, &project.paths.ledger),
        (&other.paths.hashlog, &project.paths.hashlog),
    ] {
        let bytes = other.disk.read(from).unwrap();
        project.disk.replace(to, &bytes, 0o644).unwrap();
    }
    let to = project.paths.audit.join("2026-11-03.jsonl");
    project.write(&to, &other.lines(&other.journal()));
    assert_eq!(project.found(&to), Some((Fault::Rewritten, 1)));
}

/// CAL-GOV-4: a journal that is gone while its checkpoints are there.
#[test]
fn a_missing_journal_is_named() {
    let project = Project::new();
    project.disk.remove_file(&project.journal()).unwrap();
    let found = project.found(&project.paths.audit);
    assert_eq!(found, Some((Fault::Missing, 0)));
    let project = Project::new();
    project.write(&project.journal(), &[]);
    assert!(!project.verify().is_sound());
}

/// CAL-GOV-4: a checkpoint that the journal tells of and that is not kept.
#[test]
fn a_missing_checkpoint_is_named() {
    for at in [0, ENTRIES / 2, ENTRIES - 1] {
        let found = checkpoints(|notes| drop(notes.remove(at)));
        let expected = Some((Fault::CheckpointMissing, number(at)));
        assert_eq!(found, expected, "without {at}");
    }
    let missing = Some((Fault::CheckpointMissing, 0));
    assert_eq!(checkpoints(Vec::clear), missing);
    let project = Project::new();
    project.disk.remove_file(&project.witness.path()).unwrap();
    assert_eq!(project.found(&project.witness.path()), missing);
}

/// CAL-GOV-4: a checkpoint that another key signed, one that was changed, and one that is none.
#[test]
fn a_checkpoint_that_is_not_ours_is_named() {
    let key = |name: &str| SigningKey::from_seed(name, &[9; 32]).unwrap();
    for at in [0, ENTRIES / 2, ENTRIES - 1] {
        let found = checkpoints(|notes| {
            let note = SignedNote::parse(&notes[at]).unwrap();
            let text = note.text().to_owned();
            let name = note.signatures()[0].name.clone();
            let signature = key(&name).sign(&text);
            notes[at] = SignedNote::new(text, vec![signature]).unwrap().to_string();
        });
        assert_eq!(found, Some((Fault::OtherKey, number(at))), "signed {at}");
        let found = checkpoints(|notes| {
            let mut lines: Vec<_> = notes[at].lines().map(str::to_owned).collect();
            lines[1] = "1".to_owned();
            notes[at] = lines.join("\n") + "\n";
        });
        assert_eq!(found, Some((Fault::Edited, number(at))), "changed {at}");
        let found = checkpoints(|notes| notes[at] = notes[at].replace('\u{2014}', "-"));
        assert_eq!(found, Some((Fault::Unreadable, number(at))), "damaged {at}");
    }
    for at in [0, ENTRIES / 2, ENTRIES - 2] {
        let found = checkpoints(|notes| notes.swap(at, at + 1));
        assert_eq!(
            found,
            Some((Fault::Reordered, number(at + 1))),
            "moved {at}"
        );
        let found = checkpoints(|notes| notes.insert(at, notes[at].clone()));
        assert_eq!(
            found,
            Some((Fault::Duplicated, number(at + 1))),
            "doubled {at}"
        );
    }
}

/// CAL-GOV-4: a key that is gone makes all signatures another's; who did it is told by the key.
#[test]
fn a_lost_key_is_named() {
    let project = Project::new();
    let key = project.folder.path().join("home/keys/ledger-ed25519");
    project.disk.remove_file(&key).unwrap();
    let public = key.with_extension("pub");
    project.disk.remove_file(&public).unwrap();
    let found = project.found(&project.witness.path());
    assert_eq!(found, Some((Fault::OtherKey, 1)));
}

/// CAL-GOV-4, CAL-SUM-1: an edited entry, also where its checksum was made anew.
#[test]
fn an_edited_entry_is_named() {
    for ledger in LEDGERS {
        for at in [0, ENTRIES / 2, ENTRIES - 1] {
            let expected = Some((Fault::Edited, number(at)));
            let found =
                ledger(&|entries| entries[at] = entries[at].replace("summary ", "Summary "));
            assert_eq!(found, expected, "edited {at}");
            let found = ledger(&|entries| {
                let forged = entries[at].replace("summary ", "Summary ");
                let (_, sealed) = seal(forged.as_bytes(), DuplicateKeys::Refused).unwrap();
                entries[at] = sealed;
            });
            assert_eq!(found, expected, "resealed {at}");
        }
    }
}

/// CAL-GOV-4: entries that are gone; at the end it is a cut tail.
#[test]
fn a_deleted_entry_or_a_cut_tail_is_named() {
    for ledger in LEDGERS {
        for at in [0, ENTRIES / 2, ENTRIES - 2] {
            let found = ledger(&|entries| drop(entries.remove(at)));
            assert_eq!(found, Some((Fault::Deleted, number(at))), "deleted {at}");
        }
        for left in [0, ENTRIES / 2, ENTRIES - 1] {
            let found = ledger(&|entries| entries.truncate(left));
            assert_eq!(found, Some((Fault::TailCut, number(left))), "{left} left");
        }
    }
}

/// CAL-GOV-4: entries that were put in, moved or doubled.
#[test]
fn an_inserted_moved_or_doubled_entry_is_named() {
    let others = Project::other().entries();
    for ledger in LEDGERS {
        for at in [0, ENTRIES / 2, ENTRIES] {
            let found = ledger(&|entries| entries.insert(at, others[0].clone()));
            assert_eq!(found, Some((Fault::Inserted, number(at))), "inserted {at}");
        }
        for at in [0, ENTRIES / 2, ENTRIES - 2] {
            let found = ledger(&|entries| entries.swap(at, at + 1));
            assert_eq!(found, Some((Fault::Reordered, number(at))), "moved {at}");
        }
        for at in [0, ENTRIES / 2, ENTRIES - 1] {
            let found = ledger(&|entries| entries.insert(at, entries[at].clone()));
            let expected = Some((Fault::Duplicated, number(at + 1)));
            assert_eq!(found, expected, "doubled {at}");
        }
    }
}

/// CAL-GOV-4: entries of another ledger, and another ledger whole.
#[test]
fn a_spliced_or_rewritten_ledger_is_named() {
    let others = Project::other().entries();
    for ledger in LEDGERS {
        for at in [0, ENTRIES / 2, ENTRIES - 1] {
            let expected = Some((Fault::Spliced, number(at)));
            let found = ledger(&|entries| entries[at] = others[at].clone());
            assert_eq!(found, expected, "one at {at}");
        }
        let found = ledger(&|entries| entries[2..].clone_from_slice(&others[2..]));
        assert_eq!(found, Some((Fault::Spliced, 3)), "from the third on");
        let found = ledger(&|entries| entries[..3].clone_from_slice(&others[..3]));
        assert_eq!(found, Some((Fault::Spliced, 1)), "the first three");
        let found = ledger(&|entries| entries.clone_from(&others));
        assert_eq!(found, Some((Fault::Rewritten, 1)));
    }
}

/// CAL-GOV-4: the last entry of ledger and hashlog, which the journal does not tell of, was cut off
/// there, or added here where the journal is proven.
#[test]
fn views_that_go_beyond_the_journal_are_named() {
    let project = Project::new();
    let path = project.journal();
    let lines = project.lines(&path);
    // Without checkpoints, ledger and hashlog are the witnesses.
    project.write(&path, &lines[..RECORDS - 3]);
    let found = verify(&project.disk, &project.paths).unwrap().problems;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].fault, Fault::TailCut);
    assert_eq!(found[0].number, number(RECORDS - 3));
    assert_eq!(found[0].path, path);
}
