//! [`Role`]: purpose of a file, derived from its path.

use callosum_source::language::Language;

use super::manifest;

/// Purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    /// Code of the product itself.
    Source,
    /// Tests.
    Test,
    /// Measurements.
    Bench,
    /// Code that shows the product's use.
    Example,
    /// Scripts and tools around the product.
    Tool,
    /// A manifest of a build tool.
    Manifest,
    /// Commands of a build server.
    Ci,
    /// Text for people.
    Document,
    /// Settings and other text.
    Other,
    /// Test data, snapshots, recordings.
    Fixture,
    /// Code of others, kept in the tree.
    Vendored,
    /// Made by a program: generated, minified, locked, built.
    Generated,
    /// Pictures, fonts, archives: nothing to read.
    Asset,
}

impl Role {
    /// The role of the file at this path.
    pub(super) fn of(path: &str, language: Option<Language>) -> Self {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let lower = name.to_ascii_lowercase();
        let has = |names: &[&str]| folder.split('/').any(|part| names.contains(&part));
        let extension = lower
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension);
        if has(&VENDOR_FOLDERS) || folder.split('/').next().is_some_and(|top| top == "deps") {
            Self::Vendored
        } else if has(&FIXTURE_FOLDERS) {
            Self::Fixture
        } else if has(&BUILT_FOLDERS) || is_made_by_name(&lower) {
            Self::Generated
        } else if lower.starts_with("jquery") && extension == "js" {
            // Documentation tools put it next to every page.
            Self::Vendored
        } else if is_ci(path) {
            Self::Ci
        } else if manifest::is_manifest(name) {
            Self::Manifest
        } else if ASSETS.contains(&extension) {
            Self::Asset
        } else if language.is_none() {
            if is_document(&lower, extension) {
                Self::Document
            } else if ["sh", "bash", "ps1", "bat"].contains(&extension) {
                Self::Tool
            } else {
                Self::Other
            }
        } else if has(&["bench", "benches", "benchmark", "benchmarks"]) || is_bench_name(&lower) {
            Self::Bench
        } else if is_test_name(name, &lower) || has(&TEST_FOLDERS) {
            Self::Test
        } else if has(&EXAMPLE_FOLDERS) {
            Self::Example
        } else if (has(&["docs", "doc"]) && is_script(language))
            || matches!(name, "build.rs" | "setup.py" | "noxfile.py" | "conftest.py")
            || folder
                .split('/')
                .next()
                .is_some_and(|top| TOOL_FOLDERS.contains(&top))
            || is_tool_config(&lower)
        {
            Self::Tool
        } else {
            Self::Source
        }
    }

    /// Whether files of this role are opened.
    pub(super) fn is_read(self) -> bool {
        !matches!(
            self,
            Self::Fixture | Self::Vendored | Self::Generated | Self::Asset
        )
    }

    /// Returns the name for files of this role.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Test => "tests",
            Self::Bench => "benchmarks",
            Self::Example => "examples",
            Self::Tool => "scripts and tools",
            Self::Manifest => "manifests",
            Self::Ci => "CI",
            Self::Document => "documentation",
            Self::Other => "settings and other text",
            Self::Fixture => "test data",
            Self::Vendored => "vendored code",
            Self::Generated => "generated or built",
            Self::Asset => "assets",
        }
    }
}

const VENDOR_FOLDERS: [&str; 9] = [
    "vendor",
    "vendored",
    "_vendor",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "bower_components",
    "site-packages",
];
const FIXTURE_FOLDERS: [&str; 10] = [
    "fixtures",
    "fixture",
    "__fixtures__",
    "testdata",
    "test-data",
    "test_data",
    "snapshots",
    "__snapshots__",
    "cassettes",
    "corpus",
];
const BUILT_FOLDERS: [&str; 6] = [
    "dist",
    "__pycache__",
    "generated",
    "__generated__",
    "javadoc",
    "apidocs",
];
const TEST_FOLDERS: [&str; 8] = [
    "test",
    "tests",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "unittests",
    "testing",
];
const TOOL_FOLDERS: [&str; 7] = [
    "scripts", "script", "tools", "ci", "xtask", "hack", "contrib",
];
const ASSETS: [&str; 40] = [
    "png", "jpg", "jpeg", "gif", "ico", "svg", "webp", "bmp", "woff", "woff2", "ttf", "otf", "eot",
    "mp3", "mp4", "wav", "ogg", "webm", "mov", "pdf", "zip", "gz", "tgz", "bz2", "xz", "zst", "7z",
    "tar", "jar", "class", "pyc", "so", "a", "o", "dll", "exe", "bin", "wasm", "map", "psd",
];

/// Whether a folder holds only tests or measurements.
pub(super) fn is_for_tests(folder: &str) -> bool {
    folder
        .split('/')
        .any(|part| TEST_FOLDERS.contains(&part) || matches!(part, "bench" | "benches"))
}

/// Whether a folder is not part of the product: tests, measurements and examples.
pub(super) fn is_aside(folder: &str) -> bool {
    let is_example = |part: &str| EXAMPLE_FOLDERS.contains(&part);
    is_for_tests(folder) || folder.split('/').any(is_example)
}

const EXAMPLE_FOLDERS: [&str; 6] = ["example", "examples", "demo", "demos", "sample", "samples"];

/// Whether code in a documentation folder serves the documentation: in a compiled language it is
/// rather a package of that name.
fn is_script(language: Option<Language>) -> bool {
    matches!(language, Some(Language::Python | Language::JavaScript))
}

