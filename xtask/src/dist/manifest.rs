//! [`Manifest`]: the checksums of an installation's files, and `SHA256SUMS` of the packages.
//!
//! `callosum self check` reads the manifest; `docs/formats/release-manifest.md` describes it.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{content::Files, floor::Needs};

/// The path of the manifest below the prefix.
pub(super) const PATH: &str = "share/callosum/manifest.json";

/// The version of the format.
const FORMAT: u32 = 1;

/// The files of an installation, with their checksums.
#[derive(Debug, Serialize)]
pub(super) struct Manifest {
    format: u32,
    version: String,
    target: String,
    package: String,
    glibc: Option<String>,
    files: Vec<Row>,
}

/// A file of an installation.
#[derive(Debug, Serialize)]
struct Row {
    path: String,
    size: u64,
    sha256: String,
}

impl Manifest {
    /// Lists the files of a package. `kind` is `archive`, `deb` or `npm`.
    pub(super) fn of(
        files: &Files,
        kind: &str,
        version: &str,
        triple: &str,
        needs: &Needs,
    ) -> Self {
        let rows = files.iter().map(|(path, file)| Row {
            path: path.clone(),
            size: file.bytes.len() as u64,
            sha256: sha256(&file.bytes),
        });
        Self {
            format: FORMAT,
            version: version.to_owned(),
            target: triple.to_owned(),
            package: kind.to_owned(),
            glibc: needs.glibc.map(|glibc| glibc.to_string()),
            files: rows.collect(),
        }
    }

    /// Returns the manifest as it is installed.
    pub(super) fn to_json(&self) -> Result<Vec<u8>, String> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| error.to_string())?;
        text.push(b'\n');
        Ok(text)
    }
}

/// Returns the line of a file in `SHA256SUMS`, as `sha256sum --check` reads it.
pub(super) fn sum_line(name: &str, bytes: &[u8]) -> String {
    format!("{}  {name}\n", sha256(bytes))
}

/// Returns the SHA-256 of bytes as lower case hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_sums_is_that_of_sha256sum() {
        assert_eq!(
            sum_line("a.txt", b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.txt\n"
        );
    }
}
