//! Output files: the result of a task, written for the agent that asked (Seed CALC §6, pattern 2).
//!
//! Start with [`Mesh::write_outputs`]. [`allowed`] decides about a path without looking at the
//! disk; the caller passes the folders that a task may write to. A path comes from the task's
//! creator, so it is hostile until checked: only new files, below an allowed folder after every
//! link is resolved, with no hidden name on the way. Files of a project that programs run by
//! themselves, such as git hooks and settings of coding agents, have hidden names.
//!
//! A file that exists with other content is never replaced, unless the author of the task consents
//! or it is the one that an earlier receipt describes.

use std::path::{Component, Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::EntryKind};
use callosum_redact::secrets::mask;
use sha2::{Digest as _, Sha256};

use crate::{
    agent::AgentName,
    author::Author,
    board::{Effect, OutputOutcome, OutputReceipt, Task},
    leased_path::leased_path,
    mesh::Mesh,
    mesh_error::MeshError,
};

/// Permission bits of an output file.
const MODE: u32 = 0o644;

/// Most output files that one command writes.
const MOST: usize = 16;

/// A reason not to write an output file.
#[derive(Debug, thiserror::Error)]
pub enum OutputFault {
    /// The path is relative and the folder of the task is unknown.
    #[error("the path is relative, and the folder of the task is unknown")]
    Relative,
    /// The path contains a control character.
    #[error("the path contains a control character")]
    Control,
    /// The path is outside of every allowed folder.
    #[error("{} is outside of {}", .path.display(), named(.folders))]
    Outside {
        /// The file, with every link resolved.
        path: PathBuf,
        /// The allowed folders.
        folders: Vec<PathBuf>,
    },
    /// A name on the path begins with a dot.
    #[error("`{name}` is hidden, and hidden files and folders are never written")]
    Hidden {
        /// The name.
        name: String,
    },
    /// The name belongs to a link, a folder or a device.
    #[error("{} is {what}", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of the entry.
        what: &'static str,
    },
    /// The file exists with other content.
    #[error("the file exists with other content")]
    Exists,
    /// A folder on the path changed during the write.
    #[error("{} changed while it was written", .path.display())]
    Moved {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

fn named(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        return "every allowed folder: the project of its author is unknown".to_owned();
    }
    let folders: Vec<String> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    folders.join(", ")
}

/// Returns whether a path with every link resolved may be written: it is below one of the folders, and no name below that
/// folder is hidden.
pub fn allowed(path: &Path, folders: &[PathBuf]) -> Result<(), OutputFault> {
    let mut hidden = None;
    for folder in folders {
        let Ok(below) = path.strip_prefix(folder) else {
            continue;
        };
        let names: Vec<String> = below
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        match names.iter().find(|name| name.starts_with('.')) {
            None if !names.is_empty() => return Ok(()),
            Some(name) => hidden = Some(name.clone()),
            None => {}
        }
    }
    Err(match hidden {
        Some(name) => OutputFault::Hidden { name },
        None => OutputFault::Outside {
            path: path.to_owned(),
            folders: folders.to_vec(),
        },
    })
}

/// Returns the file that a task's path names, with every link resolved, if it may be written.
///
/// A relative path counts from `cwd`. Costs a look at each folder on the way.
pub fn resolve(
    disk: &Disk,
    path: &str,
    cwd: Option<&Path>,
    folders: &[PathBuf],
) -> Result<PathBuf, OutputFault> {
    if path.contains(char::is_control) {
        return Err(OutputFault::Control);
    }
    let path = Path::new(path);
    let path = match cwd {
        _ if path.is_absolute() => path.to_owned(),
        Some(cwd) => cwd.join(path),
        None => return Err(OutputFault::Relative),
    };
    let named = path.components().next_back();
    let Some(Component::Normal(name)) = named else {
        return Err(OutputFault::NotAFile {
            path,
            what: "a folder",
        });
    };
    // The folder is resolved without the name, so that a link under that name is seen as one.
    let folder = leased_path(disk, path.parent().unwrap_or(Path::new("/")))?;
    let path = folder.join(name);
    allowed(&path, folders)?;
    Ok(path)
}

/// Writes a result to a file that [`resolve`] has returned. Returns the size and the SHA-256 of the file.
///
/// `known` is the SHA-256 of the file's content if Callosum wrote it before.
fn write(
    disk: &Disk,
    path: &Path,
    text: &[u8],
    known: Option<&str>,
    is_forced: bool,
) -> Result<(u64, String), OutputFault> {
    let bytes = text.len() as u64;
    let sum = sum_of(text);
    let folder = path.parent().unwrap_or(Path::new("/"));
    disk.create_dir_all(folder)?;
    if disk.canonicalize(folder)? != folder {
        return Err(OutputFault::Moved {
            path: path.to_owned(),
        });
    }
    let what = match disk.stat(path)?.map(|found| (found.kind, found.len)) {
        None => {
            if !disk.create(path, text, MODE)? {
                return Err(OutputFault::Exists);
            }
            // A folder may have become a link after the look at it.
            if disk.canonicalize(path)? != path {
                return Err(OutputFault::Moved {
                    path: path.to_owned(),
                });
            }
            return Ok((bytes, sum));
        }
        Some((EntryKind::File, len)) => {
            let is_same = len == bytes && disk.read(path)? == text;
            if is_same {
                return Ok((bytes, sum));
            }
            let is_own = match known {
                Some(known) => sum_of(&disk.read(path)?) == known,
                None => false,
            };
            if !is_forced && !is_own {
                return Err(OutputFault::Exists);
            }
            disk.rewrite(path, text, MODE)?;
            return Ok((bytes, sum));
        }
        Some((EntryKind::Link, _)) => "a link",
        Some((EntryKind::Folder, _)) => "a folder",
        Some((EntryKind::Other, _)) => "a device, pipe or socket",
    };
    Err(OutputFault::NotAFile {
        path: path.to_owned(),
        what,
    })
}

