//! Arguments and output of `callosum ledger check-proof`.
//!
//! The use case is [`callosum_app::ledger::check_proof`].

use std::io::Read as _;
use std::path::PathBuf;

use callosum_app::ledger::check_proof::{CheckProofOutput, MOST};
use callosum_app::{CommandError, Exit};
use callosum_host::Disk;
use callosum_ledger::proof::{Checked, Proof};
use callosum_ledger::signed_note::VerifierKey;
use clap::Args;
use owo_colors::OwoColorize as _;

use crate::ui::Ui;

/// Check a proof of an entry, without the ledger
///
/// Checks the signature, the entry's position in the signed tree, and the entry's checksum. With
/// --key, also checks who signed. Without --key, the key comes from the proof itself, so you must
/// check its owner yourself.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger check-proof entry.tlog-proof
  $ callosum ledger check-proof entry.tlog-proof --key \"$(callosum audit checkpoint --show-key)\"")]
pub(crate) struct CheckProofArgs {
    /// Proof to check; `-` reads it from standard input
    file: PathBuf,
    /// Verifier key that must have signed the proof (name+id+base64)
    #[arg(long, value_name = "VKEY")]
    key: Option<VerifierKey>,
}

pub(crate) fn run(args: &CheckProofArgs, ui: Ui) -> Result<(), CommandError> {
    let text = read(&args.file)?;
    let proof = Proof::parse(&text).map_err(|error| error.to_string());
    let checked = proof.and_then(|proof| match proof.check(args.key.as_ref()) {
        Ok(checked) => Ok((proof, checked)),
        Err(error) => Err(error.to_string()),
    });
    let output = match &checked {
        Ok((proof, checked)) => CheckProofOutput::of(proof, checked),
        Err(reason) => CheckProofOutput::refused(reason.clone()),
    };
    if ui.json {
        ui.json_data(&output)?;
    } else if let Ok((proof, checked)) = &checked {
        tell(proof, checked, ui)?;
    }
    match checked {
        Ok(_) => Ok(()),
        Err(_) if ui.json => Err(CommandError::told(Exit::No)),
        Err(reason) => Err(CommandError::new(
            Exit::No,
            format!("`{}` is not a valid proof: {reason}", args.file.display()),
        )),
    }
}

fn read(path: &std::path::Path) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        let read = std::io::stdin().lock().take(MOST).read_to_end(&mut bytes);
        read.map_err(|error| {
            CommandError::because(Exit::Environment, "cannot read standard input", &error)
        })?;
    } else {
        bytes = Disk::real().read(path).map_err(|error| {
            let exit = if error.is_absent() {
                Exit::Usage
            } else {
                Exit::Environment
            };
            CommandError::from_error(exit, &error)
        })?;
    }
    // What is no text is refused for what it says, like any other text.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn tell(proof: &Proof, checked: &Checked, ui: Ui) -> Result<(), CommandError> {
    ui.data(&format!(
        "{}: record {} of {} in {}: {}\n",
        checked.entry.task_id,
        checked.seq,
        proof.checkpoint.size,
        proof.checkpoint.origin,
        "valid".green(),
    ))?;
    ui.data(&format!("signed by {}\n", checked.key))?;
    if !checked.is_key_known {
        ui.say("the key came with the proof: compare it with a key from its owner");
    }
    Ok(())
}
