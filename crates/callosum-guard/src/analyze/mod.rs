//! From a text to the commands that would run, however they are wrapped.
//!
//! Start with [`unwrap`]. It walks through what [`shell`](crate::shell) read as the shell would,
//! remembers what can be known (variables, the working folder, functions, files written on the
//! way), and follows every program that runs another: `sudo`, `xargs`, `bash -c`, `python -c`. The
//! result is a list of [`Call`]s, each with its words as they would be given.
//!
//! Deliberately not here: the rules, and whether a call is dangerous. The caller passes the names of the programs that
//! matter as [`KnownPrograms`]. Both sides of `&&` and every arm of a `case`
//! are taken to run.

mod assign;
mod brace;
mod builtin;
mod call;
mod collect;
mod data_flow;
pub(crate) mod database_framework;
mod descriptor;
mod dialect;
pub(crate) mod docker;
mod embedded_code;
mod empty_expansion;
mod evaluator;
mod expand;
pub(crate) mod git_options;
mod inert_programs;
mod invocation;
mod known_programs;
mod line_filters;
mod list_commands;
mod output;
mod parents;
pub(crate) mod pattern;
mod pid_sources;
mod renamed_binaries;
mod scope;
mod secret_managers;
pub(crate) mod setting;
mod state;
mod subject;
mod taint;
mod text_filters;
mod tool_dirs;
mod uncertain_cwd;
mod unpack;
pub(crate) mod value;
pub(crate) mod wrapper_table;
mod wrappers;

pub(crate) use call::{Analysis, Call, Write};
pub(crate) use evaluator::unwrap;
pub(crate) use known_programs::KnownPrograms;
pub(crate) use subject::Subject;
pub(crate) use unpack::Unpacked;
