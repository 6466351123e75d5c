//! [`Module`]s: the product's code in parts of a size that a reader can hold in mind.
//!
//! Starts from the whole and splits the largest part, folder by folder and last into files, as
//! long as the number of parts stays readable. A file and what belongs to it (`x.rs` and `x/`,
//! `x.c` and `x.h`) are one part.

use std::collections::BTreeMap;

use super::survey::{Survey, file::SurveyedFile};

/// A part of the product's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Module {
    /// A path from the root: of a folder with a slash at the end; of a file; `x.*` for the files of
    /// that stem; `x/*` for the rest of a folder whose main files are parts of their own.
    pub(super) name: String,
    /// Its files, by their place in the survey, in order.
    pub(super) files: Vec<usize>,
    /// Their lines.
    pub(super) lines: u64,
}

/// Splits the product's code into at most about `most` parts, in order of name.
pub(super) fn modules(survey: &Survey, most: usize) -> Vec<Module> {
    let files: Vec<usize> = (0..survey.files.len())
        .filter(|at| survey.files[*at].is_source() && survey.files[*at].read)
        .collect();
    let mut parts = vec![Part {
        prefix: String::new(),
        files,
        is_whole: false,
        is_rest: false,
    }];
    let total = parts[0].lines(survey);
    loop {
        let count = parts.len();
        // What is smaller than the average part is small enough, once there are a few.
        let is_large = |part: &Part| count < 6 || part.lines(survey) * most as u64 > total;
        let largest = (0..count)
            .filter(|at| !parts[*at].is_whole && parts[*at].files.len() > 1)
            .filter(|at| is_large(&parts[*at]))
            .max_by_key(|at| (parts[*at].lines(survey), std::cmp::Reverse(*at)));
        let Some(at) = largest else { break };
        let room = most.saturating_sub(count - 1);
        match parts[at].split(survey, room) {
            Some(finer) => {
                parts.splice(at..=at, finer);
            }
            None => parts[at].is_whole = true,
        }
    }
    let mut modules: Vec<Module> = parts
        .into_iter()
        .filter(|part| !part.files.is_empty())
        .map(|part| part.into_module(survey))
        .collect();
    modules.sort_by(|a, b| a.name.cmp(&b.name));
    modules
}

/// Returns the module of each file of the survey.
pub(super) fn module_of_file(modules: &[Module], files: usize) -> Vec<Option<usize>> {
    let mut of_file = vec![None; files];
    for (at, module) in modules.iter().enumerate() {
        for &file in &module.files {
            of_file[file] = Some(at);
        }
    }
    of_file
}

/// A part on the way to becoming a module.
struct Part {
    /// Common start of the keys of all its files.
    prefix: String,
    files: Vec<usize>,
    /// Whether it is not to be split further.
    is_whole: bool,
    /// Whether it is what others were split from.
    is_rest: bool,
}

impl Part {
    fn lines(&self, survey: &Survey) -> u64 {
        self.files
            .iter()
            .map(|at| u64::from(survey.files[*at].lines))
            .sum()
    }

