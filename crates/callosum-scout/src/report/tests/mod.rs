//! Whole digests of small trees, and what holds for a digest of any tree.

mod choices;
mod mentions;
mod offers;

use std::fmt::Write;

use callosum_citation::{self, CitationStatus};
use callosum_host::Disk;
use callosum_source::walk::{RelativePath, Scope};
use proptest::prelude::*;

use super::{Limits, digest};
use crate::{
    fixture::{survey, tree, write},
    kind::Kind,
    survey::Survey,
};

/// A small service in Rust: a library, a program, tests inside and outside.
const RUST: [(&str, &str); 9] = [
    (
        "Cargo.toml",
        "[package]\nname = \"shelf\"\nversion = \"0.3.0\"\ndescription = \"Keeps books on shelves\"\n\n\
         [dependencies]\nserde = \"1\"\nunused = \"2\"\n\n[dev-dependencies]\nproptest = \"1\"\n",
    ),
    (
        "README.md",
        "# Shelf\n\nShelf keeps books where they can be found again. It is small.\n",
    ),
    (
        "src/lib.rs",
        "//! Keeps books on shelves.\n\nmod book;\npub mod shelf;\n\npub use book::Book;\n",
    ),
    (
        "src/book.rs",
        "//! What a book is.\n\nuse serde::Serialize;\n\n/// A book with its title.\n#[derive(Serialize)]\n\
         pub struct Book {\n    /// Its title.\n    pub title: String,\n}\n",
    ),
    (
        "src/shelf.rs",
        "//! Where books stand.\n\nuse crate::Book;\n\n/// A row of books.\npub struct Shelf {\n    \
         books: Vec<Book>,\n}\n\nimpl Shelf {\n    /// Puts a book at the end.\n    \
         pub fn put(&mut self, book: Book) {\n        self.books.push(book);\n    }\n}\n\n\
         #[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn a_shelf_begins_empty() {\n        \
         assert!(Shelf { books: Vec::new() }.books.is_empty());\n    }\n}\n",
    ),
    (
        "src/main.rs",
        "//! Prints a shelf.\n\nuse shelf::shelf::Shelf;\n\nfn main() {\n    drop::<Option<Shelf>>(None);\n}\n",
    ),
    (
        "src/lonely.rs",
        "//! Code that nobody names.\n\n/// Counts to a number.\npub fn count_up(to: u32) -> u32 {\n    \
         (0..to).count() as u32\n}\n",
    ),
    (
        "tests/shelf.rs",
        "use shelf::Book;\n\n#[test]\nfn books_have_titles() {\n    let book = Book { title: String::new() };\n    \
         assert!(book.title.is_empty());\n}\n",
    ),
    (
        ".github/workflows/ci.yml",
        "jobs:\n  test:\n    steps:\n      - run: cargo test --all-features\n",
    ),
];

/// A small web service in Python with a command line, and a cycle.
const PYTHON: [(&str, &str); 6] = [
    (
        "pyproject.toml",
        "[project]\nname = \"lend\"\nversion = \"1.0\"\ndependencies = [\"flask>=3\", \"click\"]\n\n\
         [project.scripts]\nlend = \"lend.cli:main\"\n",
    ),
    (
        "src/lend/__init__.py",
        "\"\"\"Lends things to people.\"\"\"\n\nfrom .store import Store\n",
    ),
    (
        "src/lend/store.py",
        "\"\"\"Remembers who has what.\"\"\"\n\nfrom . import web\n\n\nclass Store:\n    \"\"\"All loans.\"\"\"\n\n    \
         def lend(self, thing):\n        \"\"\"Lends a thing.\"\"\"\n        return web.app\n",
    ),
    (
        "src/lend/web.py",
        "\"\"\"Answers requests.\"\"\"\n\nfrom flask import Flask\n\nfrom .store import Store\n\napp = Flask(__name__)\n\n\n\
         @app.get(\"/loans\")\ndef loans():\n    \"\"\"Lists loans.\"\"\"\n    return Store()\n",
    ),
    (
        "src/lend/cli.py",
        "\"\"\"The command line.\"\"\"\n\nimport click\n\n\n@click.command()\n@click.option(\"--all\", help=\"Shows all.\")\n\
         def main(all):\n    \"\"\"Lends from the shell.\"\"\"\n\n\nif __name__ == \"__main__\":\n    main()\n",
    ),
    (
        "tests/test_store.py",
        "from lend.store import Store\n\n\ndef test_lending():\n    assert Store().lend(\"pen\")\n",
    ),
];

