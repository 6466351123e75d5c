//! A program's source as the command line names it, and what is wrong with it as programs read it.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::plan::source`].

use std::io::Read as _;
use std::path::{Path, PathBuf};

use callosum_app::plan::source::{MOST, Source, file_at, text_of};
use callosum_app::{CommandError, Exit};
use clap::Args;

/// Options that give the program.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct SourceArgs {
    /// Use SOURCE as the program
    #[arg(
        short = 'e',
        long = "expression",
        value_name = "SOURCE",
        allow_hyphen_values = true
    )]
    expression: Option<String>,
    /// File of the program; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Reads the program that the arguments name.
pub(super) fn source_of(args: &SourceArgs) -> Result<Source, CommandError> {
    if let Some(text) = &args.expression {
        let name = "-e".to_owned();
        return Source::named(text.clone(), name).of_some_program();
    }
    let file = args.file.as_deref().unwrap_or(Path::new("-"));
    let (name, mut bytes) = if file.as_os_str() == "-" {
        ("standard input".to_owned(), standard_input()?)
    } else {
        (file.display().to_string(), file_at(file, MOST)?)
    };
    // A read that ended at its bound may have ended within a character.
    if bytes.len() == MOST
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let text = text_of(&name, bytes)?;
    Source::named(text, name).of_some_program()
}

fn standard_input() -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MOST as u64)
        .read_to_end(&mut bytes);
    read.map_err(|error| CommandError::because(Exit::No, "cannot read standard input", &error))?;
    Ok(bytes)
}
