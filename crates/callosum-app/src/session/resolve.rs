//! `callosum session resolve`: the lines that an identifier names, or where they are now.

use schemars::JsonSchema;
use serde::Serialize;

/// `callosum session resolve --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ResolveOutput {
    /// The place that was asked for.
    pub identifier: String,
    /// The place whose lines these are.
    pub at: String,
    /// How the quote that NOTES.md has of the place stands; nothing where it has none.
    pub standing: Option<String>,
    /// The lines.
    pub text: String,
}
