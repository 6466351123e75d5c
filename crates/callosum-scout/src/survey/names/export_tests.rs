//! Tests of names that lead through exports, type-only imports and namespaces.

use callosum_source::outline::Purpose;

use super::tests::{check_edges, check_names};
use crate::fixture::{survey, tree};

/// A name that only a type checker imports is used for types, wherever it is used.
#[test]
fn names_imported_for_a_type_checker_are_not_used_by_running_code() {
    let folder = tree(&[
        ("lib/__init__.py", ""),
        (
            "lib/app.py",
            "class App: ...\n_state = {}\n__version__ = \"1\"\n",
        ),
        (
            "lib/log.py",
            "import typing as t\nif t.TYPE_CHECKING:\n    from .app import App\n\ndef log(app: App): ...\n",
        ),
        (
            "lib/run.py",
            "from .app import _state, __version__\nimport lib.app\n\ndef run(): return lib.app.App()\n",
        ),
        (
            "web/kit.ts",
            "export interface Kit {}\nexport function make(): Kit { return {} }\n",
        ),
        (
            "web/use.ts",
            "import { make, type Kit } from './kit';\nexport const kit: Kit = make();\n",
        ),
        ("web/pass.ts", "export { make, type Kit } from './kit';\n"),
    ]);
    let survey = survey(folder.path());
    let runs = survey.links.names.iter();
    let runs = runs.filter(|used| used.from != used.to && used.purpose == Purpose::Run);
    let mut runs: Vec<String> = runs
        .map(|used| format!("{} {}", survey.files[used.from].path, used.name))
        .collect();
    runs.sort();
    runs.dedup();
    assert_eq!(
        runs,
        [
            "lib/run.py App",
            "lib/run.py __version__",
            "lib/run.py _state",
            "web/pass.ts make",
            "web/use.ts make",
        ]
    );
}

/// Of two functions that import under one local name, each means its own.
#[test]
fn imports_inside_functions_are_followed_one_by_one() {
    check_names(
        &[
            ("a.py", "def one(): ...\n"),
            ("b.py", "def two(): ...\n"),
            (
                "use.py",
                "def x():\n    from a import one as f\n\ndef y():\n    from b import two as f\n",
            ),
        ],
        &["use.py uses one of a.py", "use.py uses two of b.py"],
    );
}

#[test]
fn names_of_a_script_follow_what_it_exports_apart() {
    check_names(
        &[
            ("package.json", "{\"name\": \"x\"}"),
            (
                "keys.js",
                "const keys = { a: 1 }\nlet size = 2\nlet inner = 3\nmodule.exports = keys\nmodule.exports.size = size\n",
            ),
            ("noop.js", "module.exports = function noop () {}\n"),
            ("limits.js", "module.exports.limits = { most: 1 }\n"),
            (
                "pass.js",
                "const all = require('./limits')\nmodule.exports.limits = all.limits\n",
            ),
            (
                "use.js",
                "const keys = require('./keys')\nconst { size } = require('./keys')\nconst noop = require('./noop')\n\
                 const { limits } = require('./pass')\nnoop(keys, size, limits)\n",
            ),
            ("call.js", "require('./keys').size.toFixed()\n"),
        ],
        &[
            "call.js uses size of keys.js",
            "pass.js uses limits of limits.js",
            "use.js uses keys of keys.js",
            "use.js uses limits of limits.js",
            "use.js uses noop of noop.js",
            "use.js uses size of keys.js",
        ],
    );
}

#[test]
fn names_of_types_follow_namespaces_declarations_and_casts() {
    check_names(
        &[
            (
                "core.ts",
                "interface Real {}\nexport const Real = 1;\nexport type Shape = 2;\n",
            ),
            (
                "all.ts",
                "import * as core from './core';\nexport { core };\n",
            ),
            ("index.ts", "export * from './all';\n"),
            (
                "types.d.ts",
                "interface Hidden {}\nexport interface Seen {}\n",
            ),
            (
                "use.ts",
                "import * as z from './index';\nimport { Hidden } from './types';\n\
                 const a = 1 as z.core.Shape;\nz.core.Real satisfies Hidden;\n",
            ),
            ("name.ts", "import { core } from './index';\ncore.Real;\n"),
        ],
        &[
            "name.ts uses Real of core.ts",
            "use.ts uses Hidden of types.d.ts",
            "use.ts uses Real of core.ts",
            "use.ts uses Shape of core.ts",
        ],
    );
}

/// Zod publishes its sources together with what is built from them, under a condition of its own.
#[test]
fn a_condition_for_sources_comes_before_what_is_built() {
    check_edges(
        &[
            (
                "package.json",
                "{\"name\": \"kit\", \"exports\": {\".\": {\"types\": \"./index.d.ts\", \"import\": \"./index.js\", \
                 \"@kit/source\": \"./src/index.ts\"}}}",
            ),
            ("index.js", "exports.make = function () {}\n"),
            ("index.d.ts", "export function make(): void;\n"),
            ("src/index.ts", "export function make() {}\n"),
            (
                "src/tests/make.ts",
                "import { make } from 'kit';\nmake();\n",
            ),
        ],
        &["src/tests/make.ts -> src/index.ts"],
    );
}

#[test]
fn members_of_a_default_object_are_names_of_its_module() {
    check_names(
        &[
            (
                "kit.js",
                "const isArray = () => 1\nfunction trim() {}\nexport default { isArray, cut: trim }\n",
            ),
            (
                "use.js",
                "import kit from './kit.js'\nkit.isArray(kit.cut())\n",
            ),
        ],
        &[
            "use.js uses isArray of kit.js",
            "use.js uses trim of kit.js",
        ],
    );
}

#[test]
fn go_keys_of_maps_dot_imports_and_replaced_modules_name_declarations() {
    let files = [
        (
            "go.mod",
            "module example.org/x\n\nreplace example.org/y v1.0.0 => ./z\n",
        ),
        ("a.go", "package x\n\ntype A struct{ Low int }\n"),
        ("level.go", "package x\n\nconst Low = 1\n\nvar Table = 2\n"),
        (
            "names.go",
            "package x\n\nvar names = map[int]string{Low: \"low\"}\n\nvar one = A{Low: 1}\n",
        ),
        (
            "x_test.go",
            "package x_test\n\nimport . \"example.org/x\"\n\nfunc use() { _ = Table }\n",
        ),
        ("z/z.go", "package y\n\nfunc Run() {}\n"),
        (
            "cmd/main.go",
            "package main\n\nimport \"example.org/y\"\n\nfunc main() { y.Run() }\n",
        ),
    ];
    check_names(
        &files,
        &[
            "cmd/main.go uses Run of z/z.go",
            "names.go uses A of a.go",
            "names.go uses Low of level.go",
            "x_test.go uses Table of level.go",
        ],
    );
    check_edges(
        &files,
        &[
            "cmd/main.go -> z/z.go",
            "names.go -> a.go",
            "names.go -> level.go",
            "x_test.go -> level.go",
        ],
    );
}
