//! Command templates: one line with the command of an executor, without a shell.
//!
//! A template is split into words first, as a shell would split it. Only then are `{prompt}` and
//! `{self}` replaced. So nothing in a prompt can end a word, begin another, or become a command.
//! Nothing else of a shell exists here: no variables, globs, pipes or `;`.
//!
//! [`Template`] is the line; `interpreter` has a table of the programs that would run a prompt as
//! code.

mod interpreter;
mod text;

pub use self::text::{Command, Filling, LONGEST_ARGUMENT, Template, TemplateError};
