//! The files of a release, compared with the checksums in its manifest.
//!
//! `docs/formats/release-manifest.md` describes the manifest.

use std::path::{Component, Path, PathBuf};

use callosum_host::Disk;
use callosum_json::Checksum;
use serde::Deserialize;

use super::VERSION;
use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::{CommandError, Exit, many, shell_word};

/// The manifest, below the prefix.
const PATH: &str = "share/callosum/manifest.json";

/// The newest format that is read.
const FORMAT: u32 = 1;

/// Most bytes of a manifest.
const LARGEST: u64 = 4 << 20;

/// Most files that a line names.
const MOST_NAMED: usize = 3;

/// The part of a manifest that is read here.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    version: String,
    target: String,
    package: String,
    /// The oldest glibc that the program runs with.
    pub(super) glibc: Option<String>,
    files: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    path: PathBuf,
    sha256: String,
}

/// The files that differ from a manifest.
#[derive(Debug, Default, PartialEq, Eq)]
struct Difference {
    changed: Vec<PathBuf>,
    missing: Vec<PathBuf>,
}

/// Compares the files of an installation. Returns its manifest with its path, if it can be read.
pub(super) fn check(
    context: &Context,
    prefix: &Path,
    checks: &mut Checks,
) -> Option<(PathBuf, Manifest)> {
    const NAME: &str = "files";
    let path = prefix.join(PATH);
    if !context.disk.exists(&path).unwrap_or(false) {
        let found = "not checked: this program was not installed from a release";
        checks.add(NAME, Outcome::Ok, found, None);
        return None;
    }
    let manifest = match read(&context.disk, &path) {
        Ok(manifest) => manifest,
        Err(found) => {
            let hint = format!("rm {}", shell_word(&path.display().to_string()));
            checks.add(NAME, Outcome::Failed, found, Some(&hint));
            return None;
        }
    };
    let again = reinstall(&manifest, prefix);
    if manifest.version != VERSION {
        let found = format!(
            "{} is of version {}, this program has {VERSION}",
            path.display(),
            manifest.version
        );
        checks.add(NAME, Outcome::Failed, found, Some(&again));
        return Some((path, manifest));
    }
    let Difference { changed, missing } = compare(&context.disk, prefix, &manifest);
    if !changed.is_empty() {
        let found = format!("changed since the release: {}", named(&changed));
        checks.add(NAME, Outcome::Failed, found, Some(&again));
    }
    if !missing.is_empty() {
        let found = format!("missing: {}", named(&missing));
        checks.add(NAME, Outcome::Warning, found, Some(&again));
    }
    if changed.is_empty() && missing.is_empty() {
        let count = many(manifest.files.len() as u64, "file");
        let found = format!("{count} as in release {VERSION} ({})", manifest.package);
        checks.add(NAME, Outcome::Ok, found, None);
    }
    Some((path, manifest))
}

fn read(disk: &Disk, path: &Path) -> Result<Manifest, String> {
    let bytes = disk
        .read_at_most(path, LARGEST)
        .map_err(|error| CommandError::from_error(Exit::No, &error).one_line())?;
    let shown = path.display();
    let manifest: Manifest = serde_json::from_slice(&bytes)
        .map_err(|error| format!("{shown} is not the manifest of a release: {error}"))?;
    if manifest.format > FORMAT {
        let format = manifest.format;
        return Err(format!(
            "{shown} has format {format}, this program reads {FORMAT}"
        ));
    }
    Ok(manifest)
}

/// Compares the files in the order of the manifest. A path that leads out of the prefix counts as changed.
fn compare(disk: &Disk, prefix: &Path, manifest: &Manifest) -> Difference {
    let mut difference = Difference::default();
    for Row { path, sha256 } in &manifest.files {
        let is_below = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !is_below {
            difference.changed.push(path.clone());
            continue;
        }
        match disk.read_if_there(&prefix.join(path)) {
            Ok(Some(bytes)) if Checksum::of(&bytes).to_string() == *sha256 => {}
            Ok(None) => difference.missing.push(path.clone()),
            Ok(Some(_)) | Err(_) => difference.changed.push(path.clone()),
        }
    }
    difference
}

/// Lists files by name, at most [`MOST_NAMED`].
fn named(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths
        .iter()
        .take(MOST_NAMED)
        .map(|path| path.display().to_string())
        .collect();
    let shown = shown.join(", ");
    match paths.len().saturating_sub(MOST_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the command that installs the same package again.
fn reinstall(manifest: &Manifest, prefix: &Path) -> String {
    let (version, target) = (&manifest.version, &manifest.target);
    match manifest.package.as_str() {
        "deb" => format!("sudo apt-get install --reinstall ./callosum_{version}_*.deb"),
        "npm" => format!("npm install --force ./callosum-{version}-*.tgz"),
        _ => format!(
            "tar -xzf callosum-{version}-{target}.tar.gz --strip-components=1 -C {}",
            shell_word(&prefix.display().to_string())
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(rows: &[(&str, &[u8])]) -> Manifest {
        let rows = rows.iter().map(|(path, bytes)| Row {
            path: PathBuf::from(path),
            sha256: Checksum::of(bytes).to_string(),
        });
        Manifest {
            format: FORMAT,
            version: VERSION.to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            package: "archive".to_owned(),
            glibc: None,
            files: rows.collect(),
        }
    }

    #[test]
    fn a_changed_a_missing_and_a_foreign_file_differ() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        for name in ["same", "changed"] {
            let path = folder.path().join(name);
            disk.replace(&path, b"text", 0o600).unwrap();
        }
        let manifest = manifest(&[
            ("same", b"text"),
            ("changed", b"other"),
            ("missing", b"text"),
            ("../same", b"text"),
            ("/same", b"text"),
        ]);
        let difference = compare(&disk, folder.path(), &manifest);
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        let expected = Difference {
            changed: paths(&["changed", "../same", "/same"]),
            missing: paths(&["missing"]),
        };
        assert_eq!(difference, expected);
    }

    #[test]
    fn each_kind_of_package_is_installed_again_in_its_own_way() {
        let mut manifest = manifest(&[]);
        let prefix = Path::new("/opt/my tools");
        for (package, expected) in [
            ("deb", "apt-get install"),
            ("npm", "npm install"),
            ("archive", "--strip-components=1 -C '/opt/my tools'"),
        ] {
            package.clone_into(&mut manifest.package);
            let found = reinstall(&manifest, prefix);
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn a_long_list_of_files_is_cut() {
        let paths: Vec<PathBuf> = ["a", "b", "c", "d", "e"].map(PathBuf::from).to_vec();
        assert_eq!(named(&paths), "a, b, c and 2 more");
        assert_eq!(named(&paths[..2]), "a, b");
    }
}