fn all_kinds(files: &[(&str, &str)]) -> String {
    let folder = tree(files);
    let survey = survey(folder.path());
    let mut all = String::new();
    for kind in Kind::ALL {
        let _ = writeln!(all, "{}\n", digest(kind, &survey, Limits::SUMMARY).text);
    }
    all
}

/// CAL-EXE-3, REQ-PERF-001: the four answers of §9.4 about a Rust package, whole.
#[test]
fn a_rust_package_is_described_in_four_ways() {
    insta::assert_snapshot!("rust_package", all_kinds(&RUST));
}

/// CAL-EXE-3: the four answers about a Python service, whole.
#[test]
fn a_python_service_is_described_in_four_ways() {
    insta::assert_snapshot!("python_service", all_kinds(&PYTHON));
}

/// CAL-EXE-3: the same tree gives the same bytes, in any order of creation of its files.
#[test]
fn the_order_in_which_files_are_created_does_not_show() {
    let mut reversed = RUST;
    reversed.reverse();
    assert_eq!(all_kinds(&RUST), all_kinds(&reversed));
}

#[test]
fn an_empty_tree_says_so() {
    let folder = tree(&[]);
    for kind in Kind::ALL {
        let text = digest(kind, &survey(folder.path()), Limits::SUMMARY).text;
        assert!(text.contains("There is no file to read"), "{text}");
        assert!(!text.contains("##"), "{text}");
    }
}

/// CAL-SCH-3: a summary has at most 10 KB, and at least 2 where the tree has that much to say.
#[test]
fn a_tree_of_three_thousand_files_stays_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..3_000 {
        let text = format!(
            "\"\"\"Part {at} of many.\"\"\"\nfrom pkg.p{:02}.m{} import f{}\n\n\ndef f{at}():\n    \"\"\"Does {at}.\"\"\"\n    return f{}()\n",
            (at + 1) % 50,
            at + 1,
            at + 1,
            at + 1
        );
        write(
            folder.path(),
            &format!("pkg/p{:02}/m{at}.py", at % 50),
            text.as_bytes(),
        );
    }
    let survey = survey(folder.path());
    for kind in [Kind::Scan, Kind::Deps, Kind::Api] {
        let digest = digest(kind, &survey, Limits::SUMMARY);
        let bytes = digest.text.len();
        assert!((2_048..=10_240).contains(&bytes), "{kind}: {bytes}");
        let is_cut = digest.left_out > 0;
        assert_eq!(is_cut, digest.text.contains("more"), "{kind}");
    }
}

#[test]
fn hostile_names_and_contents_leave_no_trace_of_their_own() {
    let folder = tree(&[
        ("src/a b.py", "def spaced():\n    pass\n"),
        ("src/br]ack.py", "def bracket():\n    pass\n"),
        (
            "src/esc.py",
            "\"\"\"\u{1b}[31mRed\u{1b}[0m words \u{202e}here and there.\"\"\"\n\ndef f(x='`'):\n    pass\n",
        ),
        ("src/new\nline.py", "def newline():\n    pass\n"),
        (
            "README.md",
            "# T\n\nA title with `code` and [x](y) and\u{7} a bell in it.\n",
        ),
    ]);
    let survey = survey(folder.path());
    for kind in Kind::ALL {
        let text = digest(kind, &survey, Limits::SUMMARY).text;
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text:?}"
        );
        assert!(!text.contains('\u{202e}'), "{text:?}");
        assert_cited(folder.path(), &text);
    }
}

fn of_kind(kind: Kind, files: &[(&str, &str)]) -> String {
    let folder = tree(files);
    let text = digest(kind, &survey(folder.path()), Limits::SUMMARY).text;
    assert_cited(folder.path(), &text);
    text
}

