//! The log: gap-free for every reader, and complete for every acknowledgement, no matter what else
//! happens to it.

use std::{path::Path, time::Duration};

use callosum_host::{Clock, Disk, Ids};
use callosum_mesh::{
    event::{Draft, Event},
    journal::{Cursor, Durability, Journal, Notice, Once, Retention},
};
use callosum_testkit::disk::{Crashes, Fault, FaultyDisk, Image, MemoryDisk};
use proptest::prelude::*;
use serde_json::json;

pub(crate) const FOLDER: &str = "/state/mesh";

pub(crate) fn clock() -> Clock {
    let start = "2026-03-09T10:00:00Z".parse().expect("a time");
    Clock::fixed(start, Duration::from_millis(1))
}

pub(crate) fn journal(disk: &Disk, folder: &Path) -> Journal {
    Journal::open(disk, &clock(), &Ids::sequence(), folder, "mac1").expect("the log opens")
}

pub(crate) fn draft(number: usize) -> Draft {
    let draft = Draft::new(
        "agent.step".parse().expect("a topic"),
        "codex".parse().expect("a name"),
    );
    let serde_json::Value::Object(payload) = json!({ "number": number }) else {
        unreachable!("it is an object")
    };
    draft.with_payload(payload)
}

pub(crate) fn append(
    journal: &mut Journal,
    numbers: std::ops::Range<usize>,
    durability: Durability,
) {
    let mut turn = journal.turn().expect("no one else appends for long");
    turn.append(numbers.map(draft).collect())
        .expect("the disk has room");
    turn.end(durability).expect("the disk works");
}

pub(crate) fn all(journal: &Journal, cursor: &Cursor) -> (Vec<Event>, Vec<Notice>) {
    let mut reader = journal.read_after(cursor);
    let mut events = Vec::new();
    let mut notices = Vec::new();
    loop {
        let batch = reader.next_batch(7).expect("the log is readable");
        notices.extend(batch.notices);
        if batch.events.is_empty() {
            return (events, notices);
        }
        events.extend(batch.events);
    }
}

pub(crate) fn numbers(events: &[Event]) -> Vec<u64> {
    let numbers = events.iter().map(|event| &event.payload["number"]);
    numbers
        .map(|number| number.as_u64().expect("a number"))
        .collect()
}

pub(crate) fn seqs(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

/// CALC-L1-1: durable, append-only, with a `seq` that has no gaps, over any number of files.
#[test]
fn what_was_appended_comes_back_in_order_from_every_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let retention = Retention {
        file_bytes: 700,
        total_bytes: 1 << 30,
    };
    let mut one = journal(&Disk::real(), folder.path()).with_retention(retention);
    for start in (0..60).step_by(3) {
        append(&mut one, start..start + 3, Durability::Logged);
    }
    assert!(one.size().unwrap().1 > 5, "there are several files");
    for seq in 0..=60 {
        let cursor = Cursor { origin: None, seq };
        let (events, notices) = all(&one, &cursor);
        assert_eq!(seqs(&events), (seq + 1..=60).collect::<Vec<_>>());
        assert_eq!(notices, []);
    }
}

/// CALC-L1-1: who reads says how much of the log is held at once, and hears all of it.
#[test]
fn a_log_is_read_in_pieces_of_so_many_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = journal(&Disk::real(), folder.path());
    append(&mut one, 0..500, Durability::Logged);
    let mut reader = one.read_after(&Cursor::START);
    let (mut read, mut pieces) = (Vec::new(), 0);
    loop {
        let batch = reader.next_batch_within(1000, 2000).unwrap();
        let bytes = batch
            .events
            .iter()
            .map(|event| serde_json::to_vec(event).unwrap().len());
        assert!(bytes.sum::<usize>() < 3000);
        read.extend(batch.events);
        pieces += 1;
        if batch.is_end {
            break;
        }
    }
    assert_eq!(numbers(&read), (0..500).collect::<Vec<_>>());
    assert!(pieces > 20, "{pieces}");
}

