//! Checkpoints made, kept, lost, and compared with a journal that differs.

use std::{os::unix::fs::PermissionsExt as _, time::Duration};

use callosum_host::{Clock, Disk, Ids, random};
use serde_json::Map;

use super::*;
use crate::{AuditEvent, Event, Ledger, LedgerPaths, Spawn, signed_note::SignedNote};

struct Fixture {
    folder: tempfile::TempDir,
    disk: Disk,
    paths: LedgerPaths,
    witness: TrustStore,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path().join("project"));
        disk.create_dir_all(&paths.root).unwrap();
        let home = folder.path().join("home");
        let ground = Self {
            witness: TrustStore::in_home(&home, &paths.root),
            folder,
            disk,
            paths,
        };
        Ledger::create(&ground.disk, &ground.paths, &clock()).unwrap();
        ground
    }

    fn write(&self, records: usize) {
        let ledger = self.open();
        for number in 0..records {
            let event = AuditEvent::new(Event::State).with("number", number);
            ledger.record(event).unwrap();
        }
        ledger.flush().unwrap();
    }

    fn open(&self) -> Ledger {
        let (disk, paths) = (self.disk.clone(), self.paths.clone());
        Ledger::open(disk, paths, clock(), Ids::sequence()).unwrap()
    }

    fn make(&self, begin: Begin) -> Result<Option<Made>, CheckpointError> {
        let seed = random::secret_bytes().unwrap();
        self.witness.make(&self.disk, &self.paths, begin, &seed)
    }

    fn made(&self) -> Made {
        self.make(Begin::GoOn).unwrap().expect("something is new")
    }

    fn kept(&self) -> Vec<(u64, SignedBy)> {
        let found = self.witness.read(&self.disk).unwrap();
        assert_eq!(found.unreadable, [0_u64; 0]);
        let kept = found.kept.into_iter();
        kept.map(|kept| (kept.checkpoint.size, kept.signed))
            .collect()
    }

    fn journal(&self) -> std::path::PathBuf {
        self.paths.audit.join("2026-11-02.jsonl")
    }

    fn change_journal(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.disk.read(&self.journal()).unwrap();
        change(&mut bytes);
        self.disk.replace(&self.journal(), &bytes, 0o644).unwrap();
    }
}

fn clock() -> Clock {
    Clock::fixed(
        "2026-11-02T10:00:00Z".parse().unwrap(),
        Duration::from_millis(1),
    )
}

/// CAL-GOV-4: each checkpoint continues the one before, and identifies itself as signed.
#[test]
fn checkpoints_are_made_of_what_is_new_and_kept_in_order() {
    let ground = Fixture::new();
    let first = ground.made();
    assert_eq!(first.checkpoint.size, 1);
    assert_eq!(ground.make(Begin::GoOn).unwrap(), None);
    // Its own record alone is nothing new.
    ground.open().record(first.event()).unwrap();
    assert_eq!(ground.make(Begin::GoOn).unwrap(), None);
    ground.write(3);
    let second = ground.made();
    assert_eq!(second.checkpoint.size, 5);
    assert_eq!(second.checkpoint.origin, first.checkpoint.origin);
    assert_eq!(second.key, first.key);
    assert_eq!(ground.kept(), [(1, SignedBy::Us), (5, SignedBy::Us)]);
    let note = SignedNote::parse(&second.note.to_string()).unwrap();
    assert_eq!(
        note.standing(&second.key),
        crate::signed_note::NoteStatus::Signed
    );
    assert_eq!(Checkpoint::parse(note.text()), Ok(second.checkpoint));
    assert_eq!(
        ground.witness.verifier(&ground.disk).unwrap(),
        Some(second.key)
    );
}

