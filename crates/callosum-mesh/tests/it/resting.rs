//! Text in the file that stays in place for a moment.

use std::{
    thread,
    time::{Duration, Instant},
};

use callosum_mesh::bridge::{Bridge, Synced, WriteDelay};
use serde_json::{Value, json};

use crate::place::Place;

/// A place and how a daemon brings its bridge in line.
struct Watched {
    place: Place,
    resting: WriteDelay,
}

impl Watched {
    fn new() -> Self {
        let place = Place::new();
        place.sync();
        let resting = WriteDelay::default();
        Self { place, resting }
    }

    fn sync(&mut self) -> Synced {
        let mut mesh = self.place.mesh();
        let bridge = Bridge::of(&self.place.disk, &mesh);
        let synced = bridge.sync_with(&mut mesh, &[], 0, &mut self.resting);
        synced.expect("the disk works")
    }

    /// Writes a document with this many of something, and has it taken over.
    fn counts(&mut self, document: &Value, count: u64) -> Synced {
        let mut document = document.clone();
        document["account_state"] = json!({"count": count});
        document["last_writer"] = "codex".into();
        self.place.write(&document.to_string());
        self.sync()
    }

    fn count(&self) -> Value {
        let mut mesh = self.place.mesh();
        let fields = &mesh.board().expect("a board").fields;
        fields["account_state"]["count"].clone()
    }
}

/// CALC-L3-1: an editor that looks at what it has just written finds it; then it is shown what became of it.
#[test]
fn new_text_stays_in_place_for_a_moment() {
    let mut watched = Watched::new();
    watched
        .place
        .edit(|document| document["discoveries"] = json!([{"content": "a"}]));
    let written = watched.place.text();
    let synced = watched.sync();
    assert_eq!((synced.edits, synced.is_written), (1, false));
    assert_eq!(watched.place.text(), written);
    let begun = Instant::now();
    while watched.place.text() == written {
        assert!(begun.elapsed() < Duration::from_mins(1));
        thread::sleep(Duration::from_millis(20));
        assert!(watched.sync().is_quiet());
    }
    assert_eq!(watched.place.document()["last_writer"], "callosum");
    assert!(!watched.resting.is_over());
    // A verb shows at once how things stand.
    let mut watched = Watched::new();
    watched
        .place
        .edit(|document| document["discoveries"] = json!([{"content": "b"}]));
    watched.sync();
    assert!(watched.place.sync().is_written);
    assert_eq!(watched.place.document()["last_writer"], "callosum");
}

/// CALC-L3-1: of several who write one after the other each has a file of its own at once.
#[test]
fn what_follows_another_writing_at_once_is_shown_at_once() {
    let mut watched = Watched::new();
    for content in ["a", "b"] {
        watched.place.edit(|document| {
            let found = json!({"content": content});
            document["discoveries"].as_array_mut().unwrap().push(found);
        });
        watched.sync();
    }
    let document = watched.place.document();
    assert_eq!(document["last_writer"], "callosum");
    assert_eq!(document["discoveries"].as_array().unwrap().len(), 2);
}

/// CALC-L3-1: an author who continues with their own text has no conflict.
#[test]
fn who_counts_on_in_what_they_wrote_loses_nothing() {
    let mut watched = Watched::new();
    for count in 1..=5 {
        let document = watched.place.document();
        let synced = watched.counts(&document, count);
        assert_eq!(synced.conflicts, [], "{count}");
        assert_eq!(watched.count(), count);
    }
}

/// CALC-L3-1: an author who has not seen what another wrote since does not change it.
#[test]
fn an_author_who_began_before_another_wrote_gets_a_conflict() {
    let mut watched = Watched::new();
    let document = watched.place.document();
    assert_eq!(watched.counts(&document, 1).conflicts, []);
    let mut other = document;
    other["discoveries"] = json!([{"content": "found"}]);
    other["last_writer"] = "qwen".into();
    other["account_state"] = json!({"count": 7});
    watched.place.write(&other.to_string());
    let synced = watched.sync();
    assert_eq!(synced.conflicts.len(), 1, "{:#?}", synced.conflicts);
    assert_eq!(watched.count(), 1);
}
