//! `callosum session budget`: fill level of the context, by the client's own count.

use std::path::{Path, PathBuf};

use callosum_client::transcript::{newest, usage};
use callosum_executor::client::Client;
use callosum_executor::output_format::Dialect;
use callosum_host::DiskError;
use callosum_session::budget::{Budget, Usage};
use schemars::JsonSchema;
use serde::Serialize;

use crate::client_settings::own_folder;
use crate::context::Context;
use crate::{CommandError, Exit, disk_errors};

/// Most bytes that a client says to its status line.
pub const LONGEST_STATUS: u64 = 1024 * 1024;

/// `callosum session budget --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BudgetOutput {
    /// `green`, `yellow`, `orange` or `red`.
    pub zone: String,
    /// Tokens that were added since the session's first request; all, where that one is not known.
    pub tokens: u64,
    /// Tokens that the next request begins with.
    pub in_use: u64,
    /// Tokens that the first request began with.
    pub first: Option<u64>,
    /// Tokens that the model takes.
    pub window: Option<u64>,
    /// The share of the window that is in use, in percent, cut.
    pub percent: Option<u64>,
    /// Start of yellow, in tokens.
    pub yellow: u64,
    /// Start of orange.
    pub orange: u64,
    /// Start of red.
    pub red: u64,
    /// The seed's advice for that level.
    pub advice: Option<String>,
    /// Client that the numbers are from: `claude`, `codex`, `gemini` or `qwen`.
    pub client: String,
    /// The transcript that was read.
    pub transcript: Option<String>,
}

/// Token usage that was found, with its source.
pub struct BudgetUse {
    /// The client's id.
    pub client: &'static str,
    /// The tokens that are used.
    pub usage: Usage,
    /// The transcript that they were read from.
    pub transcript: Option<PathBuf>,
}

/// The numbers of a transcript: of this one, or of the newest of the project.
pub fn read(context: &Context, named: Option<&Path>) -> Result<BudgetUse, CommandError> {
    let path = match named {
        Some(path) => context.folder.join(path),
        None => find(context, "callosum session budget --transcript FILE")?,
    };
    let reading = usage(&context.disk, &path)
        .map_err(|error| no_transcript(&path, &error, "callosum session budget"))?;
    let Some(reading) = reading else {
        let what = format!("`{}` has no response with a token count", path.display());
        return Err(CommandError::new(Exit::No, what)
            .hint("a transcript is a client's log of a session: callosum session budget"));
    };
    Ok(BudgetUse {
        client: reading.client,
        usage: reading.usage,
        transcript: Some(path),
    })
}

/// Explains why a transcript cannot be read, and what to do without it.
pub fn no_transcript(path: &Path, error: &DiskError, hint: &str) -> CommandError {
    if !error.is_absent() {
        return disk_errors::disk_failed(error).hint(hint);
    }
    let what = format!("there is no transcript `{}`", path.display());
    CommandError::new(Exit::No, what).hint(hint)
}

/// The transcript that a client wrote last for this project; `hint` is what helps where there is none.
pub fn find(context: &Context, hint: &str) -> Result<PathBuf, CommandError> {
    let clients = [
        Dialect::Claude,
        Dialect::Codex,
        Dialect::Gemini,
        Dialect::Qwen,
    ];
    let homes: Vec<_> = clients
        .into_iter()
        .filter_map(Client::of)
        .filter_map(|client| Some((client, own_folder(context, client)?)))
        .collect();
    newest(&context.disk, &homes, &[context.tree(), context.sessions()])
        .map_err(|error| disk_errors::disk_failed(&error))?
        .ok_or_else(|| {
            CommandError::new(
                Exit::No,
                "no client has written a transcript for this project",
            )
            .hint(hint)
        })
}

impl BudgetOutput {
    /// Returns what is printed about a budget.
    pub fn of(budget: &Budget, usage: &Usage, found: &BudgetUse) -> Self {
        let [yellow, orange, red] = budget.begins;
        Self {
            zone: budget.zone.name().to_owned(),
            tokens: budget.tokens,
            in_use: usage.in_use,
            first: usage.first,
            window: usage.window,
            percent: budget.percent,
            yellow,
            orange,
            red,
            advice: budget.zone.advice().map(str::to_owned),
            client: found.client.to_owned(),
            transcript: found
                .transcript
                .as_ref()
                .map(|path| path.display().to_string()),
        }
    }
}
