//! Whole digests of small trees, and what holds for a digest of any tree.

use std::fmt::Write;

use callosum_evidence::citation::{self, Standing};
use callosum_host::Disk;
use callosum_search::walk::{RelativePath, Scope};
use proptest::prelude::*;

use super::{Limits, digest};
use crate::scout::{
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
fn a_rust_package_is_told_in_four_ways() {
    insta::assert_snapshot!("rust_package", all_kinds(&RUST));
}

/// CAL-EXE-3: the four answers about a Python service, whole.
#[test]
fn a_python_service_is_told_in_four_ways() {
    insta::assert_snapshot!("python_service", all_kinds(&PYTHON));
}

/// CAL-EXE-3: the same tree gives the same bytes, in whatever order its files came to be.
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

/// CAL-EXE-3: who asks for a part is told its declarations, methods and tests, and nothing of
/// what the unread rest decides.
#[test]
fn a_part_is_told_in_full_and_not_called_closed() {
    let folder = tree(&RUST);
    let scope = Scope::of(&[RelativePath::parse("src/shelf.rs").unwrap()]);
    let survey = Survey::read(&Disk::real(), folder.path(), &scope, &mut |_| {}).unwrap();
    let api = digest(Kind::Api, &survey, Limits::SUMMARY).text;
    assert_cited(folder.path(), &api);
    assert!(!api.contains("Nothing is offered"), "{api}");
    for said in [
        "src/shelf.rs (1 declaration): `Where books stand.` [src/shelf.rs:1]",
        "`pub struct Shelf` [src/shelf.rs:6]",
        "Shelf (1 method): `pub fn put(&mut self, book: Book)` [src/shelf.rs:12]",
    ] {
        assert!(api.contains(said), "{said}\n{api}");
    }
}

/// CAL-EXE-3: what the README shows is what is called, and is told before what the library's own files
/// name most.
#[test]
fn what_the_readme_shows_is_told_first() {
    let api = of_kind(
        Kind::Api,
        &[
            ("package.json", r#"{"name": "shelf", "main": "index.ts"}"#),
            ("README.md", "# Shelf\n\n```ts\nshelf.lend(book)\n```\n"),
            (
                "index.ts",
                "export interface Issue { code: number }\nexport function check(): Issue { return { code: 1 } }\n\
                 export function lend(book: string) { return book }\n",
            ),
            (
                "a.ts",
                "import { Issue, check } from './index';\nexport const x: Issue = check();\n",
            ),
            (
                "b.ts",
                "import { Issue, check } from './index';\nexport const y: Issue = check();\n",
            ),
        ],
    );
    let at = |name: &str| api.find(name).unwrap_or_else(|| panic!("{name}\n{api}"));
    assert!(at("function lend") < at("function check"), "{api}");
    assert!(at("function lend") < at("interface Issue"), "{api}");
}

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

/// What a macro is given leans on a module as any other code does.
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
    let cited = "`println!(\"{}\", sum::total(&[1, 2]));` [src/main.rs:4]";
    assert!(
        text.contains("→ sum.rs, as in") && text.contains(cited),
        "{text}"
    );
}

/// A tree that does not say what it is called has the name of its folder.
#[test]
fn a_tree_without_a_name_is_called_like_its_folder() {
    let folder = tree(&[("store/a.py", "def f():\n    pass\n")]);
    let root = folder.path().join("store");
    let text = digest(Kind::Scan, &survey(&root), Limits::SUMMARY).text;
    assert!(text.starts_with("# scan: store\n"), "{text}");
}

#[test]
fn a_c_type_is_told_by_its_name_and_its_first_line() {
    let text = of_kind(
        Kind::Api,
        &[(
            "include/v.h",
            "#ifndef V_H\n#define V_H\ntypedef struct {\n  int size;\n} value;\nvalue value_make(void);\n#endif\n",
        )],
    );
    assert!(
        text.contains("value in `typedef struct` [include/v.h:3]"),
        "{text}"
    );
}

/// A type of a C file is that file's own; another of the same name elsewhere is not a mention.
#[test]
fn what_a_c_file_declares_for_itself_is_named_by_nobody() {
    let text = of_kind(
        Kind::Scan,
        &[
            (
                "a.c",
                "struct entry { int a; };\nint use_a(struct entry *e) { return e->a; }\n",
            ),
            (
                "b.c",
                "int use_b(void *p) { struct entry *e = p; return e != 0; }\n",
            ),
            (
                "c.c",
                "int use_c(void *p) { struct entry *e = p; return e == 0; }\n",
            ),
        ],
    );
    assert!(!text.contains("named in 2 other files"), "{text}");
}

/// Each part of a Go package stands in the graph, however it is that it leans on the others.
#[test]
fn every_part_of_a_go_package_is_told() {
    let text = of_kind(
        Kind::Deps,
        &[
            ("go.mod", "module shop\n"),
            (
                "a.go",
                "package shop\n\ntype Shop struct {\n\troutes []route\n}\n",
            ),
            (
                "b.go",
                "package shop\n\ntype route struct{ root string }\n\nfunc find(root string) route { return route{root} }\n",
            ),
            ("c.go", "package shop\n\nconst root = 1\n"),
        ],
    );
    assert!(
        text.contains(
            "a.go (layer 1; 5 lines; 0 lean on it) → b.go, as in `routes []route` [a.go:4]"
        ),
        "{text}"
    );
    assert!(
        text.contains("c.go (layer 0; 3 lines; 0 lean on it) leans on no other part"),
        "{text}"
    );
}

/// Express's objects offer the methods that are given to them one by one.
#[test]
fn methods_of_a_script_s_object_are_offered() {
    let text = of_kind(
        Kind::Api,
        &[
            ("package.json", "{\"name\": \"web\"}"),
            (
                "index.js",
                "'use strict'\n\nmodule.exports = require('./lib/response')\n",
            ),
            (
                "lib/response.js",
                "'use strict'\n\n/** A response. */\nvar res = Object.create(null)\nmodule.exports = res\n\n/** Sends it. */\nres.send = function send(body) {}\n",
            ),
        ],
    );
    assert!(
        text.contains(
            "res (1 method): `res.send = function send(body) {}` [lib/response.js:8]: Sends it"
        ),
        "{text}"
    );
    assert!(!text.contains("use strict"), "{text}");
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

/// What was opened and found to be made by a program is cited for it.
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
        text.contains("`// Code generated by protoc. DO NOT EDIT.` [a.go:1]"),
        "{text}"
    );
}

