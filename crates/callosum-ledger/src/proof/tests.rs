//! Proofs made, checked, and changed in every place.

use std::time::Duration;

use callosum_host::{Clock, Disk, Ids};
use serde_json::Map;

use super::*;
use crate::{
    Ledger, LedgerPaths, NewEntry, Spawn, TaskId,
    checkpoint::{Begin, TrustStore},
    signed_note::{SignedNote, SigningKey},
};

struct Fixture {
    _folder: tempfile::TempDir,
    disk: Disk,
    paths: LedgerPaths,
    witness: TrustStore,
    ids: Vec<TaskId>,
}

impl Fixture {
    /// Makes a ledger of this many entries, all of them signed.
    fn new(entries: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path().join("project"));
        disk.create_dir_all(&paths.root).unwrap();
        let witness = TrustStore::in_home(&folder.path().join("home"), &paths.root);
        let start = "2026-11-02T10:00:00Z".parse().unwrap();
        let clock = Clock::fixed(start, Duration::from_millis(1));
        Ledger::create(&disk, &paths, &clock).unwrap();
        let mut ground = Self {
            _folder: folder,
            disk,
            paths,
            witness,
            ids: Vec::new(),
        };
        let ledger = Ledger::open(
            ground.disk.clone(),
            ground.paths.clone(),
            clock.clone(),
            Ids::sequence(),
        )
        .unwrap();
        for number in 0..entries {
            let spawn = Spawn {
                executor: "scout".to_owned(),
                details: Map::new(),
            };
            let id = ledger.reserve(spawn).unwrap();
            let entry = NewEntry {
                task_id: id.clone(),
                executor: "scout".to_owned(),
                summary: format!("summary {number}"),
                tokens_used: 1,
                linked_tasks: Vec::new(),
                timestamp: clock.now(),
                metadata: Map::new(),
            };
            ledger.commit(entry).unwrap();
            ground.ids.push(id);
        }
        drop(ledger);
        ground.sign();
        ground
    }

    fn sign(&self) {
        let begin = Begin::GoOn;
        let made = self.witness.make(&self.disk, &self.paths, begin, &[7; 32]);
        made.unwrap();
    }

    fn prove(&self, id: &TaskId) -> Result<Proof, ProveError> {
        prove(&self.disk, &self.paths, &self.witness, id)
    }
}

/// CAL-GOV-5: every entry has a proof, which needs no other data.
#[test]
fn every_entry_is_proved_by_its_bytes_alone() {
    for entries in [1, 2, 7] {
        let ground = Fixture::new(entries);
        for (index, id) in ground.ids.iter().enumerate() {
            let text = ground.prove(id).unwrap().to_string();
            let proof = Proof::parse(&text).unwrap();
            assert_eq!(proof.to_string(), text);
            let checked = proof.check(None).unwrap();
            assert_eq!(&checked.entry.task_id, id);
            assert_eq!(checked.seq, 3 + 2 * index as u64);
            assert!(!checked.is_key_known);
            let known = ground.witness.verifier(&ground.disk).unwrap().unwrap();
            let checked = proof.check(Some(&known)).unwrap();
            assert!(checked.is_key_known);
        }
    }
}

/// CAL-GOV-5: no byte of a proof can be changed without its failing or its saying another thing.
#[test]
fn a_proof_that_was_changed_anywhere_is_refused() {
    let ground = Fixture::new(3);
    let text = ground.prove(&ground.ids[1]).unwrap().to_string();
    let right = Proof::parse(&text).unwrap();
    let known = right.key.clone();
    for at in 0..text.len() {
        for flip in [1, 4] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= flip;
            let Ok(changed) = String::from_utf8(bytes) else {
                continue;
            };
            let Ok(proof) = Proof::parse(&changed) else {
                continue;
            };
            assert!(proof.check(Some(&known)).is_err() || proof == right, "{at}");
        }
    }
    // Without its last line break it is whole.
    let unended = Proof::parse(text.trim_end()).unwrap();
    assert_eq!(unended, right);
    assert!(unended.check(Some(&known)).is_ok());
    for (end, _) in text.trim_end().char_indices() {
        let cut = Proof::parse(&text[..end]);
        assert!(cut.is_err() || cut.unwrap().check(Some(&known)).is_err());
    }
}

