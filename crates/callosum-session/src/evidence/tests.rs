//! Quotes are looked up, taken and read as they should be.

use proptest::prelude::*;

use callosum_citation::CitedFile;
use callosum_host::Disk;

use super::{standing::stand_in, tree::CitedFileState, *};

fn place(path: &str, first: u32, last: u32, quote: Option<&str>) -> Evidence {
    Evidence {
        path: path.to_owned(),
        first,
        last,
        quote: quote.map(str::to_owned),
    }
}

fn with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join("root").join(name);
        let disk = Disk::real();
        disk.create_dir_all(path.parent().unwrap()).unwrap();
        disk.replace(&path, content.as_bytes(), 0o644).unwrap();
    }
    folder
}

fn stand(content: &str, first: u32, quote: &str) -> EvidenceStatus {
    stand_in(
        &CitedFileState::new(CitedFile::of(content.to_owned()), "a"),
        &place("a", first, first, Some(quote)),
    )
}

/// LOA-GRD-1: one place has one name, however a person types it; one that leaves the root still does.
#[test]
fn a_typed_path_is_kept_as_its_place_is_named() {
    for (typed, kept) in [
        ("./src/../src//a.rs:2", "src/a.rs"),
        ("${PROJECT_ROOT}/./a.rs:2", "a.rs"),
        ("../a.rs:2", "../a.rs"),
        ("src/../../a.rs:2", "../a.rs"),
        ("../../a.rs:2", "../../a.rs"),
        ("/etc/../a.rs:2", "/etc/../a.rs"),
    ] {
        let read = Evidence::parse(typed, Relative::Accepted);
        assert_eq!(read, Some(place(kept, 2, 2, None)), "{typed}");
    }
    assert_eq!(Evidence::parse("./:2", Relative::Accepted), None);
}

/// LOA-GRD-1: each state that a citation can have.
#[test]
fn a_quote_has_one_of_eight_statuses() {
    let code = "fn one() {}\nfn two(a: u8) {}\nlet x = 1;\nlet x = 1;\n";
    assert_eq!(stand(code, 1, "fn one() {}"), EvidenceStatus::Verified);
    assert_eq!(
        stand(code, 3, "fn one() {}"),
        EvidenceStatus::Moved { line: 1 }
    );
    assert_eq!(
        stand(code, 3, "let x = 1;"),
        EvidenceStatus::Ambiguous { places: 2 }
    );
    assert_eq!(
        stand(code, 1, "fn two(b: u16) {}"),
        EvidenceStatus::Changed {
            nearest: Some((2, "fn two(a: u8) {}".to_owned()))
        }
    );
    assert_eq!(
        stand(code, 1, "zzz"),
        EvidenceStatus::Changed { nearest: None }
    );
    assert_eq!(stand(code, 1, "}"), EvidenceStatus::BadFormat);
    assert_eq!(stand("\0", 1, "abc"), EvidenceStatus::Binary);
    let folder = with(&[("a", "abc\n")]);
    let root = folder.path().join("root");
    let disk = Disk::real();
    let tree = Tree::new(&disk, &root);
    let of = |path| tree.stand(&place(path, 1, 1, Some("abc")));
    assert_eq!(of("a"), EvidenceStatus::Verified);
    assert_eq!(of("b"), EvidenceStatus::MissingFile);
    assert_eq!(of("../root/a"), EvidenceStatus::OutsideRoot);
}

/// LOA-GRD-1: a line that was commented out, or moved into a docstring, no longer counts as
/// evidence. A comment that was cited as a comment still does.
#[test]
fn a_quote_of_code_does_not_hold_in_a_comment_or_a_string() {
    let stand = |path: &str, content: &str, quote: &str| {
        let looked = CitedFileState::new(CitedFile::of(content.to_owned()), path);
        stand_in(&looked, &place(path, 2, 2, Some(quote)))
    };
    let rust = "const RETRIES: u8 = 3;";
    for (path, content, quote) in [
        (
            "a.rs",
            "fn main() {}\n// const RETRIES: u8 = 3;\nconst RETRIES: u8 = 9;\n",
            rust,
        ),
        ("a.rs", "/*\nconst RETRIES: u8 = 3;\n*/\n", rust),
        (
            "a.py",
            "\"\"\"\nRETRIES = 3\n\"\"\"\nRETRIES = 9\n",
            "RETRIES = 3",
        ),
        ("a.py", "import os\n# RETRIES = 3\n", "RETRIES = 3"),
        (
            "a.js",
            "let a = `\nconst retries = 3;\n`;\n",
            "const retries = 3;",
        ),
        ("a.go", "package p\n// var retries = 3\n", "var retries = 3"),
    ] {
        assert_eq!(
            stand(path, content, quote),
            EvidenceStatus::Inert { line: 2 },
            "{content}"
        );
    }
    for (path, content, quote) in [
        ("a.rs", "// why\nconst RETRIES: u8 = 3;\n", rust),
        (
            "a.rs",
            "fn main() {}\n// Retries are capped at three.\n",
            "Retries are capped at three.",
        ),
        (
            "a.rs",
            "fn main() {}\n// const RETRIES: u8 = 3;\n",
            "// const RETRIES: u8 = 3;",
        ),
        (
            "a.py",
            "\"\"\"\nReturns the cookie of the session.\n\"\"\"\n",
            "Returns the cookie of the session.",
        ),
        (
            "a.py",
            "# why\nQUERY = \"SELECT a FROM t\"\n",
            "QUERY = \"SELECT a FROM t\"",
        ),
        ("a.txt", "a\n// const RETRIES: u8 = 3;\n", rust),
    ] {
        assert_eq!(
            stand(path, content, quote),
            EvidenceStatus::Verified,
            "{content}"
        );
    }
}