/// CAL-GOV-4: the derived place is never believed, only found right.
#[test]
fn a_lost_or_forged_edge_costs_a_reading_and_no_more() {
    let ground = Fixture::new();
    ground.write(5);
    ground.made();
    let edge = ground.witness.edge();
    let right = ground.disk.read(&edge).unwrap();
    let text = String::from_utf8(right.clone()).unwrap();
    let mut expected = 6;
    for forged in [
        None,
        Some(String::new()),
        Some("{}".to_owned()),
        Some(text.replace("\"offset\":", "\"offset\":9")),
        Some(text.replace("\"size\":6", "\"size\":7")),
        Some(text.replace("2026-11-02", "2026-11-03")),
    ] {
        match forged {
            None => assert!(ground.disk.remove_file(&edge).unwrap()),
            Some(text) => ground.disk.replace(&edge, text.as_bytes(), 0o600).unwrap(),
        }
        ground.write(1);
        expected += 1;
        assert_eq!(ground.made().checkpoint.size, expected);
    }
}

/// CAL-GOV-4: nothing is signed that does not continue what was signed.
#[test]
fn a_journal_that_was_changed_is_not_signed_again() {
    let ground = Fixture::new();
    ground.write(5);
    ground.made();
    let whole = ground.disk.read(&ground.journal()).unwrap();
    ground.change_journal(|bytes| {
        let end = memchr::memrchr(b'\n', &bytes[..bytes.len() - 1]).unwrap();
        bytes.truncate(end + 1);
    });
    let cut = ground.make(Begin::GoOn);
    assert!(
        matches!(cut, Err(CheckpointError::Inconsistent { size: 6 })),
        "{cut:?}"
    );
    ground
        .disk
        .replace(&ground.journal(), &whole, 0o644)
        .unwrap();
    ground.disk.remove_file(&ground.witness.edge()).unwrap();
    ground.change_journal(|bytes| bytes[20] ^= 1);
    let edited = ground.make(Begin::GoOn);
    assert!(
        matches!(
            edited,
            Err(CheckpointError::Broken { seq: 1 } | CheckpointError::Empty)
        ),
        "{edited:?}"
    );
}

/// CAL-GOV-4: a journal begun from scratch is another log, and is signed only on explicit request.
#[test]
fn a_journal_that_was_begun_from_scratch_is_signed_only_on_demand() {
    let ground = Fixture::new();
    ground.write(2);
    let old = ground.made();
    for path in [
        &ground.paths.ledger,
        &ground.paths.hashlog,
        &ground.journal(),
    ] {
        ground.disk.remove_file(path).unwrap();
    }
    ground.disk.remove_file(&ground.paths.watermark()).unwrap();
    let later = Clock::fixed("2026-11-03T10:00:00Z".parse().unwrap(), Duration::ZERO);
    Ledger::create(&ground.disk, &ground.paths, &later).unwrap();
    let refused = ground.make(Begin::GoOn);
    assert!(
        matches!(refused, Err(CheckpointError::Inconsistent { size: 3 })),
        "{refused:?}"
    );
    let new = ground.make(Begin::Anew).unwrap().unwrap();
    assert_ne!(new.checkpoint.origin, old.checkpoint.origin);
    let aside = ground.disk.read(&new.set_aside.clone().unwrap()).unwrap();
    assert_eq!(aside, old.note.to_string().as_bytes());
    assert_eq!(new.event().status.as_deref(), Some("begun_anew"));
    assert_eq!(ground.kept(), [(1, SignedBy::Us)]);
}

/// CAL-GOV-4: a new key is vouched for by the old one, and what the old one signed stays signed.
#[test]
fn a_new_key_is_signed_in_by_the_old_one() {
    let ground = Fixture::new();
    let old = ground.made().key;
    let made = ground.make(Begin::NewKey).unwrap().unwrap();
    assert_eq!(made.previous_key, Some(old.clone()));
    assert_ne!(made.key, old);
    for key in [&old, &made.key] {
        assert_eq!(
            made.note.standing(key),
            crate::signed_note::NoteStatus::Signed
        );
    }
    ground.write(1);
    let next = ground.made();
    assert_eq!(next.key, made.key);
    assert_eq!(
        next.note.standing(&old),
        crate::signed_note::NoteStatus::NotNamed
    );
    let signed: Vec<_> = ground.kept().into_iter().map(|(_, by)| by).collect();
    assert_eq!(signed, [SignedBy::Us, SignedBy::Us, SignedBy::Us]);
}

