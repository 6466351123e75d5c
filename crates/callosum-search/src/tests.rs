//! An index over real files, through its public face.

use callosum_host::Disk;
use tempfile::TempDir;

use super::*;
use callosum_source::walk::{RelativePath, Scope, SourceTree};

pub(super) struct Home {
    pub(super) folder: TempDir,
    pub(super) disk: Disk,
}

impl Home {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
            disk: Disk::real(),
        };
        for (path, text) in files {
            home.write(path, text);
        }
        home
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join("tree").join(path);
        self.disk.create_dir_all(path.parent().unwrap()).unwrap();
        self.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    }

    pub(super) fn tree(&self) -> SourceTree {
        SourceTree::read(&self.disk, &self.folder.path().join("tree"), &Scope::WHOLE).unwrap()
    }

    pub(super) fn index_file(&self) -> std::path::PathBuf {
        self.folder.path().join("index/find.db")
    }

    pub(super) fn index(&self) -> Index {
        let mut index = Index::open(&self.disk, &self.index_file()).unwrap();
        self.update(&mut index);
        index
    }

    pub(super) fn update(&self, index: &mut Index) -> Updated {
        let tree = self.tree();
        index.update_tree(&self.disk, &tree, |_, _| {}).unwrap()
    }

    pub(super) fn find(&self, index: &Index, search: &Search) -> Vec<SearchHit> {
        index.search(&self.disk, &self.tree(), search).unwrap()
    }

    pub(super) fn places(&self, index: &Index, typed: &str) -> Vec<String> {
        let found = self.find(index, &search(typed));
        found
            .into_iter()
            .map(|found| format!("{}:{}", found.place, found.first))
            .collect()
    }
}

pub(super) fn search(typed: &str) -> Search {
    Search {
        ask: Query::read(typed),
        by: By::All,
        section: None,
        scope: Scope::WHOLE,
        limit: 10,
        together: None,
        threshold: 0.0,
        proposals: Vec::new(),
    }
}

pub(super) const DISK: &str = "//! Files.\n\n/// Opens the file for reading.\npub fn open_file() {\n    let a = 1;\n}\n\n/// Closes it.\npub fn close_file() {}\n";
pub(super) const NOTES: &str =
    "# Notes\n\n## Retry policy\nWe wait twice.\n\n## Disk\nfiles are opened late\n";

/// LOA-JIT-2: identifiers are found by what they are made of, sections by their heading, and both
/// come back whole.
#[test]
fn passages_come_back_whole() {
    let home = Home::new(&[("src/disk.rs", DISK), ("notes.md", NOTES)]);
    let index = home.index();
    let found = home.find(&index, &search("open file"));
    assert_eq!(
        (found[0].name.as_str(), found[0].kind.as_str()),
        ("open_file", "function")
    );
    assert!(found[0].text.starts_with("/// Opens"), "{found:?}");
    assert!(found[0].text.ends_with("}\n"), "{found:?}");
    assert_eq!(home.places(&index, "retry policies")[0], "notes.md:3");
    assert_eq!(home.places(&index, "openFile")[0], "src/disk.rs:3");
}

const WALK: &str = "/// Walks a tree of folders, as it is progress.\npub struct WalkBuilder {\n    depth: usize,\n    links: bool,\n}\n\nimpl WalkBuilder {\n    \
    /// Whether links are followed.\n    pub fn links(&mut self, links: bool) -> &mut WalkBuilder {\n        self.links = links;\n        self\n    }\n}\n\n\
    #[cfg(test)]\nmod tests {\n    fn builder() -> WalkBuilder {\n        WalkBuilder::new()\n    }\n\n    fn follow_links() {\n        \
    builder().links(true);\n    }\n}\n";

/// LOA-JIT-2: a declared name finds its declaration first, and tests next to the code come after
/// it.
#[test]
fn what_is_declared_comes_before_what_uses_it() {
    let uses = "fn walk(builder: WalkBuilder) {\n    WalkBuilder::links(builder);\n}\n";
    let grove = "/// All that stands below one folder, in the order of the names, as it was when it was read.\npub struct Tree {\n    names: Vec<String>,\n}\n\n\
         pub fn tree() -> Tree {}\n";
    let home = Home::new(&[
        ("src/walk.rs", WALK),
        ("benches/walk.rs", uses),
        ("src/grove.rs", grove),
    ]);
    let index = home.index();
    let first = |typed: &str| home.places(&index, typed)[0].clone();
    assert_eq!(first("Tree"), "src/grove.rs:1");
    assert_eq!(first("tree"), "src/grove.rs:6");
    assert_eq!(first("WalkBuilder"), "src/walk.rs:1");
    assert_eq!(first("walk::WalkBuilder"), "src/walk.rs:1");
    assert_eq!(first("WalkBuilder::links"), "src/walk.rs:8");
    assert_eq!(first("follow links"), "src/walk.rs:8");
    assert_eq!(first("test follow links"), "src/walk.rs:21");
}

