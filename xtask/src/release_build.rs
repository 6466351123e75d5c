//! [`Release`]: the program as it is released, built and found.

use std::{path::PathBuf, process::ExitCode};

use crate::{cargo, goes_well, say};

/// Where it is.
pub(crate) struct Release {
    /// The target folder, in which chores lay out what they need.
    pub(crate) target: PathBuf,
    /// The program.
    pub(crate) callosum: PathBuf,
}

/// Builds it and does something with it; says what went wrong, if anything did.
pub(crate) fn with_release(act: impl FnOnce(&Release) -> Result<(), String>) -> ExitCode {
    concluded(Release::build().and_then(|release| act(&release)))
}

/// The exit code of a chore; what went wrong with it, if anything did, is said.
pub(crate) fn concluded(done: Result<(), String>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&fault);
            ExitCode::FAILURE
        }
    }
}

/// The target folder: the one that this program was built in.
pub(crate) fn target() -> Result<PathBuf, String> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = itself.ancestors().nth(2);
    let target = target.ok_or("this program stands in no target folder")?;
    Ok(target.to_owned())
}

/// The same for each of some sizes, as long as nothing goes wrong.
pub(crate) fn for_each<const COUNT: usize>(
    sizes: [usize; COUNT],
    act: impl Fn(usize, &Release) -> Result<(), String>,
) -> ExitCode {
    with_release(|release| sizes.into_iter().try_for_each(|size| act(size, release)))
}

impl Release {
    /// Builds it, if it is not built already.
    pub(crate) fn build() -> Result<Self, String> {
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--release"]);
        build.args(["--package", "callosum", "--bin", "callosum"]);
        if !goes_well(build) {
            return Err("callosum cannot be built".to_owned());
        }
        let target = target()?;
        Ok(Self {
            callosum: target.join("release/callosum"),
            target,
        })
    }
}