    /// Splits the part in finer ones, at most `room` of them; `None` if it cannot be split so.
    ///
    /// If its files are too many, the longest become parts of their own and the others stay
    /// together.
    fn split(&self, survey: &Survey, room: usize) -> Option<Vec<Part>> {
        let mut below: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &at in &self.files {
            let key = key(&survey.files[at]);
            let rest = key[self.prefix.len()..].trim_start_matches('/');
            let next = rest.split('/').next().unwrap_or_default();
            below.entry(next.to_owned()).or_default().push(at);
        }
        let mut parts: Vec<Part> = below
            .into_iter()
            .map(|(name, files)| Part {
                prefix: joined(&self.prefix, &name),
                is_whole: name.is_empty(),
                is_rest: false,
                files,
            })
            .collect();
        if parts.len() <= room || parts.len() == 1 {
            let is_finer = parts.len() > 1 || parts[0].prefix != self.prefix;
            return is_finer.then_some(parts);
        }
        let is_folder = |part: &Part| {
            part.files
                .iter()
                .any(|at| key(&survey.files[*at]) != part.prefix)
        };
        parts.sort_by_key(|part| {
            (
                !is_folder(part),
                std::cmp::Reverse(part.lines(survey)),
                part.prefix.clone(),
            )
        });
        let folders = parts.iter().filter(|part| is_folder(part)).count();
        // Half of the room is left to parts that have not been looked at.
        let alone = folders.max(room / 2).min(room.saturating_sub(1));
        if alone < 2 {
            return None;
        }
        let mut rest: Vec<usize> = parts
            .split_off(alone)
            .into_iter()
            .flat_map(|p| p.files)
            .collect();
        rest.sort_unstable();
        parts.push(Part {
            prefix: self.prefix.clone(),
            files: rest,
            is_whole: true,
            is_rest: true,
        });
        Some(parts)
    }

    fn into_module(self, survey: &Survey) -> Module {
        let lines = self.lines(survey);
        let is_pair = |at: &usize| {
            let path = survey.files[*at].path.rsplit_once('.');
            path.is_some_and(|(stem, _)| stem == self.prefix)
        };
        let name = match (self.files.as_slice(), self.prefix.as_str()) {
            ([only], _) => survey.files[*only].path.clone(),
            (files, prefix) if files.iter().all(is_pair) => format!("{prefix}.*"),
            (_, "") if self.is_rest => "./*".to_owned(),
            (_, "") => "./".to_owned(),
            (_, prefix) if self.is_rest => format!("{prefix}/*"),
            (_, prefix) => format!("{prefix}/"),
        };
        Module {
            name,
            files: self.files,
            lines,
        }
    }
}

fn joined(prefix: &str, name: &str) -> String {
    match (prefix, name) {
        (prefix, "") => prefix.to_owned(),
        ("", name) => name.to_owned(),
        (prefix, name) => format!("{prefix}/{name}"),
    }
}

/// Returns the key by which a file is grouped: its path without its ending, and without a name that
/// means its folder.
fn key(file: &SurveyedFile) -> String {
    let path = &file.path;
    let stem = path
        .rsplit_once('.')
        .map_or(path.as_str(), |(stem, _)| stem);
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    match name {
        "mod" | "lib" | "main" | "index" | "__init__" | "package-info" | "doc" => folder.to_owned(),
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{survey, tree};

    #[track_caller]
    fn check(paths: &[&str], most: usize, expected: &[&str]) {
        let text = "x = 1\n".repeat(9);
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, text.as_str())).collect();
        let folder = tree(&files);
        let found = modules(&survey(folder.path()), most);
        let names: Vec<&str> = found.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_small_tree_is_split_into_its_files() {
        check(
            &["pkg/a.py", "pkg/b.py", "pkg/c/d.py"],
            9,
            &["pkg/a.py", "pkg/b.py", "pkg/c/d.py"],
        );
    }

    #[test]
    fn a_file_and_its_folder_or_header_are_one_part() {
        check(
            &[
                "src/a.c",
                "src/a.h",
                "src/b.rs",
                "src/b/c.rs",
                "src/d.py",
                "src/e.py",
                "src/f.py",
            ],
            5,
            &["src/a.*", "src/b/", "src/d.py", "src/e.py", "src/f.py"],
        );
    }

    #[test]
    fn what_does_not_fit_stays_together() {
        check(
            &[
                "a/1.py", "a/2.py", "a/3.py", "a/4.py", "a/5.py", "a/6.py", "a/7.py",
            ],
            4,
            &["a/*", "a/1.py", "a/2.py"],
        );
    }

    #[test]
    fn tests_and_examples_are_no_parts() {
        check(
            &["src/a.py", "tests/test_a.py", "examples/e.py"],
            9,
            &["src/a.py"],
        );
    }
}
