//! One reader for each family of tools, in the order in which they claim lines.
//!
//! A reader is a function over the lines of a window. It appends a [`Finding`] for each error. Lines that a reader
//! earlier in [`READERS`] claimed (`first..=last` of its findings) are not reported again by a later one, so exact
//! formats come before loose ones. A reader looks for its own words first and returns at once if there are none:
//! every hook with output pays for all of them.

#![expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "tools print names of files as they are"
)]

mod abort;
mod annotations;
mod cargo;
mod cargo_test;
mod docker;
mod gcc;
mod git;
mod go;
mod go_test;
mod java;
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
mod node;
mod npm;
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

use crate::{finding::Finding, window::Window};

/// Reads the errors of one family of tools from a window of lines.
pub(crate) type Reader = fn(&Window<'_>, &mut Vec<Finding>);

/// Every reader with its name, exact formats first.
pub(crate) const READERS: &[(&str, Reader)] = &[
    ("json", json::read),
    ("junit xml", junit_xml::read),
    ("tap", tap::read),
    ("annotations", annotations::read),
    ("pytest", pytest::read),
    ("python", python_traceback::read),
    ("linters of python", python_lint::read),
    ("pip", pip::read),
    ("docker", docker::read),
    ("terraform", terraform::read),
    ("java", java::read),
    ("maven and gradle", maven_gradle::read),
    ("tsc", tsc::read),
    ("npm", npm::read),
    ("tests of javascript", js_test::read),
    ("bundlers of javascript", js_build::read),
    ("linters of javascript", js_lint::read),
    ("node", node::read),
    ("go", go::read),
    ("ruby", ruby::read),
    ("php", php::read),
    ("perl", perl::read),
    ("lua, sqlite and jq", lua_sqlite_jq::read),
    ("rustc", rustc::read),
    ("tests of cargo", cargo_test::read),
    ("linkers", linker::read),
    ("cargo", cargo::read),
    ("shells", shell::read),
    ("gcc and clang", gcc::read),
    ("make and cmake", make::read),
    ("aborts", abort::read),
    ("git", git::read),
    ("programs", programs::read),
];
