//! Our hooks in the settings of coding agents: put in, found again, and taken out.
//!
//! Start with [`Registrar`], which does it to files. `entry` is the pure part, from the text of a
//! settings file to its text with our entry or without; `gate` is what Claude Code
//! asks before it clears a context and `shadow` what takes the place of its `/clear`, `kept` is what the machine's home remembers
//! of a file as it was before, `codex` what Codex notes of hooks that a person has trusted, `doubt`
//! what keeps a client from asking all the same; `servers` is our server of tools in the same files, or in
//! others; `context_files` names a file with instructions in them.
//!
//! What is deliberately not here: which clients there are and where their settings stand, which is
//! `callosum_agents::client`'s data, and what a hook answers.

mod codex;
mod context_files;
mod doubt;
mod entry;
mod gate;
mod kept;
mod merge;
mod registrar;
mod servers;
mod shadow;

pub use self::{
    codex::Trust,
    entry::command_of,
    registrar::{Change, Doing, Place, RegisterError, Registrar, Scope, WhoIsAsked},
    servers::Server,
};