/// CAL-GOV-4: a key that was changed from another project signs the next checkpoint here, not the
/// last one; the first checkpoint that it signs records the change in the journal.
#[test]
fn a_key_that_was_changed_elsewhere_signs_from_the_next_checkpoint_on() {
    let (here, elsewhere) = (Fixture::new(), Fixture::new());
    let witness = TrustStore::in_home(&here.folder.path().join("home"), &elsewhere.paths.root);
    let make = |begin| {
        let seed = random::secret_bytes().unwrap();
        let made = witness.make(&elsewhere.disk, &elsewhere.paths, begin, &seed);
        made.unwrap().unwrap()
    };
    let old = here.made().key;
    make(Begin::GoOn);
    assert_eq!(here.witness.next_verifier(&here.disk).unwrap(), None);
    let new = make(Begin::NewKey).key;
    assert_eq!(
        here.witness.verifier(&here.disk).unwrap(),
        Some(old.clone())
    );
    let next = here.witness.next_verifier(&here.disk).unwrap().unwrap();
    assert!(next.is_same_bytes(&new));
    here.write(1);
    let made = here.made();
    assert_eq!(
        (made.key.clone(), made.previous_key.clone()),
        (next, Some(old))
    );
    assert_eq!(made.event().status.as_deref(), Some("new_key"));
    assert_eq!(here.witness.verifier(&here.disk).unwrap(), Some(made.key));
    assert_eq!(here.witness.next_verifier(&here.disk).unwrap(), None);
    here.write(1);
    assert_eq!(here.made().previous_key, None);
}

/// CAL-GOV-4: if two processes change the key at the same time, each key is known.
#[test]
fn keys_that_are_changed_at_once_are_all_known() {
    let grounds = [Fixture::new(), Fixture::new(), Fixture::new()];
    let home = grounds[0].folder.path().join("home");
    let witness_of = |ground: &Fixture| TrustStore::in_home(&home, &ground.paths.root);
    std::thread::scope(|scope| {
        for ground in &grounds {
            scope.spawn(|| {
                for _ in 0..5 {
                    let seed = random::secret_bytes().unwrap();
                    let witness = witness_of(ground);
                    let made = witness.make(&ground.disk, &ground.paths, Begin::NewKey, &seed);
                    made.unwrap().unwrap();
                    ground.write(1);
                }
            });
        }
    });
    for ground in &grounds {
        let kept = witness_of(ground).read(&ground.disk).unwrap().kept;
        assert_eq!(kept.len(), 5);
        assert!(
            kept.iter().all(|kept| kept.signed == SignedBy::Us),
            "{kept:?}"
        );
    }
}

/// CAL-GOV-4: signatures are checked without the secret, and a new key replaces a lost one.
#[test]
fn a_lost_secret_still_has_its_public_half() {
    let ground = Fixture::new();
    let old = ground.made().key;
    let key = ground.folder.path().join("home/keys/ledger-ed25519");
    ground.disk.replace(&key, b"PRIVATE+KEY+x", 0o600).unwrap();
    assert_eq!(ground.kept(), [(1, SignedBy::Us)]);
    assert_eq!(
        ground.witness.verifier(&ground.disk).unwrap(),
        Some(old.clone())
    );
    ground.disk.remove_file(&key).unwrap();
    ground.write(1);
    let made = ground.made();
    assert_eq!(made.previous_key, Some(old));
    assert_eq!(ground.kept(), [(1, SignedBy::Us), (2, SignedBy::Us)]);
}

/// CAL-GOV-4: a machine that lost its checkpoints reports this when it signs again.
#[test]
fn checkpoints_that_were_forgotten_are_counted() {
    let ground = Fixture::new();
    for _ in 0..3 {
        let made = ground.made();
        assert_eq!(made.forgotten, 0);
        ground.open().record(made.event()).unwrap();
        ground.write(1);
    }
    let home = ground.folder.path().join("home");
    std::fs::remove_dir_all(&home).unwrap();
    assert_eq!(ground.made().forgotten, 3);
    ground.write(1);
    assert_eq!(ground.made().forgotten, 0);
}

