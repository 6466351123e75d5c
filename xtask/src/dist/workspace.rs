//! [`Workspace`]: facts about this repository that packages state.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package};

use super::{read, target::Target};
use crate::command_of_the_developer;

/// The repository, its version and its libraries.
pub(super) struct Workspace {
    /// The folder of `Cargo.toml`.
    pub(super) root: PathBuf,
    /// The version of the program.
    pub(super) version: String,
    /// The packages that a program for the target is built of.
    pub(super) metadata: Metadata,
    /// The time of every file in a package, in seconds since 1970.
    pub(super) time: u64,
}

impl Workspace {
    /// Asks cargo and git. Uses no network: cargo has fetched the libraries when it built this program.
    pub(super) fn read(target: &Target) -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .ok_or("this program was built outside a workspace")?
            .to_owned();
        let filter = ["--locked", "--offline", "--filter-platform", &target.triple];
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .other_options(filter.map(str::to_owned))
            .exec()
            .map_err(|error| error.to_string())?;
        let version = program_package(&metadata)?.version.to_string();
        let time = time_of(&root)?;
        Ok(Self {
            root,
            version,
            metadata,
            time,
        })
    }

    /// Returns the package of the program.
    pub(super) fn program_package(&self) -> Result<&Package, String> {
        program_package(&self.metadata)
    }

    /// Reads a file of the repository.
    pub(super) fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        read(&self.root.join(path))
    }

    /// Fails unless the commit has the tag of this version and the changelog has its section.
    pub(super) fn check_version(&self) -> Result<(), String> {
        let tags = git(&self.root, &["tag", "--points-at", "HEAD"])?;
        let changelog = self.file("CHANGELOG.md")?;
        version_fault(&self.version, &tags, &String::from_utf8_lossy(&changelog))
            .map_or(Ok(()), Err)
    }
}

/// Returns what is missing for a release of this version.
fn version_fault(version: &str, tags: &str, changelog: &str) -> Option<String> {
    let tag = format!("v{version}");
    if !tags.lines().any(|line| line == tag) {
        return Some(format!(
            "the version is {version}, but the commit has no tag {tag}: run `cargo xtask release`"
        ));
    }
    let heading = format!("## [{version}] - ");
    if !changelog.lines().any(|line| line.starts_with(&heading)) {
        return Some(format!(
            "CHANGELOG.md has no section of {version}: run `cargo xtask release`"
        ));
    }
    None
}

fn program_package(metadata: &Metadata) -> Result<&Package, String> {
    let mut packages = metadata.packages.iter();
    packages
        .find(|package| package.name.as_str() == "callosum" && package.source.is_none())
        .ok_or_else(|| "the workspace has no package `callosum`".to_owned())
}

/// Returns `SOURCE_DATE_EPOCH`, or the time of the commit.
#[expect(
    clippy::disallowed_methods,
    reason = "the variable is the convention of reproducible builds"
)]
fn time_of(root: &Path) -> Result<u64, String> {
    let (time, name) = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(time) => (time, "SOURCE_DATE_EPOCH"),
        Err(_) => (git(root, &["log", "-1", "--format=%ct"])?, "the commit"),
    };
    let time = time.trim();
    time.parse()
        .map_err(|_| format!("the time of {name} is no number of seconds: `{time}`"))
}

/// Returns the output of a git command in a repository.
pub(crate) fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut git = command_of_the_developer("git");
    let output = git
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot start git: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let error = String::from_utf8_lossy(&output.stderr);
        Err(format!("git {}: {}", arguments.join(" "), error.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_needs_its_tag_and_its_section() {
        let changelog = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n";
        assert_eq!(version_fault("0.2.0", "other\nv0.2.0\n", changelog), None);
        let fault = version_fault("0.2.0", "v0.1.0\n", changelog).unwrap();
        assert!(fault.contains("no tag v0.2.0"), "{fault}");
        let fault = version_fault("0.3.0", "v0.3.0\n", changelog).unwrap();
        assert!(fault.contains("no section of 0.3.0"), "{fault}");
    }
}