/// LOA-JIT-2: a section is asked for by its name.
#[test]
fn a_section_is_had_by_its_name() {
    let home = Home::new(&[("src/disk.rs", DISK), ("notes.md", NOTES)]);
    let index = home.index();
    let named = |name: &str, typed: &str| {
        let found = home.find(
            &index,
            &Search {
                section: Some(name.to_owned()),
                ..search(typed)
            },
        );
        found
            .into_iter()
            .map(|found| found.first)
            .collect::<Vec<_>>()
    };
    assert_eq!(named("close_file", ""), [8]);
    assert_eq!(named("RETRY POLICY", "wait"), [3]);
    assert_eq!(named("Retry", ""), [0_u32; 0]);
}

/// LOA-GRD-3: what nothing speaks of has a low score, what is there a high one.
#[test]
fn a_score_says_whether_it_is_there_at_all() {
    let home = Home::new(&[("src/disk.rs", DISK), ("notes.md", NOTES)]);
    let index = home.index();
    let best = |typed: &str| {
        let found = home.find(&index, &search(typed));
        found.first().map_or(0.0, |found| found.score)
    };
    assert!(best("open file for reading") > 0.9);
    assert!(best("quantum teleporter of files") < 0.4);
    assert!(best("?!") < f64::EPSILON);
    let strict = Search {
        threshold: 0.4,
        ..search("quantum teleporter of files")
    };
    assert_eq!(home.find(&index, &strict), []);
}

/// LOA-JIT-2: what has all of the words comes before what has some of them by its name.
#[test]
fn what_has_all_of_the_words_comes_first() {
    let mut files: Vec<(String, String)> = (0..7)
        .map(|at| {
            (
                format!("src/a{at}.rs"),
                "pub type Visitor = u8;\n".to_owned(),
            )
        })
        .collect();
    let whole = "fn read() {\n    struct SignedDurationVisitor;\n}\n";
    files.push(("src/z.rs".to_owned(), whole.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(at, text)| (&**at, &**text)).collect();
    let home = Home::new(&files);
    let found = home.find(&home.index(), &search("signed duration visitor"));
    assert_eq!(
        (&*found[0].place, &*found[0].name),
        ("src/z.rs", "SignedDurationVisitor")
    );
    assert!(found[0].score > 0.99 && found[1].score < 0.99, "{found:?}");
}

/// LOA-JIT-2: a text of another encoding is found, and shown as what it says.
#[test]
fn texts_of_other_encodings_are_found() {
    let home = Home::new(&[("a.md", "quokka\n")]);
    let mut latin = b"caf\xe9 wombat\n".to_vec();
    latin.extend([b'x'; 9000]);
    let wide = |bytes: fn(u16) -> [u8; 2], mark: [u8; 2]| -> Vec<u8> {
        let text = "caf\u{e9} numbat\n".encode_utf16();
        mark.into_iter().chain(text.flat_map(bytes)).collect()
    };
    for (name, bytes) in [
        ("latin.txt", latin),
        ("little.txt", wide(u16::to_le_bytes, [0xff, 0xfe])),
        ("big.txt", wide(u16::to_be_bytes, [0xfe, 0xff])),
        ("odd.bin", b"\xff\xfe\x00\xd8wombat".to_vec()),
        ("zero.bin", b"\xe9\0wombat".to_vec()),
    ] {
        let path = home.folder.path().join("tree").join(name);
        home.disk.replace(&path, &bytes, 0o644).unwrap();
    }
    let index = home.index();
    assert_eq!(home.places(&index, "wombat"), ["latin.txt:1"]);
    assert_eq!(home.places(&index, "numbat"), ["big.txt:1", "little.txt:1"]);
    let found = home.find(&index, &search("caf\u{e9} numbat"));
    assert!(found[0].text.starts_with("caf\u{e9} numbat"), "{found:?}");
}

/// LOA-JIT-2: an index that cannot be written is searched as a copy, which follows the tree;
/// without one, all is read.
#[test]
fn a_copy_in_memory_follows_the_tree_and_writes_nothing() {
    let home = Home::new(&[("a.md", "# One\napple\n"), ("b.md", "# Two\npear\n")]);
    drop(home.index());
    let bytes = || home.disk.read(&home.index_file()).unwrap();
    let before = bytes();
    home.write("b.md", "# Two\nplum\n");
    let mut copy = Index::in_memory(&home.index_file()).unwrap();
    assert_eq!(home.update(&mut copy), Updated { read: 1, gone: 0 });
    assert_eq!(home.places(&copy, "apple"), ["a.md:1"]);
    assert_eq!(home.places(&copy, "plum"), ["b.md:1"]);
    assert_eq!(bytes(), before);
    let nowhere = home.folder.path().join("50%#?/find.db");
    let mut empty = Index::in_memory(&nowhere).unwrap();
    assert_eq!(home.update(&mut empty), Updated { read: 2, gone: 0 });
    assert_eq!(home.places(&empty, "plum"), ["b.md:1"]);
    assert!(!home.disk.exists(&nowhere).unwrap());
}

#[test]
fn only_what_changed_is_read_again() {
    let home = Home::new(&[("a.md", "# One\napple\n"), ("b.md", "# Two\npear\n")]);
    let mut index = home.index();
    assert_eq!(home.update(&mut index), Updated { read: 0, gone: 0 });
    home.write("a.md", "# One\nplum\n");
    home.disk
        .remove_file(&home.folder.path().join("tree/b.md"))
        .unwrap();
    assert_eq!(home.update(&mut index), Updated { read: 1, gone: 1 });
    assert_eq!(home.places(&index, "plum"), ["a.md:1"]);
    assert_eq!(home.places(&index, "apple"), [""; 0]);
    assert_eq!(home.places(&index, "pear"), [""; 0]);
}

#[test]
fn a_part_of_the_tree_is_searched_by_itself() {
    let home = Home::new(&[("a/x.md", "plum\n"), ("b/x.md", "plum\n")]);
    let index = home.index();
    let scope = Scope::of(&[RelativePath::parse("b").unwrap()]);
    let found = home.find(
        &index,
        &Search {
            scope,
            ..search("plum")
        },
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].place, "b/x.md");
}

