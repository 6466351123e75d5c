//! `cargo xtask dist`: the packages of a release, for the machine that it runs on.
//!
//! Start with [`dist`]. [`program`] builds the program against an old glibc, and [`floor`] checks which glibc it needs.
//! [`content`] collects the files of an installation, which [`archive`], [`debian`] and [`npm`] pack. [`licenses`] writes the
//! licenses of the libraries, [`manifest`] the checksums that `callosum self check` compares.
//!
//! The same commit, program and toolchain give the same bytes: names are sorted, times are that of the commit, and owners
//! are root.

mod archive;
mod content;
mod debian;
mod floor;
mod licenses;
mod manifest;
mod npm;
mod program;
mod target;
mod workspace;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

pub(crate) use self::workspace::git;
use self::{archive::Compression, content::Content, target::Target, workspace::Workspace};
use crate::{release_build, release_build::concluded, say};

/// The options of the chore.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// A program that is built already. Its need of glibc is not limited.
    program: Option<PathBuf>,
    /// The folder of the packages.
    out: Option<PathBuf>,
    /// Whether the tag of the commit and the changelog must have the version.
    checks_version: bool,
}

impl Options {
    /// Reads the words after `dist`; `None` if one is unknown.
    pub(crate) fn read(mut words: &[&str]) -> Option<Self> {
        let mut options = Self::default();
        loop {
            words = match words {
                [] => return Some(options),
                ["--version-check", rest @ ..] => {
                    options.checks_version = true;
                    rest
                }
                ["--out", folder, rest @ ..] => {
                    options.out = Some(PathBuf::from(folder));
                    rest
                }
                ["--program", file, rest @ ..] => {
                    options.program = Some(PathBuf::from(file));
                    rest
                }
                _ => return None,
            };
        }
    }
}

/// Makes the packages, and prints the name and size of each.
pub(crate) fn dist(options: &Options) -> ExitCode {
    concluded(make(options))
}

fn make(options: &Options) -> Result<(), String> {
    let began = Instant::now();
    let target = Target::of_host()?;
    let workspace = Workspace::read(&target)?;
    if options.checks_version {
        workspace.check_version()?;
    }
    let built_in = release_build::target()?;
    let (program, compression) = match &options.program {
        Some(program) => (program.clone(), Compression::Fast),
        None => (
            program::build(&workspace.root, &target)?,
            Compression::Small,
        ),
    };
    let built = began.elapsed();
    let needs = floor::needs_of(&program)?;
    if options.program.is_none() {
        floor::check(&needs)?;
    }
    let content = Content::collect(&workspace, &target, &program, needs)?;
    let out = options
        .out
        .clone()
        .unwrap_or_else(|| built_in.join("dist-packages"));
    write_packages(&content, &target, compression, &out)?;
    if let Some(glibc) = &content.needs.glibc {
        say(&format!("needs glibc {glibc} or later"));
    }
    let packed = began.elapsed().saturating_sub(built);
    if options.program.is_none() {
        say(&format!("built in {:.0} s", built.as_secs_f64()));
    }
    say(&format!(
        "packed in {:.1} s: {}",
        packed.as_secs_f64(),
        out.display()
    ));
    Ok(())
}

/// Writes each package, then `SHA256SUMS` of all. Packages of an earlier run are removed.
fn write_packages(
    content: &Content,
    target: &Target,
    compression: Compression,
    out: &Path,
) -> Result<(), String> {
    let mut packages = vec![
        archive::package(content, target, compression)?,
        npm::package(content, target, compression)?,
    ];
    if target.is_linux() {
        packages.push(debian::package(content, target, compression)?);
    }
    packages.sort_by(|one, other| one.name.cmp(&other.name));
    empty(out)?;
    let mut sums = String::new();
    for Package { name, bytes } in packages {
        write(&out.join(&name), &bytes)?;
        sums.push_str(&manifest::sum_line(&name, &bytes));
        let megabytes = bytes.len() as f64 / 1e6;
        say(&format!("{name}: {megabytes:.1} MB"));
    }
    write(&out.join("SHA256SUMS"), sums.as_bytes())
}

/// A finished package.
struct Package {
    /// The name of its file.
    name: String,
    bytes: Vec<u8>,
}

/// Makes a folder, and removes the files in it that an earlier run of this chore left.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore works on the developer's own files"
)]
fn empty(folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_ours = name == "SHA256SUMS"
            || name.starts_with("callosum")
                && [".tar.gz", ".tgz", ".deb"]
                    .iter()
                    .any(|end| name.ends_with(end));
        if is_ours {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore works on the developer's own files"
)]
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads a file whole; the error names it.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore works on the developer's own files"
)]
fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_any_order_and_unknown_words_are_refused() {
        let all = Options {
            program: Some("p".into()),
            out: Some("o".into()),
            checks_version: true,
        };
        let words = ["--out", "o", "--version-check", "--program", "p"];
        assert_eq!(Options::read(&words), Some(all));
        assert_eq!(Options::read(&[]), Some(Options::default()));
        assert_eq!(Options::read(&["--out"]), None);
        assert_eq!(Options::read(&["--fast"]), None);
    }
}