/// CALC-L1-1: from every cursor of a log of short and of long events the next one is found.
#[test]
fn the_next_event_is_found_among_short_and_long_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = journal(&Disk::real(), folder.path());
    let sizes = [10, 60_000, 300, 3000, 9000, 10, 10, 30_000];
    for (number, size) in (0..120_u64).zip(sizes.into_iter().cycle()) {
        let mut payload = serde_json::Map::new();
        payload.insert("number".to_owned(), number.into());
        payload.insert("text".to_owned(), "x".repeat(size).into());
        let draft = Draft::new("a.b".parse().unwrap(), "codex".parse().unwrap());
        let mut turn = one.turn().unwrap();
        turn.append(vec![draft.with_payload(payload)]).unwrap();
        turn.end(Durability::Logged).unwrap();
    }
    for seq in 0..120 {
        let mut reader = one.read_after(&Cursor { origin: None, seq });
        let batch = reader.next_batch(1).unwrap();
        assert_eq!(seqs(&batch.events), [seq + 1]);
    }
}

/// CALC-L1-2: an early acknowledgement means that the event is in the log. No one else appends
/// until the turn has ended, and then the highest number is written down.
#[test]
fn a_turn_ends_after_its_events_were_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let (mut one, mut two) = (journal(&disk, folder.path()), journal(&disk, folder.path()));
    append(&mut two, 0..2, Durability::Logged);
    let draft = || Draft::new("a.b".parse().unwrap(), "codex".parse().unwrap());
    let mut turn = one.turn().unwrap();
    turn.append(vec![draft()]).unwrap();
    let rest = turn.answered();
    assert!(rest.unsynced().is_some());
    assert_eq!(seqs(&all(&two, &Cursor::START).0), [1, 2, 3]);
    assert!(two.try_turn().unwrap().is_none());
    let mark = || {
        let mark = disk.read(&folder.path().join("marks/events.end")).unwrap();
        String::from_utf8(mark).unwrap()
    };
    assert!(mark().ends_with("02\n"), "{}", mark());
    rest.end().unwrap();
    assert!(mark().ends_with("03\n"), "{}", mark());
    append(&mut two, 3..4, Durability::Logged);
    append(&mut one, 4..5, Durability::Logged);
    assert_eq!(seqs(&all(&two, &Cursor::START).0), [1, 2, 3, 4, 5]);
}

/// CALC-L1-1: every process appends and reads, with or without a daemon.
#[test]
fn two_who_append_in_turns_leave_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let retention = Retention {
        file_bytes: 500,
        total_bytes: 1 << 30,
    };
    let mut one = journal(&Disk::real(), folder.path()).with_retention(retention);
    let mut two = journal(&Disk::real(), folder.path()).with_retention(retention);
    let mut reader = one.read_after(&Cursor::START);
    let mut read = Vec::new();
    for number in 0..40 {
        let journal = if number % 3 == 0 { &mut one } else { &mut two };
        append(journal, number..number + 1, Durability::Logged);
        read.extend(reader.next_batch(1).unwrap().events);
    }
    assert_eq!(numbers(&read), (0..40).collect::<Vec<_>>());
    assert_eq!(seqs(&read), (1..=40).collect::<Vec<_>>());
}

#[test]
fn threads_with_a_journal_of_their_own_leave_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let path = folder.path();
            scope.spawn(move || {
                let mut journal = journal(&Disk::real(), path);
                for at in 0..50 {
                    let number = number * 50 + at;
                    append(&mut journal, number..number + 1, Durability::Logged);
                }
            });
        }
    });
    let (events, notices) = all(&journal(&Disk::real(), folder.path()), &Cursor::START);
    assert_eq!(seqs(&events), (1..=200).collect::<Vec<_>>());
    let mut numbers = numbers(&events);
    numbers.sort_unstable();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
    assert_eq!(notices, []);
}

/// CALC-FAIL-1: a disk that is full takes no part of an event, and what was there stays.
#[test]
fn a_full_disk_takes_all_or_nothing() {
    for calls in 0..6 {
        let memory = MemoryDisk::with(&Image::with_folder("/state"));
        append(
            &mut journal(&memory.disk(), Path::new(FOLDER)),
            0..2,
            Durability::Synced,
        );
        let faulty = FaultyDisk::new(memory.clone(), Fault::Full, calls);
        let full = faulty.disk();
        let mut acknowledged = 2;
        if let Ok(mut one) =
            Journal::open(&full, &clock(), &Ids::sequence(), Path::new(FOLDER), "m")
        {
            for number in 2..6 {
                let Ok(mut turn) = one.turn() else { continue };
                if turn.append(vec![draft(number), draft(number)]).is_ok() {
                    acknowledged += 2;
                }
            }
        }
        let after = journal(&memory.disk(), Path::new(FOLDER));
        let (events, _) = all(&after, &Cursor::START);
        assert_eq!(events.len(), acknowledged, "after {calls} calls");
    }
}

