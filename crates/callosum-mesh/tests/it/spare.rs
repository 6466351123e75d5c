//! A copy of the bridge file that is put in its place, for the next one who writes.

use std::path::PathBuf;

use callosum_host::OpenHow;
use callosum_mesh::bridge::{FILE, StandbyFile};
use serde_json::{Value, json};

use crate::place::Place;

/// A bridge file that shows what there is.
struct Shown {
    place: Place,
    path: PathBuf,
    bytes: Vec<u8>,
    spare: StandbyFile,
    revision: u64,
}

impl Shown {
    fn new() -> Self {
        let place = Place::new();
        place.sync();
        let path = place.folder().join(FILE);
        let bytes = place.disk.read(&path).expect("a sync shows a file");
        let spare = StandbyFile::of(&place.disk, place.folder());
        let revision = spare
            .revision_of(&bytes)
            .ok()
            .flatten()
            .expect("what is shown has a revision");
        Self {
            place,
            path,
            bytes,
            spare,
            revision,
        }
    }
}

/// CALC-L3-1: who writes the same file after one another has it was put away overwrites nothing.
#[test]
fn each_who_writes_has_a_file_and_all_are_taken_over() {
    let Shown {
        place,
        path,
        bytes: shown,
        mut spare,
        revision,
    } = Shown::new();
    let mut files = Vec::new();
    for _ in 0..3 {
        assert!(spare.lay(revision, &shown).unwrap().is_some());
        assert_eq!(spare.lay(revision, &shown).unwrap(), None);
        let file = place.disk.open(&path, OpenHow::READ_WRITE_CREATE);
        files.push(file.unwrap());
        assert!(spare.exchange().unwrap());
        assert!(!spare.is_ready());
        assert_eq!(place.disk.read(&path).unwrap(), shown);
    }
    for (nth, file) in files.iter().enumerate() {
        let mut document: Value = serde_json::from_slice(&shown).unwrap();
        let found = document["discoveries"].as_array_mut().unwrap();
        found.push(json!({"content": format!("of {nth}"), "source": "codex"}));
        let whole = serde_json::to_vec_pretty(&document).unwrap();
        file.set_len(0).unwrap();
        file.write_at(&whole, 0).unwrap();
    }
    let synced = place.sync();
    assert_eq!((synced.edits, synced.conflicts.len()), (3, 0));
    assert_eq!(synced.rejected, []);
    assert!(place.sync().is_quiet());
    let listed = place.document()["discoveries"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 3, "{listed}");
}

/// CALC-L3-1: only a projection of ours is put in the place of a file, and nothing in that of what is none.
#[test]
fn what_is_no_file_is_left_alone_and_what_is_not_ours_is_no_copy() {
    let Shown {
        place,
        path,
        bytes: shown,
        mut spare,
        revision,
    } = Shown::new();
    let edited = String::from_utf8(shown.clone()).unwrap() + "\n";
    assert_eq!(spare.revision_of(edited.as_bytes()).unwrap(), None);
    assert_eq!(spare.revision_of(b"{}").unwrap(), None);
    let copy = spare.lay(revision, &shown).unwrap().unwrap();
    place.disk.remove_file(&path).unwrap();
    assert!(!spare.exchange().unwrap());
    place.disk.create_private_dir(&path).unwrap();
    assert!(!spare.exchange().unwrap());
    assert!(place.disk.exists(&copy).unwrap());
    spare.lift().unwrap();
    assert!(!place.disk.exists(&copy).unwrap());
}

/// CALC-L3-1: an author who has finished reads their text where they wrote it, unless another file
/// is there since.
#[test]
fn what_was_written_goes_back_to_where_it_was_written() {
    let Shown {
        place,
        path,
        bytes: shown,
        mut spare,
        revision,
    } = Shown::new();
    assert!(!spare.give_back().unwrap());
    let exchanged = |spare: &mut StandbyFile| {
        spare.lay(revision, &shown).unwrap();
        let file = place.disk.open(&path, OpenHow::READ_WRITE_CREATE).unwrap();
        assert!(spare.exchange().unwrap());
        file.write_at(b" ", shown.len() as u64).unwrap();
        assert!(spare.away().is_some());
    };
    let written = [&shown[..], b" "].concat();
    exchanged(&mut spare);
    assert!(spare.give_back().unwrap());
    assert_eq!(place.disk.read(&path).unwrap(), written);
    assert!(!spare.give_back().unwrap());
    place.disk.replace_unsynced(&path, &shown, 0o600).unwrap();
    exchanged(&mut spare);
    place.disk.replace_unsynced(&path, b"{}", 0o600).unwrap();
    assert!(!spare.give_back().unwrap());
    assert_eq!(place.disk.read(&path).unwrap(), b"{}");
}