fn sum_of(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// Writes the result of a task, and returns the receipt.
fn deliver(disk: &Disk, task: &Task, folders: &[PathBuf], is_forced: bool) -> OutputReceipt {
    let path = task.output_file.as_deref().unwrap_or_default();
    let result = task.result.as_deref().unwrap_or_default();
    let mut text = mask(result).text;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let resolved = resolve(disk, path, task.cwd.as_deref().map(Path::new), folders);
    let shown = resolved
        .as_ref()
        .map_or(path.to_owned(), |path| path.to_string_lossy().into_owned());
    let before = task.output.as_ref().filter(|before| before.path == shown);
    let known = before.and_then(|before| before.sha256.as_deref());
    let done = resolved.and_then(|path| write(disk, &path, text.as_bytes(), known, is_forced));
    let (outcome, bytes, sha256, reason) = match done {
        Ok((bytes, sum)) => (OutputOutcome::Written, Some(bytes), Some(sum), None),
        Err(fault) => {
            let hint = matches!(fault, OutputFault::Exists).then(|| {
                format!(
                    "; `callosum mesh task write {} --force` replaces it",
                    task.id
                )
            });
            let reason = format!("{fault}{}", hint.unwrap_or_default());
            // The file that an earlier receipt describes is still Callosum's own.
            (
                OutputOutcome::Refused,
                None,
                known.map(str::to_owned),
                Some(reason),
            )
        }
    };
    OutputReceipt {
        outcome,
        path: shown,
        bytes,
        sha256,
        reason,
        at: None,
        is_stale: false,
    }
}

impl Mesh {
    /// Writes the results that are due to the files that their tasks name, each with a receipt in the log.
    ///
    /// `folders` returns the folders that a task may write to. Locks nothing if nothing is due. Returns the number of
    /// receipts.
    pub fn write_outputs(
        &mut self,
        folders: &dyn Fn(&Task) -> Vec<PathBuf>,
    ) -> Result<usize, MeshError> {
        if self.board()?.due_outputs().next().is_none() {
            return Ok(0);
        }
        let disk = self.disk().clone();
        self.in_turn(|orders| {
            // Another process may have written them since the look at the board.
            let due: Vec<Task> = orders.board().due_outputs().take(MOST).cloned().collect();
            for task in &due {
                let receipt = deliver(&disk, task, &folders(task), false);
                let task = task.id.clone();
                orders.append(
                    &Effect::OutputSettled { task, receipt },
                    &Author::of(AgentName::us()),
                    None,
                )?;
            }
            Ok(due.len())
        })
    }

    /// Writes the result of a task again for its author or a person. With `is_forced`, replaces a file with other content.
    pub fn write_output(
        &mut self,
        task: &str,
        voice: &Author,
        is_forced: bool,
        folders: &dyn Fn(&Task) -> Vec<PathBuf>,
    ) -> Result<OutputReceipt, MeshError> {
        let disk = self.disk().clone();
        self.in_turn(|orders| {
            let task = orders.board().output_to_write(task, voice)?.clone();
            let receipt = deliver(&disk, &task, &folders(&task), is_forced);
            let deed = Effect::OutputSettled {
                task: task.id,
                receipt: receipt.clone(),
            };
            orders.append(&deed, &Author::of(AgentName::us()), None)?;
            Ok(receipt)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-PAT-2b: only files below an allowed folder, and none that is hidden.
    #[test]
    fn only_visible_files_below_an_allowed_folder_are_written() {
        let folders = [PathBuf::from("/srv/shop"), PathBuf::from("/srv/reports")];
        for (path, expected) in [
            ("/srv/shop/review.md", Ok(())),
            ("/srv/shop/docs/review.md", Ok(())),
            ("/srv/reports/a", Ok(())),
            ("/srv/shop", Err("is outside of /srv/shop, /srv/reports")),
            ("/srv/shop-two/review.md", Err("is outside of")),
            ("/etc/passwd", Err("is outside of")),
            ("/srv/shop/.git/hooks/pre-commit", Err("`.git` is hidden")),
            ("/srv/shop/src/.envrc", Err("`.envrc` is hidden")),
        ] {
            let found = allowed(Path::new(path), &folders).map_err(|fault| fault.to_string());
            match (found, expected) {
                (Ok(()), Ok(())) => {}
                (Err(found), Err(part)) => assert!(found.contains(part), "{path}: {found}"),
                (found, expected) => panic!("{path}: {found:?}, not {expected:?}"),
            }
        }
        assert!(allowed(Path::new("/a"), &[]).is_err());
    }
}
