//! Command templates: one line that says how an executor is started, without a shell.
//!
//! A template is split into words first, as a shell would split it, and only then are `{prompt}`
//! and `{self}` put in their places. So nothing in a prompt can end a word, begin another, or
//! become a command. Nothing else of a shell exists here: no variables, globs, pipes or `;`.
//!
//! [`Template`] is the line; which programs would run a prompt as code is a table of its own.

mod interpreter;
mod text;

pub use self::text::{Command, Filling, LONGEST_ARGUMENT, Template, TemplateError};
