//! `callosum ledger checksum`: the canonical form of any JSON value, or its SHA-256.

use std::{io::Read as _, path::PathBuf};

use callosum_host::Disk;
use callosum_ledger::canonical::{self, DuplicateKeys};
use clap::Args;

use crate::ui::{CommandError, Exit, Ui};

/// Print the SHA-256 of a JSON value's canonical form
///
/// The canonical form is what Python prints for
/// `json.dumps(value, sort_keys=True, separators=(',', ':'))`. Works on any JSON, not only on
/// ours, and prints as `sha256sum` does.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger checksum registry.json
  $ echo '{\"b\": 1, \"a\": 1e2}' | callosum ledger checksum --canonical")]
pub(crate) struct ChecksumArgs {
    /// Print the canonical bytes instead of their checksum
    #[arg(long)]
    canonical: bool,
    /// The files to read; `-`, or none, is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(in crate::cli) fn run(args: &ChecksumArgs, ui: Ui) -> Result<(), CommandError> {
    let disk = Disk::real();
    let standard_input = [PathBuf::from("-")];
    let files = if args.files.is_empty() {
        &standard_input[..]
    } else {
        &args.files
    };
    for file in files {
        let name = file.display();
        let bytes = if file.as_os_str() == "-" {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| {
                CommandError::because(Exit::Environment, "cannot read standard input", &error)
            })?;
            bytes
        } else {
            disk.read(file).map_err(|error| {
                let exit = if error.is_absent() {
                    Exit::Usage
                } else {
                    Exit::Environment
                };
                CommandError::from_error(exit, &error)
            })?
        };
        // Like Python's reader, which this must agree with: the last of equal keys counts.
        let form = canonical::canonicalize(&bytes, DuplicateKeys::LastWins).map_err(|error| {
            CommandError::because(Exit::No, format!("`{name}` has no canonical form"), &error)
        })?;
        if args.canonical {
            ui.data(&String::from_utf8_lossy(&form))?;
        } else {
            ui.data(&format!(
                "{}  {name}\n",
                callosum_ledger::Checksum::of(&form)
            ))?;
        }
    }
    Ok(())
}