/// CAL-GOV-5: a signature with another person's key is not one with mine.
#[test]
fn a_proof_of_another_key_is_recognized() {
    let ground = Fixture::new(1);
    let proof = ground.prove(&ground.ids[0]).unwrap();
    let other = SigningKey::from_seed(proof.key.name(), &[9; 32]).unwrap();
    let other = other.verifier();
    let not_signed = Err(ProofError::OtherKey {
        key: Box::new(other.clone()),
    });
    assert_eq!(proof.check(Some(&other)), not_signed);
    let forged = Proof {
        key: other,
        ..proof
    };
    assert_eq!(forged.check(None), not_signed);
}

/// CAL-GOV-5: the same key bytes under the name of another log vouch for nothing of this one.
#[test]
fn a_proof_of_another_log_of_the_same_key_is_refused() {
    let ground = Fixture::new(1);
    let proof = ground.prove(&ground.ids[0]).unwrap();
    let mine = SigningKey::from_seed("callosum.invalid/mine", &[7; 32]).unwrap();
    let text = proof.checkpoint.text();
    let signatures = vec![mine.sign(&text)];
    let forged = Proof {
        key: mine.verifier(),
        note: SignedNote::new(text, signatures).unwrap(),
        ..proof
    };
    for trusted in [None, Some(&mine.verifier())] {
        let refused = forged.check(trusted);
        let is_other = matches!(&refused, Err(ProofError::OtherLog { .. }));
        assert!(is_other, "{refused:?}");
    }
}

/// CAL-GOV-5: a record that is not covered, not there, or not what was signed has no proof.
#[test]
fn what_was_not_signed_is_not_proved() {
    let ground = Fixture::new(2);
    let unknown = "cal_2026_11_02_0009".parse().unwrap();
    let refused = ground.prove(&unknown);
    assert!(matches!(refused, Err(ProveError::NoEntry { .. })));
    let path = ground.paths.audit.join("2026-11-02.jsonl");
    let bytes = ground.disk.read(&path).unwrap();
    let mut changed = bytes.clone();
    changed[20] ^= 1;
    ground.disk.replace(&path, &changed, 0o644).unwrap();
    let refused = ground.prove(&ground.ids[1]);
    assert!(matches!(refused, Err(ProveError::Inconsistent { size: 5 })));
    ground.disk.replace(&path, &bytes, 0o644).unwrap();
    ground.disk.remove_file(&ground.witness.path()).unwrap();
    let refused = ground.prove(&ground.ids[1]);
    assert!(matches!(refused, Err(ProveError::NotSigned { seq: 5 })));
}

/// CAL-GOV-5: foreign bytes are refused with the reason.
#[test]
fn what_is_no_proof_is_refused_with_its_reason() {
    let ground = Fixture::new(2);
    let text = ground.prove(&ground.ids[0]).unwrap().to_string();
    let lines: Vec<_> = text.split('\n').collect();
    let check = |at: usize, line: &str, why: InvalidProof| {
        let mut lines = lines.clone();
        lines[at] = line;
        assert_eq!(Proof::parse(&lines.join("\n")), Err(why), "{at} {line}");
    };
    check(0, "c2sp.org/tlog-proof@v2", InvalidProof::FirstLine);
    check(1, "extra AAAA", InvalidProof::Extra);
    check(1, "index 0", InvalidProof::Extra);
    check(2, "index 01", InvalidProof::Index);
    check(2, "index -1", InvalidProof::Index);
    check(3, "AAAA", InvalidProof::Hash { line: 4 });
    assert_eq!(Proof::parse(""), Err(InvalidProof::Checkpoint));
    assert_eq!(
        Proof::parse(&lines[..6].join("\n")),
        Err(InvalidProof::Checkpoint)
    );
}
