//! Names that tests use.

use super::*;

/// CAL-EXE-3: where there is room, every test is named.
#[test]
fn few_tests_are_all_named() {
    let mut tests = String::new();
    for number in 0..9 {
        let _ = writeln!(tests, "#[test]\nfn keeps_book_{number}() {{}}");
    }
    let text = of_kind(
        Kind::Tests,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            ("tests/shelf.rs", &tests),
        ],
    );
    for number in 0..9 {
        assert!(text.contains(&format!("keeps_book_{number}()")), "{text}");
    }
}

/// CAL-EXE-3: a name that two files declare is never reported as unnamed by tests.
#[test]
fn a_name_of_two_types_counts_for_both() {
    let body =
        "pub struct Regex;\n\nimpl Regex {\n    pub fn find(&self) {\n        drop(1);\n    }\n}\n";
    let text = of_kind(
        Kind::Tests,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            ("src/lib.rs", "pub mod bytes;\npub mod string;\n"),
            ("src/bytes.rs", body),
            ("src/string.rs", body),
            (
                "tests/find.rs",
                "use shelf::*;\n\n#[test]\nfn it_finds() {\n    bytes::Regex.find();\n}\n",
            ),
        ],
    );
    assert!(!text.contains("Code that no test reaches"), "{text}");
    assert!(!text.contains("none names"), "{text}");
}

/// A path among a macro's arguments names a type by one of its functions.
#[test]
fn what_a_macro_of_a_test_is_given_is_named() {
    let text = of_kind(
        Kind::Tests,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            ("src/lib.rs", "cfg_sync! { pub mod sync; }\n"),
            (
                "src/sync/mod.rs",
                "cfg_sync! {\n    mod notify;\n    pub use notify::Notify;\n}\n",
            ),
            (
                "src/sync/notify.rs",
                "pub struct Notify;\n\nimpl Notify {\n    pub fn notified(&self) {\n        drop(1);\n    }\n}\n",
            ),
            (
                "tests/send.rs",
                "async_assert_fn!(shelf::sync::Notify::notified(_): Send & Sync);\n\n#[test]\nfn t() {}\n",
            ),
        ],
    );
    assert!(
        text.contains("1 of 1 source file with functions are reached"),
        "{text}"
    );
    assert!(!text.contains("Code that no test reaches"), "{text}");
}

/// A name that a test imports from elsewhere, or declares for itself, is no mention of another
/// declaration.
#[test]
fn a_name_that_a_test_has_from_elsewhere_is_no_mention() {
    let text = of_kind(
        Kind::Tests,
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"shelf\"\n\n[dependencies]\nserde = \"1\"\n",
            ),
            (
                "src/lib.rs",
                "pub mod book;\npub mod de;\npub mod pattern;\n",
            ),
            ("src/book.rs", "pub struct Book;\n"),
            (
                "src/de.rs",
                "pub struct Deserializer;\n\nimpl Deserializer {\n    pub fn read_all(&self) {\n        drop(1);\n    }\n}\n",
            ),
            ("src/pattern.rs", "pub fn regex() {\n    drop(1);\n}\n"),
            (
                "tests/de.rs",
                "use serde::de::Deserializer;\nuse shelf::book::Book;\n\nmacro_rules! regex {\n    () => {};\n}\n\n#[test]\nfn t() {\n    regex!();\n    drop::<(Option<Book>, Option<Box<dyn Deserializer>>)>((None, None));\n}\n",
            ),
        ],
    );
    assert!(text.contains("src/de.rs:1 7 lines"), "{text}");
    assert!(text.contains("src/pattern.rs:1 3 lines"), "{text}");
}

/// A published package often leaves its tests out.
#[test]
fn a_tree_without_tests_says_so_once() {
    let text = of_kind(
        Kind::Tests,
        &[
            ("package.json", "{\"name\": \"web\"}"),
            (
                "index.js",
                "exports.serve = function serve() {\n  return 1\n}\n",
            ),
        ],
    );
    assert!(text.contains("no test function recognized"), "{text}");
    assert!(!text.contains("none names"), "{text}");
    assert!(!text.contains("Code that no test reaches"), "{text}");
}

/// A file that the grammar cannot parse may still name anything.
#[test]
fn a_test_file_that_cannot_be_parsed_still_names_things() {
    let lost = format!("{}\nfind_book();\n", ") } ] 3x @ = ".repeat(3_000));
    let text = of_kind(
        Kind::Tests,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            ("src/lib.rs", "pub fn find_book() {\n    drop(1);\n}\n"),
            ("tests/lost.rs", &lost),
        ],
    );
    assert!(!text.contains("Code that no test reaches"), "{text}");
    assert!(!text.contains("none names"), "{text}");
}
