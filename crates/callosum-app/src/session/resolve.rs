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
    /// The state of the quote that NOTES.md has of the place; absent if it has none.
    pub standing: Option<String>,
    /// The lines.
    pub text: String,
}
