//! Imports against small trees.

use std::path::PathBuf;

use super::*;
use crate::{
    language::Language,
    outline::{Import, ImportKind, Purpose, outline},
    walk::{SourceFile, SourceTree},
};

fn tree(paths: &[&str]) -> SourceTree {
    let mut paths = paths.to_vec();
    paths.sort_unstable();
    let files = paths.iter().map(|path| SourceFile {
        path: (*path).to_owned(),
        bytes: 0,
        language: Language::of(path.as_ref()),
    });
    SourceTree {
        root: PathBuf::new(),
        files: files.collect(),
        skipped: Vec::new(),
    }
}

fn package(ecosystem: Ecosystem, name: &str, folder: &str, dependencies: &[&str]) -> Package {
    let dependencies = dependencies.iter().map(|name| {
        let (alias, package) = name.split_once('=').unzip();
        Dependency {
            package: package.unwrap_or(name).to_owned(),
            alias: alias.map(str::to_owned),
        }
    });
    Package {
        ecosystem,
        name: name.to_owned(),
        folder: folder.to_owned(),
        entry: None,
        exports: Vec::new(),
        dependencies: dependencies.collect(),
    }
}

/// A tree, its packages and what its imports are expected to mean.
struct Case<'a> {
    files: &'a [&'a str],
    packages: Vec<Package>,
    aliases: Vec<Alias>,
}

