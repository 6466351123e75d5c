//! Where dependencies come from and under which licences they may be used.
//!
//! The allowed licences are those of `deny.toml`, so that this test and `cargo deny` cannot
//! disagree. Deliberately not here: known vulnerabilities, which need a network to look up.

use cargo_metadata::MetadataCommand;
use spdx::{Expression, Licensee, ParseMode};

use crate::{none_of, tree::Tree};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Returns what is wrong with the sources of a lock file's packages.
///
/// A package without a source is one of ours, by path; one from a registry has a checksum.
fn foreign_sources(lock: &toml::Table) -> Vec<String> {
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let mut findings = Vec::new();
    for package in packages.into_iter().flatten() {
        let field = |name: &str| package.get(name).and_then(toml::Value::as_str);
        let name = field("name").unwrap_or("?");
        match field("source") {
            None => {}
            Some(CRATES_IO) if field("checksum").is_some() => {}
            Some(CRATES_IO) => findings.push(format!("{name}: no checksum in Cargo.lock")),
            Some(other) => findings.push(format!("{name}: comes from {other}, not crates.io")),
        }
    }
    findings
}

/// Returns why `licence` may not be used, if so.
fn refused(licence: Option<&str>, allowed: &[Licensee]) -> Option<String> {
    let Some(licence) = licence else {
        return Some("names no licence".to_owned());
    };
    // Older manifests write `MIT/Apache-2.0`, which lax parsing reads as a choice.
    match Expression::parse_mode(licence, ParseMode::LAX) {
        Ok(expression) => {
            let holds = expression
                .evaluate(|asked| allowed.iter().any(|licensee| licensee.satisfies(asked)));
            (!holds).then(|| format!("`{licence}` is outside what deny.toml allows"))
        }
        Err(error) => Some(format!("`{licence}` can't be read: {}", error.reason)),
    }
}

fn allowed(deny: &toml::Table) -> Vec<Licensee> {
    deny["licenses"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|licence| Licensee::parse(licence.as_str().unwrap()).unwrap())
        .collect()
}

#[test]
fn every_dependency_comes_from_crates_io_with_a_checksum() {
    none_of(&foreign_sources(
        &Tree::read().text("Cargo.lock").parse().unwrap(),
    ));
}

/// CAL-LIC-1: what is handed on under MIT contains nothing that asks for more.
///
/// Looks at what is built for the machine that the test runs on, because those packages are
/// there without a network.
#[test]
fn every_dependency_is_under_an_allowed_licence() {
    let tree = Tree::read();
    let allowed = allowed(&tree.text("deny.toml").parse().unwrap());
    let platform = match std::env::consts::OS {
        "macos" => format!("{}-apple-darwin", std::env::consts::ARCH),
        _ => format!("{}-unknown-linux-gnu", std::env::consts::ARCH),
    };
    let metadata = MetadataCommand::new()
        .manifest_path(tree.root().join("Cargo.toml"))
        .other_options(["--locked", "--filter-platform", &platform].map(str::to_owned))
        .exec()
        .unwrap();
    let ours = &metadata.workspace_members;
    let findings: Vec<String> = metadata
        .packages
        .iter()
        .filter(|package| !ours.contains(&package.id))
        .filter_map(|package| {
            let why = refused(package.license.as_deref(), &allowed)?;
            Some(format!("{} {}: {why}", package.name, package.version))
        })
        .collect();
    none_of(&findings);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_needs_one_allowed_side_and_a_sum_needs_both() {
        let allowed = [
            Licensee::parse("MIT").unwrap(),
            Licensee::parse("Zlib").unwrap(),
        ];
        for licence in [
            "MIT",
            "GPL-3.0-only OR MIT",
            "MIT/Apache-2.0",
            "MIT AND Zlib",
        ] {
            assert_eq!(refused(Some(licence), &allowed), None);
        }
        for licence in ["GPL-3.0-only", "MIT AND LGPL-2.1-only", "made up", ""] {
            assert!(refused(Some(licence), &allowed).is_some(), "{licence}");
        }
        assert!(refused(None, &allowed).is_some());
    }

    #[test]
    fn a_package_from_git_or_without_a_checksum_is_found() {
        let lock = format!(
            "[[package]]\nname = 'ours'\n[[package]]\nname = 'git'\nsource = 'git+https://e.example'\n\
             [[package]]\nname = 'bare'\nsource = '{CRATES_IO}'\n\
             [[package]]\nname = 'good'\nsource = '{CRATES_IO}'\nchecksum = '00'\n"
        );
        assert_eq!(
            foreign_sources(&lock.parse().unwrap()),
            [
                "git: comes from git+https://e.example, not crates.io",
                "bare: no checksum in Cargo.lock"
            ]
        );
    }
}