/// CAL-SEC-1: the key is its owner's alone, and one that others may read is not used.
#[test]
fn a_key_that_others_may_read_is_refused() {
    let ground = Fixture::new();
    ground.made();
    let key = ground.folder.path().join("home/keys/ledger-ed25519");
    let mode = std::fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let bytes = ground.disk.read(&key).unwrap();
    ground.disk.replace(&key, &bytes, 0o640).unwrap();
    ground.write(1);
    let refused = ground.make(Begin::GoOn);
    let exposed = matches!(
        refused,
        Err(CheckpointError::Key(KeyError::Exposed { mode: 0o640, .. }))
    );
    assert!(exposed, "{refused:?}");
    ground.disk.replace(&key, b"PRIVATE+KEY+x", 0o600).unwrap();
    let refused = ground.make(Begin::GoOn);
    let invalid = matches!(refused, Err(CheckpointError::Key(KeyError::Invalid { .. })));
    assert!(invalid, "{refused:?}");
}

/// CAL-GOV-4: without its key, a machine recognizes no signature as its own.
#[test]
fn checkpoints_of_another_key_are_recognized_and_not_continued() {
    let ground = Fixture::new();
    ground.made();
    let key = ground.folder.path().join("home/keys/ledger-ed25519");
    ground.disk.remove_file(&key).unwrap();
    ground.disk.remove_file(&key.with_extension("pub")).unwrap();
    assert!(matches!(
        &ground.kept()[..],
        [(1, SignedBy::Another { .. })]
    ));
    ground.write(1);
    let refused = ground.make(Begin::GoOn);
    assert!(
        matches!(refused, Err(CheckpointError::Foreign { .. })),
        "{refused:?}"
    );
    assert!(ground.make(Begin::Anew).unwrap().is_some());
}

/// CAL-GOV-4: the next note cuts off one that a crash tore; a damaged one is reported.
#[test]
fn a_torn_note_is_written_over_and_a_damaged_one_is_counted() {
    let ground = Fixture::new();
    ground.made();
    ground.write(1);
    ground.made();
    let path = ground.witness.path();
    let whole = ground.disk.read(&path).unwrap();
    let torn = [&whole[..], b"\ncallosum.inv"].concat();
    ground.disk.replace(&path, &torn, 0o600).unwrap();
    assert_eq!(ground.kept().len(), 2);
    let text = String::from_utf8(whole)
        .unwrap()
        .replacen('\u{2014}', "-", 1);
    ground.disk.replace(&path, text.as_bytes(), 0o600).unwrap();
    let found = ground.witness.read(&ground.disk).unwrap();
    assert_eq!(found.unreadable, [1]);
    // The last one is what counts for going on.
    ground.write(1);
    ground.made();
}

/// CAL-GOV-4: an executor that was reserved for but not synced is on disk before it is signed.
#[test]
fn unsynced_records_are_synced_before_they_are_signed() {
    let ground = Fixture::new();
    let ledger = ground.open();
    ledger
        .reserve(Spawn {
            executor: "scout".to_owned(),
            details: Map::new(),
        })
        .unwrap();
    assert_eq!(ground.made().checkpoint.size, 2);
}

/// CAL-GOV-4: a checkpoint has one form.
#[test]
fn what_is_no_checkpoint_is_refused_with_its_reason() {
    let root = callosum_json::Checksum::of(b"root");
    let right = Checkpoint {
        origin: "example.com/log".to_owned(),
        size: 20,
        root,
    };
    let text = right.text();
    assert_eq!(Checkpoint::parse(&text), Ok(right.clone()));
    assert_eq!(Checkpoint::parse(&(text.clone() + "more\n")), Ok(right));
    let check = |text: &str, why| assert_eq!(Checkpoint::parse(text), Err(why), "{text:?}");
    check("", InvalidCheckpoint::Lines);
    check("a\n1\n", InvalidCheckpoint::Lines);
    check(text.trim_end(), InvalidCheckpoint::Lines);
    check(&(text.clone() + "\n"), InvalidCheckpoint::Lines);
    check(&text.replace("20", "020"), InvalidCheckpoint::Size);
    check(&text.replace("20", "+20"), InvalidCheckpoint::Size);
    check(&text.replace("20", "-2"), InvalidCheckpoint::Size);
    check("a\n1\nAAAA\n", InvalidCheckpoint::Root);
    check("a\n1\n!\n", InvalidCheckpoint::Root);
}
