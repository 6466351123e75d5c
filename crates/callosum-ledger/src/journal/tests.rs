//! The journal followed after crashes and after tampering.

use std::time::Duration;

use callosum_host::{Clock, Disk};
use proptest::prelude::*;

use super::{scan::is_at, *};
use crate::{
    AuditEvent, AuditPlace, AuditQuery, AuditReader, Event, LedgerPaths, open_files::OpenFiles,
    position::Position,
};
use callosum_json::Checksum;

struct Journal {
    _folder: tempfile::TempDir,
    disk: Disk,
    paths: LedgerPaths,
    clock: Clock,
    position: Position,
}

impl Journal {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path());
        disk.create_dir_all(&paths.audit).unwrap();
        Self {
            _folder: folder,
            disk,
            paths,
            clock: Clock::fixed(
                "2026-11-02T10:00:00Z".parse().unwrap(),
                Duration::from_secs(1),
            ),
            position: Position::start(),
        }
    }

    /// Writes a group of this many records.
    fn write(&mut self, records: usize, sync: bool) {
        let now = self.clock.now();
        let mut batch = Batch::begin(self.position.clone(), now);
        for number in 0..records {
            let event = AuditEvent::new(Event::State).with("number", number);
            batch.push(&event, now, None);
        }
        self.position = batch
            .write(&self.disk, &self.paths, &mut OpenFiles::default(), sync)
            .unwrap();
    }

    fn path(&self) -> std::path::PathBuf {
        path_of_day(&self.paths.audit, self.position.day.unwrap())
    }

    fn bytes(&self) -> Vec<u8> {
        self.disk.read(&self.path()).unwrap()
    }

    fn follow(&self) -> Result<Followed, JournalError> {
        follow(&self.disk, &self.paths, &Position::start())
    }

    fn query(&self, query: &AuditQuery) -> Vec<u64> {
        let mut seqs = Vec::new();
        AuditReader::new(self.disk.clone(), self.paths.clone())
            .query(query, |record| {
                seqs.push(record.seq);
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        seqs
    }
}

/// CAL-GOV-1: following leads to where writing ended.
#[test]
fn following_ends_where_writing_ended() {
    let mut journal = Journal::new();
    journal.write(2, true);
    journal.write(3, false);
    journal.write(1, true);
    let followed = journal.follow().unwrap();
    assert_eq!(followed.torn, None);
    assert_eq!(followed.position.seq, 6);
    assert_eq!(followed.position.head, journal.position.head);
    assert_eq!(followed.position.offset, journal.position.offset);
    // No record yet confirms the sync of the last group.
    assert_eq!(followed.position.synced, 2);
    assert!(
        is_at(
            &journal
                .disk
                .open(&journal.path(), callosum_host::OpenHow::READ)
                .unwrap(),
            &followed.position
        )
        .unwrap()
    );
}

/// CAL-GOV-1: records that were never synced may be torn in any way, also with later ones whole.
#[test]
fn an_unsynced_end_is_torn_also_where_later_records_are_whole() {
    let mut journal = Journal::new();
    journal.write(2, true);
    let synced = journal.position.offset;
    journal.write(4, false);
    let mut bytes = journal.bytes();
    bytes[synced as usize + 20] = 0;
    journal
        .disk
        .replace(&journal.path(), &bytes, 0o644)
        .unwrap();
    let followed = journal.follow().unwrap();
    assert_eq!(followed.position.seq, 2);
    assert_eq!(followed.torn.unwrap().offset, synced);
}

/// CAL-GOV-1: what a later record calls synced is damaged, not torn.
#[test]
fn a_synced_record_is_never_taken_for_torn() {
    let mut journal = Journal::new();
    journal.write(2, true);
    journal.write(1, false);
    let mut bytes = journal.bytes();
    bytes[20] = b'!';
    journal
        .disk
        .replace(&journal.path(), &bytes, 0o644)
        .unwrap();
    let error = journal.follow().err().unwrap();
    assert!(
        matches!(
            error,
            JournalError::Damaged {
                seq: 1,
                offset: 0,
                ..
            }
        ),
        "{error}"
    );
}

/// CAL-GOV-1: a clock that goes back does not lead back to an earlier file.
#[test]
fn a_clock_that_goes_back_stays_in_the_later_file() {
    let mut journal = Journal::new();
    journal.write(1, true);
    journal.clock = Clock::fixed("2026-11-03T00:00:00Z".parse().unwrap(), Duration::ZERO);
    journal.write(1, true);
    journal.clock = Clock::fixed("2026-11-02T23:59:59Z".parse().unwrap(), Duration::ZERO);
    journal.write(1, true);
    assert_eq!(
        day_files(&journal.disk, &journal.paths.audit)
            .unwrap()
            .len(),
        2
    );
    let followed = journal.follow().unwrap();
    assert_eq!((followed.position.seq, followed.torn), (4, None));
    let tuesday = AuditQuery {
        since: Some("2026-11-03T00:00:00Z".parse().unwrap()),
        ..AuditQuery::default()
    };
    // The end of Monday is written on Tuesday, into Monday's file.
    assert_eq!(journal.query(&tuesday), [3]);
    let tail = AuditReader::new(journal.disk.clone(), journal.paths.clone())
        .tail(3)
        .unwrap();
    let tail: Vec<_> = tail
        .iter()
        .map(|record| (record.seq, record.event.as_str()))
        .collect();
    assert_eq!(tail, [(2, "day_end"), (3, "state"), (4, "state")]);
    // However many bytes are looked at: whole records, the last ones, in order.
    let reader = AuditReader::new(journal.disk.clone(), journal.paths.clone());
    let seqs = |bytes| -> Vec<u64> {
        let recent = reader.recent(bytes).unwrap();
        recent.iter().map(|record| record.seq).collect()
    };
    let mut longest = 0;
    for bytes in 0..4_000 {
        let recent = seqs(bytes);
        assert!([1, 2, 3, 4].ends_with(&recent), "{bytes}: {recent:?}");
        assert!(recent.len() >= longest, "{bytes}: {recent:?}");
        longest = recent.len();
    }
    assert_eq!(longest, 4);
}

/// CAKE-MET-1: a reader that continues from its last position gets each record once, and learns if
/// the part already read is missing.
#[test]
fn who_goes_on_reading_is_handed_what_is_new() {
    let mut journal = Journal::new();
    let reader = AuditReader::new(journal.disk.clone(), journal.paths.clone());
    let mut place = AuditPlace::default();
    let mut go_on = || {
        let mut seqs = Vec::new();
        let is_kept = reader.go_on(&mut place, |record| seqs.push(record.seq));
        (is_kept.unwrap(), seqs)
    };
    assert_eq!(go_on(), (true, vec![]));
    journal.write(2, true);
    assert_eq!(go_on(), (true, vec![1, 2]));
    let (path, whole) = (journal.path(), journal.bytes());
    let torn = [whole.as_slice(), b"{\"seq\":"].concat();
    journal.disk.replace(&path, &torn, 0o600).unwrap();
    assert_eq!(go_on(), (true, vec![]));
    journal.disk.replace(&path, &whole, 0o600).unwrap();
    journal.clock = Clock::fixed("2026-11-03T00:00:00Z".parse().unwrap(), Duration::ZERO);
    journal.write(1, true);
    assert_eq!(go_on(), (true, vec![3, 4]));
    journal.disk.replace(&path, &whole, 0o600).unwrap();
    assert_eq!(go_on(), (false, vec![]));
    assert_eq!(go_on(), (true, vec![1, 2, 4]));
    journal.disk.remove_file(&path).unwrap();
    assert_eq!(go_on(), (false, vec![]));
    assert_eq!(go_on(), (true, vec![4]));
}

#[test]
fn only_days_in_the_one_spelling_are_day_files() {
    let folder = std::path::Path::new("cal_audit");
    let day = |name: &str| day_of_path(&folder.join(name));
    assert_eq!(
        day("2026-11-02.jsonl"),
        Some(jiff::civil::date(2026, 11, 2))
    );
    for name in [
        "2026-11-02.json",
        "20261102.jsonl",
        "2026-02-30.jsonl",
        ".jsonl",
        "x.jsonl",
    ] {
        assert_eq!(day(name), None, "{name}");
    }
}

/// CAL-GOV-1: records are found by task, executor, kind and time.
#[test]
fn records_are_found_by_every_filter() {
    let mut journal = Journal::new();
    let now = journal.clock.now();
    let mut batch = Batch::begin(journal.position.clone(), now);
    let mut event = AuditEvent::new(Event::Validated);
    event.task_id = Some("cal_2026_11_02_0001".parse().unwrap());
    event.executor = Some("scout".to_owned());
    event.hash = Some(Checksum::of(b""));
    batch.push(&event, now, None);
    batch.push(&AuditEvent::new(Event::Error), now, None);
    journal.position = batch
        .write(
            &journal.disk,
            &journal.paths,
            &mut OpenFiles::default(),
            true,
        )
        .unwrap();
    journal.write(1, true);
    let all = AuditQuery::default();
    assert_eq!(journal.query(&all), [1, 2, 3]);
    assert_eq!(
        journal.query(&AuditQuery {
            task_id: event.task_id,
            ..all.clone()
        }),
        [1]
    );
    assert_eq!(
        journal.query(&AuditQuery {
            executor: event.executor,
            ..all.clone()
        }),
        [1]
    );
    assert_eq!(
        journal.query(&AuditQuery {
            event: Some(Event::Error),
            ..all.clone()
        }),
        [2]
    );
    assert_eq!(
        journal.query(&AuditQuery {
            until: Some(now),
            ..all
        }),
        [1, 2]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// CAL-GOV-1: any beginning of the journal's bytes is a journal of its first records.
    #[test]
    fn any_prefix_of_the_bytes_gives_a_prefix_of_the_records(groups in prop::collection::vec((1_usize..4, any::<bool>()), 1..5), part in 0.0..1.0) {
        let mut journal = Journal::new();
        for (records, sync) in groups {
            journal.write(records, sync);
        }
        let bytes = journal.bytes();
        let cut = (bytes.len() as f64 * part) as usize;
        journal.disk.replace(&journal.path(), &bytes[..cut], 0o644).unwrap();
        let followed = journal.follow().unwrap();
        let whole = memchr::memchr_iter(b'\n', &bytes[..cut]).count();
        prop_assert_eq!(followed.position.seq, whole as u64);
        prop_assert_eq!(followed.torn.is_some(), cut > 0 && bytes[cut - 1] != b'\n');
    }
}

/// CAL-GOV-1: a detail that looks like an entry is not taken for one.
#[test]
fn a_detail_that_looks_like_an_entry_is_a_detail() {
    let mut journal = Journal::new();
    let now = journal.clock.now();
    let mut batch = Batch::begin(journal.position.clone(), now);
    let looks_like = serde_json::json!({"checksum": Checksum::of(b""), "task_id": "x"});
    let event = AuditEvent::new(Event::Rejected)
        .with("a", 1)
        .with("entry", looks_like);
    batch.push(&event, now, None);
    journal.position = batch
        .write(
            &journal.disk,
            &journal.paths,
            &mut OpenFiles::default(),
            true,
        )
        .unwrap();
    let bytes = journal.bytes();
    let record = Record::read(bytes.strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!(record.entry, None);
    assert!(record.head.details.unwrap().get().contains("checksum"));
}

/// CAL-GOV-1: one bad line hides no other, and is named.
#[test]
fn a_line_that_is_not_a_record_is_skipped_and_reported() {
    let mut journal = Journal::new();
    journal.write(5, true);
    let mut bytes = journal.disk.read(&journal.path()).unwrap();
    let third = memchr::memchr_iter(b'\n', &bytes).nth(1).unwrap() + 1;
    bytes[third] = b'!';
    let replaced = journal.disk.replace(&journal.path(), &bytes, 0o644);
    replaced.unwrap();
    let reader = AuditReader::new(journal.disk.clone(), journal.paths.clone());
    let seqs: Vec<_> = reader.tail(4).unwrap().iter().map(|r| r.seq).collect();
    assert_eq!(seqs, [1, 2, 4, 5]);
    let mut asked = Vec::new();
    let query = AuditQuery::default();
    let read = reader.query(&query, |record| {
        asked.push(record.seq);
        std::ops::ControlFlow::Continue(())
    });
    read.unwrap();
    assert_eq!(asked, [1, 2, 4, 5]);
    let unreadable: Vec<_> = reader.unreadable().iter().map(|line| line.line).collect();
    assert_eq!(unreadable, [3]);
}
