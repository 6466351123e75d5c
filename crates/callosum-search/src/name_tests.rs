//! Queries that are one name: what comes first, what scores, and what matches nothing. Also a cancelled update.

use callosum_host::process::Cancel;

use super::{
    tests::{DISK, Home, NOTES, search},
    *,
};
use callosum_source::walk::{Scope, SourceTree};

fn scores(home: &Home, index: &Index, typed: &str) -> Vec<f64> {
    let found = home.find(index, &search(typed));
    found.into_iter().map(|found| found.score).collect()
}

/// The shape of tokio 1.54: the public function has long documentation, so other declarations of its name rank above it
/// by their words.
#[test]
fn the_public_declaration_of_a_name_comes_first() {
    let about = "    /// Runs the closure on a thread where waiting is acceptable, and describes it at length.\n";
    let public = format!(
        "cfg_rt! {{\n{}    pub fn spawn_blocking(f: F) -> JoinHandle {{\n        run(f)\n    }}\n}}\n",
        about.repeat(80)
    );
    let members = "pub struct Builder;\n\nimpl Builder {\n    pub fn spawn_blocking(&self) {}\n}\n";
    let home = Home::new(&[
        ("src/task/blocking.rs", &public),
        ("src/task/builder.rs", members),
        ("src/task/mod.rs", "pub use blocking::spawn_blocking;\n"),
        ("src/blocking.rs", "pub(crate) fn spawn_blocking() {}\n"),
        ("src/pool.rs", "fn spawn_blocking() {}\n"),
        ("src/user.rs", "fn user() {\n    spawn_blocking();\n}\n"),
        ("tests/spawn.rs", "pub fn spawn_blocking() {}\n"),
    ]);
    let index = home.index();
    let places = home.places(&index, "spawn_blocking");
    assert_eq!(places[0], "src/task/blocking.rs:2", "{places:?}");
    assert_eq!(places[1], "src/task/builder.rs:4", "{places:?}");
    let of = |part: &str| places.iter().position(|place| place.starts_with(part));
    assert!(of("src/pool.rs") < of("tests/spawn.rs"), "{places:?}");
    assert!(of("tests/spawn.rs") < of("src/user.rs"), "{places:?}");
    assert_eq!(
        home.places(&index, "Builder::spawn_blocking")[0],
        "src/task/builder.rs:4"
    );
}

#[test]
fn an_exported_declaration_comes_before_a_private_one() {
    let home = Home::new(&[
        ("a.ts", "function parse(): void {}\n"),
        (
            "z.ts",
            "/** Reads a document, in all of its parts and with many words. */\nexport function parse(text: string): void {\n  \
             const one = text;\n  const two = one;\n}\n",
        ),
        (
            "b.go",
            "package b\n\nfunc Render() {}\n\nfunc render() {}\n",
        ),
    ]);
    let index = home.index();
    assert_eq!(home.places(&index, "parse")[0], "z.ts:1");
    assert_eq!(home.places(&index, "Render")[0], "b.go:3");
}

#[test]
fn scores_tell_passages_with_the_same_words_apart() {
    let mut files = vec![(
        "src/retry.rs".to_owned(),
        "pub fn backoff() {}\n".to_owned(),
    )];
    for number in 0..12 {
        let calls = "    backoff();\n".repeat(number + 1);
        files.push((
            format!("src/user{number}.rs"),
            format!("fn user{number}() {{\n{calls}}}\n"),
        ));
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (&path[..], &text[..]))
        .collect();
    let home = Home::new(&files);
    let index = home.index();
    for typed in ["backoff", "Backoff"] {
        let scores = scores(&home, &index, typed);
        assert_eq!(scores.len(), 10, "{typed}");
        assert!(
            scores.iter().all(|score| (0.0..=1.0).contains(score)),
            "{typed}: {scores:?}"
        );
        assert!(scores.is_sorted_by(|a, b| a >= b), "{typed}: {scores:?}");
        let mut shown: Vec<String> = scores.iter().map(|score| format!("{score:.2}")).collect();
        shown.dedup();
        assert!(shown.len() >= 3, "{typed}: {scores:?}");
    }
    assert!((scores(&home, &index, "backoff")[0] - 1.0).abs() < 1e-9);
    // Ten declarations of one name, too.
    for number in 0..12 {
        home.write(&format!("src/new{number}.rs"), "pub fn renew() {}\n");
    }
    let mut index = index;
    home.update(&mut index);
    let scores = scores(&home, &index, "renew");
    assert!(scores.is_sorted_by(|a, b| a > b), "{scores:?}");
}

#[test]
fn a_name_that_no_passage_has_matches_nothing() {
    let home = Home::new(&[("src/disk.rs", DISK), ("notes.md", NOTES)]);
    let index = home.index();
    for typed in [
        "nosuch_file",
        "openSocketFile",
        "disk::nosuch_file",
        "disk.nosuch",
    ] {
        assert_eq!(home.places(&index, typed), [""; 0], "{typed}");
    }
    for typed in ["openFile", "open_file", "disk::open_file", "OPEN_FILES"] {
        assert_eq!(home.places(&index, typed)[0], "src/disk.rs:3", "{typed}");
    }
    // Words of a sentence may be missing.
    assert!(
        !home
            .places(&index, "which nosuch_file is opened")
            .is_empty()
    );
}

#[test]
fn a_cancelled_update_writes_nothing_and_the_next_one_reads_the_rest() {
    let home = Home::new(&[("src/disk.rs", DISK)]);
    let mut index = home.index();
    home.write("notes.md", NOTES);
    let cancel = Cancel::new().unwrap();
    cancel.cancel();
    let mut ended = Index::open(&home.disk, &home.index_file()).unwrap();
    ended = ended.with_cancel(cancel.clone());
    let updated = ended.update_tree(&home.disk, &home.tree(), |_, _| {});
    assert!(matches!(updated, Err(IndexError::Cancelled)), "{updated:?}");
    let searched = ended.search(&home.disk, &home.tree(), &search("retry"));
    assert!(
        matches!(searched, Err(IndexError::Cancelled)),
        "{searched:?}"
    );
    let root = home.folder.path().join("tree");
    let listed = SourceTree::read_for_search(&home.disk, &root, &Scope::WHOLE, &cancel);
    assert!(listed.is_err());
    assert_eq!(home.update(&mut index).read, 1);
    assert_eq!(home.places(&index, "retry policies")[0], "notes.md:3");
}

#[test]
fn a_batch_is_not_written_if_the_cancel_comes_while_it_is_read() {
    let files: Vec<(String, String)> = (0..900)
        .map(|number| {
            (
                format!("src/f{number}.rs"),
                format!("pub fn f{number}() {{}}\n"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (&path[..], &text[..]))
        .collect();
    let home = Home::new(&files);
    let cancel = Cancel::new().unwrap();
    let mut index = Index::open(&home.disk, &home.index_file())
        .unwrap()
        .with_cancel(cancel.clone());
    // The first batch is written; the rest is not.
    let updated = index.update_tree(&home.disk, &home.tree(), |_, _| cancel.cancel());
    assert!(matches!(updated, Err(IndexError::Cancelled)), "{updated:?}");
    let mut index = Index::open(&home.disk, &home.index_file()).unwrap();
    assert_eq!(home.update(&mut index).read, 500);
    assert_eq!(home.places(&index, "f899")[0], "src/f899.rs:1");
}
