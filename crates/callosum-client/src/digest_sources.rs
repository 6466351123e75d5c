//! [`configured`]: reads the files and runs the commands that the user's configuration names for digests.
//!
//! All at once, each within its own time and size, so that a session waits for the slowest and for two seconds at most. A
//! file or command that fails is a reason, and never a failure of the digest.

use std::{ffi::OsString, path::Path, thread};

use callosum_config::{DigestSource, Environment, SourceFrom};
use callosum_host::{
    Disk, OpenHow,
    disk::EntryKind,
    process::{self, Cancel, Ending, Launch, Limits},
};
use callosum_mesh::digest_source::{SourceText, digest_sources};

/// Most bytes that are read of a file or of a command's output.
const MOST_BYTES: usize = 32 * 1024;

/// Set for commands, so that a digest that one of them makes runs no further commands.
const GUARD: &str = "CALLOSUM_DIGEST_SOURCE";

/// Returns the lines of the configured sources; empty without any. `tree` is the project's root.
pub fn configured(
    disk: &Disk,
    environment: &Environment,
    sources: &[DigestSource],
    tree: &Path,
) -> String {
    if sources.is_empty() || environment.get(GUARD).is_some() {
        return String::new();
    }
    let texts: Vec<SourceText> = thread::scope(|scope| {
        let started: Vec<_> = sources
            .iter()
            .map(|source| {
                (
                    source,
                    scope.spawn(|| text(disk, environment, source, tree)),
                )
            })
            .collect();
        let texts = started.into_iter().map(|(source, thread)| SourceText {
            name: source.name.clone(),
            origin: origin(&source.from),
            text: thread
                .join()
                .unwrap_or_else(|_| Err("cannot be read".to_owned())),
            budget: source.budget,
        });
        texts.collect()
    });
    digest_sources(&texts)
}

fn origin(from: &SourceFrom) -> String {
    match from {
        SourceFrom::File(path) => path.clone(),
        SourceFrom::Command { words, .. } => format!("`{}`", words.join(" ")),
    }
}

fn text(
    disk: &Disk,
    environment: &Environment,
    source: &DigestSource,
    tree: &Path,
) -> Result<String, String> {
    match &source.from {
        SourceFrom::File(path) => file(disk, environment, path, tree),
        SourceFrom::Command { words, timeout } => {
            let variables = environment.iter();
            let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let guard = (OsString::from(GUARD), OsString::from("1"));
            let launch = Launch {
                program: words[0].clone().into(),
                arguments: words[1..].iter().map(OsString::from).collect(),
                folder: tree.to_owned(),
                environment: variables.chain([guard]).collect(),
                input: Vec::new(),
                limits: Limits {
                    quiet: None,
                    total: Some(*timeout),
                    output_bytes: MOST_BYTES,
                    error_bytes: 4 * 1024,
                },
            };
            output(&launch)
        }
    }
}

/// Reads the beginning of a regular file. A file that is named relative to the project must be in it, also behind links.
fn file(disk: &Disk, environment: &Environment, path: &str, tree: &Path) -> Result<String, String> {
    let path = environment.at_home(path);
    let is_of_project = path.is_relative();
    let cannot_read = |error: callosum_host::DiskError| {
        if error.is_absent() {
            "does not exist".to_owned()
        } else {
            format!("cannot be read: {error}")
        }
    };
    let real = disk.canonicalize(&tree.join(path)).map_err(cannot_read)?;
    if is_of_project && !real.starts_with(tree) {
        return Err("is a link that leads out of the project".to_owned());
    }
    let found = disk.stat(&real).map_err(cannot_read)?;
    // A pipe would be waited for.
    if found.is_none_or(|found| found.kind != EntryKind::File) {
        return Err("is not a regular file".to_owned());
    }
    let file = disk.open(&real, OpenHow::READ).map_err(cannot_read)?;
    let len = file.size().map_err(cannot_read)?;
    let len = usize::try_from(len).map_or(MOST_BYTES, |len| len.min(MOST_BYTES));
    let bytes = file.read_range(0, len).map_err(cannot_read)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs a command, and returns what it wrote to standard output.
fn output(launch: &Launch) -> Result<String, String> {
    let cancel = Cancel::new().map_err(|error| error.to_string())?;
    let run = process::run(launch, &cancel, &mut |_, _| {}).map_err(|error| error.to_string())?;
    match run.ending {
        Ending::Exited(0) | Ending::TooMuchOutput => {
            Ok(String::from_utf8_lossy(&run.output).into_owned())
        }
        Ending::Exited(code) => Err(format!("exited with {code}")),
        Ending::Deadline => {
            let limit = launch.limits.total.unwrap_or_default();
            Err(format!("took longer than {limit:?}"))
        }
        Ending::Signalled(signal) => Err(format!("was ended by signal {signal}")),
        Ending::Quiet | Ending::Cancelled | Ending::Unguarded => Err("was ended".to_owned()),
    }
}