impl Case<'_> {
    /// Each import of `source`, standing at `from`, means what `expected` says: a path, `pkg:name`,
    /// `std` or `?`.
    #[track_caller]
    fn check(&self, from: &str, source: &str, expected: &[&str]) {
        let tree = tree(self.files);
        let packages = Packages {
            packages: self.packages.clone(),
            aliases: self.aliases.clone(),
        };
        let resolver = Resolver::new(&tree, &packages);
        let language = Language::of(from.as_ref()).unwrap();
        let found: Vec<_> = outline(language, from, source)
            .imports
            .iter()
            .flat_map(|import| resolver.resolve_all(from, language, import))
            .map(|target| match target {
                Target::File(index) => tree.files[index].path.clone(),
                Target::Package(name) => format!("pkg:{name}"),
                Target::Standard => "std".to_owned(),
                Target::Unknown => "?".to_owned(),
            })
            .collect();
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn rust_paths_lead_through_the_module_tree() {
    let case = Case {
        files: &[
            "src/lib.rs",
            "src/disk/mod.rs",
            "src/disk/file.rs",
            "src/net.rs",
            "src/net/tcp.rs",
            "src/bin/tool.rs",
            "tests/it/main.rs",
            "tests/it/deep.rs",
        ],
        packages: vec![package(
            Ecosystem::Cargo,
            "my-crate",
            "",
            &["serde", "json=serde_json"],
        )],
        aliases: Vec::new(),
    };
    case.check(
        "src/lib.rs",
        "mod disk; mod net; mod gone; use disk::file::File; use self::net::Tcp; use crate::Other;",
        &[
            "src/disk/mod.rs",
            "src/net.rs",
            "?",
            "src/disk/file.rs",
            "src/net.rs",
            "src/lib.rs",
        ],
    );
    case.check(
        "src/disk/file.rs",
        "use super::Disk; use super::super::net::tcp; use crate::net::{self, tcp::Tcp}; use super::*;",
        &["src/disk/mod.rs", "src/net/tcp.rs", "src/net.rs", "src/net/tcp.rs", "src/disk/mod.rs"],
    );
    case.check(
        "src/net.rs",
        "mod tcp; use tcp::Tcp; use super::X;",
        &["src/net/tcp.rs", "src/net/tcp.rs", "src/lib.rs"],
    );
    case.check(
        "src/net/tcp.rs",
        "mod tests { use super::*; mod inner { use super::super::super::Y; } }",
        &["src/net/tcp.rs", "src/net.rs"],
    );
    case.check(
        "src/bin/tool.rs",
        "use my_crate::disk::file; use serde::Serialize; use json::Value; use std::fs; use ::core::fmt; use Kind::A;",
        &["src/disk/file.rs", "pkg:serde", "pkg:serde_json", "std", "std", "?"],
    );
    case.check(
        "tests/it/main.rs",
        "mod deep; use crate::deep::X; fn f() { json::x(); }",
        &["tests/it/deep.rs", "tests/it/deep.rs", "pkg:serde_json"],
    );
}

#[test]
fn a_test_named_like_its_crate_means_the_crate() {
    let case = Case {
        files: &[
            "src/lib.rs",
            "src/book.rs",
            "tests/shelf.rs",
            "tests/other.rs",
        ],
        packages: vec![package(Ecosystem::Cargo, "shelf", "", &[])],
        aliases: Vec::new(),
    };
    case.check("tests/shelf.rs", "use shelf::book::Book;", &["src/book.rs"]);
    case.check("tests/other.rs", "use shelf::book::Book;", &["src/book.rs"]);
}

#[test]
fn rust_crates_of_the_workspace_are_files() {
    let case = Case {
        files: &[
            "a/src/lib.rs",
            "a/src/api.rs",
            "b/src/main.rs",
            "b/src/x.rs",
            "c/lib/root.rs",
        ],
        packages: vec![
            package(Ecosystem::Cargo, "crate-a", "a", &[]),
            package(
                Ecosystem::Cargo,
                "crate-b",
                "b",
                &["crate-a", "renamed=crate-c"],
            ),
            Package {
                entry: Some("c/lib/root.rs".to_owned()),
                ..package(Ecosystem::Cargo, "crate-c", "c", &[])
            },
        ],
        aliases: Vec::new(),
    };
    case.check(
        "b/src/x.rs",
        "use crate_a::api::Api; use crate_a::Item; use renamed::X; use crate::Main; #[path = \"../y.rs\"] mod y;",
        &["a/src/api.rs", "a/src/lib.rs", "c/lib/root.rs", "b/src/main.rs", "?"],
    );
}

#[test]
fn python_imports_are_relative_or_below_a_root() {
    let case = Case {
        files: &[
            "src/shop/__init__.py",
            "src/shop/models.py",
            "src/shop/views/__init__.py",
            "src/shop/views/home.py",
            "src/shop/types.py",
            "scripts/run.py",
            "scripts/helper.py",
            "tests/test_shop.py",
            "plugins/space/one/mod.py",
            "plugins/setup.py",
        ],
        packages: vec![
            package(Ecosystem::Python, "shop", "", &["PyYAML", "Flask-Login"]),
            package(Ecosystem::Python, "plugins", "plugins", &[]),
        ],
        aliases: Vec::new(),
    };
    case.check(
        "src/shop/views/home.py",
        "from . import x\nfrom .. import models, views\nfrom ..models import Order\nfrom .gone import y\nimport types",
        &[
            "src/shop/views/__init__.py",
            "src/shop/models.py",
            "src/shop/views/__init__.py",
            "src/shop/models.py",
            "?",
            "std",
        ],
    );
    case.check(
        "tests/test_shop.py",
        "import shop\nfrom shop.views import home, Other\nimport shop.models as m\nimport space.one.mod\nimport shop.built",
        &[
            "src/shop/__init__.py",
            "src/shop/views/__init__.py",
            "src/shop/views/home.py",
            "src/shop/models.py",
            "plugins/space/one/mod.py",
            "src/shop/__init__.py",
        ],
    );
    case.check(
        "scripts/run.py",
        "import helper, os.path, yaml, flask_login, PIL, numpy.linalg",
        &[
            "scripts/helper.py",
            "std",
            "pkg:PyYAML",
            "pkg:Flask-Login",
            "pkg:pillow",
            "pkg:numpy",
        ],
    );
}

#[test]
fn javascript_imports_find_extensions_indexes_aliases_and_packages() {
    let case = Case {
        files: &[
            "packages/app/src/main.ts",
            "packages/app/src/button.tsx",
            "packages/app/src/lib/index.ts",
            "packages/app/src/data.json",
            "packages/ui/src/index.ts",
            "packages/ui/src/card.ts",
            "packages/core/main.js",
        ],
        packages: vec![
            package(Ecosystem::Npm, "@shop/ui", "packages/ui", &[]),
            Package {
                entry: Some("packages/core/main.js".to_owned()),
                ..package(Ecosystem::Npm, "core", "packages/core", &[])
            },
        ],
        aliases: vec![Alias {
            folder: "packages/app".to_owned(),
            pattern: "@/*".to_owned(),
            target: "packages/app/src/*".to_owned(),
        }],
    };
    case.check(
        "packages/app/src/main.ts",
        "import './button.js'; import './lib'; import '../src/data.json'; import './gone'; import '@/button'; \
         import '@shop/ui'; import '@shop/ui/card'; import 'core'; import 'react-dom/client'; \
         import '@scope/x/y'; import 'node:fs'; import 'path'; import '../../../../out';",
        &[
            "packages/app/src/button.tsx",
            "packages/app/src/lib/index.ts",
            "packages/app/src/data.json",
            "?",
            "packages/app/src/button.tsx",
            "packages/ui/src/index.ts",
            "packages/ui/src/card.ts",
            "packages/core/main.js",
            "pkg:react-dom",
            "pkg:@scope/x",
            "std",
            "std",
            "?",
        ],
    );
}

#[test]
fn go_imports_are_folders_below_their_module() {
    let case = Case {
        files: &[
            "go.mod",
            "main.go",
            "store/a_test.go",
            "store/b.go",
            "sub/go.mod",
            "sub/x/x.go",
        ],
        packages: vec![
            package(
                Ecosystem::Go,
                "example.com/shop",
                "",
                &["github.com/spf13/cobra/v2"],
            ),
            package(Ecosystem::Go, "example.com/shop/sub", "sub", &[]),
        ],
        aliases: Vec::new(),
    };
    case.check(
        "main.go",
        "package main\nimport (\"fmt\"; \"net/http\"; \"example.com/shop/store\"; \"example.com/shop\"; \
         \"example.com/shop/sub/x\"; \"github.com/spf13/cobra/v2/doc\"; \"gitlab.com/a/b/c\"; \"example.com/shop/gone\")",
        &[
            "std",
            "std",
            "store/b.go",
            "main.go",
            "sub/x/x.go",
            "pkg:github.com/spf13/cobra/v2",
            "pkg:gitlab.com/a/b",
            "?",
        ],
    );
}

#[test]
fn java_imports_are_files_by_their_full_name() {
    let case = Case {
        files: &[
            "app/src/main/java/shop/Order.java",
            "app/src/main/java/shop/db/Store.java",
            "A.java",
        ],
        packages: vec![package(
            Ecosystem::Jvm,
            "app",
            "app",
            &["org.junit.jupiter:junit-jupiter"],
        )],
        aliases: Vec::new(),
    };
    case.check(
        "A.java",
        "import shop.Order; import static shop.Order.LIMIT; import shop.Order.State; import shop.db.*; \
         import java.util.List; import javax.inject.Inject; import org.junit.jupiter.api.Test; import com.google.common.base.X;",
        &[
            "app/src/main/java/shop/Order.java",
            "app/src/main/java/shop/Order.java",
            "app/src/main/java/shop/Order.java",
            "app/src/main/java/shop/db/Store.java",
            "std",
            "pkg:javax.inject",
            "pkg:org.junit.jupiter:junit-jupiter",
            "pkg:com.google.common",
        ],
    );
}

#[test]
fn c_includes_stand_beside_the_file_or_where_their_path_ends() {
    let case = Case {
        files: &[
            "src/a.c",
            "src/a.h",
            "src/util/log.h",
            "include/shop/queue.h",
            "deps/x/config.h",
            "src/config.h",
            "src/string.h",
        ],
        packages: Vec::new(),
        aliases: Vec::new(),
    };
    case.check(
        "src/util/b.c",
        "#include \"log.h\"\n#include \"../a.h\"\n#include <shop/queue.h>\n#include \"config.h\"\n#include <string.h>\n\
         #include <sys/types.h>\n#include <openssl/ssl.h>\n#include <zlib.h>\n#include \"gone.h\"\n#include <vector>\n",
        &[
            "src/util/log.h",
            "src/a.h",
            "include/shop/queue.h",
            "src/config.h",
            "std",
            "std",
            "pkg:openssl",
            "pkg:zlib",
            "?",
            "std",
        ],
    );
}

#[test]
fn a_hostile_import_finds_no_file() {
    let tree = tree(&["a.ts", "b.rs"]);
    let packages = Packages::default();
    let resolver = Resolver::new(&tree, &packages);
    for target in [
        "",
        ".",
        "..",
        "../../..",
        "/etc/passwd",
        "::",
        "*",
        "@",
        "super::super::super::x",
        "\u{0}",
    ] {
        for (from, language) in [
            ("a.ts", Language::TypeScript),
            ("b.rs", Language::Rust),
            ("x/y.py", Language::Python),
            ("z.go", Language::Go),
            ("A.java", Language::Java),
            ("a.c", Language::C),
        ] {
            let import = Import {
                target: target.to_owned(),
                kind: ImportKind::Use,
                names: vec![String::new()],
                bindings: Vec::new(),
                purpose: Purpose::Run,
                line: 1,
            };
            let found = resolver.resolve(from, language, &import);
            assert!(
                !matches!(found, Target::File(_)),
                "{target} in {from}: {found:?}"
            );
        }
    }
}

/// Two modules of one path are in the tree, and a fork has another path than what it replaces.
#[test]
fn a_replaced_go_module_is_the_folder_that_the_user_names() {
    let replaced = |folder: &str, pattern: &str, target: &str| Alias {
        folder: folder.to_owned(),
        pattern: pattern.to_owned(),
        target: target.to_owned(),
    };
    let case = Case {
        files: &[
            "app/main.go",
            "new/store/store.go",
            "new/store/disk/disk.go",
            "old/store/store.go",
            "other/main.go",
            "third/fork/fork.go",
        ],
        packages: vec![
            package(Ecosystem::Go, "example.org/app", "app", &[]),
            package(Ecosystem::Go, "example.org/store", "new/store", &[]),
            package(Ecosystem::Go, "example.org/store", "old/store", &[]),
            package(Ecosystem::Go, "example.org/fork", "third/fork", &[]),
        ],
        aliases: vec![
            replaced("app", "example.org/store", "new/store"),
            replaced("app", "example.org/original", "third/fork"),
        ],
    };
    let source = "package main\nimport (\n\"example.org/store\"\n\"example.org/store/disk\"\n\"example.org/original\"\n)\n";
    case.check(
        "app/main.go",
        source,
        &[
            "new/store/store.go",
            "new/store/disk/disk.go",
            "third/fork/fork.go",
        ],
    );
    case.check(
        "other/main.go",
        "package main\nimport \"example.org/original/x\"\n",
        &["pkg:example.org/original/x"],
    );
}

/// A program's own package name is its library, a module of that name or not.
#[test]
fn a_rust_program_names_its_library_before_a_module() {
    let case = Case {
        files: &[
            "alone/src/alone.rs",
            "alone/src/main.rs",
            "src/lib.rs",
            "src/main.rs",
            "src/shelf.rs",
            "src/shelf/book.rs",
        ],
        packages: vec![
            package(Ecosystem::Cargo, "shelf", "", &[]),
            package(Ecosystem::Cargo, "alone", "alone", &[]),
        ],
        aliases: Vec::new(),
    };
    case.check(
        "src/main.rs",
        "use shelf::shelf::book::Book; use shelf::Shelf;",
        &["src/shelf/book.rs", "src/lib.rs"],
    );
    case.check(
        "src/lib.rs",
        "use shelf::book::Book;",
        &["src/shelf/book.rs"],
    );
    case.check(
        "alone/src/main.rs",
        "mod alone; use alone::Alone;",
        &["alone/src/alone.rs", "alone/src/alone.rs"],
    );
}
