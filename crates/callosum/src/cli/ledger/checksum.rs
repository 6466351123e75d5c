//! Arguments and output of `callosum ledger checksum`.
//!
//! The use case is [`callosum_app::ledger::checksum`].

use std::io::Read as _;
use std::path::{Path, PathBuf};

use callosum_app::ledger::checksum::line;
use callosum_app::{CommandError, Exit};
use callosum_host::Disk;
use callosum_json::canonical::DuplicateKeys;
use callosum_json::{Checksum, canonical};
use clap::Args;

use crate::ui::{Ui, print_error};

/// Print the SHA-256 of a JSON value's canonical form
///
/// The canonical form is what Python prints for
/// `json.dumps(value, sort_keys=True, separators=(',', ':'))`. Accepts any JSON, and prints in the
/// format of `sha256sum`. Reports and skips a file that it cannot read or that is not JSON; the exit
/// code is then 1.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger checksum registry.json
  $ echo '{\"b\": 1, \"a\": 1e2}' | callosum ledger checksum --canonical")]
pub(crate) struct ChecksumArgs {
    /// Print the canonical bytes instead of their checksum
    #[arg(long)]
    canonical: bool,
    /// Files to read; `-` or no FILE reads standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &ChecksumArgs, ui: Ui) -> Result<(), CommandError> {
    let disk = Disk::real();
    let standard_input = [PathBuf::from("-")];
    let files = if args.files.is_empty() {
        &standard_input[..]
    } else {
        &args.files
    };
    let mut is_whole = true;
    for file in files {
        match canonical_form(&disk, file) {
            Ok(form) if args.canonical => ui.data(&String::from_utf8_lossy(&form))?,
            Ok(form) => ui.data(&line(Checksum::of(&form), &file.display().to_string()))?,
            // As `sha256sum` does: the others are still wanted.
            Err(error) => {
                print_error(&error);
                is_whole = false;
            }
        }
    }
    if is_whole {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

fn canonical_form(disk: &Disk, file: &Path) -> Result<Vec<u8>, CommandError> {
    let bytes = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| {
            CommandError::because(Exit::No, "cannot read standard input", &error)
        })?;
        bytes
    } else {
        let read = disk.read(file);
        read.map_err(|error| CommandError::from_error(Exit::No, &error))?
    };
    // Like Python's reader, which this must agree with: the last of equal keys counts.
    canonical::canonicalize(&bytes, DuplicateKeys::LastWins).map_err(|error| {
        let what = format!("cannot write `{}` in canonical form", file.display());
        CommandError::because(Exit::No, what, &error)
    })
}
