//! Content of a survey, and its dependencies.

use callosum_host::Disk;
use callosum_source::walk::{RelativePath, Scope, Why};

use super::Survey;
use crate::{
    file_role::Role,
    fixture::{survey, tree, write},
    progress::Phase,
};

/// The edges of a survey as "from -> to".
fn uses(survey: &Survey) -> Vec<String> {
    survey
        .links
        .uses()
        .map(|edge| {
            let path = |at: usize| &survey.files[at].path;
            format!("{} -> {}:{}", path(edge.from), path(edge.to), edge.line)
        })
        .collect()
}

#[test]
fn a_reexport_is_followed_to_the_file_that_declares_the_name() {
    let folder = tree(&[
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("src/lib.rs", "mod deep;\nmod user;\npub use deep::Disk;\n"),
        ("src/deep.rs", "pub struct Disk;\n"),
        ("src/user.rs", "use crate::Disk;\n\npub fn f(_: Disk) {}\n"),
    ]);
    let survey = survey(folder.path());
    assert!(
        uses(&survey).contains(&"src/user.rs -> src/deep.rs:1".to_owned()),
        "{:?}",
        uses(&survey)
    );
    assert!(
        !uses(&survey)
            .iter()
            .any(|edge| edge.contains("-> src/lib.rs"))
    );
}

#[test]
fn a_module_that_is_declared_and_then_named_is_leaned_on() {
    let main = "mod idle;\nmod sum;\n\nfn main() {\n    println!(\"{}\", sum::total());\n}\n";
    let folder = tree(&[
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("src/main.rs", main),
        ("src/idle.rs", "pub fn idle() {}\n"),
        ("src/sum.rs", "pub fn total() -> u8 {\n    0\n}\n"),
    ]);
    assert_eq!(
        uses(&survey(folder.path())),
        ["src/main.rs -> src/sum.rs:5"]
    );
}

#[test]
fn files_of_one_go_package_lean_on_each_other_by_mention() {
    let folder = tree(&[
        ("go.mod", "module example.org/x\n"),
        ("a.go", "package x\n\nfunc Run() { helper() }\n"),
        ("b.go", "package x\n\nfunc helper() {}\n"),
    ]);
    assert_eq!(uses(&survey(folder.path())), ["a.go -> b.go:3"]);
}

#[test]
fn output_of_a_compiler_next_to_its_source_is_not_read() {
    let folder = tree(&[
        ("package.json", "{\"name\": \"x\"}"),
        ("src/thing.ts", "export const thing = 1;\n"),
        ("thing.js", "exports.thing = 1;\n"),
        ("thing.d.ts", "export declare const thing: number;\n"),
        ("hand.js", "exports.hand = 1;\n"),
        ("hand.d.ts", "export declare const hand: number;\n"),
    ]);
    let survey = survey(folder.path());
    let role = |path: &str| survey.file(path).unwrap().role;
    assert_eq!(role("thing.js"), Role::Generated);
    assert_eq!(role("thing.d.ts"), Role::Generated);
    assert_eq!(role("hand.js"), Role::Source);
    assert_eq!(role("src/thing.ts"), Role::Source);
}

#[test]
fn what_cannot_be_read_is_named_with_its_reason_and_stops_nothing() {
    let folder = tree(&[("src/good.py", "def f():\n    pass\n")]);
    write(folder.path(), "src/binary.py", b"\0\0\0");
    write(folder.path(), "src/latin.py", b"# caf\xe9\n");
    write(folder.path(), "src/huge.py", &vec![b'#'; (1 << 20) + 1]);
    let survey = survey(folder.path());
    let skipped: Vec<(&str, &Why)> = survey
        .skipped
        .iter()
        .map(|s| (s.path.as_str(), &s.why))
        .collect();
    assert_eq!(
        skipped,
        [
            ("src/binary.py", &Why::Binary),
            ("src/huge.py", &Why::TooLarge((1 << 20) + 1)),
            ("src/latin.py", &Why::NotUtf8),
        ]
    );
    assert_eq!(survey.files_read(), 1);
}

#[test]
fn a_part_of_a_workspace_still_inherits_from_the_manifests_above_it() {
    let folder = tree(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\nserde = \"1.5\"\n",
        ),
        (
            "a/Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\nserde.workspace = true\n",
        ),
        ("a/src/lib.rs", "use serde::Serialize;\n"),
        ("b/src/lib.rs", "pub fn b() {}\n"),
    ]);
    let scope = Scope {
        paths: vec![RelativePath::parse("a").unwrap()],
    };
    let survey = Survey::read(&Disk::real(), folder.path(), &scope, &mut |_| {}).unwrap();
    let a = survey
        .manifests
        .iter()
        .find(|m| m.path == "a/Cargo.toml")
        .unwrap();
    assert_eq!(a.dependencies[0].requirement.as_deref(), Some("1.5"));
    assert!(survey.file("b/src/lib.rs").is_none());
    // The manifest above can be quoted, and is none of the files that were asked about.
    assert!(survey.cite("Cargo.toml", 4).is_some());
    assert_eq!(survey.files_read(), 2);
    let paths: Vec<&str> = survey.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["a/Cargo.toml", "a/src/lib.rs"]);
}

#[test]
fn progress_is_reported_from_listing_to_linking() {
    let folder = tree(&[("a.py", "x = 1\n"), ("b.py", "y = 2\n")]);
    let mut phases = Vec::new();
    Survey::read(
        &Disk::real(),
        folder.path(),
        &Scope::WHOLE,
        &mut |progress| {
            phases.push((progress.phase, progress.files_read));
        },
    )
    .unwrap();
    assert_eq!(
        phases,
        [
            (Phase::Listing, 0),
            (Phase::Reading, 2),
            (Phase::Linking, 2)
        ]
    );
}
