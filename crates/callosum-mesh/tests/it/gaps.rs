//! Notices for a reader of the log: missing and damaged events, and another log.

use callosum_host::Disk;
use callosum_mesh::{
    event::Draft,
    journal::{Cursor, Durability, Notice, Retention},
};

use crate::{
    journal::{all, append, journal, numbers, seqs},
    place::{Place, send, write_into},
};

/// CALC-FAIL-1: a torn or foreign line is reported, and costs no other event.
#[test]
fn a_torn_end_and_foreign_lines_cost_no_other_event() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let mut one = journal(&disk, folder.path());
    append(&mut one, 0..2, Durability::Logged);
    let path = one.events().join("00000000000000000001.jsonl");
    let mut bytes = disk.read(&path).unwrap();
    bytes.extend(b"not json\n{\"seq\":3,\"origin\":\"torn");
    disk.replace(&path, &bytes, 0o600).unwrap();
    let mut two = journal(&disk, folder.path());
    append(&mut two, 2..3, Durability::Logged);
    // The first still has its own end of the log in mind, and of another file.
    append(&mut one, 3..4, Durability::Logged);
    let (events, notices) = all(&one, &Cursor::START);
    assert_eq!(numbers(&events), [0, 1, 2, 3]);
    assert_eq!(seqs(&events), [1, 2, 3, 4]);
    assert_eq!(notices, [Notice::Damaged { count: 2, path }]);
}

#[test]
fn a_late_reader_gets_a_notice_of_dropped_events() {
    let folder = tempfile::tempdir().unwrap();
    let retention = Retention {
        file_bytes: 1000,
        total_bytes: 3000,
    };
    let mut one = journal(&Disk::real(), folder.path()).with_retention(retention);
    for number in 0..100 {
        append(&mut one, number..number + 1, Durability::Logged);
    }
    let (events, notices) = all(
        &one,
        &Cursor {
            origin: None,
            seq: 10,
        },
    );
    let first = events[0].seq;
    assert!(first > 11);
    assert_eq!(notices, [Notice::Dropped { count: first - 11 }]);
    assert_eq!(seqs(&events), (first..=100).collect::<Vec<_>>());
    assert!(one.size().unwrap().0 < 5000);
}

#[test]
fn a_cursor_of_another_log_is_reset() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = journal(&Disk::real(), folder.path());
    append(&mut one, 0..3, Durability::Logged);
    let origin = one.origin().to_owned();
    let cursor = Cursor {
        origin: Some("another".to_owned()),
        seq: 2,
    };
    let (events, notices) = all(&one, &cursor);
    assert_eq!(seqs(&events), [1, 2, 3]);
    assert_eq!(notices, [Notice::Reset { origin }]);
}

/// CALC-FAIL-1: what is damaged or gone at the end of a file hides nothing of those after it.
#[test]
fn what_is_wrong_at_a_files_end_hides_no_file_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let retention = Retention {
        file_bytes: 700,
        total_bytes: 1 << 30,
    };
    let mut one = journal(&Disk::real(), folder.path()).with_retention(retention);
    for number in 0..20 {
        append(&mut one, number..number + 1, Durability::Logged);
    }
    let mut files = Disk::real().list_dir(&one.events()).unwrap();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let files: Vec<_> = files
        .iter()
        .map(|file| one.events().join(&file.name))
        .collect();
    assert!(files.len() > 4, "{files:?}");
    let first = |at: usize| -> u64 {
        let name = files[at].file_stem().unwrap();
        name.to_str().unwrap().parse().unwrap()
    };
    // The last line of the first file is no event any more, and the third file is gone.
    let mut text = Disk::real().read(&files[0]).unwrap();
    let end = text.len();
    text[end - 2] = b'x';
    write_into(&files[0], &text);
    let mut follower = one.read_after(&Cursor {
        origin: None,
        seq: first(1) - 2,
    });
    Disk::real().remove_file(&files[2]).unwrap();
    let (events, notices) = all(&one, &Cursor::START);
    let lost = first(1) - 1;
    let gone = first(2)..first(3);
    let kept: Vec<u64> = (1..=20)
        .filter(|seq| *seq != lost && !gone.contains(seq))
        .collect();
    assert_eq!(seqs(&events), kept);
    assert!(
        matches!(notices[0], Notice::Damaged { count: 1, .. }),
        "{notices:?}"
    );
    assert_eq!(
        notices[1..],
        [Notice::Dropped {
            count: first(3) - first(2)
        }]
    );
    let batch = follower.next_batch(1).unwrap();
    assert_eq!(seqs(&batch.events), [first(1)]);
}

