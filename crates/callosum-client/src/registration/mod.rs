//! Our hooks in the settings of coding agents: added, found again, and removed.
//!
//! Start with [`Registrar`], which does it to files. `hook_entry` is the pure part, from the text of a
//! settings file (`settings.json`) to its text with our entry or without. `revert_merge` takes our
//! change back from a file that a person has edited since. `clear_plugin` is the plugin that Claude Code asks
//! before it clears a context, and `clear_override` the command that takes the place of its `/clear`.
//! `settings_backup` is the machine's record of a file as it was before, `codex` is Codex's note of hooks that
//! a person has trusted, and `hook_diagnosis` lists reasons why a client may not call the hook anyway.
//! `servers` is our tool server in the same files, or in others; `context_files` names a file with
//! instructions in them.
//!
//! Deliberately not here: the list of clients and the places of their settings, which are
//! `callosum_executor::client`'s data, and the answers of a hook.

mod clear_override;
mod clear_plugin;
mod codex;
mod context_files;
mod hook_diagnosis;
mod hook_entry;
mod registrar;
mod revert_merge;
mod servers;
mod settings_backup;

pub use self::{
    codex::Trust,
    hook_entry::command_of,
    registrar::{ApplyMode, Change, ClearGate, RegisterError, Registrar, Scope, SettingsFile},
    servers::Server,
};
