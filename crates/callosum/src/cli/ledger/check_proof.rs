//! `callosum ledger check-proof`: whether a proof holds, from its bytes alone.

use std::{io::Read as _, path::PathBuf};

use callosum_host::Disk;
use callosum_ledger::{
    proof::{Checked, Proof},
    signed_note::VerifierKey,
};
use clap::Args;
use owo_colors::OwoColorize as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::ui::{CommandError, Exit, Ui};

/// Proofs are small but for the entry in them; so much is read of one.
const MOST: u64 = 16 * 1024 * 1024;

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

/// `callosum ledger check-proof --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct CheckProofOutput {
    /// Whether the proof holds.
    pub(crate) valid: bool,
    /// Why it does not.
    pub(crate) reason: Option<String>,
    /// The task whose entry it shows.
    pub(crate) task_id: Option<String>,
    /// The entry's checksum, which is right.
    pub(crate) checksum: Option<String>,
    /// The number of the record that stored it.
    pub(crate) seq: Option<u64>,
    /// The log, as the checkpoint names it.
    pub(crate) origin: Option<String>,
    /// How many records were signed.
    pub(crate) size: Option<u64>,
    /// The key that signed.
    pub(crate) key: Option<String>,
    /// Whether that is the key that was asked for, rather than one that the proof brought along.
    pub(crate) key_known: bool,
}

pub(in crate::cli) fn run(args: &CheckProofArgs, ui: Ui) -> Result<(), CommandError> {
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

impl CheckProofOutput {
    fn of(proof: &Proof, checked: &Checked) -> Self {
        Self {
            valid: true,
            reason: None,
            task_id: Some(checked.entry.task_id.to_string()),
            checksum: Some(checked.entry.checksum.to_string()),
            seq: Some(checked.seq),
            origin: Some(proof.checkpoint.origin.clone()),
            size: Some(proof.checkpoint.size),
            key: Some(checked.key.to_string()),
            key_known: checked.is_key_known,
        }
    }

    fn refused(reason: String) -> Self {
        Self {
            valid: false,
            reason: Some(reason),
            task_id: None,
            checksum: None,
            seq: None,
            origin: None,
            size: None,
            key: None,
            key_known: false,
        }
    }
}