/// Names that only programs write: lock files, minified and bundled code, generated protocols.
fn is_made_by_name(name: &str) -> bool {
    matches!(
        name,
        "package-lock.json" | "go.sum" | "pnpm-lock.yaml" | "npm-shrinkwrap.json" | "flake.lock"
    ) || [
        ".lock",
        ".min.js",
        ".min.css",
        ".bundle.js",
        ".pb.go",
        "_pb2.py",
        "_pb2_grpc.py",
        "_pb2.pyi",
        ".pb.h",
        ".pb.cc",
        ".g.dart",
        ".generated.ts",
        ".snap",
    ]
    .iter()
    .any(|ending| name.ends_with(ending))
}

fn is_ci(path: &str) -> bool {
    [".github/workflows/", ".circleci/", ".buildkite/", ".ci/"]
        .iter()
        .any(|folder| path.starts_with(folder))
        || matches!(
            path,
            ".gitlab-ci.yml"
                | ".travis.yml"
                | "Jenkinsfile"
                | "azure-pipelines.yml"
                | ".appveyor.yml"
                | "appveyor.yml"
                | ".cirrus.yml"
        )
}

fn is_document(name: &str, extension: &str) -> bool {
    const ENDINGS: [&str; 7] = ["md", "markdown", "rst", "adoc", "txt", "mdx", "org"];
    const NAMES: [&str; 8] = [
        "readme",
        "license",
        "licence",
        "copying",
        "changelog",
        "changes",
        "authors",
        "notice",
    ];
    ENDINGS.contains(&extension) || NAMES.contains(&name)
}

fn is_test_name(name: &str, lower: &str) -> bool {
    let stem = lower.rsplit_once('.').map_or(lower, |(stem, _)| stem);
    let cased_stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem == "test"
        || stem == "tests"
        || stem.starts_with("test_")
        || matches!(
            stem,
            "testutil" | "testutils" | "test_util" | "test_utils" | "testharness"
        )
        || [
            "_test",
            "_tests",
            ".test",
            ".spec",
            "_spec",
            "_unittest",
            "-test",
            ".tests",
        ]
        .iter()
        .any(|ending| stem.ends_with(ending))
        || (lower
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ending == "java")
            && (cased_stem.ends_with("Test")
                || cased_stem.ends_with("Tests")
                || cased_stem.ends_with("TestCase")
                || cased_stem.ends_with("IT")))
}

fn is_bench_name(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    ["_bench", ".bench"]
        .iter()
        .any(|ending| stem.ends_with(ending))
        || stem.starts_with("bench_")
}

/// `eslint.config.js`, `webpack.config.ts`, `gulpfile.js`: settings written as code.
fn is_tool_config(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.ends_with(".config") || stem.ends_with("rc") && stem.starts_with('.') || stem == "gulpfile"
}

/// Finds the line that shows that a program wrote a text: one of the first that claims it, else the
/// first line of a text whose lines are too long for people.
pub(super) fn line_of_maker(text: &str) -> Option<u32> {
    let says_so = |line: &str| {
        let is_comment = ["//", "#", "/*", "*", "--", "<!--", ";"]
            .iter()
            .any(|mark| line.trim_start().starts_with(mark));
        is_comment
            && (line.contains("@generated")
                || line.contains("DO NOT EDIT")
                || line.contains("Code generated by")
                || line.contains("utomatically generated")
                || line.contains("utogenerated by")
                || line.contains("made by GNU Bison")
                || line.contains("Bison implementation for")
                || line.contains("Bison interface for")
                || line.contains("A lexical scanner generated by flex"))
    };
    let mut first = (1..).zip(text.lines()).take(12);
    let line = first.find(|(_, line)| says_so(line)).map(|(line, _)| line);
    let lines = text.lines().count().max(1);
    line.or_else(|| (text.len() > 4096 && text.len() / lines > 400).then_some(1))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Role) {
        assert_eq!(
            Role::of(path, Language::of(Path::new(path))),
            expected,
            "{path}"
        );
    }

    #[test]
    fn paths_tell_what_a_file_is_there_for() {
        check("src/lib.rs", Role::Source);
        check("src/journal/tests.rs", Role::Test);
        check("pkg/server_test.go", Role::Test);
        check("util/testutil.h", Role::Test);
        check("src/test/java/org/x/HelpTest.java", Role::Test);
        check("src/main/java/org/x/Attest.java", Role::Source);
        check("web/login.spec.ts", Role::Test);
        check("benches/append.rs", Role::Bench);
        check("examples/hello.rs", Role::Example);
        check("Cargo.toml", Role::Manifest);
        check("Cargo.lock", Role::Generated);
        check("requirements/dev.txt", Role::Document);
        check("requirements-dev.txt", Role::Manifest);
        check(".github/workflows/ci.yml", Role::Ci);
        check("README.md", Role::Document);
        check("third_party/zlib/zlib.h", Role::Vendored);
        check("doc/_static/jquery-3.5.1.js", Role::Vendored);
        check("web/jquery.min.js", Role::Generated);
        check("tests/fixtures/bad.py", Role::Fixture);
        check("logo.png", Role::Asset);
        check("build.rs", Role::Tool);
        check("scripts/release.py", Role::Tool);
        check(".editorconfig", Role::Other);
    }

    #[test]
    fn content_tells_what_a_program_wrote() {
        let go = "package x\n// Code generated by protoc. DO NOT EDIT.\n";
        assert_eq!(line_of_maker(go), Some(2));
        let bison = "/* A Bison parser, made by GNU Bison 3.8.2.  */\n";
        assert_eq!(line_of_maker(bison), Some(1));
        let flex = "#line 2 \"lexer.c\"\n\n/* A lexical scanner generated by flex */\n";
        assert_eq!(line_of_maker(flex), Some(3));
        assert_eq!(line_of_maker(&"var a=1;".repeat(1000)), Some(1));
        assert_eq!(line_of_maker("fn generated() {}\n"), None);
    }
}
