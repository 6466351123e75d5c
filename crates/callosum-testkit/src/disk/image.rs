//! [`Image`]: contents of a disk at one moment.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The files and folders of a disk, by absolute path. `None` is a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    nodes: BTreeMap<PathBuf, Option<Arc<Vec<u8>>>>,
}

impl Image {
    /// A disk with nothing but the folder at `path`, and those above it.
    pub fn with_folder(path: impl AsRef<Path>) -> Self {
        let mut image = Self::default();
        image.put_folder(path);
        image
    }

    /// Puts a folder, and those above it.
    pub fn put_folder(&mut self, path: impl AsRef<Path>) {
        for folder in path.as_ref().ancestors() {
            self.nodes.insert(folder.to_owned(), None);
        }
    }

    /// Puts a file, and the folders above it.
    pub fn put_file(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) {
        let path = path.into();
        if let Some(folder) = path.parent() {
            self.put_folder(folder);
        }
        self.nodes.insert(path, Some(Arc::new(bytes.into())));
    }

    /// Removes a file. Returns whether it existed.
    pub fn remove_file(&mut self, path: &Path) -> bool {
        let is_there = self.file(path).is_some();
        if is_there {
            self.nodes.remove(path);
        }
        is_there
    }

    /// The bytes of a file.
    pub fn file(&self, path: &Path) -> Option<&[u8]> {
        self.nodes.get(path)?.as_deref().map(Vec::as_slice)
    }

    /// Every path, parents before children, with a file's bytes.
    pub fn nodes(&self) -> impl Iterator<Item = (&Path, Option<&[u8]>)> {
        self.nodes
            .iter()
            .map(|(path, node)| (path.as_path(), node.as_deref().map(Vec::as_slice)))
    }

    /// A number that tells images apart, but for one in 2^64.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The files with their sizes, one a line, for the message of a test that failed.
    pub fn listing(&self) -> String {
        let lines = self.nodes.iter().map(|(path, node)| match node {
            Some(bytes) => format!("{} ({} bytes)\n", path.display(), bytes.len()),
            None => format!("{}/\n", path.display()),
        });
        lines.collect()
    }

    pub(super) fn put_shared(&mut self, path: PathBuf, bytes: Option<Arc<Vec<u8>>>) {
        self.nodes.insert(path, bytes);
    }
}
