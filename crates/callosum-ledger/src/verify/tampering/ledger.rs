//! Tampering with the entries of a ledger, active or archived.

use super::*;
use crate::{archive_files, entry::seal};
use callosum_json::canonical::DuplicateKeys;

/// A change of a ledger's entries, and the finding for its file.
type Tampered = fn(&dyn Fn(&mut Vec<String>)) -> Option<(VerifyFinding, u64)>;

/// The ledger that is active, and one that was archived.
const LEDGERS: [Tampered; 2] = [|change| active(change), |change| archived(change)];

/// Changes the entries of the ledger file and returns the finding.
fn active(change: impl FnOnce(&mut Vec<String>)) -> Option<(VerifyFinding, u64)> {
    let project = Project::new();
    let mut entries = project.entries();
    change(&mut entries);
    project.write_entries(&entries);
    project.found(&project.paths.ledger)
}

/// The same with a ledger that was archived since, and with its hashlog.
fn archived(change: impl FnOnce(&mut Vec<String>)) -> Option<(VerifyFinding, u64)> {
    let project = Project::new();
    let mut entries = project.entries();
    project.open().rotate().unwrap();
    assert_eq!(project.entries().len(), 0);
    change(&mut entries);
    let name = archive_files::names(&project.disk, &project.paths.history).unwrap()[0];
    let archive = project.paths.archive(&name);
    project.write_entries_to(&archive, &entries);
    project.found(&archive)
}

/// CAL-GOV-4, CAL-SUM-1: an edited entry, also if its checksum was recomputed.
#[test]
fn an_edited_entry_is_named() {
    for ledger in LEDGERS {
        for at in [0, ENTRIES / 2, ENTRIES - 1] {
            let expected = Some((VerifyFinding::Edited, number(at)));
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
            assert_eq!(
                found,
                Some((VerifyFinding::Deleted, number(at))),
                "deleted {at}"
            );
        }
        for left in [0, ENTRIES / 2, ENTRIES - 1] {
            let found = ledger(&|entries| entries.truncate(left));
            assert_eq!(
                found,
                Some((VerifyFinding::TailCut, number(left))),
                "{left} left"
            );
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
            assert_eq!(
                found,
                Some((VerifyFinding::Inserted, number(at))),
                "inserted {at}"
            );
        }
        for at in [0, ENTRIES / 2, ENTRIES - 2] {
            let found = ledger(&|entries| entries.swap(at, at + 1));
            assert_eq!(
                found,
                Some((VerifyFinding::Reordered, number(at))),
                "moved {at}"
            );
        }
        for at in [0, ENTRIES / 2, ENTRIES - 1] {
            let found = ledger(&|entries| entries.insert(at, entries[at].clone()));
            let expected = Some((VerifyFinding::Duplicated, number(at + 1)));
            assert_eq!(found, expected, "doubled {at}");
        }
    }
}

/// CAL-GOV-4: entries of another ledger, and another ledger whole.
#[test]
fn a_spliced_or_rewritten_ledger_is_named() {
    // Another day, so that no task is the same; and another hour, so that all are.
    for other in [Project::other(), Project::begun_at("2026-11-02T11:00:00Z")] {
        a_ledger_spliced_from(&other.entries());
    }
}

fn a_ledger_spliced_from(others: &[String]) {
    for ledger in LEDGERS {
        for at in [0, ENTRIES / 2, ENTRIES - 1] {
            let expected = Some((VerifyFinding::Spliced, number(at)));
            let found = ledger(&|entries| entries[at] = others[at].clone());
            assert_eq!(found, expected, "one at {at}");
            let found = ledger(&|entries| {
                entries[at] = others[at].replace("summary ", "Summary ");
            });
            let expected = Some((VerifyFinding::Edited, number(at)));
            assert_eq!(found, expected, "one at {at} that is wrong in itself");
        }
        for from in [1, ENTRIES - 2] {
            let found = ledger(&|entries| entries[from..].clone_from_slice(&others[from..]));
            let expected = Some((VerifyFinding::Spliced, number(from)));
            assert_eq!(found, expected, "from {from} on");
        }
        let found = ledger(&|entries| entries[2..].clone_from_slice(&others[2..]));
        assert_eq!(
            found,
            Some((VerifyFinding::Spliced, 3)),
            "from the third on"
        );
        let found = ledger(&|entries| entries[..3].clone_from_slice(&others[..3]));
        assert_eq!(found, Some((VerifyFinding::Spliced, 1)), "the first three");
        let found = ledger(&|entries| entries.clone_from_slice(others));
        assert_eq!(found, Some((VerifyFinding::Rewritten, 1)));
    }
}