/// A thing comes before its tests, unless these are asked for.
#[test]
fn tests_come_behind_what_they_test() {
    let text = "def round_trip():\n    pass\n";
    let home = Home::new(&[("a/tests/round.py", text), ("b/round.py", text)]);
    let index = home.index();
    assert_eq!(home.places(&index, "round trip")[0], "b/round.py:1");
    assert_eq!(
        home.places(&index, "tests of round trip")[0],
        "a/tests/round.py:1"
    );
}

#[test]
fn documents_are_found_beside_the_tree() {
    let home = Home::new(&[("a.md", "plum\n")]);
    let mut index = home.index();
    let document = |place: &str, text: &str| Document {
        place: place.to_owned(),
        stamp: text.len().to_string(),
        title: "Map the cache".to_owned(),
        text: text.to_owned(),
    };
    let all = [
        document("one", "It holds plums."),
        document("two", "# Part\nPears.\n"),
    ];
    let put = |index: &mut Index, all: &[Document], keeps: &dyn Fn(&str) -> bool| {
        index
            .update_documents("ledger", all.to_vec(), keeps)
            .unwrap()
    };
    assert_eq!(put(&mut index, &all, &|_| false), 2);
    assert_eq!(put(&mut index, &all, &|_| false), 0);
    assert_eq!(home.places(&index, "cache"), ["one:1", "two:1"]);
    let found = home.find(&index, &search("pears"));
    assert_eq!(
        (found[0].collection.as_str(), found[0].text.as_str()),
        ("ledger", "# Part\nPears.\n")
    );
    assert_eq!(put(&mut index, &all[..1], &|place| place == "two"), 0);
    assert_eq!(home.places(&index, "pears").len(), 1);
    assert_eq!(put(&mut index, &all[..1], &|_| false), 0);
    assert_eq!(home.places(&index, "pears").len(), 0);
    assert_eq!(home.places(&index, "plum").len(), 2);
}

