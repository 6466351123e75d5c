//! [`Pins`]: the packages that are compared, from `xtask/truth/packages.json`, and how they are fetched.
//!
//! An archive comes from its registry's ordinary client, once, and must have the pinned SHA-256.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use callosum_host::Disk;
use callosum_source::{
    language::Language,
    walk::{Scope, SourceTree},
};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::{command_of_the_developer, repository::said};

/// The checked-in list.
const PINS: &str = include_str!("../../truth/packages.json");

/// The packages and the tools that the oracles need.
#[derive(Debug, Deserialize)]
pub(super) struct Pins {
    tools: Vec<Package>,
    pub(super) packages: Vec<Package>,
}

/// A published package of one version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Package {
    /// Its name in the registry.
    pub(super) name: String,
    version: String,
    pub(super) client: Client,
    /// The file that the client leaves.
    archive: String,
    sha256: String,
    /// The folder of the source in the archive.
    root: String,
    /// The folders that imports are looked up in, in Python: what an installation would put on the path.
    #[serde(default)]
    pub(super) roots: Vec<String>,
    /// The conditions of `exports` that the package's own compiler settings name.
    #[serde(default)]
    pub(super) conditions: Vec<String>,
    /// The folders whose files are compared; all files if empty.
    #[serde(default)]
    compare: Vec<String>,
}

/// The client of a registry, which also tells the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Client {
    /// PyPI.
    Pip,
    /// npmjs.com.
    Npm,
    /// Debian, for libraries of Go.
    Apt,
}

/// The folders of fetched tools.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) typescript: PathBuf,
}

impl Pins {
    pub(super) fn read() -> Result<Self, String> {
        serde_json::from_str(PINS).map_err(|error| format!("xtask/truth/packages.json: {error}"))
    }

    /// Fetches what the oracles need beside their language.
    pub(super) fn fetch_tools(&self, cache: &Path) -> Result<Tools, String> {
        let typescript = self.tools.iter().find(|tool| tool.name == "typescript");
        let typescript = typescript.ok_or("xtask/truth/packages.json names no typescript")?;
        Ok(Tools {
            typescript: typescript.fetch(cache)?,
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore lays out its files with what the standard library has"
)]
impl Package {
    /// Returns the folder of the source, fetched and unpacked if it is not yet.
    pub(super) fn fetch(&self, cache: &Path) -> Result<PathBuf, String> {
        let folder = cache.join(format!("{}-{}", self.name, self.version));
        let unpacked = folder.join("unpacked");
        let root = unpacked.join(&self.root);
        if root.exists() {
            return Ok(root);
        }
        let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(fault)?;
        let archive = folder.join(&self.archive);
        if !archive.exists() {
            let mut download = self.download();
            download.current_dir(&folder);
            said(download)
                .map_err(|why| format!("cannot fetch {} {}: {why}\nhint: this needs pip, npm, apt-get and their registries", self.name, self.version))?;
        }
        let bytes = fs::read(&archive)
            .map_err(|error| format!("the client left no {}: {error}", self.archive))?;
        let sum = hex(&Sha256::digest(&bytes));
        if sum != self.sha256 {
            return Err(format!(
                "{}: SHA-256 is {sum}, not {}",
                archive.display(),
                self.sha256
            ));
        }
        // A folder that holds the root is complete: it gets its name last.
        let partial = folder.join("partial");
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(fault)?;
        }
        fs::create_dir(&partial).map_err(fault)?;
        let mut unpack = self.unpack(&archive, &partial);
        unpack.current_dir(&folder);
        said(unpack)?;
        if unpacked.exists() {
            fs::remove_dir_all(&unpacked).map_err(fault)?;
        }
        fs::rename(&partial, &unpacked).map_err(fault)?;
        if root.exists() {
            return Ok(root);
        }
        Err(format!(
            "{} holds no folder {}",
            archive.display(),
            self.root
        ))
    }

    fn download(&self) -> Command {
        let Self { name, version, .. } = self;
        match self.client {
            Client::Pip => {
                let mut command = command_of_the_developer("pip");
                command.args(["download", "--quiet", "--no-deps", "--no-binary", name]);
                command.arg(format!("{name}=={version}"));
                command
            }
            Client::Npm => {
                let mut command = command_of_the_developer("npm");
                command.args(["pack", "--silent", &format!("{name}@{version}")]);
                command
            }
            Client::Apt => {
                let mut command = command_of_the_developer("apt-get");
                command.args(["download", &format!("{name}={version}")]);
                command
            }
        }
    }

    fn unpack(&self, archive: &Path, folder: &Path) -> Command {
        if self.client == Client::Apt {
            let mut command = command_of_the_developer("dpkg-deb");
            command.arg("-x").arg(archive).arg(folder);
            return command;
        }
        let mut command = command_of_the_developer("tar");
        command.args(["--no-same-owner", "-xzf"]).arg(archive);
        command.arg("-C").arg(folder);
        command
    }

    /// Returns the files that are compared: the sources in the package's language.
    pub(super) fn files(&self, root: &Path) -> Result<BTreeSet<String>, String> {
        let tree = SourceTree::read(&Disk::real(), root, &Scope::WHOLE);
        let tree = tree.map_err(|error| format!("{}: {error}", root.display()))?;
        let is_compared = |path: &str| {
            let mut folders = self.compare.iter();
            self.compare.is_empty() || folders.any(|folder| path.starts_with(&format!("{folder}/")))
        };
        let files = tree.files.into_iter();
        let files = files.filter(|file| self.is_source(file.language) && is_compared(&file.path));
        Ok(files.map(|file| file.path).collect())
    }

    fn is_source(&self, language: Option<Language>) -> bool {
        match self.client {
            Client::Pip => language == Some(Language::Python),
            Client::Npm => matches!(
                language,
                Some(Language::JavaScript | Language::TypeScript | Language::Tsx)
            ),
            Client::Apt => language == Some(Language::Go),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_three_packages_of_each_registry_with_a_checksum() {
        let pins = Pins::read().expect("the list is read");
        for client in [Client::Pip, Client::Npm, Client::Apt] {
            let of_client = pins.packages.iter().filter(|p| p.client == client);
            assert_eq!(of_client.count(), 3, "{client:?}");
        }
        for package in pins.packages.iter().chain(&pins.tools) {
            let is_hex = |sum: &str| sum.len() == 64 && sum.chars().all(|c| c.is_ascii_hexdigit());
            assert!(is_hex(&package.sha256), "{}", package.name);
            assert!(
                package.archive.contains(&package.version),
                "{}",
                package.name
            );
        }
    }
}
