//! `cargo xtask pictures`: the pictures of the documentation, from a demo project with real data.
//!
//! Builds the program, then has Node run `crates/callosum-web/browser/pictures.mjs`, which writes to `docs/pictures`: the page
//! by Chromium, and a terminal recording by tmux. It needs Node 18, npm, Chromium, git, Python and tmux.

use std::{path::PathBuf, process::ExitCode};

use crate::{
    cargo, command_of_the_developer, goes_well,
    release_build::{concluded, target},
};

/// Builds the program and makes the pictures from it.
pub(crate) fn pictures() -> ExitCode {
    concluded(made())
}

fn made() -> Result<(), String> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked"]);
    build.args(["--package", "callosum", "--bin", "callosum"]);
    if !goes_well(build) {
        return Err("callosum cannot be built".to_owned());
    }
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let browser = root.join("crates/callosum-web/browser");
    if !browser.join("node_modules").is_dir() {
        let mut install = command_of_the_developer("npm");
        install
            .args(["ci", "--ignore-scripts"])
            .current_dir(&browser);
        if !goes_well(install) {
            return Err("the packages of crates/callosum-web/browser cannot be installed: run `npm ci` there".to_owned());
        }
    }
    let mut node = command_of_the_developer("node");
    node.arg("pictures.mjs")
        .arg(root.join("docs/pictures"))
        .env("CALLOSUM", target()?.join("debug/callosum"))
        .current_dir(&browser);
    if goes_well(node) {
        Ok(())
    } else {
        Err("the pictures cannot be made".to_owned())
    }
}