#[track_caller]
fn assert_cited(root: &std::path::Path, text: &str) {
    let citations = citation::find(text);
    let standings = citation::verify(&Disk::real(), root, &citations);
    for (citation, standing) in citations.iter().zip(standings) {
        assert_eq!(standing, Standing::Verified, "{citation:?} in\n{text}");
    }
}

#[test]
fn every_citation_of_the_small_trees_stands() {
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

    /// LOA-GRD-1: a quote counts only if it stands word for word where it is said to stand.
    #[test]
    fn every_citation_of_any_tree_stands_and_no_limit_is_exceeded(
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

/// Modules and functions that a macro of conditional compilation stands around are offered like
/// others, on their own lines.
#[test]
fn what_stands_in_the_braces_of_a_macro_is_offered() {
    let text = of_kind(
        Kind::Api,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            (
                "src/lib.rs",
                "#[macro_use]\nmod macros;\n\ncfg_rt! {\n    pub mod runtime;\n    pub fn spawn() {}\n}\n",
            ),
            (
                "src/runtime.rs",
                "cfg_net! { pub struct Runtime; }\n\nimpl Runtime {\n    cfg_net! {\n        pub fn block_on(&self) {}\n    }\n}\n",
            ),
            (
                "src/macros.rs",
                "macro_rules! cfg_rt { ($($item:item)*) => { $($item)* } }\n",
            ),
        ],
    );
    for said in [
        "2 declarations in 2 modules",
        "`pub fn spawn() {}` [src/lib.rs:6]",
        "shelf::runtime (1 declaration)",
        "[src/runtime.rs:1]; has block_on",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

/// Two types of one name in one file are two, each with its own methods.
#[test]
fn a_module_with_a_body_is_told_by_its_own_path() {
    let text = of_kind(
        Kind::Api,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            (
                "src/lib.rs",
                "pub struct Widget;\nimpl Widget {\n    pub fn outer(&self) {}\n}\n\n/// The insides.\npub mod inner {\n    pub struct Gadget;\n    pub struct Widget;\n    impl Widget {\n        pub fn within(&self) {}\n    }\n}\n\nmod closed {\n    pub struct Hidden;\n}\n",
            ),
        ],
    );
    for said in [
        "3 declarations in 2 modules",
        "`pub struct Widget;` [src/lib.rs:1]; has outer\n",
        "shelf::inner (2 declarations): `pub mod inner` [src/lib.rs:7]: The insides\n",
        "inner::Widget in `pub struct Widget;` [src/lib.rs:9]; has within\n",
        "inner::Gadget in `pub struct Gadget;` [src/lib.rs:8]",
        "inner::Widget (1 method): `pub fn within(&self) {}` [src/lib.rs:11]",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert!(!text.contains("Hidden"), "{text}");
}

#[test]
fn an_exported_macro_of_a_private_module_is_offered_at_the_root() {
    let text = of_kind(
        Kind::Api,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            ("src/lib.rs", "#[macro_use]\nmod macros;\n\npub mod book;\n"),
            (
                "src/macros.rs",
                "/// Makes a shelf.\n#[macro_export]\nmacro_rules! shelf {\n    () => {};\n}\nmacro_rules! mine {\n    () => {};\n}\n",
            ),
            ("src/book.rs", "pub struct Book;\n"),
        ],
    );
    assert!(
        text.contains(
            "shelf (1 declaration): `macro_rules! shelf` [src/macros.rs:3]: Makes a shelf\n"
        ),
        "{text}"
    );
    assert!(!text.contains("mine"), "{text}");
}

/// CAL-EXE-3: of a name that two files declare, nobody says that no test names it.
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

/// What a test has from elsewhere, or declares for itself, is nobody else's of the same name.
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
    assert!(text.contains("src/de.rs (7 lines"), "{text}");
    assert!(text.contains("src/pattern.rs (3 lines"), "{text}");
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
    assert!(text.contains("No test function was recognised"), "{text}");
    assert!(!text.contains("none names"), "{text}");
    assert!(!text.contains("Code that no test reaches"), "{text}");
}

/// What the grammar gives up may still name anything.
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
