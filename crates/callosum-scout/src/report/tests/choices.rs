//! The choices of a digest: the line that represents a file, the order, and no repetition.

use std::collections::BTreeSet;

use super::*;

/// A line of a digest that states a count over many places.
fn is_count(line: &str) -> bool {
    let words = ["more", ": ", "no test", "none: ", "0 of "];
    words.iter().any(|word| line.contains(word))
}

#[test]
fn a_fact_begins_with_its_place_and_is_quoted_once() {
    for files in [&RUST[..], &PYTHON[..]] {
        let folder = tree(files);
        let survey = survey(folder.path());
        for kind in Kind::ALL {
            let text = digest(kind, &survey, Limits::SUMMARY).text;
            let mut quoted = BTreeSet::new();
            for citation in callosum_citation::find(&text) {
                let place = (citation.path.clone(), citation.first_line);
                assert!(quoted.insert(place), "{citation:?}\n{text}");
            }
            for line in text
                .lines()
                .filter(|line| line.trim_start().starts_with("- "))
            {
                let first = line.trim_start()[2..].split(' ').next().unwrap_or_default();
                let (path, number) = first.split_once(':').unwrap_or_default();
                let is_place =
                    files.iter().any(|(known, _)| *known == path) && number.parse::<u32>().is_ok();
                assert!(is_place || is_count(line), "{line}\n{text}");
            }
        }
    }
}

#[test]
fn a_description_is_shown_whole_or_not_at_all() {
    let long = "word ".repeat(60);
    let text = of_kind(
        Kind::Api,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            (
                "src/lib.rs",
                &format!(
                    "//! Keeps books on shelves that are as long as the wall of the room that they\n\
                     //! stand in, and no longer.\n\n/// Lends a book to a reader who has brought back every book \
                     that was lent before, and to no one else.\npub fn lend() {{}}\n\n/// A {long}end.\npub fn hold() {{}}\n"
                ),
            ),
        ],
    );
    assert!(!text.contains('…') && !text.contains("word word"), "{text}");
    assert!(text.contains("and to no one else\n"), "{text}");
    assert!(
        text.contains("of the room that they` stand in, and no longer;"),
        "{text}"
    );
    assert!(text.contains("src/lib.rs:8 `pub fn hold() {}`"), "{text}");
}

/// The digest represented Flask's globals.py, which most files import, by its first import.
#[test]
fn a_module_of_variables_is_represented_by_the_used_one() {
    let files = [
        ("pyproject.toml", "[project]\nname = \"shop\"\n"),
        (
            "src/shop/__init__.py",
            "from .globals import request as request\nfrom .globals import session as session\n",
        ),
        (
            "src/shop/globals.py",
            "from __future__ import annotations\n\nimport typing as t\n\n_hidden = 1\n\n\
             session: Session = LocalProxy(\n    _hidden, \"session\"\n)\nrequest: Request = LocalProxy(_hidden)\n",
        ),
        (
            "src/shop/a.py",
            "from .globals import request\n\n\ndef a():\n    return request\n",
        ),
        (
            "src/shop/b.py",
            "from .globals import request\n\n\ndef b():\n    return request\n",
        ),
    ];
    let scan = of_kind(Kind::Scan, &files);
    assert!(
        scan.contains("- src/shop/globals.py:10 `request: Request = LocalProxy(_hidden)`"),
        "{scan}"
    );
    assert!(!scan.contains("__future__"), "{scan}");
    let api = of_kind(Kind::Api, &files);
    for name in [
        "globals.py:7 `session: Session = LocalProxy(`",
        "globals.py:10 `request: Request",
    ] {
        assert!(api.contains(name), "{name}\n{api}");
    }
    assert!(!api.contains("_hidden = 1"), "{api}");
}

