//! Arguments and output of `callosum constitution sign`.
//!
//! The use case is [`callosum_app::constitution::sign`].

use std::path::PathBuf;

use callosum_app::constitution::sign::{MODE, SignedOutput};
use callosum_app::constitution::{GovernanceError, governance, governance_failed};
use callosum_app::{CommandError, Exit, audit_change, disk_errors};
use callosum_config::Homes;
use callosum_host::random;
use callosum_ledger::{AuditEvent, Event};
use callosum_plan_run::kernel::Constitution;
use callosum_plan_run::kernel::constitution::signature;
use clap::Args;
use serde_json::json;

use crate::cli::context::Context;

/// Sign a constitution with this machine's key
///
/// Writes the signature next to the file. A file that is not a valid constitution is not signed. A changed file must
/// be signed again.
///
/// The version must not be lower than that of the last constitution signed on this machine. The machine remembers
/// that version and accepts nothing older.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum constitution sign ~/.config/callosum/constitution.cedar")]
pub(crate) struct SignArgs {
    /// File of the constitution
    file: PathBuf,
}

pub(super) fn run(context: &Context, args: &SignArgs) -> Result<(), CommandError> {
    let path = context.folder.join(&args.file);
    let governance = governance(context);
    let text = governance
        .user_text(&path)
        .map_err(|error| governance_failed(&error))?
        .ok_or_else(|| {
            let what = format!("`{}` does not exist", path.display());
            CommandError::new(Exit::Usage, what)
        })?;
    let constitution = Constitution::read(&text).map_err(|error| {
        let what = format!("`{}` is not a valid constitution", path.display());
        CommandError::because(Exit::No, &what, &error)
    })?;
    let seed = random::secret_bytes()
        .map_err(|error| CommandError::because(Exit::Environment, "cannot create a key", &error))?;
    let disk = &context.disk;
    let homes = &context.project.homes;
    homes
        .create_machine(disk)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let key = governance
        .key()
        .load_or_make(disk, &seed)
        .map_err(|error| governance_failed(&GovernanceError::Key(error)))?;
    let note = signature::sign(&text, &key).map_err(|error| {
        let what = format!("cannot sign `{}`", path.display());
        CommandError::because(Exit::No, &what, &error)
    })?;
    // Remembered first: a process that ends in between leaves a constitution that does not hold, and no
    // signature of an older one that does.
    governance
        .remember_signed(&path, &constitution, &text)
        .map_err(|error| governance_failed(&error))?;
    let signature = Homes::signature_of(&path);
    disk.replace(&signature, note.to_string().as_bytes(), MODE)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let output = SignedOutput {
        file: path.display().to_string(),
        signature: signature.display().to_string(),
        version: constitution.version(),
        hash: constitution.hash().to_owned(),
    };
    let event = AuditEvent {
        status: Some("signed".to_owned()),
        ..AuditEvent::new(Event::Trust)
    };
    let signed = json!({ "version": output.version, "hash": output.hash, "file": output.file });
    audit_change::leave(context, &event.with("constitution", signed));
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.report.say(&format!(
        "signed version {} in {}",
        output.version, output.signature
    ));
    Ok(())
}