/// LOA-JIT-1: a place is named from the root; a relative path is not a place.
#[test]
fn an_identifier_is_read_strictly() {
    let read = |text| Evidence::parse(text, Relative::Refused);
    assert_eq!(
        read("${PROJECT_ROOT}/src/a b.rs:3-9"),
        Some(place("src/a b.rs", 3, 9, None))
    );
    assert_eq!(read("${PROJECT_ROOT}/a:7"), Some(place("a", 7, 7, None)));
    for text in [
        "a:7",
        "./a:7",
        "${PROJECT_ROOT}/a",
        "${PROJECT_ROOT}/a:0",
        "${PROJECT_ROOT}/a:9-3",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
    assert_eq!(
        Evidence::parse("a:7", Relative::Accepted),
        Some(place("a", 7, 7, None))
    );
}

#[test]
fn a_quote_is_taken_from_the_file_and_widened_until_it_is_unique() {
    let folder = with(&[("a.rs", "fn a() {\n    go();\n}\nfn b() {\n    go();\n}\n")]);
    let root = folder.path().join("root");
    let disk = Disk::real();
    let tree = Tree::new(&disk, &root);
    let quoted = tree.quote(&place("a.rs", 1, 1, None)).unwrap();
    assert_eq!(
        quoted.written().unwrap(),
        "`fn a() {` [${PROJECT_ROOT}/a.rs:1]"
    );
    let quoted = tree.quote(&place("a.rs", 2, 2, None)).unwrap();
    assert_eq!(quoted, place("a.rs", 2, 4, Some("go(); } fn b() {")));
    assert!(matches!(
        tree.quote(&place("a.rs", 5, 5, None)),
        Err(QuoteError::NotUnique { .. })
    ));
    assert!(matches!(
        tree.quote(&place("a.rs", 7, 7, None)),
        Err(QuoteError::NoSuchLines { .. })
    ));
}

/// LOA-SEC-1: a quote has no secret in it, and still holds.
#[test]
fn a_quote_with_a_secret_is_masked_and_verified_masked() {
    let line = format!(
        "let token = \"ghp_{}\";\n",
        "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6"
    );
    let folder = with(&[("a.rs", &line)]);
    let root = folder.path().join("root");
    let disk = Disk::real();
    let tree = Tree::new(&disk, &root);
    let quoted = tree.quote(&place("a.rs", 1, 1, None)).unwrap();
    assert_eq!(
        quoted.quote.as_deref(),
        Some("let token = \"[secret: github token]\";")
    );
    assert_eq!(tree.stand(&quoted), EvidenceStatus::Verified);
}

/// LOA-SEC-1: a line within a key is recognized by the lines around it, and a line after a key can
/// be cited at its place.
#[test]
fn lines_within_a_key_are_masked_and_lines_behind_it_stay() {
    let begin = ["-----BEGIN ", "PRIVATE KEY-----"].concat();
    let end = ["-----END ", "PRIVATE KEY-----"].concat();
    let line = "MIIEowIBAAKCAQEA0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4";
    let password = ["kd83", "hfKq92"].concat();
    let text =
        format!("a key:\n{begin}\n{line}\n{line}\n{end}\ndb: postgres://a:{password}@db/x\n");
    let folder = with(&[("k.pem", &text)]);
    let root = folder.path().join("root");
    let disk = Disk::real();
    let tree = Tree::new(&disk, &root);
    for at in 2..=5 {
        let quoted = tree.quote(&place("k.pem", at, at, None)).unwrap();
        assert_eq!(quoted.quote.as_deref(), Some("[secret: private key]"));
        assert_eq!((quoted.first, quoted.last), (2, at));
        assert_eq!(tree.stand(&quoted), EvidenceStatus::Verified);
    }
    let quoted = tree.quote(&place("k.pem", 6, 6, None)).unwrap();
    let masked = "db: postgres://a:[secret: password in address]@db/x";
    assert_eq!(quoted, place("k.pem", 6, 6, Some(masked)));
    assert_eq!(tree.stand(&quoted), EvidenceStatus::Verified);
    // The line most similar to a missing quote is masked in the output as well.
    let gone = place("k.pem", 3, 3, Some(&format!("{line} x")));
    let report = format!("{:?}", tree.stand(&gone));
    assert!(!report.contains(line), "{report}");
}

proptest! {
    /// LOA-GRD-1: after an edit, a quote holds only if it occurs in its file exactly once.
    #[test]
    fn a_quote_holds_only_if_it_occurs_once(
        lines in proptest::collection::vec("(let [a-c] = [0-2];|return [a-c];|)", 1..8),
        edits in proptest::collection::vec((0_usize..8, "(let [a-c] = [0-2];|return [a-c];|)"), 0..4),
        at in 0_usize..8,
    ) {
        let at = at % lines.len();
        let quote = lines[at].clone();
        let mut edited = lines.clone();
        for (index, line) in edits {
            let index = index % edited.len();
            edited[index] = line;
        }
        let count = edited.iter().filter(|line| **line == quote).count();
        let standing = stand(&edited.join("\n"), at as u32 + 1, &quote);
        prop_assert_eq!(standing.holds(), !quote.is_empty() && count == 1);
    }

    #[test]
    fn what_is_written_is_found_again(
        path in "[a-z/.]{1,12}", quote in "[a-z` .;]{3,20}", first in 1_u32..99, more in 0_u32..9,
    ) {
        let evidence = place(&path, first, first + more, Some(&quote));
        if let Some(written) = evidence.written() {
            prop_assert_eq!(Evidence::find(&format!("- {written}")), (vec![evidence], 0));
        }
    }
}