/// The digest represented cobra's doc/util.go by `type byName`, and httpx's client by its first method.
#[test]
fn a_file_is_represented_by_a_public_and_used_declaration() {
    let go = of_kind(
        Kind::Scan,
        &[
            ("go.mod", "module shop\n"),
            (
                "util.go",
                "package shop\n\ntype byName []string\n\nfunc (s byName) Len() int { return len(s) }\n\n\
                 func Sorted(names byName) byName {\n\treturn names\n}\n",
            ),
            ("a.go", "package shop\n\nfunc A() { use(byName{}) }\n"),
            ("b.go", "package shop\n\nfunc B() { use(byName{}) }\n"),
            (
                "private.go",
                "package shop\n\ntype inner int\n\nfunc use(x byName) {\n\tdrop(x)\n}\n",
            ),
        ],
    );
    assert!(
        go.contains("- util.go:7 `func Sorted(names byName) byName`"),
        "{go}"
    );
    assert!(!go.contains("type byName"), "{go}");
    assert!(go.contains("- private.go:5 `func use(x byName)`"), "{go}");
    assert!(go.contains("nothing public; declares use, inner"), "{go}");
    let python = of_kind(
        Kind::Scan,
        &[
            (
                "client.py",
                "class Client:\n    def is_closed(self):\n        return 1\n\n    def send(self):\n        return 2\n",
            ),
            (
                "a.py",
                "from client import Client\n\n\ndef a():\n    return Client().send()\n",
            ),
        ],
    );
    let at = |name: &str| {
        python
            .find(name)
            .unwrap_or_else(|| panic!("{name}\n{python}"))
    };
    assert!(at("def send") < at("def is_closed"), "{python}");
}

/// The digest represented axum's extract/mod.rs, which only re-exports, by a private function.
#[test]
fn a_module_of_re_exports_is_represented_by_a_re_export() {
    let text = of_kind(
        Kind::Scan,
        &[
            ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
            ("src/lib.rs", "pub mod extract;\n"),
            (
                "src/extract.rs",
                "mod path;\n\npub use self::path::Path;\n\nfn has_type() -> bool {\n    true\n}\n\npub(super) fn has_kind() -> bool {\n    true\n}\n",
            ),
            (
                "src/both.rs",
                "pub(crate) fn inner() -> bool {\n    let long = 1;\n    long == 1\n}\n\npub fn outer() {}\n",
            ),
            (
                "src/user.rs",
                "use crate::both::inner;\nfn f() { inner(); }\n",
            ),
            (
                "src/closed.rs",
                "pub(crate) fn closed() -> bool {\n    true\n}\n",
            ),
            ("src/extract/path.rs", "pub struct Path;\n"),
        ],
    );
    assert!(!text.contains("has_type"), "{text}");
    assert!(!text.contains("has_kind"), "{text}");
    assert!(text.contains("- src/both.rs:6 `pub fn outer()"), "{text}");
    assert!(
        text.contains("- src/closed.rs:1 `pub(crate) fn closed()"),
        "{text}"
    );
}

#[test]
fn a_crate_offers_what_it_passes_on_and_says_what_macros_hold() {
    let text = of_kind(
        Kind::Api,
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"shelf\"\n\n[dependencies]\nshelf-core = \"1\"\n",
            ),
            (
                "src/lib.rs",
                "pub mod routing;\nmod hidden;\n\npub use shelf_core::FromRequest;\npub(crate) use shelf_core::Closed;\n",
            ),
            (
                "src/routing.rs",
                "mod method;\n\npub use self::method::{get, post, Router};\n",
            ),
            (
                "src/routing/method.rs",
                "macro_rules! handler {\n    ($n:ident) => {\n        pub fn $n() {}\n    };\n}\n\n\
                 handler!(get);\nhandler!(post);\n\npub struct Router;\n",
            ),
            ("src/hidden.rs", "pub struct Inner;\n"),
        ],
    );
    for line in [
        "- src/lib.rs:4 `pub use shelf_core::FromRequest;`",
        "re-exports FromRequest of shelf",
        "- src/routing.rs:3 `pub use self::method::{get, post, Router};`",
        "re-exports get, post; the declaration was not found, a macro may hold it",
        "- src/routing/method.rs:7 `handler!(get);` 2 calls of handler!",
        "## Internal modules: not reached from a package's entry\n- src/hidden.rs:1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("Closed"), "{text}");
}

