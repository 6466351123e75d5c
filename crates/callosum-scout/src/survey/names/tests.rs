//! Tests of names that mean a declaration of another file, in small trees of each language.

use callosum_host::Disk;
use callosum_source::walk::{RelativePath, Scope};

use crate::{
    file_role::Role,
    fixture::{survey, tree},
    survey::Survey,
};

/// Names that files use of each other, as "from uses name of to".
fn names(survey: &Survey) -> Vec<String> {
    let path = |at: usize| &survey.files[at].path;
    let between = survey
        .links
        .names
        .iter()
        .filter(|used| used.from != used.to);
    let mut names: Vec<String> = between
        .map(|used| {
            format!(
                "{} uses {} of {}",
                path(used.from),
                used.name,
                path(used.to)
            )
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The files that lean on each other when they run.
fn edges(survey: &Survey) -> Vec<String> {
    let path = |at: usize| &survey.files[at].path;
    let edges = survey.links.uses();
    edges
        .map(|edge| format!("{} -> {}", path(edge.from), path(edge.to)))
        .collect()
}

#[track_caller]
pub(super) fn check_names(files: &[(&str, &str)], expected: &[&str]) {
    let folder = tree(files);
    assert_eq!(names(&survey(folder.path())), expected);
}

#[track_caller]
pub(super) fn check_edges(files: &[(&str, &str)], expected: &[&str]) {
    let folder = tree(files);
    assert_eq!(edges(&survey(folder.path())), expected);
}

#[test]
fn a_script_uses_only_what_an_import_or_an_imported_module_says() {
    check_names(
        &[
            ("package.json", "{\"name\": \"x\", \"main\": \"main.js\"}"),
            (
                "lib/clock.js",
                "function now () {}\nfunction validate () {}\nfunction handler () {}\nmodule.exports = { now, validate, handler }\n",
            ),
            (
                "lib/server.js",
                "exports.createServer = function createServer () {}\n",
            ),
            (
                "main.js",
                "const clock = require('./lib/clock')\nconst { validate: check } = require('./lib/clock')\nmodule.exports = function start () { check(); return clock.now() }\n",
            ),
            (
                "test/a.test.js",
                "const http = require('node:http')\nconst x = require('../lib/server')\nfastify(Date.now())\nhttp.createServer()\nconst o = { validate () { return true }, handler: 1 }\no.handler()\nfunction f (now) { return now() }\n",
            ),
        ],
        &[
            "main.js uses now of lib/clock.js",
            "main.js uses validate of lib/clock.js",
        ],
    );
}

#[test]
fn a_script_module_is_used_under_any_local_name() {
    check_names(
        &[
            ("package.json", "{\"name\": \"x\", \"main\": \"main.js\"}"),
            (
                "lib/four.js",
                "function fourOhFour () {}\nmodule.exports = fourOhFour\n",
            ),
            ("lib/again.js", "module.exports = require('./four')\n"),
            (
                "lib/esm.mjs",
                "export default class Box {}\nexport function pack() {}\n",
            ),
            (
                "main.js",
                "const build404 = require('./lib/four')\nconst same = require('./lib/again')\nasync function go () {\n  const { pack: p } = await import('./lib/esm.mjs')\n  p(build404(), same())\n}\n",
            ),
            (
                "other.mjs",
                "import Crate from './lib/esm.mjs'\nnew Crate()\n",
            ),
        ],
        &[
            "main.js uses fourOhFour of lib/four.js",
            "main.js uses pack of lib/esm.mjs",
            "other.mjs uses Box of lib/esm.mjs",
        ],
    );
}

#[test]
fn scripts_lean_on_what_they_require_wherever_that_is_written() {
    check_edges(
        &[
            ("package.json", "{\"name\": \"x\", \"main\": \"main.js\"}"),
            ("a.js", "exports.y = 1\n"),
            ("b.js", "module.exports = function b () {}\n"),
            ("c.js", "exports.c = 1\n"),
            ("d.mjs", "export const d = 1\n"),
            ("e.mjs", "export * from './d.mjs'\n"),
            (
                "main.js",
                "const y = require('./a').y\nuse(require('./b')(1))\nfunction later () { return import('./c.js') }\nmodule.exports = require('./e.mjs')\n",
            ),
        ],
        &[
            "e.mjs -> d.mjs",
            "main.js -> a.js",
            "main.js -> b.js",
            "main.js -> c.js",
            "main.js -> e.mjs",
        ],
    );
}

#[test]
fn what_runs_comes_before_its_declaration_file() {
    check_edges(
        &[
            (
                "package.json",
                "{\"name\": \"x\", \"main\": \"main.js\", \"types\": \"main.d.ts\"}",
            ),
            ("main.d.ts", "export declare function start(): void;\n"),
            ("main.js", "exports.start = function start () {}\n"),
            ("src/use.js", "require('../main').start()\n"),
            (
                "test/a.test.js",
                "const { start } = require('..')\nstart()\n",
            ),
            (
                "test/b.test.ts",
                "import { start } from '../main';\nstart();\n",
            ),
        ],
        &[
            "src/use.js -> main.js",
            "test/a.test.js -> main.js",
            "test/b.test.ts -> main.js",
        ],
    );
}

#[test]
fn packages_of_a_workspace_give_what_their_manifests_export() {
    let base = "{ /* shared */ \"compilerOptions\": { \"paths\": { \"~/*\": [\"./src/*\"], }, } }";
    check_edges(
        &[
            (
                "package.json",
                "{\"name\": \"root\", \"workspaces\": [\"ui\", \"app\"]}",
            ),
            (
                "ui/package.json",
                "{\"name\": \"@x/ui\", \"exports\": {\".\": {\"types\": \"./dist/index.d.ts\", \"import\": \"./dist/index.js\"}, \"./parts/*\": \"./lib/*.mjs\"}}",
            ),
            ("ui/src/index.ts", "export const ui = 1;\n"),
            ("ui/lib/card.mjs", "export const card = 1\n"),
            (
                "app/package.json",
                "{\"name\": \"app\", \"imports\": {\"#db\": {\"default\": \"./store/db.js\"}}}",
            ),
            ("app/tsconfig.base.json", base),
            ("app/tsconfig.json", "{\"extends\": \"./tsconfig.base\"}"),
            ("app/store/db.js", "export const db = 1\n"),
            ("app/src/view.tsx", "export const view = 1;\n"),
            (
                "app/src/main.ts",
                "import { ui } from '@x/ui';\nimport { card } from '@x/ui/parts/card';\nimport { db } from '#db';\nimport { view } from '~/view.js';\n",
            ),
        ],
        &[
            "app/src/main.ts -> app/src/view.tsx",
            "app/src/main.ts -> app/store/db.js",
            "app/src/main.ts -> ui/lib/card.mjs",
            "app/src/main.ts -> ui/src/index.ts",
        ],
    );
}

#[test]
fn types_alone_are_no_edges_of_running_code() {
    let files = [
        ("package.json", "{\"name\": \"x\"}"),
        (
            "pyproject.toml",
            "[project]\nname = \"lend\"\ndependencies = []\n",
        ),
        (
            "src/a.ts",
            "import type { B } from './b';\nexport interface A { b: B }\n",
        ),
        (
            "src/b.ts",
            "import { type A } from './a';\nexport type { A } from './a';\nexport interface B { a: A }\n",
        ),
        ("lend/__init__.py", ""),
        (
            "lend/app.py",
            "import typing as t\nfrom .store import Store\nif t.TYPE_CHECKING:\n    from .web import Web\n    from typing_extensions import Self\n",
        ),
        ("lend/store.py", "class Store:\n    pass\n"),
        ("lend/web.py", "from .app import x\nclass Web:\n    pass\n"),
    ];
    check_edges(
        &files,
        &["lend/app.py -> lend/store.py", "lend/web.py -> lend/app.py"],
    );
    let folder = tree(&files);
    let survey = survey(folder.path());
    let leaning = survey.links.leaning().count();
    assert_eq!(leaning, 5, "{:?}", survey.links.edges);
}

#[test]
fn python_names_follow_packages_modules_and_receivers() {
    check_names(
        &[
            ("pyproject.toml", "[project]\nname = \"lend\"\n"),
            (
                "src/lend/__init__.py",
                "from . import json as json\nfrom .app import App as App\n",
            ),
            (
                "src/lend/app.py",
                "from .sansio.app import App as Base\n\n\nclass App(Base):\n    pass\n",
            ),
            ("src/lend/sansio/__init__.py", ""),
            ("src/lend/sansio/app.py", "class App:\n    pass\n"),
            (
                "src/lend/json/__init__.py",
                "import json\n\n\ndef dumps(x):\n    return json.dumps(x)\n",
            ),
            (
                "tests/test_app.py",
                "import lend\nfrom lend import App as A\n\n\ndef test_a(dumps, other):\n    dumps(1)\n    other.dumps(2)\n    A(dumps=3)\n    lend.json.dumps(4)\n",
            ),
        ],
        &[
            "src/lend/__init__.py uses App of src/lend/app.py",
            "src/lend/app.py uses App of src/lend/sansio/app.py",
            "tests/test_app.py uses App of src/lend/app.py",
            "tests/test_app.py uses dumps of src/lend/json/__init__.py",
        ],
    );
}

#[test]
fn a_part_of_a_python_tree_keeps_the_roots_of_the_whole() {
    let folder = tree(&[
        ("pyproject.toml", "[project]\nname = \"lend\"\n"),
        ("src/lend/__init__.py", ""),
        (
            "src/lend/json/__init__.py",
            "import json\nfrom . import provider\n",
        ),
        (
            "src/lend/json/provider.py",
            "import json\nfrom lend.json import tag\n",
        ),
        ("src/lend/json/tag.py", "from ..app import App\n"),
        ("src/lend/app.py", "class App:\n    pass\n"),
    ]);
    let scope = Scope {
        paths: vec![RelativePath::parse("src/lend/json").unwrap()],
    };
    let survey = Survey::read(&Disk::real(), folder.path(), &scope, &mut |_| {}).unwrap();
    assert_eq!(
        edges(&survey),
        [
            "src/lend/json/__init__.py -> src/lend/json/provider.py",
            "src/lend/json/provider.py -> src/lend/json/tag.py",
        ]
    );
}

#[test]
fn the_standard_library_is_no_module_next_to_the_file() {
    // A root that is itself a package, and a package below a folder that is none.
    check_edges(
        &[
            ("__init__.py", "from .json import dumps\n"),
            ("json/__init__.py", "import json\nimport types\n"),
            ("types.py", "x = 1\n"),
            ("json/provider.py", "import json\n"),
        ],
        &["__init__.py -> json/__init__.py"],
    );
    check_edges(
        &[
            ("lend/json/__init__.py", "import json\n"),
            (
                "lend/json/provider.py",
                "import json\nfrom json import dumps\n",
            ),
        ],
        &[],
    );
}

#[test]
fn a_rust_name_of_another_crate_is_not_ours() {
    check_names(
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"shelf\"\n\n[dependencies]\nhyper = \"1\"\n",
            ),
            (
                "src/lib.rs",
                "pub mod routing;\npub mod serve;\npub use routing::MethodRouter;\n",
            ),
            (
                "src/routing.rs",
                "pub struct MethodRouter;\npub fn on() {}\npub fn get() {}\npub fn map() {}\n",
            ),
            (
                "src/serve.rs",
                "use crate::routing;\npub fn serve() {\n    hyper::upgrade::on(());\n    routing::get();\n    let map = || ();\n    map();\n}\n",
            ),
            (
                "tests/a.rs",
                "use shelf::{MethodRouter as Router, routing::*};\nfn f(_: Router) { hyper::upgrade::on(()); let get = 1; x.on(); assert!(map()); }\n",
            ),
        ],
        &[
            "src/lib.rs uses MethodRouter of src/routing.rs",
            "src/serve.rs uses get of src/routing.rs",
            "tests/a.rs uses MethodRouter of src/routing.rs",
            "tests/a.rs uses map of src/routing.rs",
        ],
    );
}

#[test]
fn modules_that_only_tests_declare_are_tests() {
    let folder = tree(&[
        ("Cargo.toml", "[package]\nname = \"shelf\"\n"),
        (
            "src/lib.rs",
            "pub mod book;\npub mod shelf;\n#[cfg(test)]\nmod probe;\n#[cfg(any(test, feature = \"test-util\"))]\npub mod fake;\n#[cfg(any(test, feature = \"std\"))]\npub mod io;\n",
        ),
        (
            "src/book.rs",
            "pub struct Book;\n#[cfg(test)]\nmod tests {\n    use crate::shelf::Shelf;\n    #[crate::test]\n    fn t() { crate::probe::run(); }\n}\n",
        ),
        (
            "src/shelf.rs",
            "use crate::book::Book;\npub struct Shelf(Book);\n",
        ),
        ("src/probe.rs", "mod inner;\npub fn run() {}\n"),
        ("src/probe/inner.rs", "pub fn deep() {}\n"),
        ("src/fake.rs", "pub fn fake() {}\n"),
        ("src/io.rs", "pub fn io() {}\n"),
    ]);
    let survey = survey(folder.path());
    assert_eq!(edges(&survey), ["src/shelf.rs -> src/book.rs"]);
    let role = |path: &str| survey.file(path).unwrap().role;
    assert_eq!(role("src/probe.rs"), Role::Test);
    assert_eq!(role("src/probe/inner.rs"), Role::Test);
    assert_eq!(role("src/fake.rs"), Role::Test);
    for path in ["src/shelf.rs", "src/io.rs"] {
        assert_eq!(role(path), Role::Source, "{path}");
    }
}

#[test]
fn go_names_belong_to_packages() {
    check_names(
        &[
            ("go.mod", "module example.org/x\n"),
            (
                "cmd.go",
                "package x\n\nimport \"example.org/x/doc\"\n\nfunc Run() { render := 1; use(render); doc.Gen(Config{Name: 1}) }\n",
            ),
            ("cmd_win.go", "package x\n\nfunc hook() {}\n"),
            (
                "cmd_unix.go",
                "package x\n\nfunc hook() {}\nfunc render() {}\nfunc Name() {}\n",
            ),
            (
                "conf.go",
                "package x\n\ntype Config struct{ Name int }\n\nfunc init() { hook() }\n",
            ),
            ("doc/doc.go", "package doc\n\nfunc Gen(c any) {}\n"),
            (
                "x_test.go",
                "package x_test\n\nimport c \"example.org/x\"\n\nfunc TestRun(t *T) { c.Run(); cmd.Gen() ; Config() }\n",
            ),
        ],
        &[
            "cmd.go uses Config of conf.go",
            "cmd.go uses Gen of doc/doc.go",
            "conf.go uses hook of cmd_unix.go",
            "x_test.go uses Run of cmd.go",
        ],
    );
}

#[test]
fn java_types_are_those_of_the_package_or_imported() {
    check_names(
        &[
            (
                "src/main/java/shop/Order.java",
                "package shop;\npublic class Order { Item item; Map map; }\n",
            ),
            (
                "src/main/java/shop/Item.java",
                "package shop;\npublic class Item {}\n",
            ),
            (
                "src/main/java/other/Map.java",
                "package other;\npublic class Map {}\n",
            ),
            (
                "src/main/java/other/Item.java",
                "package other;\npublic class Item {}\n",
            ),
            (
                "src/test/java/shop/OrderTest.java",
                "package shop;\nimport other.*;\nclass OrderTest { Order o; Map m = Map.of(); class Item {} Item i; }\n",
            ),
        ],
        &[
            "src/main/java/shop/Order.java uses Item of src/main/java/shop/Item.java",
            "src/test/java/shop/OrderTest.java uses Map of src/main/java/other/Map.java",
            "src/test/java/shop/OrderTest.java uses Order of src/main/java/shop/Order.java",
        ],
    );
}

#[test]
fn c_names_are_those_of_included_headers() {
    check_names(
        &[
            (
                "queue.h",
                "#ifndef QUEUE_H\n#define QUEUE_H\nint queue_push(int x);\nint size(void);\n#endif\n",
            ),
            ("all.h", "#include \"queue.h\"\n"),
            ("log.h", "void log_line(const char *text);\n"),
            (
                "main.c",
                "#include \"all.h\"\nint main(void) { int size = 1; log_line(\"x\"); return queue_push(size); }\n",
            ),
        ],
        &["main.c uses queue_push of queue.h"],
    );
}
