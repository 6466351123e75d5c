//! Interfaces of trees for other code, by language.

use super::*;

/// Modules and functions inside of a macro for conditional compilation are offered like others, on
/// their own lines.
#[test]
fn items_in_the_braces_of_a_macro_are_offered() {
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
    for line in [
        "2 declarations in 2 modules",
        "- src/lib.rs:6 `pub fn spawn() {}` shelf, 1 declaration\n",
        "- src/runtime.rs:1 `cfg_net! { pub struct Runtime; }` shelf::runtime, 1 declaration; has block_on\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// Two types of one name in one file are two, each with its own methods.
#[test]
fn a_module_with_a_body_is_listed_under_its_own_path() {
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
    for line in [
        "3 declarations in 2 modules",
        "- src/lib.rs:1 `pub struct Widget;` shelf, 1 declaration; has outer\n",
        "- src/lib.rs:7 `pub mod inner` shelf::inner, 2 declarations: The insides\n",
        "- src/lib.rs:9 `pub struct Widget;` inner::Widget; has within\n",
        "- src/lib.rs:8 `pub struct Gadget;` inner::Gadget",
        "- src/lib.rs:11 `pub fn within(&self) {}` inner::Widget; 1 method",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
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
            "- src/macros.rs:3 `macro_rules! shelf` shelf, 1 declaration: Makes a shelf\n"
        ),
        "{text}"
    );
    assert!(!text.contains("mine"), "{text}");
}

#[test]
fn a_c_type_is_shown_by_its_name_and_its_first_line() {
    let text = of_kind(
        Kind::Api,
        &[(
            "include/v.h",
            "#ifndef V_H\n#define V_H\ntypedef struct {\n  int size;\n} value;\nvalue value_make(void);\n#endif\n",
        )],
    );
    assert!(
        text.contains("- include/v.h:3 `typedef struct` include/v.h, 2 declarations; value"),
        "{text}"
    );
}

/// A type of a C file is that file's own; another of the same name elsewhere is not a mention.
#[test]
fn private_declarations_of_a_c_file_are_named_by_no_other() {
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

/// Each part of a Go package is in the graph, with any kind of dependency on the others.
#[test]
fn every_part_of_a_go_package_is_listed() {
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
        text.contains("- a.go:4 `routes []route` → b.go (layer 1; 5 lines; used by 0)\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "- c.go:3 `const root = 1` uses no other part (layer 0; 3 lines; used by 0)\n"
        ),
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
            "- lib/response.js:8 `res.send = function send(body) {}` res; 1 method: Sends it"
        ),
        "{text}"
    );
    assert!(!text.contains("use strict"), "{text}");
}

/// CAL-EXE-3: the names in the README are the ones that users call, and come before those that the
/// library's own files name most.
#[test]
fn names_in_the_readme_come_first() {
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

/// CAL-EXE-3: a request for a part lists its declarations, methods and tests, and no conclusion
/// that depends on the unread rest.
#[test]
fn a_part_is_described_in_full_and_not_called_closed() {
    let folder = tree(&RUST);
    let scope = Scope::of(&[RelativePath::parse("src/shelf.rs").unwrap()]);
    let survey = Survey::read(&Disk::real(), folder.path(), &scope, &mut |_| {}).unwrap();
    let api = digest(Kind::Api, &survey, Limits::SUMMARY).text;
    assert_cited(folder.path(), &api);
    assert!(!api.contains("Nothing is offered"), "{api}");
    for line in [
        "- src/shelf.rs:1 `Where books stand.` src/shelf.rs, 1 declaration\n",
        "- src/shelf.rs:6 `pub struct Shelf` has put",
        "- src/shelf.rs:12 `pub fn put(&mut self, book: Book)` Shelf; 1 method",
    ] {
        assert!(api.contains(line), "{line}\n{api}");
    }
}