/// CALC-L1-1: what was acknowledged as synced is there after any loss of power.
#[test]
fn no_loss_of_power_takes_what_was_synced() {
    let memory = MemoryDisk::with(&Image::with_folder("/state"));
    let retention = Retention {
        file_bytes: 900,
        total_bytes: 1 << 30,
    };
    let mut one = journal(&memory.disk(), Path::new(FOLDER)).with_retention(retention);
    let mut acknowledged = vec![0];
    for number in 0..8 {
        let durability = if number % 3 == 2 {
            Durability::Synced
        } else {
            Durability::Logged
        };
        append(&mut one, number..number + 1, durability);
        if durability == Durability::Synced {
            assert_eq!(memory.tell(), acknowledged.len() - 1);
            acknowledged.push(number + 1);
        }
    }
    for crash in Crashes::of(&memory.trace(), 7).generate() {
        let disk = MemoryDisk::with(&crash.image).disk();
        let folder = Path::new(FOLDER);
        if crash.told == 0 && !disk.exists(&folder.join("origin")).unwrap() {
            continue;
        }
        let mut after = journal(&disk, folder);
        let (events, _) = all(&after, &Cursor::START);
        assert!(
            events.len() >= acknowledged[crash.told],
            "{} of {} after step {}:\n{}",
            events.len(),
            acknowledged[crash.told],
            crash.steps,
            crash.image.listing()
        );
        append(&mut after, 90..91, Durability::Synced);
        let (again, _) = all(&after, &Cursor::START);
        assert_eq!(
            numbers(&again).last(),
            Some(&90),
            "it goes on after a crash"
        );
        let seqs = seqs(&again);
        assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

/// CALC-SEC-1: no secret reaches the log.
#[test]
fn secrets_do_not_reach_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = journal(&Disk::real(), folder.path());
    let event = json!({
        "type": "agent.note", "source": "codex",
        "cwd": "/work?token=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB",
        "payload": {"text": "AKIAIOSFODNN7EXAMPLE", "password": "hunter2hunter2"},
    });
    let mut turn = one.turn().unwrap();
    turn.append(vec![Draft::read(&event).unwrap()]).unwrap();
    turn.end(Durability::Synced).unwrap();
    let path = one.events().join("00000000000000000001.jsonl");
    let text = String::from_utf8(Disk::real().read(&path).unwrap()).unwrap();
    for secret in ["AKIAIOSFODNN7EXAMPLE", "hunter2", "ghp_0123"] {
        assert!(!text.contains(secret), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For all sizes of events, files and batches, a reader gets what was appended.
    #[test]
    fn reading_in_any_batches_gives_all_of_it(
        file_bytes in 1_u64..3000,
        sizes in prop::collection::vec(0_usize..800, 1..40),
        most in 1_usize..9,
        seq in 0_u64..45,
    ) {
        let memory = MemoryDisk::with(&Image::with_folder("/state"));
        let retention = Retention { file_bytes, total_bytes: 1 << 30 };
        let mut one = journal(&memory.disk(), Path::new(FOLDER)).with_retention(retention);
        for size in &sizes {
            let mut draft = draft(0);
            draft.payload.insert("text".to_owned(), "x".repeat(*size).into());
            let mut turn = one.turn().unwrap();
            turn.append(vec![draft]).unwrap();
            turn.end(Durability::Logged).unwrap();
        }
        let cursor = Cursor { origin: None, seq };
        let mut reader = one.read_after(&cursor);
        let mut read = Vec::new();
        loop {
            let batch = reader.next_batch(most).unwrap();
            if batch.events.is_empty() {
                break;
            }
            prop_assert!(batch.events.len() <= most);
            read.extend(batch.events.iter().map(|event| event.seq));
        }
        let end = sizes.len() as u64;
        let first = if seq > end { 1 } else { seq + 1 };
        prop_assert_eq!(read, (first..=end).collect::<Vec<_>>());
    }
}

/// CALC-L1-2: an event that is submitted twice under an id of its author's is one event, even if a
/// process ended between writing down its place and appending it.
#[test]
fn an_id_of_its_author_makes_two_of_an_event_one() {
    let disk = MemoryDisk::with(&Image::with_folder("/state")).disk();
    let folder = Path::new(FOLDER);
    let mut one = journal(&disk, folder);
    let named = |number: usize, id: &str| Draft {
        id: Some(id.to_owned()),
        ..draft(number)
    };
    let once = |journal: &mut Journal, draft: Draft| {
        let mut turn = journal.turn().unwrap();
        let mut lists = turn.append_lists(vec![vec![draft]]).unwrap();
        turn.end(Durability::Logged).unwrap();
        let once = lists.remove(0).unwrap().remove(0);
        (once.event.seq, once.is_new)
    };
    assert_eq!(once(&mut one, named(1, "a")), (1, true));
    assert_eq!(once(&mut one, draft(2)), (2, true));
    let mut two = journal(&disk, folder);
    assert_eq!(once(&mut two, named(1, "a")), (1, false));
    assert_eq!(once(&mut two, named(3, "b")), (3, true));
    assert_eq!(once(&mut one, named(3, "b")), (3, false));
    let other = Draft {
        source: "gemini".parse().unwrap(),
        ..named(3, "b")
    };
    assert_eq!(one.handed_in(&named(3, "b")).unwrap().unwrap().seq, 3);
    assert_eq!(one.handed_in(&other).unwrap(), None);
    // The place of `c` was written down, and another event came to stand there.
    let keys = folder.join("keys");
    let before: Vec<_> = disk.list_dir(&keys).unwrap();
    assert_eq!(once(&mut one, named(4, "c")), (4, true));
    let key = disk.list_dir(&keys).unwrap().into_iter();
    let key = key
        .map(|entry| entry.name)
        .find(|name| before.iter().all(|known| known.name != *name));
    disk.replace_unsynced(&keys.join(key.unwrap()), b"2", 0o600)
        .unwrap();
    assert_eq!(once(&mut one, named(4, "c")), (5, true));
    assert_eq!(all(&one, &Cursor::START).0.len(), 5);
}

/// CALC-L1-1: an id belongs to its first contents. Each list is appended whole or not at all, and
/// costs no other.
#[test]
fn another_event_under_an_id_refuses_its_list_alone() {
    let disk = MemoryDisk::with(&Image::with_folder("/state")).disk();
    let mut one = journal(&disk, Path::new(FOLDER));
    let named = |number: usize, id: &str| Draft {
        id: Some(id.to_owned()),
        ..draft(number)
    };
    let mut turn = one.turn().unwrap();
    let lists = vec![
        vec![named(1, "a")],
        vec![draft(7), named(2, "a"), named(3, "b")],
        vec![named(1, "a"), named(4, "b")],
    ];
    let lists = turn.append_lists(lists).unwrap();
    turn.end(Durability::Logged).unwrap();
    let outcome = |list: &[Once]| -> Vec<(u64, bool)> {
        let list = list.iter();
        list.map(|once| (once.event.seq, once.is_new)).collect()
    };
    assert_eq!(outcome(lists[0].as_ref().unwrap()), [(1, true)]);
    let refused = lists[1].as_ref().unwrap_err().to_string();
    assert!(
        refused.contains("`a` is already the id of another event of codex"),
        "{refused}"
    );
    assert_eq!(outcome(lists[2].as_ref().unwrap()), [(1, false), (2, true)]);
    assert_eq!(numbers(&all(&one, &Cursor::START).0), [1, 4]);
    // The order of keys, the time and the session say nothing else; a secret is not compared.
    let with = |payload: serde_json::Value| {
        let event = json!({"type": "a.b", "source": "codex", "id": "p", "payload": payload});
        Draft::read(&event).unwrap()
    };
    let first = with(json!({"x": 1, "y": {"a": [1, 2], "b": "AKIAIOSFODNN7EXAMPLE"}}));
    let mut turn = one.turn().unwrap();
    turn.append_lists(vec![vec![first]]).unwrap();
    turn.end(Durability::Logged).unwrap();
    let again = Draft {
        session_id: Some("s2".to_owned()),
        timestamp: Some("2027-01-01T00:00:00Z".parse().unwrap()),
        ..with(json!({"y": {"b": "AKIAIOSFODNN7EXAMPLE", "a": [1, 2]}, "x": 1}))
    };
    assert_eq!(one.handed_in(&again).unwrap().unwrap().seq, 3);
    let other = with(json!({"x": 1, "y": {"a": [2, 1], "b": "AKIAIOSFODNN7EXAMPLE"}}));
    assert!(one.handed_in(&other).is_err());
    for entry in disk.list_dir(&Path::new(FOLDER).join("keys")).unwrap() {
        let key = disk
            .read(&Path::new(FOLDER).join("keys").join(&entry.name))
            .unwrap();
        assert!(!String::from_utf8(key).unwrap().contains("AKIA"));
    }
}
