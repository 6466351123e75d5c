//! The memory disk behaves as a disk, and what a crash may leave of it is neither less nor more.

use std::{collections::BTreeSet, path::Path};

use callosum_host::{Disk, OpenHow};

use super::*;

fn mount() -> (MemoryDisk, Disk) {
    let memory = MemoryDisk::with(&Image::with_folder("/d"));
    let disk = memory.disk();
    (memory, disk)
}

/// Returns the possible states of `/d/file` after a crash, and the steps after which each can
/// occur.
fn left(memory: &MemoryDisk) -> BTreeSet<Option<Vec<u8>>> {
    let trace = memory.trace();
    let crashes = Crashes::of(&trace, 1).generate();
    let file = |crash: &Crash| crash.image.file(Path::new("/d/file")).map(<[u8]>::to_vec);
    crashes.iter().map(file).collect()
}

/// A disk with a synced file.
fn with_file(bytes: &[u8]) -> (MemoryDisk, callosum_host::DiskFile) {
    let mut image = Image::with_folder("/d");
    image.put_file("/d/file", bytes);
    let memory = MemoryDisk::with(&image);
    let file = memory
        .disk()
        .open(Path::new("/d/file"), OpenHow::READ_WRITE);
    (memory, file.unwrap())
}

#[test]
fn a_write_that_was_not_synced_is_there_or_torn_at_sectors_or_not_there() {
    let (memory, file) = with_file(b"old");
    file.write_at(&[b'n'; 1024], 0).unwrap();
    let with_zeros = |at: std::ops::Range<usize>, rest: u8| {
        let mut bytes = vec![rest; 1024];
        bytes[at].fill(0);
        bytes
    };
    let mut old_then_new = with_zeros(0..512, b'n');
    old_then_new[..3].copy_from_slice(b"old");
    let mut size_only = vec![0; 1024];
    size_only[..3].copy_from_slice(b"old");
    let expected = [
        b"old".to_vec(),
        b"nnn".to_vec(),
        size_only,
        with_zeros(512..1024, b'n'),
        old_then_new,
        vec![b'n'; 1024],
    ];
    assert_eq!(left(&memory), expected.into_iter().map(Some).collect());
}

#[test]
fn what_was_synced_is_there_and_what_came_after_may_be() {
    let (memory, file) = with_file(b"old");
    file.write_at(b"new", 0).unwrap();
    file.sync_data().unwrap();
    memory.tell();
    file.set_len(1).unwrap();
    let trace = memory.trace();
    let after: BTreeSet<_> = Crashes::of(&trace, 1)
        .generate()
        .into_iter()
        .map(|crash| {
            (
                crash.told,
                crash.image.file(Path::new("/d/file")).unwrap().to_vec(),
            )
        })
        .collect();
    let expected = [(0, "old"), (1, "new"), (1, "n"), (1, "n\0\0")];
    let expected = expected.map(|(reports, bytes)| (reports, bytes.as_bytes().to_vec()));
    assert_eq!(after, expected.into_iter().collect());
}

#[test]
fn a_name_may_come_before_its_content_and_be_lost_after_it() {
    let (memory, disk) = mount();
    let file = disk
        .open(Path::new("/d/file"), OpenHow::CREATE_NEW)
        .unwrap();
    file.write_at(b"new", 0).unwrap();
    let expected = [
        None,
        Some(b"".to_vec()),
        Some(b"\0\0\0".to_vec()),
        Some(b"new".to_vec()),
    ];
    assert_eq!(left(&memory), expected.clone().into_iter().collect());
    file.sync_data().unwrap();
    // The states before the sync came about before it.
    assert_eq!(left(&memory), expected.into_iter().collect());
    disk.sync_dir(Path::new("/d")).unwrap();
    let now = Crashes::of(&memory.trace(), 1).generate();
    let last = now.iter().filter(|crash| crash.steps == 4);
    let last: Vec<_> = last
        .map(|crash| crash.image.file(Path::new("/d/file")))
        .collect();
    assert_eq!(last, [Some(&b"new"[..])]);
}

/// REQ-LED-001: guarantees on which Callosum relies for files that are replaced whole.
#[test]
fn a_replaced_file_has_its_old_bytes_or_its_new_ones() {
    let (memory, _) = with_file(b"old");
    memory
        .disk()
        .replace(Path::new("/d/file"), &[b'n'; 2000], 0o644)
        .unwrap();
    let expected = [Some(b"old".to_vec()), Some(vec![b'n'; 2000])];
    assert_eq!(left(&memory), expected.into_iter().collect());
}

