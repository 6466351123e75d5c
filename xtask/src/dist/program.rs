//! Builds the program of a release.
//!
//! On Linux, Zig links it against the symbols of glibc [`FLOOR`], whatever glibc this machine has. `cargo-zigbuild` and Zig come
//! from wheels of PyPI whose checksums are in `requirements.txt`; they are installed once, below the target folder.

use std::path::{Path, PathBuf};

use super::{floor::FLOOR, target::Target};
use crate::{cargo, command_of_the_developer, goes_well, release_build, said_by_rustc};

/// Builds it with the profile `dist`, and returns its path.
pub(super) fn build(root: &Path, target: &Target) -> Result<PathBuf, String> {
    let folder = release_build::target()?;
    let mut build = if target.is_linux() {
        let tools = install_linker(&folder)?;
        let mut build = command_of_the_developer(tools.join("bin/cargo-zigbuild"));
        build.arg("zigbuild");
        build.env("PATH", with_path(&tools.join("bin"))?);
        let pinned = format!("{}.{FLOOR}", target.triple);
        build.args(["--target", &pinned]);
        build
    } else {
        let mut build = cargo();
        build.args(["build", "--target", &target.triple]);
        build
    };
    build.args(["--locked", "--profile", "dist"]);
    build.args(["--package", "callosum", "--bin", "callosum"]);
    build.env("CARGO_TARGET_DIR", &folder);
    build.env("CARGO_INCREMENTAL", "0");
    build.env("RUSTFLAGS", remapped(root)?);
    build.current_dir(root);
    if !goes_well(build) {
        return Err("callosum cannot be built".to_owned());
    }
    Ok(folder.join(&target.triple).join("dist/callosum"))
}

/// Installs `cargo-zigbuild` and Zig, unless they are there, and returns the folder.
fn install_linker(target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("dist-tools");
    let pip = folder.join("bin/pip");
    if !pip.exists() {
        let mut venv = command_of_the_developer("python3");
        venv.args(["-m", "venv"]).arg(&folder);
        if !goes_well(venv) {
            return Err("python3 cannot make a virtual environment".to_owned());
        }
    }
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/dist/requirements.txt");
    let mut install = command_of_the_developer(pip);
    install.args(["install", "--quiet", "--disable-pip-version-check"]);
    install.args([
        "--only-binary",
        ":all:",
        "--require-hashes",
        "--requirement",
    ]);
    install.arg(requirements);
    if goes_well(install) {
        Ok(folder)
    } else {
        Err("pip cannot install the linker".to_owned())
    }
}

/// Returns the developer's search path with a folder before all others.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore starts the developer's own programs, in the developer's own environment"
)]
fn with_path(first: &Path) -> Result<std::ffi::OsString, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(first.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).map_err(|error| error.to_string())
}

/// Returns options that keep this machine's folders out of the program: panics name the files of libraries.
fn remapped(root: &Path) -> Result<String, String> {
    let sysroot =
        said_by_rustc(&["--print", "sysroot"]).ok_or("rustc does not print its sysroot")?;
    let mut options = vec![
        format!("--remap-path-prefix={}=rust", sysroot.trim()),
        format!("--remap-path-prefix={}=callosum", root.display()),
    ];
    if let Some(home) = cargo_home() {
        options.insert(0, format!("--remap-path-prefix={}=cargo", home.display()));
    }
    Ok(options.join(" "))
}

/// Returns the folder of the libraries' sources.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo finds its folder by these variables"
)]
fn cargo_home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}
