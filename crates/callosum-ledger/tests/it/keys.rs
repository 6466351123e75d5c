//! Changing the key that signs, with every call of it failing once.

use callosum_ledger::checkpoint::{Begin, SignedBy, TrustStore};
use callosum_testkit::disk::{Fault, FaultyDisk, Image, MemoryDisk};

use crate::project::{Project, ROOT};

/// CAL-GOV-4: wherever changing the key is broken off, all that was signed stays signed by a known
/// key, and the next checkpoint goes on.
#[test]
fn a_key_change_that_is_broken_off_loses_no_signature() {
    let witness = TrustStore::in_home("/machine".as_ref(), ROOT.as_ref());
    let (mut broken_off, mut signed_twice) = (0, 0);
    for calls in 0.. {
        let memory = MemoryDisk::with(&Image::with_folder(ROOT));
        let disk = memory.disk();
        let project = Project::in_memory(disk.clone());
        let make = |disk: &callosum_host::Disk, begin, seed: u8| {
            witness.make(disk, &project.paths, begin, &[seed; 32])
        };
        disk.create_dir_all("/machine".as_ref()).unwrap();
        project.create();
        project.store(&project.open(), "before");
        make(&disk, Begin::GoOn, 1).unwrap().unwrap();

        let faulty = FaultyDisk::new(memory.clone(), Fault::ForGood, calls);
        let made = make(&faulty.disk(), Begin::NewKey, 2);
        let kept = witness.read(&disk).unwrap().kept;
        let is_ours =
            |kept: &callosum_ledger::checkpoint::StoredCheckpoint| kept.signed == SignedBy::Us;
        assert!(kept.iter().all(is_ours), "after {calls} calls: {kept:?}");
        project.store(&project.open(), "after");
        make(&disk, Begin::GoOn, 3).unwrap().unwrap();
        make(&disk, Begin::NewKey, 4).unwrap().unwrap();
        let keys = disk.list_dir("/machine/keys".as_ref()).unwrap();
        let names: Vec<_> = keys
            .iter()
            .map(|entry| entry.name.to_string_lossy())
            .collect();
        assert!(
            !names.iter().any(|name| name.ends_with(".tmp")),
            "{names:?}"
        );
        let kept = witness.read(&disk).unwrap().kept;
        assert!(kept.iter().all(is_ours), "after {calls} calls: {kept:?}");
        if !faulty.has_failed() {
            assert!(made.is_ok());
            break;
        }
        broken_off += u64::from(made.is_err());
        signed_twice += u64::from(made.is_err() && kept.len() == 4);
    }
    assert!(broken_off > 10, "{broken_off}");
    assert!(
        signed_twice > 0,
        "none was broken off after the note was kept"
    );
}