#[test]
fn a_package_offers_what_its_entry_leads_to() {
    let text = of_kind(
        Kind::Api,
        &[
            (
                "package.json",
                "{\n  \"name\": \"web\",\n  \"main\": \"web.js\",\n  \"exports\": {\".\": \"./web.js\", \"./sub\": {\"import\": \"./sub.mjs\"}}\n}\n",
            ),
            (
                "web.js",
                "exports.serve = function serve() {\n  return 1\n}\n",
            ),
            ("sub.mjs", "export function sub() {\n  return 1\n}\n"),
            (
                "lib/inner.js",
                "exports.inner = function inner() {\n  return 1\n}\n",
            ),
        ],
    );
    let (offered, internal) = text.split_once("## Internal").unwrap();
    assert!(
        offered.contains("function serve") && offered.contains("function sub"),
        "{text}"
    );
    assert!(!offered.contains("function inner"), "{text}");
    assert!(internal.contains("- lib/inner.js:1"), "{text}");
}

/// cobra's `Execute` was among "+93 more" behind `SetContext`.
#[test]
fn methods_are_listed_by_use() {
    let method = |at| format!("// Set{at} sets.\nfunc (c *Command) Set{at}() {{}}\n\n");
    let methods = (0..8).map(method).collect::<Vec<_>>().concat();
    let text = of_kind(
        Kind::Api,
        &[
            ("go.mod", "module shop\n"),
            (
                "command.go",
                &format!(
                    "package shop\n\ntype Command struct{{}}\n\n{methods}func (c *Command) Execute() {{}}\n"
                ),
            ),
            (
                "a_test.go",
                "package shop\n\nfunc TestA(t *T) { (&Command{}).Execute() }\n",
            ),
            (
                "b_test.go",
                "package shop\n\nfunc TestB(t *T) { (&Command{}).Execute() }\n",
            ),
        ],
    );
    assert!(text.contains("has Execute, Set0"), "{text}");
}

/// fastify's `server.listen` in a library file came first, its main fifth among ten examples.
#[test]
fn a_packages_own_entry_comes_first_and_examples_last() {
    let text = of_kind(
        Kind::Scan,
        &[
            (
                "package.json",
                "{\n  \"name\": \"web\",\n  \"main\": \"web.js\",\n  \"bin\": {\n    \"web\": \"cli.js\"\n  }\n}\n",
            ),
            (
                "web.js",
                "const server = require('./lib/server')\nmodule.exports = server\n",
            ),
            ("cli.js", "require('./web')\n"),
            (
                "lib/server.js",
                "const http = require('node:http')\nfunction open () {\n  const server = http.createServer()\n  server.listen(80)\n}\nmodule.exports = { open }\n",
            ),
            (
                "examples/one.js",
                "const http = require('node:http')\nhttp.createServer().listen(80)\n",
            ),
        ],
    );
    let (_, entries) = text.split_once("## Entry points\n").unwrap();
    let entries = entries.split("\n## ").next().unwrap();
    let lines: Vec<&str> = entries.lines().collect();
    assert!(
        lines[0].starts_with("- package.json:5 ") && lines[0].contains("program web"),
        "{text}"
    );
    assert!(lines[1].starts_with("- web.js:"), "{text}");
    assert!(!entries.contains("lib/server.js"), "{text}");
}

