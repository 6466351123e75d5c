//! `callosum self check`: whether this program is installed completely and is the one that everything uses.
//!
//! Start with [`check`]. `search_path` looks for other copies, `manifest` compares files with those of the release,
//! `extras` looks for completions and manuals, `registered` for hooks and servers of other copies. `doctor` checks what the
//! program works with; this checks the program.

mod extras;
mod manifest;
mod registered;
mod search_path;

use std::path::{Path, PathBuf};

use callosum_daemon::{Serving, running};
use callosum_host::machine;
use callosum_host::process;
use callosum_host::process::{Ending, Launch};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::doctor::{CheckLine, Checks, Outcome};
use crate::{CommandError, client_settings, hook_probe};

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `callosum self check --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SelfCheckOutput {
    /// Whether no check failed.
    pub healthy: bool,
    /// Path of this program, links resolved.
    pub program: String,
    /// Version of this program.
    pub version: String,
    /// Path of the release's manifest; null if this program was not installed from a release.
    pub manifest: Option<String>,
    /// Every check, in order.
    pub checks: Vec<CheckLine>,
}

/// Checks the installation of this program. Changes nothing, and starts other copies for their version only.
pub fn check(context: &Context) -> Result<SelfCheckOutput, CommandError> {
    let own = client_settings::own_program()?;
    let program = context.disk.canonicalize(&own).unwrap_or(own);
    let mut checks = Checks::default();
    let found = format!("{} {VERSION}", program.display());
    checks.add("program", Outcome::Ok, found, None);
    search_path::check(context, &program, &mut checks);
    let prefix = prefix_of(&program);
    let manifest = manifest::check(context, &prefix, &mut checks);
    extras::check(context, &prefix, &mut checks);
    registered::check(context, &program, &mut checks);
    check_daemon(context, &mut checks);
    let needed = manifest
        .as_ref()
        .and_then(|(_, manifest)| manifest.glibc.as_deref());
    check_system(needed, &mut checks);
    Ok(SelfCheckOutput {
        healthy: checks.lines.iter().all(|check| check.outcome != "failed"),
        program: program.display().to_string(),
        version: VERSION.to_owned(),
        manifest: manifest.map(|(path, _)| path.display().to_string()),
        checks: checks.lines,
    })
}

/// Returns the folder above `bin`, in which a release has its other files.
fn prefix_of(program: &Path) -> PathBuf {
    let prefix = program.ancestors().nth(2);
    prefix.unwrap_or(Path::new("/")).to_owned()
}

/// Returns the version that another copy prints; `None` if it does not answer as one.
fn version_of(context: &Context, program: &Path) -> Option<String> {
    let environment = context.environment.iter();
    let launch = Launch {
        program: program.to_owned(),
        arguments: vec!["--version".into()],
        folder: context.folder.clone(),
        environment: environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: hook_probe::limits(),
    };
    let run = process::run(&launch, &context.cancel, &mut |_, _| {}).ok()?;
    let output = String::from_utf8_lossy(&run.output);
    let version = output.trim().strip_prefix("callosum ")?;
    let is_word = !version.is_empty() && !version.contains(char::is_whitespace);
    (run.ending == Ending::Exited(0) && is_word).then(|| version.to_owned())
}

/// Compares the daemon's version with this one.
fn check_daemon(context: &Context, checks: &mut Checks) {
    const NAME: &str = "daemon";
    let answer = running(&context.project.homes.mesh());
    let serving = answer
        .ok()
        .and_then(|answer| serde_json::from_value::<Serving>(answer.get("serving")?.clone()).ok());
    match serving {
        None => checks.add(NAME, Outcome::Ok, "not running", None),
        Some(serving) if serving.version == VERSION => {
            let found = format!("process {} has this version", serving.pid);
            checks.add(NAME, Outcome::Ok, found, None);
        }
        Some(serving) => {
            let found = format!(
                "process {} has version {}, this program {VERSION}",
                serving.pid, serving.version
            );
            let hint = "callosum serve stop && callosum serve --detach";
            checks.add(NAME, Outcome::Failed, found, Some(hint));
        }
    }
}

/// Names the glibc of this machine and the one that the release needs. Other systems have no such line.
fn check_system(needed: Option<&str>, checks: &mut Checks) {
    let Some(glibc) = machine::glibc_version() else {
        return;
    };
    let found = match needed {
        Some(needed) => format!("{glibc}, the release needs {needed} or later"),
        None => glibc,
    };
    checks.add("glibc", Outcome::Ok, found, None);
}
