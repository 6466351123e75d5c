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
        let mut init = command_of_the_developer("git");
        init.args(["init", "--quiet"]);
        said(in_folder(init, &source))?;
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
