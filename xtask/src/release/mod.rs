//! `cargo xtask release VERSION`: sets the version of the next release.
//!
//! Start with [`release`]. [`changelog`] and [`version`] change texts; neither reads or writes a file. The chore never pushes.

mod changelog;
mod version;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use self::version::Version;
use crate::{dist::git, release_build::concluded, say};

/// The options of the chore.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    version: Version,
    /// Whether to make the commit and the tag.
    commits: bool,
}

impl Options {
    /// Reads the words after `release`; `None` if one is unknown or the version is not one.
    pub(crate) fn read(words: &[&str]) -> Option<Self> {
        let (version, commits) = match words {
            [version] => (version, false),
            [version, "--commit"] | ["--commit", version] => (version, true),
            _ => return None,
        };
        let version = Version::read(version)?;
        Some(Self { version, commits })
    }
}

/// Changes `Cargo.toml`, `Cargo.lock` and `CHANGELOG.md`, and prints the commands that are left.
pub(crate) fn release(options: &Options) -> ExitCode {
    concluded(root().and_then(|root| prepare(&root, options, &today())))
}

fn prepare(root: &Path, options: &Options, today: &str) -> Result<(), String> {
    let changed = git(root, &["status", "--porcelain"])?;
    if !changed.is_empty() {
        return Err(format!(
            "the working tree has changes; commit or stash them first:\n{}",
            changed.trim_end()
        ));
    }
    let Options { version, commits } = options;
    let tag = format!("v{version}");
    if !git(root, &["tag", "--list", &tag])?.is_empty() {
        return Err(format!("the tag {tag} exists"));
    }
    let manifest = root.join("Cargo.toml");
    let lock = root.join("Cargo.lock");
    let changelog = root.join("CHANGELOG.md");
    let changed_manifest = version::in_manifest(&read(&manifest)?, version)?;
    let members = version::members(&read(&lock)?);
    let changed_lock = version::in_lock(&read(&lock)?, &members, version);
    let changed_log = changelog::released(&read(&changelog)?, version, today)?;
    for (path, text) in [
        (&manifest, changed_manifest),
        (&lock, changed_lock),
        (&changelog, changed_log),
    ] {
        write(path, &text)?;
    }
    let subject = format!("release: version {version}");
    let files = ["Cargo.toml", "Cargo.lock", "CHANGELOG.md"];
    if !commits {
        say(&format!(
            "changed {}; to finish, run:\n    git commit -m '{subject}' {}\n    git tag -a {tag} -m 'Callosum {version}'",
            files.join(", "),
            files.join(" ")
        ));
        return Ok(());
    }
    git(
        root,
        &[&["commit", "-q", "-m", &subject], &files[..]].concat(),
    )?;
    let message = format!("Callosum {version}");
    git(root, &["tag", "-a", &tag, "-m", &message])?;
    say(&format!(
        "committed and tagged {tag}; to publish, run:\n    git push --follow-tags"
    ));
    Ok(())
}

/// Returns the root of the repository that the chore is run in.
fn root() -> Result<PathBuf, String> {
    let root = git(Path::new("."), &["rev-parse", "--show-toplevel"])?;
    Ok(PathBuf::from(root.trim_end_matches('\n')))
}

/// Returns the date in UTC, such as `2026-12-01`.
fn today() -> String {
    let now = callosum_host::Clock::system().now();
    now.strftime("%Y-%m-%d").to_string()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore works on the developer's own files"
)]
fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore works on the developer's own files"
)]
fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with the files that a release changes, and one commit.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let package = "[[package]]\nname = \"callosum\"\nversion = \"0.1.0\"\n";
        for (name, text) in [
            ("Cargo.toml", "[workspace.package]\nversion = \"0.1.0\"\n"),
            ("Cargo.lock", package),
            ("CHANGELOG.md", "## [Unreleased]\n\n- One.\n"),
        ] {
            write(&root.join(name), text).unwrap();
        }
        for arguments in [
            &["init", "--quiet"][..],
            &["config", "user.name", "Ana"],
            &["config", "user.email", "ana@example.com"],
            &["config", "commit.gpgsign", "false"],
            &["config", "tag.gpgsign", "false"],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "begin"],
        ] {
            git(root, arguments).unwrap();
        }
        folder
    }

    fn prepare_version(root: &Path, text: &str, commits: bool) -> Result<(), String> {
        let version = Version::read(text).unwrap();
        prepare(root, &Options { version, commits }, "2026-12-01")
    }

    #[test]
    fn a_release_is_one_commit_of_three_files_with_a_tag() {
        let repository = repository();
        let root = repository.path();
        prepare_version(root, "0.2.0", true).unwrap();
        let files = git(
            root,
            &["show", "--name-only", "--format=%s", "v0.2.0^{commit}"],
        )
        .unwrap();
        let expected = "release: version 0.2.0\n\nCHANGELOG.md\nCargo.lock\nCargo.toml\n";
        assert_eq!(files, expected);
        assert_eq!(git(root, &["status", "--porcelain"]).unwrap(), "");
        let changelog = read(&root.join("CHANGELOG.md")).unwrap();
        assert!(
            changelog.contains("## [0.2.0] - 2026-12-01\n\n- One.\n"),
            "{changelog}"
        );
        let error = prepare_version(root, "0.2.0", true).unwrap_err();
        assert_eq!(error, "the tag v0.2.0 exists");
    }

    #[test]
    fn without_the_option_nothing_is_committed() {
        let repository = repository();
        let root = repository.path();
        prepare_version(root, "0.2.0", false).unwrap();
        assert_eq!(git(root, &["tag"]).unwrap(), "");
        let changed = git(root, &["diff", "--name-only"]).unwrap();
        assert_eq!(changed, "CHANGELOG.md\nCargo.lock\nCargo.toml\n");
    }

    #[test]
    fn a_tree_with_changes_is_refused_and_left() {
        let repository = repository();
        let root = repository.path();
        write(&root.join("new.txt"), "").unwrap();
        let error = prepare_version(root, "0.2.0", true).unwrap_err();
        assert!(error.contains("new.txt"), "{error}");
        assert_eq!(git(root, &["diff", "--name-only"]).unwrap(), "");
    }

    #[test]
    fn a_version_is_required_and_a_commit_is_made_only_on_request() {
        let version = Version::read("0.2.0").unwrap();
        let options = |commits| {
            let version = version.clone();
            Some(Options { version, commits })
        };
        assert_eq!(Options::read(&["0.2.0"]), options(false));
        assert_eq!(Options::read(&["0.2.0", "--commit"]), options(true));
        assert_eq!(Options::read(&["--commit", "0.2.0"]), options(true));
        for words in [&[][..], &["--commit"], &["v0.2.0"], &["0.2.0", "--push"]] {
            assert_eq!(Options::read(words), None, "{words:?}");
        }
    }
}