/// A stream that fails, or is cancelled, leaves the collection as it was: a later search reads all of it again.
#[test]
fn a_stream_of_documents_is_written_in_one_step() {
    let home = Home::new(&[("a.md", "apple\n")]);
    let mut index = home.index();
    let document = |number: usize| Document {
        place: format!("{number}"),
        stamp: "1".to_owned(),
        title: String::new(),
        text: format!("plum {number}\n"),
    };
    let stream = |index: &mut Index, end: Result<(), &'static str>| {
        let each = |add: &mut dyn FnMut(Document) -> IndexProgress| {
            for number in 0..50 {
                assert_eq!(add(document(number)), IndexProgress::More);
            }
            end
        };
        index.stream_documents("ledger", each, |_| true).unwrap()
    };
    assert_eq!(stream(&mut index, Err("broken")), Err("broken"));
    assert_eq!(index.known("ledger").unwrap().len(), 0);
    assert_eq!(stream(&mut index, Ok(())), Ok(50));
    assert_eq!(stream(&mut index, Ok(())), Ok(0));
    let sizes = index.sizes("ledger").unwrap();
    assert_eq!(sizes.len(), 50);
    assert!(sizes.contains(&("7".to_owned(), "1".to_owned(), 7)));

    let stop = callosum_host::process::Cancel::new().unwrap();
    let mut index = index.with_cancel(stop.clone());
    let each = |add: &mut dyn FnMut(Document) -> IndexProgress| {
        assert_eq!(add(document(60)), IndexProgress::More);
        stop.cancel();
        assert_eq!(add(document(61)), IndexProgress::Ended);
        Ok::<(), std::convert::Infallible>(())
    };
    let cancelled = index.stream_documents("ledger", each, |_| true);
    assert!(matches!(cancelled, Err(IndexError::Cancelled)));
    assert_eq!(home.index().known("ledger").unwrap().len(), 50);
}

/// An index that is damaged, or of another version, is rebuilt; nothing is lost by that.
#[test]
fn a_damaged_index_is_rebuilt() {
    let home = Home::new(&[("a.md", "plum\n")]);
    drop(home.index());
    home.disk
        .replace(
            &home.index_file(),
            b"this is no database, whatever its name says",
            0o600,
        )
        .unwrap();
    assert_eq!(home.places(&home.index(), "plum"), ["a.md:1"]);
    let other = rusqlite::Connection::open(home.index_file()).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    drop(other);
    assert_eq!(home.places(&home.index(), "plum"), ["a.md:1"]);
}

/// Two at once: one waits for the other, and both find.
#[test]
fn two_writers_wait_for_each_other() {
    let files: Vec<(String, String)> = (0..60)
        .map(|n| (format!("{n}.md"), format!("word{n} plum\n")))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let home = Home::new(&files);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| home.places(&home.index(), "word7")))
            .collect();
        for one in all {
            assert_eq!(one.join().unwrap(), ["7.md:1"]);
        }
    });
    let index = home.index();
    assert_eq!(
        home.find(
            &index,
            &Search {
                limit: 100,
                ..search("plum")
            }
        )
        .len(),
        60
    );
}

/// LOA-JIT-2: each hit contains the quoted text as typed, regardless of the other words and of the
/// number of passages that have its words elsewhere.
#[test]
fn each_passage_contains_the_quoted_text() {
    let others = "# Open\nfile, late, open late\n".repeat(400);
    let home = Home::new(&[
        ("others.md", &others),
        ("src/disk.rs", DISK),
        ("notes.md", NOTES),
    ]);
    let index = home.index();
    assert_eq!(home.places(&index, "\"opened late\""), ["notes.md:6"]);
    assert_eq!(home.places(&index, "disk \"opened late\""), ["notes.md:6"]);
    assert_eq!(home.places(&index, "\"Opened late\""), [""; 0]);
    assert_eq!(home.places(&index, "\"are opened\" \"let a\""), [""; 0]);
    assert_eq!(home.places(&index, "\"fn open_file()\""), ["src/disk.rs:3"]);
    assert_eq!(home.places(&index, "a \"= 1;\""), ["src/disk.rs:3"]);
    let names = Search {
        by: By::Names,
        ..search("open file \"let a\"")
    };
    assert_eq!(home.find(&index, &names).len(), 1);
}

/// LOA-JIT-2: with a model, a passage is found that has none of the words. Without one the answers
/// are the same as before, and another model is used from scratch.
#[test]
fn a_model_adds_what_words_mean() {
    let home = Home::new(&[
        ("wait.md", "# Sleep\nUntil the server answers.\n"),
        ("colour.md", "# Paint\nThe wall and the door.\n"),
    ]);
    let folder = home.folder.path().join("model");
    let found = |update: bool| {
        let model = Model::open(&home.disk, &folder).unwrap();
        let index = Index::open(&home.disk, &home.index_file()).unwrap();
        let mut index = index.with_model(model).unwrap();
        let updated = home.update(&mut index);
        assert_eq!(updated.read > 0, update, "{updated:?}");
        home.places(&index, "pause")
    };
    assert_eq!(found(true), [""; 0]);
    let near = [1.0, 0.0, 0.1];
    let far = [0.0, 1.0, 0.0];
    let lay = |pause| {
        let words = [("pause", pause), ("sleep", near), ("paint", far)];
        embedding::tests::lay(&home.disk, &folder, &words);
    };
    lay(near);
    assert_eq!(found(true), ["wait.md:1"]);
    assert_eq!(found(false), ["wait.md:1"]);
    lay(far);
    assert_eq!(found(true), ["colour.md:1"]);
    let index = Index::open(&home.disk, &home.index_file()).unwrap();
    let index = index.with_model(Model::open(&home.disk, &folder).unwrap());
    let index = index.unwrap();
    assert_eq!(home.places(&index, "pause \"the server\""), ["wait.md:1"]);
    let alone = Search {
        by: By::Meaning,
        ..search("paint")
    };
    assert_eq!(home.find(&index, &alone)[0].place, "colour.md");
    home.disk.remove_tree(&folder).unwrap();
    assert_eq!(found(false), [""; 0]);
}

