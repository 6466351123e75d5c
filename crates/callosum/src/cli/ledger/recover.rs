//! Arguments and output of `callosum ledger recover`.
//!
//! The use case is [`callosum_app::ledger::recover`].

use std::fmt::Write as _;
use std::path::PathBuf;

use callosum_app::ledger::recover::{RecoverOutput, answer, explain, refuse_what_is_no_file};
use callosum_app::{CommandError, disk_errors, ledger_errors, many};
use callosum_ledger::{Ledger, RecoverFrom, RecoverOptions};
use clap::Args;

use crate::cli::context::Context;

/// Recover the ledger from a backup, the audit journal or its own file
///
/// Deletes nothing: replaced files move to .cal_quarantine, and the audit journal records the
/// recovery. A backup is accepted only if it is unchanged and the audit journal has its entries.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger recover .cal_backup/cal_memory_20260102_030405.json
  $ callosum ledger recover --from-audit
  $ callosum ledger recover --import-appended")]
pub(crate) struct RecoverArgs {
    #[command(flatten)]
    from: FromArgs,
    /// Accept FILE without verification. A valid checksum proves nothing about its origin
    ///
    /// FILE need not be a backup, and may have entries that the audit journal does not have.
    #[arg(long, requires = "file")]
    skip_verify: bool,
    /// Continue even if entries or records are lost, or the audit journal is intact
    #[arg(long, conflicts_with_all = ["import_appended", "skip_verify"])]
    force: bool,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct FromArgs {
    /// Replace the ledger with this backup
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Rebuild ledger, hashlog and archives from the audit journal
    #[arg(long)]
    from_audit: bool,
    /// Import valid entries that another program appended to the ledger
    #[arg(long)]
    import_appended: bool,
    /// Start a new audit journal from the existing ledger, if the old one is lost
    #[arg(long)]
    new_journal: bool,
}

pub(super) fn run(context: &Context, args: &RecoverArgs) -> Result<(), CommandError> {
    let FromArgs {
        file,
        from_audit,
        import_appended,
        ..
    } = &args.from;
    let file = file.as_ref().map(|file| context.folder.join(file));
    if let Some(file) = &file {
        refuse_what_is_no_file(context, file)?;
    }
    let from = match &file {
        Some(file) if args.skip_verify => RecoverFrom::Unverified(file),
        Some(file) => RecoverFrom::Backup(file),
        None if *from_audit => RecoverFrom::Audit,
        None if *import_appended => RecoverFrom::Appended,
        None => RecoverFrom::LedgerAlone,
    };
    let progress = context.report.progress("recovering");
    let paths = context.ledger_paths();
    let signed = context.trust_store().signed_records(&context.disk, &paths);
    let options = RecoverOptions {
        signed: signed.map_err(|error| disk_errors::disk_failed(&error))?,
        force: args.force,
    };
    let recovered = Ledger::recover(&context.disk, &paths, &context.clock, from, options)
        .map_err(|error| explain(&error))?;
    drop(progress);
    if let Some(signed) = recovered.signed {
        let what = format!(
            "{signed} records of the audit journal were signed, but it had fewer: the signatures no longer match it"
        );
        context
            .report
            .warn(&what, Some("callosum audit checkpoint --reset"));
    }
    for gone in &recovered.not_in_journal {
        let is_there = context.disk.exists(gone).unwrap_or(false);
        let how = if is_there {
            "differs from the imported file"
        } else {
            "is missing"
        };
        let what = format!("the archive `{}` {how}", gone.display());
        context
            .report
            .warn(&what, Some(ledger_errors::way_back_to(false)));
    }
    let shown = |path: &PathBuf| {
        let path = path.strip_prefix(context.state()).unwrap_or(path);
        path.display().to_string()
    };
    let output = RecoverOutput {
        imported: recovered.taken_in,
        archived: recovered.archived,
        left_out: recovered.left_out.iter().map(ToString::to_string).collect(),
        restored: recovered
            .repairs
            .iter()
            .map(|repair| shown(&repair.path))
            .collect(),
        set_aside: recovered.set_aside.iter().map(shown).collect(),
        not_in_journal: recovered.not_in_journal.iter().map(shown).collect(),
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
        return answer(&output);
    }
    let taken_in = format!(
        "{} imported into the audit journal\n",
        many(output.imported, "entry")
    );
    let mut text = match (from_audit, output.restored.is_empty()) {
        (false, _) => taken_in,
        (true, false) => String::new(),
        (true, true) if output.not_in_journal.is_empty() => {
            "nothing to restore: the files match the audit journal\n".to_owned()
        }
        (true, true) => "nothing restored\n".to_owned(),
    };
    if output.archived > 0 {
        let _ = writeln!(
            text,
            "{} skipped, already in archives",
            many(output.archived, "entry")
        );
    }
    for (what, paths) in [
        ("no longer in the ledger", &output.left_out),
        ("restored", &output.restored),
        ("set aside", &output.set_aside),
    ] {
        if !paths.is_empty() {
            let _ = writeln!(text, "{what}: {}", paths.join(" "));
        }
    }
    context.ui.data(&text)?;
    // What the backup did not have is in the ledger that it replaced.
    let ledger = output
        .set_aside
        .iter()
        .find(|path| path.contains("cal_memory.json"));
    if let Some(ledger) = ledger.filter(|_| !output.left_out.is_empty()) {
        context.report.hint(&format!(
            "to restore the entries that the backup lacks: callosum ledger recover {ledger} --skip-verify"
        ));
    }
    answer(&output)
}