/// CALC-L1-2: a log that was cut uses no number twice, and a reader that was past its end gets a
/// notice.
#[test]
fn a_log_that_was_cut_gives_no_number_twice_and_tells_who_was_past_its_end() {
    let place = Place::new();
    let publish = |count: usize| {
        let mut mesh = place.mesh();
        for _ in 0..count {
            let draft = Draft::new("a.b".parse().unwrap(), "x".parse().unwrap());
            mesh.publish(draft, Durability::Logged).unwrap();
        }
    };
    let read = |seq: u64| {
        let mesh = place.mesh();
        let origin = Some(mesh.journal().origin().to_owned());
        let mut reader = mesh.journal().read_after(&Cursor { origin, seq });
        let batch = reader.next_batch(100).unwrap();
        let seqs: Vec<u64> = batch.events.iter().map(|event| event.seq).collect();
        let is_reset = matches!(batch.notices[..], [Notice::Reset { .. }]);
        (is_reset, seqs)
    };
    publish(6);
    assert_eq!(read(6), (false, Vec::new()));
    let path = place.folder().join("events/00000000000000000001.jsonl");
    let text = String::from_utf8(place.disk.read(&path).unwrap()).unwrap();
    let third = text.match_indices('\n').nth(2).unwrap().0 + 1;
    let cut = &text.as_bytes()[..third];
    write_into(&path, cut);
    assert_eq!(read(3), (false, Vec::new()));
    assert_eq!(read(6), (true, vec![1, 2, 3]));
    assert_eq!(read(u64::MAX), (true, vec![1, 2, 3]));
    publish(1);
    assert_eq!(read(6), (false, vec![7]));
    assert_eq!(read(3), (false, vec![7]));
    // Lines that only begin like events do not say where the log goes on.
    for garbage in ["{\"seq\":99,x\n", "{\"seq\":18446744073709551615,\"x\n"] {
        let mut text = place.disk.read(&path).unwrap();
        text.extend(garbage.as_bytes());
        write_into(&path, &text);
    }
    publish(1);
    assert_eq!(read(7).1, [8]);
}

/// CALC-L1-2: events that were removed from a file are reported as missing, once, in addition to
/// lines that are not events.
#[test]
fn events_removed_from_a_file_are_reported() {
    let place = Place::new();
    let mut mesh = place.mesh();
    for number in 0..6 {
        send(&mut mesh, &format!("m{number}"));
    }
    let path = mesh.folder().join("events/00000000000000000001.jsonl");
    let text = Disk::real().read(&path).unwrap();
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    lines[1] = b"no event\n";
    lines.drain(3..5);
    write_into(&path, &lines.concat());
    let mut reader = mesh.journal().read_after(&Cursor::default());
    let batch = reader.next_batch(100).unwrap();
    let seqs: Vec<u64> = batch.events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, [1, 3, 6]);
    let missing = batch.notices.iter().filter_map(|notice| match notice {
        Notice::Dropped { count } => Some(*count),
        _ => None,
    });
    assert_eq!(missing.sum::<u64>(), 2);
}

/// CALC-L1-1: who follows a log hears what is appended after its file was cut, and of a line that is none once.
#[test]
fn who_follows_a_log_that_is_cut_goes_on_with_what_is_appended() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let mut one = journal(&disk, folder.path());
    append(&mut one, 0..6, Durability::Logged);
    let mut reader = one.read_after(&Cursor::START);
    assert_eq!(reader.next_batch(100).unwrap().events.len(), 6);
    let path = one.events().join("00000000000000000001.jsonl");
    let bytes = disk.read(&path).unwrap();
    write_into(&path, &bytes[..bytes.len() / 2 + 10]);
    assert!(reader.next_batch(100).unwrap().events.is_empty());
    append(&mut one, 6..7, Durability::Logged);
    let batch = reader.next_batch(100).unwrap();
    assert_eq!(seqs(&batch.events), [7]);
    append(&mut one, 7..9, Durability::Logged);
    assert_eq!(seqs(&reader.next_batch(100).unwrap().events), [8, 9]);
    let damaged = |seq: u64| {
        let mut reader = one.read_after(&Cursor { origin: None, seq });
        let notices = reader.next_batch(100).unwrap().notices;
        let is_damage = |notice: &&Notice| matches!(notice, Notice::Damaged { .. });
        notices.iter().filter(is_damage).count()
    };
    assert_eq!(damaged(1), 1);
    assert_eq!((damaged(7), damaged(8)), (0, 0));
}

/// CALC-L1-2: the highest number that was used is read from its older place next to the log as
/// well.
#[test]
fn what_was_handed_out_before_is_heeded_where_it_stood() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let mut one = journal(&disk, folder.path());
    append(&mut one, 0..2, Durability::Logged);
    let mark = format!("{} {:020}\n", one.origin(), 40);
    write_into(&folder.path().join("events.end"), mark.as_bytes());
    let mut two = journal(&disk, folder.path());
    append(&mut two, 2..3, Durability::Logged);
    let (events, _) = all(&two, &Cursor::START);
    assert_eq!(seqs(&events), [1, 2, 41]);
}

/// CALC-L3-1: who watches the bridge file is not woken by each append.
#[test]
#[cfg(target_os = "linux")]
fn an_append_changes_nothing_in_the_folder_of_the_bridge_file() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let mut publish = || {
        let draft = Draft::new("a.b".parse().unwrap(), "x".parse().unwrap());
        mesh.publish(draft, Durability::Logged).unwrap();
    };
    publish();
    let mut watch = callosum_host::watch::Watch::of(&[place.folder()]).unwrap();
    publish();
    assert_eq!(watch.wait(std::time::Duration::ZERO).unwrap(), []);
}
