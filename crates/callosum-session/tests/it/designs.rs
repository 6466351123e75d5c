//! Design documents next to the notes: their differences from the code and the beads.

use callosum_session::{divergence::Source, evidence::Tree};

use crate::place::Place;

/// LOA-TRUTH-1: a document that cites what is not there any more is not believed; one whose places
/// hold, and the notes themselves, are not named.
#[test]
fn design_documents_that_the_code_has_left_behind_are_named() {
    let place = Place::new();
    place.with_current_bead(&[]);
    let put = |name: &str, text: &str| {
        let path = place.zones.root.join("loa-grimoire").join(name);
        place.disk.create_dir_all(path.parent().unwrap()).unwrap();
        place.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    };
    put(
        "sdd.md",
        "# Design\r\nOne: `fn one() {}` [${PROJECT_ROOT}/a.rs:1], of bd-1.\n\nThree: `fn three() {}` [a.rs:2]\n\
         See [a.rs:2], [a.rs:9] and [gone/b.rs:1].\n",
    );
    put(
        "legacy/old.md",
        "done in bd-77: `fn two() {}` [../a.rs:2]\n",
    );
    put("legacy/data.json", "`fn four() {}` [a.rs:2]");
    let session = place.session();
    let designs = session.designs().unwrap();
    let names: Vec<_> = designs.read.iter().map(|design| &design.name).collect();
    assert_eq!(names, ["loa-grimoire/sdd.md", "loa-grimoire/legacy/old.md"]);
    assert_eq!(designs.left, [""; 0]);
    let tree = Tree::new(&place.disk, &place.zones.tree);
    let forks = session.design_forks(&designs, &tree).unwrap();
    let differences: Vec<String> = forks
        .iter()
        .map(|fork| format!("{} {} {}", fork.wins, fork.loses, fork.what))
        .collect();
    let cites = "${PROJECT_ROOT}/";
    assert_eq!(
        differences,
        [
            format!(
                "code design loa-grimoire/sdd.md:4 cites {cites}a.rs:2: CHANGED: line 2 is now `fn two() {{}}`"
            ),
            format!(
                "code design loa-grimoire/sdd.md:5 cites {cites}a.rs:9: CHANGED: the file contains nothing similar"
            ),
            format!("code design loa-grimoire/sdd.md:5 cites {cites}gone/b.rs:1: MISSING_FILE"),
            format!(
                "code legacy document loa-grimoire/legacy/old.md:1 cites {cites}../a.rs:2: OUTSIDE_ROOT"
            ),
            "bead legacy document loa-grimoire/legacy/old.md:1 names bd-77, but there is no such bead"
                .to_owned(),
        ]
    );
    assert!(Source::Trajectory < Source::Design && Source::Design < Source::Legacy);
}

/// LOA-TRUTH-1: a document of any size or kind does not prevent reports about the rest.
#[test]
fn documents_that_are_not_compared_are_named() {
    let place = Place::new();
    let folder = place.zones.root.join("loa-grimoire");
    place
        .disk
        .create_dir_all(&folder.join("folder.md"))
        .unwrap();
    let large = vec![b'x'; 2 * 1024 * 1024 + 1];
    place
        .disk
        .replace(&folder.join("prd.md"), &large, 0o644)
        .unwrap();
    let odd = b"\xff\xfe [a.rs:1] \0";
    place
        .disk
        .replace(&folder.join("odd.md"), odd, 0o644)
        .unwrap();
    let designs = place.session().designs().unwrap();
    assert_eq!(designs.read.len(), 1);
    assert_eq!(
        designs.left,
        ["loa-grimoire/prd.md: it is larger than 2097152 bytes"]
    );
}
