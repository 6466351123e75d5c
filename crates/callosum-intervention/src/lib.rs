//! Steps in when an agent hits an error, and remembers what fixed it (Seed CAKE §1, §2 and §3).
//!
//! Start with [`classify`], which decides whether an error needs a message. [`operator`] writes the message and
//! [`voice`] checks it. [`recall`] stores errors, [`knowledge`] stores their fixes, and [`scope`] finds edits outside of a task.
//!
//! What is deliberately not here: reading tool output, clients' wire formats, and judging commands. The caller passes
//! in whether a command is allowed.

#![forbid(unsafe_code)]

pub mod classify;
pub mod knowledge;
pub mod operator;
pub mod recall;
pub mod scope;
pub mod voice;