/// The check that a check finds something: a file replaced without a sync of its content.
#[test]
fn a_rename_without_a_sync_may_leave_an_empty_file() {
    let (memory, _) = with_file(b"old");
    let disk = memory.disk();
    let temporary = Path::new("/d/temporary");
    let file = disk.open(temporary, OpenHow::CREATE_NEW).unwrap();
    file.write_at(b"new", 0).unwrap();
    disk.rename(temporary, Path::new("/d/file")).unwrap();
    let left = left(&memory);
    assert!(left.contains(&Some(b"".to_vec())), "{left:?}");
    assert!(left.contains(&Some(b"\0\0\0".to_vec())), "{left:?}");
}

#[test]
fn what_a_failed_sync_was_for_is_lost_until_it_is_written_again() {
    let (memory, file) = with_file(&[b'o'; 1024]);
    memory.fail_sync_after(1);
    file.write_at(b"one", 0).unwrap();
    file.sync_data().unwrap();
    file.write_at(b"two", 512).unwrap();
    assert!(file.sync_data().is_err());
    assert_eq!(file.read_range(512, 3).unwrap(), b"two");
    file.sync_data().unwrap();
    let at_the_end = |memory: &MemoryDisk| {
        let crashes = Crashes::of(&memory.trace(), 1).at_the_end();
        assert_eq!(crashes.len(), 1);
        let file = crashes[0].image.file(Path::new("/d/file")).unwrap();
        [&file[..3], &file[512..515]].concat()
    };
    assert_eq!(at_the_end(&memory), b"oneooo");
    file.write_at(b"x", 1000).unwrap();
    file.sync_data().unwrap();
    assert_eq!(at_the_end(&memory), b"onetwo");
}

#[test]
fn each_image_is_generated_once_and_the_same_ones_each_time() {
    let run = || {
        let (memory, file) = with_file(&[b'o'; 3000]);
        for round in 0..12_u8 {
            let at = u64::from(round) * 300;
            file.write_at(&[b'a' + round; 700], at).unwrap();
        }
        let crashes = Crashes::of(&memory.trace(), 7).generate();
        let images: Vec<_> = crashes
            .iter()
            .map(|crash| crash.image.fingerprint())
            .collect();
        images
    };
    let images = run();
    assert_eq!(images.iter().collect::<BTreeSet<_>>().len(), images.len());
    assert!(images.len() > 100, "{}", images.len());
    assert_eq!(images, run());
}

#[test]
fn locks_are_between_open_files_and_end_with_them() {
    let (_memory, disk) = mount();
    let path = Path::new("/d/lock");
    let one = disk.open(path, OpenHow::READ_WRITE_CREATE).unwrap();
    let other = disk.open(path, OpenHow::READ_WRITE_CREATE).unwrap();
    assert!(one.try_lock().unwrap());
    assert!(!other.try_lock().unwrap());
    drop(one);
    assert!(other.try_lock().unwrap());
}

#[test]
fn a_disk_in_memory_says_no_as_a_real_one_does() {
    let (_memory, disk) = mount();
    let at = Path::new("/d/file");
    assert!(disk.read(at).unwrap_err().is_absent());
    assert!(disk.create(at, b"one", 0o600).unwrap());
    assert!(!disk.create(at, b"two", 0o600).unwrap());
    assert!(disk.open(at, OpenHow::CREATE_NEW).unwrap_err().is_taken());
    assert!(disk.remove_dir(Path::new("/d")).is_err());
    assert!(disk.open(Path::new("/d"), OpenHow::READ).is_err());
    let missing = disk.replace(Path::new("/e/file"), b"", 0o600);
    assert!(missing.unwrap_err().is_absent());
    assert!(disk.create_dir_all(Path::new("/e/f")).unwrap());
    assert!(!disk.create_dir_all(Path::new("/e/f")).unwrap());
    assert_eq!(disk.list_dir(Path::new("/d")).unwrap().len(), 1);
}

#[test]
fn a_fault_is_met_by_the_call_that_it_was_ordered_for() {
    let check = |fault, calls, expected: &[bool]| {
        let (memory, _) = with_file(b"");
        let faulty = FaultyDisk::new(memory, fault, calls);
        let file = faulty
            .disk()
            .open(Path::new("/d/file"), OpenHow::READ_WRITE);
        let went: Vec<_> = match file {
            Ok(file) => (0..4)
                .map(|at| file.write_at(b"xy", at * 2).is_ok() && file.sync_data().is_ok())
                .collect(),
            Err(_) => Vec::new(),
        };
        assert_eq!(went, expected, "{fault:?}");
    };
    check(Fault::Once, 0, &[]);
    check(Fault::Once, 1, &[false, true, true, true]);
    check(Fault::ForGood, 3, &[true, false, false, false]);
    check(Fault::Full, 2, &[true, true, false, false]);
    check(Fault::Interrupted, 3, &[true; 4]);
    check(Fault::Short, 1, &[true; 4]);
    check(Fault::Sync, 2, &[true, true, false, true]);
    check(Fault::SyncForGood, 2, &[true, true, false, false]);
}