/// `--kind tests --path src` found no test: they are in a folder next to it.
#[test]
fn the_tests_of_a_part_are_found_wherever_they_are() {
    let files = [
        ("src/lend/__init__.py", ""),
        (
            "src/lend/store.py",
            "class Store:\n    def put(self):\n        return 1\n",
        ),
        (
            "src/other/web.py",
            "class Web:\n    def serve(self):\n        return 1\n",
        ),
        (
            "tests/test_store.py",
            "from lend.store import Store\n\n\ndef test_store():\n    assert Store()\n",
        ),
        (
            "tests/test_web.py",
            "from other.web import Web\n\n\ndef test_web():\n    assert Web()\n",
        ),
    ];
    let folder = tree(&files);
    let digest_of = |path: &str| {
        let scope = Scope::of(&[RelativePath::parse(path).unwrap()]);
        let survey = Survey::read_for(
            Kind::Tests,
            &Disk::real(),
            folder.path(),
            &scope,
            &mut |_| {},
        )
        .unwrap();
        let text = digest(Kind::Tests, &survey, Limits::SUMMARY).text;
        assert_cited(folder.path(), &text);
        text
    };
    let of_lend = digest_of("src/lend");
    assert!(
        of_lend.contains("- tests/test_store.py:4 `def test_store():` 1 test in 1 file"),
        "{of_lend}"
    );
    assert!(!of_lend.contains("test_web"), "{of_lend}");
    assert!(!of_lend.contains("src/other"), "{of_lend}");
    let of_src = digest_of("src");
    assert!(of_src.contains("2 tests in 2 files"), "{of_src}");
}

#[test]
fn everything_is_shown_without_a_limit() {
    let mut files: Vec<(String, String)> = (0..300)
        .map(|at| {
            let about = format!("\"\"\"Part {at} of a shop that sells many things.\"\"\"\n");
            let body = format!("class Thing{at}:\n    \"\"\"A thing that is sold.\"\"\"\n\n    def sell(self):\n        return {at}\n");
            (format!("shop/p{at}.py"), format!("{about}\n\n{body}"))
        })
        .collect();
    files.push(("README.md".to_owned(), "# Shop\n".to_owned()));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    let folder = tree(&files);
    let survey = survey(folder.path());
    for kind in [Kind::Scan, Kind::Api] {
        let cut = digest(kind, &survey, Limits::SUMMARY);
        assert!(cut.left_out > 0, "{kind}\n{}", cut.text);
        assert!(cut.text.len() <= 10_240, "{kind}");
        assert!(
            cut.text
                .ends_with("with `--all`, one section with `--section NAME`"),
            "{}",
            cut.text
        );
        let whole = digest(kind, &survey, Limits::ALL);
        assert_eq!(whole.left_out, 0, "{kind}");
        assert!(!whole.text.contains("more"), "{}", whole.text);
        for at in 0..300 {
            assert!(
                whole.text.contains(&format!("shop/p{at}.py:")),
                "{kind} {at}"
            );
        }
        assert_cited(folder.path(), &whole.text);
    }
}

/// The digest cut the line that shows the use of a crate off before the crate's name.
#[test]
fn a_quote_that_shows_a_package_contains_its_name() {
    let text = of_kind(
        Kind::Deps,
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"shelf\"\n[dependencies]\nserde_json = \"1\"\nhyper-util = \"1\"\n",
            ),
            (
                "src/lib.rs",
                "pub struct Shelf;\n\nfn a_function_with_a_longer_name_than_is_shown(of: usize) -> Result<serde_json::Value, ()> {\n    Err(())\n}\n\n\
                 #[cfg(test)]\nmod tests {\n    fn another_function_with_a_longer_name(of: usize) -> hyper_util::Body {}\n}\n",
            ),
        ],
    );
    let shown = |name: &str, line: u32| {
        let end = text.find(&format!("` [src/lib.rs:{line}]"));
        let before = &text[..end.unwrap_or_else(|| panic!("{line}\n{text}"))];
        let quote = before.rsplit('`').next().unwrap();
        assert!(quote.contains(name), "{quote}\n{text}");
    };
    shown("serde_json", 3);
    shown("hyper_util", 9);
}
