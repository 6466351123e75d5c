//! The task file: several tasks with their links, as JSON (`docs/formats/task-file.md`).
//!
//! Start with [`read`]. Errors name the file, the task, the key, the value and the allowed values;
//! nothing is guessed and nothing is skipped.
//!
//! Deliberately not here: whether a path exists and whether an executor is registered. The caller
//! knows the tree and the registry, and asks the same of a task that comes from the command line.

mod fields;
mod reader;

#[cfg(test)]
mod tests;

pub use self::{
    fields::Problem,
    reader::{Defaults, TaskFileError, TaskPlace, read},
};
