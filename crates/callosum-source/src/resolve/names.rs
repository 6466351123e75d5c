//! [`Names`]: the paths of a tree, ready to be asked for; and the arithmetic of "/"-separated paths.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
};

use crate::walk::SourceTree;

/// The paths of a tree.
pub(super) struct Names<'a> {
    paths: BTreeMap<&'a str, usize>,
    /// By the last part of the path, in the order of the tree.
    by_file_name: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(tree: &'a SourceTree) -> Self {
        let mut by_file_name: HashMap<_, Vec<_>> = HashMap::new();
        for file in &tree.files {
            let path = file.path.as_str();
            by_file_name.entry(file_name(path)).or_default().push(path);
        }
        let files = tree.files.iter().enumerate();
        Self {
            paths: files
                .map(|(index, file)| (file.path.as_str(), index))
                .collect(),
            by_file_name,
        }
    }

    /// The place of a file in the tree.
    pub(super) fn file(&self, path: &str) -> Option<usize> {
        self.paths.get(path).copied()
    }

    /// The first of these files that is there.
    pub(super) fn first_file(&self, paths: impl IntoIterator<Item = String>) -> Option<usize> {
        paths.into_iter().find_map(|path| self.file(&path))
    }

    /// The files right in a folder.
    pub(super) fn in_folder<'s>(
        &'s self,
        folder: &str,
    ) -> impl Iterator<Item = (&'a str, usize)> + use<'s, 'a> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        self.paths
            .range::<str, _>(from)
            .map_while({
                let prefix = prefix.clone();
                move |(path, index)| Some((*path, path.strip_prefix(prefix.as_str())?, *index))
            })
            .filter(|(_, rest, _)| !rest.contains('/'))
            .map(|(path, _, index)| (path, index))
    }

    /// The files whose path is `suffix` or ends with it after a "/".
    pub(super) fn ending_with<'s>(
        &'s self,
        suffix: &str,
    ) -> impl Iterator<Item = &'a str> + use<'s, 'a> {
        let suffix = suffix.to_owned();
        let named = self.by_file_name.get(file_name(&suffix));
        named
            .into_iter()
            .flatten()
            .copied()
            .filter(move |path| is_suffix(path, &suffix))
    }

    /// Every path, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.paths.keys().copied()
    }
}

/// Whether a path is `suffix` or ends with it after a "/".
fn is_suffix(path: &str, suffix: &str) -> bool {
    path.strip_suffix(suffix)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a path; empty for the root.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path without its extension.
pub(super) fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the extension of a path, without its dot; empty if it has none.
pub(super) fn extension(path: &str) -> &str {
    file_name(path)
        .rsplit_once('.')
        .map_or("", |(_, extension)| extension)
}

/// Joins a folder and a path relative to it and resolves `.` and `..`; `None` if the result leaves the tree.
pub fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A name below a folder that is known to be one.
pub(super) fn below(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// Whether `path` lies in `folder`.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the number of leading parts that two paths share.
pub(super) fn nearness(a: &str, b: &str) -> usize {
    a.split('/')
        .zip(b.split('/'))
        .take_while(|(a, b)| a == b)
        .count()
}
