//! Our tool server in the text of a client's settings; everything around it stays, byte for byte.
//!
//! Three of the four clients keep servers as objects of JSON ([`json`]), Codex as tables of TOML
//! ([`toml`]). An entry of this name that is not ours is left.

mod json;
mod toml;

use std::path::Path;

use super::hook_entry::{Entered, Made, SettingsError};

/// Name of our server.
const NAME: &str = "callosum";

/// Arguments that start it.
const ARGUMENTS: [&str; 1] = ["mcp"];

/// The server as a client's settings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The program.
    pub program: String,
    /// Whether the entry names its transport.
    pub typed: bool,
    /// Variables that Codex is to pass on: it gives a server few of its own.
    pub passed: Vec<&'static str>,
}

/// Returns the settings with the server in them; `None` if it is there as it should be.
pub(super) fn enter(
    path: &Path,
    text: &str,
    server: &Server,
) -> Result<Option<Entered>, SettingsError> {
    if is_toml(path) {
        toml::enter(text, server)
    } else {
        json::enter(text, server)
    }
}

/// Returns the settings without it; `None` if there is none. Empty containers are removed too, if
/// they are among `made`.
pub(super) fn take_out(
    path: &Path,
    text: &str,
    made: &Made,
) -> Result<Option<String>, SettingsError> {
    if is_toml(path) {
        toml::take_out(text)
    } else {
        json::take_out(text, made)
    }
}

/// The program that the settings name for it.
pub(super) fn program(path: &Path, text: &str) -> Result<Option<String>, SettingsError> {
    if is_toml(path) {
        toml::program(text)
    } else {
        json::program(text)
    }
}

pub(super) fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml")
}

/// Returns whether a server of our name is one of ours: by its arguments, under any name of its
/// program.
fn is_ours(program: &str, arguments: &[String]) -> bool {
    !program.is_empty() && arguments == ARGUMENTS
}

/// Returns the error for an entry that is not ours and is left.
fn not_ours(list: &str) -> SettingsError {
    SettingsError::Shape {
        key: format!("{list}.{NAME}"),
        expected: "an entry of Callosum",
    }
}
