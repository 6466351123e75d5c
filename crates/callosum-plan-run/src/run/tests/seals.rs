//! Records of a run that this machine wrote, distinguished from those that it did not.

use callosum_json::Checksum;
use callosum_ledger::AuditRecord;
use serde_json::json;

use crate::run::{
    record_mac::{RunSeals, RunSecret, SealCheck},
    *,
};

fn secret(byte: u8) -> RunSecret {
    RunSecret::new([byte; 32])
}

fn key(byte: u8) -> CallKey {
    CallKey(Checksum::of(&[byte]))
}

fn decided(byte: u8) -> RunRecord {
    RunRecord::Decided(Decided {
        key: key(byte),
        decision: DecisionWord::NotDone,
        value: None,
    })
}

/// A record as the journal has it under this number.
fn kept(secret: Option<(&RunSecret, u64)>, record: &RunRecord, seq: u64) -> AuditRecord {
    let run = "00000000-0000-4000-8000-000000000001".parse().unwrap();
    let mut event = record.to_event(&run);
    if let Some((secret, number)) = secret {
        secret.seal(&mut event, number);
    }
    AuditRecord {
        timestamp: "2026-01-02T03:04:05Z".parse().unwrap(),
        task_id: None,
        executor: None,
        hash: None,
        status: event.status,
        seq,
        event: event.event.as_str().to_owned(),
        synced: 0,
        details: event.details,
        entry: None,
        prev: Checksum::ZERO,
        record: Checksum::ZERO,
    }
}

fn check(after: u64) -> SealCheck {
    let secret = secret(1);
    SealCheck::with(Some(RunSeals {
        secret,
        after,
        tally: 0,
    }))
}

/// CCOS-GOV-1: what others append to a run's records counts for nothing, and takes nothing away from the rest.
#[test]
fn a_record_without_a_right_seal_counts_for_nothing() {
    let own = secret(1);
    let sealed = |number: u64| kept(Some((&own, number)), &decided(number as u8), number + 1);
    let mut check = check(0);
    assert!(check.admits(&sealed(0)));
    let mut changed = sealed(1);
    changed
        .details
        .insert("decision".to_owned(), json!("approved"));
    let mut another_status = sealed(1);
    another_status.status = Some("answered".to_owned());
    let foreign = [
        kept(None, &decided(1), 7),
        kept(None, &decided(1), 0),
        kept(Some((&secret(2), 1)), &decided(1), 8),
        sealed(0),
        changed,
        another_status,
    ];
    for record in &foreign {
        assert!(!check.admits(record), "{record:?}");
    }
    assert!(check.admits(&sealed(1)));
    let mut waited = sealed(2);
    waited
        .details
        .insert("buffered".to_owned(), json!("the id that it waited under"));
    assert!(check.admits(&waited));
    let foreign = check.foreign.as_ref().unwrap();
    assert_eq!((foreign.count, foreign.first), (6, 7));
    assert_eq!(foreign.status, "decided");
    assert_eq!(check.missing(), None);
}

/// CCOS-RTFS-2: where a record of ours is gone or was changed, what stood behind it is not taken for all there was:
/// else what it answered would be made again.
#[test]
fn a_record_that_is_gone_is_missed() {
    let own = secret(1);
    let sealed = |number: u64| kept(Some((&own, number)), &decided(number as u8), number + 1);
    let mut check = check(0);
    assert!(check.admits(&sealed(0)));
    for number in [2, 3] {
        assert!(!check.admits(&sealed(number)));
    }
    assert_eq!(check.missing(), Some(MissingRecords::Before { seq: 3 }));
}

/// CCOS-RTFS-2: nor where the last ones are gone.
#[test]
fn records_that_were_cut_off_are_missed() {
    let own = secret(1);
    let mut check = SealCheck::with(Some(RunSeals {
        secret: own.clone(),
        after: 0,
        tally: 2,
    }));
    let last = MissingRecords::Last {
        written: 2,
        found: 1,
    };
    for (number, missing) in [(0, Some(last)), (1, None), (2, None)] {
        let sealed = kept(Some((&own, number)), &decided(1), number + 1);
        assert!(check.admits(&sealed));
        assert_eq!(check.missing(), missing);
    }
}

/// A run that was begun by a version that sealed nothing goes on.
#[test]
fn records_from_before_there_were_seals_count_as_they_stand() {
    let mut check = check(4);
    for seq in [2, 4] {
        assert!(check.admits(&kept(None, &decided(1), seq)));
    }
    for seq in [5, 3] {
        assert!(!check.admits(&kept(None, &decided(1), seq)));
    }
    assert!(check.admits(&kept(Some((&secret(1), 0)), &decided(1), 6)));
}

#[test]
fn a_secret_is_stored_and_never_shown() {
    let own = secret(0xab);
    let stored = json!(own);
    assert_eq!(stored, json!("ab".repeat(32)));
    assert_eq!(serde_json::from_value::<RunSecret>(stored).unwrap(), own);
    assert!(!format!("{own:?}").contains("ab"));
}