/// A path in a macro's arguments is a dependency like any other code.
#[test]
fn a_path_among_a_macros_arguments_is_an_edge() {
    let text = of_kind(
        Kind::Deps,
        &[
            (
                "src/main.rs",
                "mod sum;\n\nfn main() {\n    println!(\"{}\", sum::total(&[1, 2]));\n}\n",
            ),
            (
                "src/sum.rs",
                "pub fn total(of: &[u32]) -> u32 {\n    of.iter().sum()\n}\n",
            ),
        ],
    );
    let cited = "- src/main.rs:4 `println!(\"{}\", sum::total(&[1, 2]));` → src/sum.rs";
    assert!(text.contains(cited), "{text}");
}

/// A tree that does not say what it is called has the name of its folder.
#[test]
fn a_tree_without_a_name_is_called_like_its_folder() {
    let folder = tree(&[("store/a.py", "def f():\n    pass\n")]);
    let root = folder.path().join("store");
    let text = digest(Kind::Scan, &survey(&root), Limits::SUMMARY).text;
    assert!(text.starts_with("# scan: store\n"), "{text}");
}

/// CAL-EXE-3: a package that two manifests describe is one library.
#[test]
fn a_library_is_named_once_however_many_manifests_name_it() {
    let text = of_kind(
        Kind::Scan,
        &[
            ("setup.cfg", "[metadata]\nname = lend\n"),
            ("setup.py", "setup(\n    name=\"lend\",\n)\n"),
            (
                "src/lend/__init__.py",
                "\"\"\"Lends things to people.\"\"\"\n",
            ),
        ],
    );
    assert_eq!(text.matches("library lend").count(), 1, "{text}");
}

/// A project that only tries the library out begins no program of the product.
#[test]
fn programs_of_test_projects_are_no_entry_points() {
    let text = of_kind(
        Kind::Scan,
        &[
            (
                "CMakeLists.txt",
                "project(shelf)\nadd_executable(shelf main.cc)\n",
            ),
            ("main.cc", "int main() { return 0; }\n"),
            (
                "test/find/CMakeLists.txt",
                "project(find)\nadd_executable(find-test main.cc)\n",
            ),
        ],
    );
    assert!(text.contains("add_executable(shelf main.cc)"), "{text}");
    assert!(!text.contains("find-test"), "{text}");
}

/// A file that proved to be generated is cited with the line that shows it.
#[test]
fn a_generated_file_is_cited_by_the_line_that_says_so() {
    let text = of_kind(
        Kind::Scan,
        &[
            (
                "a.go",
                "// Code generated by protoc. DO NOT EDIT.\npackage a\n",
            ),
            ("b.go", "package a\n\nfunc B() {}\n"),
        ],
    );
    assert!(
        text.contains("- a.go:1 `// Code generated by protoc. DO NOT EDIT.`"),
        "{text}"
    );
}

#[track_caller]
fn assert_cited(root: &std::path::Path, text: &str) {
    let citations = callosum_citation::find(text);
    let standings = callosum_citation::verify(&Disk::real(), root, &citations);
    for (citation, standing) in citations.iter().zip(standings) {
        assert_eq!(
            standing,
            CitationStatus::Verified,
            "{citation:?} in\n{text}"
        );
    }
}

#[test]
fn every_citation_of_the_small_trees_is_valid() {
    for files in [&RUST[..], &PYTHON[..]] {
        let folder = tree(files);
        let survey = survey(folder.path());
        for kind in Kind::ALL {
            assert_cited(folder.path(), &digest(kind, &survey, Limits::SUMMARY).text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// LOA-GRD-1: a quote counts only if it is word for word at the cited place.
    #[test]
    fn every_citation_of_any_tree_is_valid_and_no_limit_is_exceeded(
        texts in proptest::collection::vec("(pub fn [a-z`]{1,9}\\([^\\n]{0,40}\\) \\{\\}\n|/// [^\\n]{0,120}\n|use crate::[a-d];\n|#\\[test\\]\nfn t_[a-z]{3}\\(\\) \\{\n f\\(\\);\n\\}\n){0,8}", 1..5),
        limit in 200_usize..3_000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in ["src/lib.rs", "src/a.rs", "src/b.rs", "README.md", "tests/c.rs"].iter().zip(&texts) {
            write(folder.path(), name, text.as_bytes());
        }
        let survey = survey(folder.path());
        for kind in Kind::ALL {
            let text = digest(kind, &survey, Limits { bytes: limit }).text;
            prop_assert!(text.len() <= limit);
            assert_cited(folder.path(), &text);
        }
    }
}
