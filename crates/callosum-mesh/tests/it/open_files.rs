//! Bridge files that a program has open for writing.

use callosum_host::{DiskFile, OpenHow};
use callosum_mesh::bridge::StandbyFile;
use serde_json::{Value, json};

use crate::place::Place;

/// A place with an editor who has the bridge file open, and what they are about to write into it.
fn begun() -> (Place, DiskFile, Vec<u8>) {
    let place = Place::new();
    place.sync();
    let mut document = place.document();
    document["discoveries"] = json!([{"content": "slow", "source": "codex"}]);
    document["last_writer"] = "codex".into();
    let whole = serde_json::to_vec_pretty(&document).expect("it is JSON");
    let file = place.disk.open(&place.file(), OpenHow::READ_WRITE);
    (place, file.expect("a sync shows a file"), whole)
}

fn found(document: &Value) -> Vec<&str> {
    let items = document["discoveries"].as_array().expect("a list");
    let contents = items.iter().map(|item| item["content"].as_str());
    contents.map(|content| content.expect("a text")).collect()
}

/// CALC-L3-1: an author who holds the file open between two halves gets no conflict for the first.
#[test]
fn half_of_what_is_still_written_is_no_broken_file() {
    let (place, file, whole) = begun();
    let half = whole.len() / 2;
    file.set_len(0).unwrap();
    file.write_at(&whole[..half], 0).unwrap();
    let open = place.sync();
    if !matches!(place.disk.is_being_written(&place.file()), Ok(Some(true))) {
        return;
    }
    assert!(open.is_quiet() && !open.is_written, "{open:?}");
    file.write_at(&whole[half..], half as u64).unwrap();
    drop(file);
    assert_eq!(place.sync().edits, 1);
    assert_eq!(found(&place.document()), ["slow"]);
    // Who has closed it has done, and what is cut then stays so.
    place.write("{\"discoveries\": [");
    assert_eq!(place.sync().rejected.len(), 1);
}

/// CALC-L3-1: however many files are exchanged away, one that is still being written is read when
/// its author has finished.
#[test]
fn a_file_that_was_exchanged_away_stays_while_it_is_written() {
    let (place, file, whole) = begun();
    let half = whole.len() / 2;
    let shown = place.disk.read(&place.file()).unwrap();
    let mut spare = StandbyFile::of(&place.disk, place.folder());
    spare.lay(1, &shown).unwrap();
    assert!(spare.exchange().unwrap());
    file.set_len(0).unwrap();
    file.write_at(&whole[..half], 0).unwrap();
    if !matches!(file.is_being_written(), Ok(Some(_))) {
        return;
    }
    for nth in 0..70 {
        place.edit(|document| {
            let quick = json!({"content": format!("quick {nth}"), "source": "gemini-cli"});
            document["discoveries"].as_array_mut().unwrap().push(quick);
        });
        assert_eq!(place.sync().rejected, []);
    }
    file.write_at(&whole[half..], half as u64).unwrap();
    drop(file);
    assert_eq!(place.sync().edits, 1);
    assert!(place.text().contains("\"slow\""));
}

/// CALC-L3-1: two identical items in the file are one, and no conflict is reported.
#[test]
fn two_identical_items_are_no_conflict() {
    let place = Place::new();
    place.sync();
    let item = json!({"id": "d1", "content": "once", "source": "codex"});
    place.edit(|document| document["discoveries"] = json!([item, item]));
    let synced = place.sync();
    assert_eq!((synced.edits, synced.conflicts), (1, Vec::new()));
    place.edit(|document| {
        let items = document["discoveries"].as_array_mut().unwrap();
        items.push(item);
        items.push(json!({"id": "d1", "content": "other"}));
    });
    assert_eq!(place.sync().conflicts.len(), 1);
    assert_eq!(found(&place.document()), ["once"]);
}
