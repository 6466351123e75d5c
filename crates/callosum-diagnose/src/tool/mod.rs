//! One reader for each family of tools, in the order in which they claim lines.
//!
//! A reader is a function over the lines of a window. It appends a [`Finding`] for each error. Lines that a reader
//! earlier in [`READERS`] claimed (`first..=last` of its findings) are not reported again by a later one, so exact
//! formats come before loose ones.
//!
//! Every hook with output pays for all readers, so each looks only where its words are. [`Reader::words`] are those
//! without which it is not called. [`Window::has`] asks for the words of one format, and [`Window::lines_with`] yields
//! the lines on which an error can begin. A test reads every recorded output with and without these filters.

#![expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "tools print names of files as they are"
)]

mod abort;
mod annotations;
mod cargo;
mod cargo_test;
mod coreutils;
mod databases;
mod docker;
mod gcc;
mod git;
mod git_merges;
mod git_messages;
mod git_remotes;
mod go;
mod go_command;
mod go_panics;
mod go_test;
mod java;
mod java_traces;
mod java_vm;
mod jest;
mod js_build;
mod js_lint;
mod js_test;
mod json;
mod json_lint;
mod json_test;
mod junit_xml;
mod kubectl;
mod linker;
mod lua_sqlite_jq;
mod make;
mod maven_gradle;
mod mocha;
mod network_clients;
mod node;
mod node_test;
mod npm;
mod package_managers;
mod passing;
mod perl;
mod php;
mod pip;
mod programs;
mod pytest;
mod python_lint;
mod python_traceback;
mod ruby;
mod ruby_test;
mod rustc;
mod scan;
mod shell;
mod tap;
mod terraform;
mod tsc;
mod vitest;

#[cfg(test)]
#[path = "../../tests/recorded/mod.rs"]
#[expect(
    clippy::disallowed_methods,
    reason = "the rows are read as a test's own files"
)]
mod recorded;

use crate::{finding::Finding, window::Window};

/// Reads the errors of one family of tools.
pub(crate) struct Reader {
    /// Its name, for people who measure it.
    pub(crate) name: &'static str,
    /// A window without any of these words has nothing for it. Empty if it has several formats, each with words of its own.
    pub(crate) words: &'static [&'static str],
    /// Appends the errors of a window.
    pub(crate) read: fn(&Window<'_>, &mut Vec<Finding>),
}

const fn reader(
    name: &'static str,
    words: &'static [&'static str],
    read: fn(&Window<'_>, &mut Vec<Finding>),
) -> Reader {
    Reader { name, words, read }
}

/// Every reader, exact formats first.
pub(crate) const READERS: &[Reader] = &[
    reader("json", json::KEYS, json::read),
    reader("junit xml", &[], junit_xml::read),
    reader("tap", &[], tap::read),
    reader("annotations", &[], annotations::read),
    reader("pytest", &[], pytest::read),
    reader("python", &[], python_traceback::read),
    reader("linters of python", &[], python_lint::read),
    reader("pip", &[], pip::read),
    reader("docker", &[], docker::read),
    reader("terraform", &[], terraform::read),
    reader("java", &[], java::read),
    reader("maven and gradle", &[], maven_gradle::read),
    reader("tsc", &[], tsc::read),
    reader("npm", &[], npm::read),
    reader("tests of javascript", &[], js_test::read),
    reader("bundlers of javascript", &[], js_build::read),
    reader("linters of javascript", &[], js_lint::read),
    reader("node", &[], node::read),
    reader("go", &[], go::read),
    reader("ruby", &[], ruby::read),
    reader("php", &[], php::read),
    reader("perl", &[], perl::read),
    reader("lua, sqlite and jq", &[], lua_sqlite_jq::read),
    reader("rustc", &[], rustc::read),
    reader("tests of cargo", &[], cargo_test::read),
    reader("linkers", &[], linker::read),
    reader("cargo", &[], cargo::read),
    reader("shells", &[], shell::read),
    reader("gcc and clang", gcc::WORDS, gcc::read),
    reader("make and cmake", &[], make::read),
    reader("aborts", &[], abort::read),
    reader("git", git::WORDS, git::read),
    reader("programs", programs::WORDS, programs::read),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Line;

    /// Returns what a reader reports, by the words that it asks for or from every line.
    fn findings(reader: &Reader, lines: &[Line], is_filtered: bool) -> Vec<Finding> {
        let mut found = Vec::new();
        if !is_filtered {
            (reader.read)(&Window::unfiltered(lines), &mut found);
            return found;
        }
        let window = Window::new(lines);
        if reader.words.is_empty() || window.may_have_any(reader.words) {
            (reader.read)(&window, &mut found);
        }
        found
    }

    /// CAKE-WATCH-1: no reader misses an error because of the words that it asks for.
    #[test]
    fn words_of_readers_hide_no_error() {
        let texts: Vec<String> = recorded::rows()
            .iter()
            .map(|(_, row)| row["text"].as_str().unwrap().to_owned())
            .collect();
        assert!(texts.len() > 700);
        // Each output alone, and below the one before.
        let joined = texts.windows(2).map(|two| two.join("\n"));
        for text in texts.iter().cloned().chain(joined) {
            let lines: Vec<Line> = text.lines().map(Line::new).collect();
            for reader in READERS {
                assert_eq!(
                    findings(reader, &lines, true),
                    findings(reader, &lines, false),
                    "{} in {text}",
                    reader.name
                );
            }
        }
    }
}
