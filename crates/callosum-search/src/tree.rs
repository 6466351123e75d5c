//! Keeping the index in line with a tree: only what changed is read.

use std::{path::Path, sync::mpsc, thread, time::SystemTime};

use callosum_host::{Disk, disk::EntryKind, process::Cancel};

use super::{
    embedding::Model,
    index::{Cut, Index, IndexError, Piece, failed, is_cancelled, pieces, put},
    passage::passages,
};
use callosum_source::{
    outline::outline,
    walk::{SourceFile, SourceTree, Why},
};

/// The collection of a tree's files.
pub const TREE: &str = "tree";

/// Number of files that are read before they are written to the index.
const BATCH: usize = 400;

/// From how many changed files on all vectors of a model are read at once.
const MANY: usize = 100;

/// The result of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Files that were read, since they are new or have changed.
    pub read: usize,
    /// Files that are no longer there.
    pub gone: usize,
}

impl Index {
    /// Brings the index in line with a tree.
    ///
    /// A file is read again when its size, time or number is another. Costs a stat for each file,
    /// and a parse for each that changed, on every core, while what was parsed before is written.
    /// Holds the words of at most three times 400 files in memory. `progress` hears how many of how many were read.
    /// Ends within one file after a [cancel](Self::with_cancel); the next update reads the rest.
    pub fn update_tree(
        &mut self,
        disk: &Disk,
        tree: &SourceTree,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Updated, IndexError> {
        let mut known = self.known(TREE)?;
        let mut changed: Vec<(SourceFile, String)> = Vec::new();
        for file in &tree.files {
            self.check_cancel()?;
            let stamp = stamp(disk, &tree.root.join(&file.path));
            let is_known = known.remove(&file.path).as_deref() == Some(stamp.as_str());
            if !is_known || stamp.is_empty() {
                changed.push((file.clone(), stamp));
            }
        }
        let gone: Vec<String> = known.into_keys().collect();
        self.put(TREE, Vec::new(), &gone)?;
        let count = changed.len();
        if count > MANY
            && let Some(model) = &self.model
        {
            model.hold()?;
        }
        let (model, connection, path) = (self.model.as_ref(), &mut self.connection, &self.path);
        let cancel = self.cancel.as_ref();
        // A batch is written down while the next one is read; no more than these wait.
        let (ready, cuts) = mpsc::sync_channel(1);
        thread::scope(|scope| {
            let reader = thread::Builder::new().spawn_scoped(scope, {
                let changed = &changed;
                move || {
                    for batch in changed.chunks(BATCH) {
                        // The receiver is gone if a batch could not be written.
                        if ready.send(read(disk, tree, batch, model, cancel)).is_err() {
                            break;
                        }
                    }
                }
            });
            if reader.is_err() {
                // The system gives no thread: reading and writing take turns.
                let mut done = 0;
                for batch in changed.chunks(BATCH) {
                    let batch = read(disk, tree, batch, model, cancel);
                    done += batch.len();
                    put(connection, TREE, batch, &[], cancel)
                        .map_err(|source| failed(path, source))?;
                    progress(done, count);
                }
                return Ok(());
            }
            let mut done = 0;
            for batch in cuts {
                done += batch.len();
                put(connection, TREE, batch, &[], cancel).map_err(|source| failed(path, source))?;
                progress(done, count);
            }
            Ok::<(), IndexError>(())
        })?;
        Ok(Updated {
            read: count,
            gone: gone.len(),
        })
    }
}

/// Reads files, each with its stamp, on every core. After a cancel the rest of the batch has no passages, and
/// [`put`] refuses it.
fn read(
    disk: &Disk,
    tree: &SourceTree,
    batch: &[(SourceFile, String)],
    model: Option<&Model>,
    cancel: Option<&Cancel>,
) -> Vec<Cut> {
    let part = SourceTree {
        root: tree.root.clone(),
        files: batch.iter().map(|(file, _)| file.clone()).collect(),
        skipped: Vec::new(),
    };
    let cuts = part.map_files(|file| {
        if is_cancelled(cancel) {
            return Err(Why::Unreadable("cancelled".to_owned()));
        }
        let text = part.text_in_any_encoding(disk, file)?;
        Ok(cut(file, &text, model))
    });
    let cuts = batch.iter().zip(cuts).map(|((file, stamp), cut)| Cut {
        place: file.path.clone(),
        stamp: stamp.clone(),
        title: String::new(),
        text: None,
        // What is no text has nothing to be found by, and is not opened again.
        passages: cut.unwrap_or_default(),
    });
    cuts.collect()
}

fn cut(file: &SourceFile, text: &str, model: Option<&Model>) -> Vec<Piece> {
    let read = file
        .language
        .map(|language| (language, outline(language, &file.path, text)));
    let read = read
        .as_ref()
        .map(|(language, outline)| (*language, outline));
    let lines: Vec<&str> = text.lines().collect();
    pieces(passages(&file.path, text, read), &lines, model)
}

/// Returns a stamp of a file's content; taken before it is read, so that a concurrent change is
/// seen the next time.
fn stamp(disk: &Disk, path: &Path) -> String {
    match disk.stat(path) {
        Ok(Some(found)) if found.kind == EntryKind::File => {
            let time = found.modified.duration_since(SystemTime::UNIX_EPOCH);
            let time = time.map_or(0, |time| time.as_nanos());
            let number = found.id.map_or(0, |id| id.inode);
            format!("{} {time} {number}", found.len)
        }
        // It is looked at again the next time.
        _ => String::new(),
    }
}