/// LOA-JIT-2: a proposal of another program becomes the passage that has most of its lines, is
/// fused with the hits found here, and is ignored if the tree has no such lines.
#[test]
fn what_another_program_proposes_is_fused() {
    let home = Home::new(&[("src/disk.rs", DISK), ("notes.md", NOTES)]);
    let index = home.index();
    let find = |typed: &str, by, proposed: &[(&str, u32, u32)]| {
        let proposals = proposed.iter().map(|(path, first, last)| Proposal {
            path: (*path).to_owned(),
            first: *first,
            last: *last,
        });
        let search = Search {
            by,
            proposals: proposals.collect(),
            ..search(typed)
        };
        let found = home.find(&index, &search).into_iter();
        found
            .map(|found| format!("{}:{}", found.place, found.first))
            .collect::<Vec<_>>()
    };
    let nowhere = [
        ("src/disk.rs", 5, 5),
        ("notes.md", 3, 5),
        ("src/disk.rs", 3, 6),
        ("src/disk.rs", 90, 95),
        ("src/disk.rs", 9, 8),
        ("src/disk.rs", 0, u32::MAX - 1),
        ("gone.rs", 1, 2),
        ("../etc/passwd", 1, 1),
    ];
    let places = ["src/disk.rs:3", "notes.md:3"];
    assert_eq!(find("zebra", By::Proposals, &nowhere)[..2], places);
    assert_eq!(find("zebra", By::Proposals, &nowhere[3..5]), [""; 0]);
    assert_eq!(find("zebra", By::Words, &nowhere), [""; 0]);
    assert_eq!(find("zebra", By::All, &nowhere[..2]), places);
    let both = find("files", By::All, &[("src/disk.rs", 8, 9)]);
    assert!(both.contains(&"src/disk.rs:8".to_owned()), "{both:?}");
    assert!(both.contains(&"notes.md:6".to_owned()), "{both:?}");
    assert_eq!(
        find("zebra \"let a\"", By::All, &nowhere[..3]),
        ["src/disk.rs:3"]
    );
}

/// Files are written to the index while others are read, each once, and the progress is reported.
#[test]
fn many_files_are_taken_up_in_batches() {
    let home = Home::new(&[]);
    for number in 0..850 {
        home.write(&format!("notes/{number}.md"), &format!("plum{number}\n"));
    }
    let tree = home.tree();
    let mut index = Index::open(&home.disk, &home.index_file()).unwrap();
    let mut progress = Vec::new();
    let updated = index.update_tree(&home.disk, &tree, |done, all| progress.push((done, all)));
    assert_eq!(updated.unwrap().read, 850);
    assert_eq!(progress, [(400, 850), (800, 850), (850, 850)]);
    for number in [0, 399, 400, 849] {
        let place = format!("notes/{number}.md:1");
        assert_eq!(home.places(&index, &format!("plum{number}")), [place]);
    }
    let again = index.update_tree(&home.disk, &tree, |_, _| {}).unwrap();
    assert_eq!(again, Updated::default());
}

/// Any typed text is searched for and never a command to the index.
#[test]
fn anything_may_be_typed() {
    let home = Home::new(&[("a.md", "plum\n")]);
    let index = home.index();
    for typed in [
        "\"",
        "plum\" OR name:x",
        "*",
        "plum*",
        "NEAR(plum)",
        "name : plum",
        "-plum",
        "(",
        "^plum",
        "\u{0}",
        "plum' --",
        "ſtraße",
    ] {
        let found = home.places(&index, typed);
        assert!(found.len() <= 1, "{typed}");
    }
    assert_eq!(home.places(&index, "plum\" OR name:x"), ["a.md:1"]);
}
