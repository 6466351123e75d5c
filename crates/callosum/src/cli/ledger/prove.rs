//! Arguments and output of `callosum ledger prove`.
//!
//! The use case is [`callosum_app::ledger::prove`].

use std::path::PathBuf;

use callosum_app::ledger::prove::{ProveOutput, unproved};
use callosum_app::{CommandError, Exit, auto_checkpoint, disk_errors, open_ledger, task_prefix};
use callosum_ledger::checkpoint::Begin;
use callosum_ledger::proof::{ProveError, prove};
use clap::Args;

use crate::cli::context::Context;

/// Write a proof that an entry is in the audit journal
///
/// The proof contains the entry, its position in the journal's Merkle tree, and the signed root.
/// Check it with `callosum ledger check-proof` or any tool for C2SP's tlog-proof. The check needs
/// nothing but the proof.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger prove cal_2026_01_02_0001 --output entry.tlog-proof
  $ callosum ledger check-proof entry.tlog-proof")]
pub(crate) struct ProveArgs {
    /// Task of the entry: its id or a unique prefix
    #[arg(value_name = "TASK_ID")]
    task: String,
    /// Write to FILE, which must not exist, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(context: &Context, args: &ProveArgs) -> Result<(), CommandError> {
    let (disk, paths) = (&context.disk, context.ledger_paths());
    let machine = context.trust_store();
    let task = task_prefix::entry_id(&open_ledger::reader(context)?, &args.task)?;
    let mut proof = prove(disk, &paths, &machine, &task);
    if let Err(ProveError::NotSigned { .. }) = proof {
        auto_checkpoint::make_and_tell(context, Begin::GoOn)?;
        proof = prove(disk, &paths, &machine, &task);
    }
    let proof = proof.map_err(|error| unproved(&error))?;
    let text = proof.to_string();
    match &args.output {
        Some(path) => {
            let path = context.folder.join(path);
            let created = disk.create(&path, text.as_bytes(), 0o644);
            if !created.map_err(|error| disk_errors::disk_failed(&error))? {
                let what = format!("`{}` already exists", path.display());
                return Err(CommandError::new(Exit::Usage, what));
            }
            context.report.say(&format!("wrote {}", path.display()));
        }
        None if !context.ui.json => context.ui.data(&text)?,
        None => {}
    }
    if context.ui.json {
        let checked = proof.check(Some(&proof.key));
        let checked = checked.map_err(CommandError::internal)?;
        return context.ui.json_data(&ProveOutput::of(&proof, &checked));
    }
    context.report.say(&format!("signed by {}", proof.key));
    Ok(())
}
