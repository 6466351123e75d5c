//! The work of `ledger verify` and `audit verify`: each checks everything, since neither holds
//! without the other.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::verify`].

use std::fmt::Write as _;

use callosum_app::verify::{ProblemOutput, VerificationOutput, is_of_signed, of_others};
use callosum_app::{CommandError, Exit, auto_checkpoint, disk_errors, ledger_errors, many};
use callosum_ledger::verify::{Problem, Scope, VerifyError, VerifyFinding};
use callosum_ledger::{day_ahead, verify_within};
use owo_colors::OwoColorize as _;

use super::context::Context;

pub(super) fn run(context: &Context, archives: bool) -> Result<(), CommandError> {
    let progress = context.report.progress("verifying");
    let witness = context.trust_store();
    let scope = Scope {
        archives,
        witness: Some(&witness),
    };
    let verified = verify_within(&context.disk, &context.ledger_paths(), scope);
    let found = verified.map_err(|error| match &error {
        VerifyError::Key(error) => auto_checkpoint::unkeyed(error),
        error => CommandError::because(Exit::Environment, "cannot verify the ledger", error)
            .coded(error.code()),
    })?;
    drop(progress);
    let problems: Vec<ProblemOutput> = found
        .problems
        .iter()
        .map(|problem| ProblemOutput {
            path: problem
                .path
                .strip_prefix(context.state())
                .unwrap_or(&problem.path)
                .display()
                .to_string(),
            fault: problem.fault.to_string(),
            number: problem.number,
            task_id: problem.task_id.as_ref().map(ToString::to_string),
            detail: problem.detail.clone(),
        })
        .collect();
    let paths = context.ledger_paths();
    let ahead = day_ahead(&context.disk, &paths, context.clock.now());
    let ahead = ahead.map_err(|error| disk_errors::disk_failed(&error))?;
    let mut notices: Vec<String> = ahead.iter().map(ToString::to_string).collect();
    notices.extend(of_others(&found));
    let output = VerificationOutput {
        sound: found.is_sound(),
        entries: found.entries,
        archived_entries: found.archived_entries,
        hashlog_lines: found.hashlog_lines,
        records: found.records,
        day_files: found.day_files,
        bytes: found.bytes,
        checkpoints: found.checkpoints,
        signed_records: found.signed_records,
        problems,
        notices,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&as_text(&output))?;
    }
    if output.sound {
        Ok(())
    } else {
        let is_restored = |problem: &Problem| {
            [&paths.ledger, &paths.hashlog].contains(&&problem.path)
                || problem.path.starts_with(&paths.history)
        };
        let is_stranger = |problem: &Problem| {
            problem.fault == VerifyFinding::Inserted
                && problem.number == 0
                && problem.path.starts_with(&paths.history)
        };
        let is_lost_journal = |problem: &Problem| {
            problem.fault == VerifyFinding::Missing && problem.path == paths.audit
        };
        if !found.not_in_journal.is_empty() {
            context.report.hint(ledger_errors::way_back_to(false));
        } else if found.problems.iter().all(is_stranger) {
            let may_be_archive = |problem: &Problem| {
                let name = problem.path.file_name().unwrap_or_default();
                let name = name.to_string_lossy();
                name.starts_with("cal_memory_") && !name.ends_with(".index")
            };
            context.report.hint(if found.problems.iter().any(may_be_archive) {
                "keep a copy before you move it away: it may be an archive that the lost end of the audit \
                 journal recorded. Restore the journal, or start a new one that records it again: callosum \
                 ledger recover --new-journal --force"
            } else {
                "move it away: it is not an archive and is never read"
            });
        } else if found.problems.iter().all(is_restored) {
            context.report.hint(
                "rebuild from the journal and move the current files aside: callosum ledger recover --from-audit",
            );
        } else if found.problems.iter().any(is_lost_journal) {
            context.report.hint(
                "restore the folder from a backup or version control, or start a new journal from the \
                 ledger: callosum ledger recover --new-journal",
            );
        } else if found
            .problems
            .iter()
            .all(|problem| is_of_signed(problem, &paths))
        {
            context.report.hint(
                "restore the signed journal, or, if you know why it changed: callosum audit checkpoint \
                 --reset",
            );
        } else if found
            .problems
            .iter()
            .any(|problem| problem.path.starts_with(&paths.audit))
        {
            // A journal that lost its end is a whole one, which is given up only if the user asks
            // for that.
            let lost_its_end = found
                .problems
                .iter()
                .any(|one| one.fault == VerifyFinding::TailCut);
            context.report.hint(&format!(
                "restore the journal from a backup or version control, or start a new one from the ledger: \
                 callosum ledger recover --new-journal{}, then callosum audit checkpoint --reset",
                if lost_its_end { " --force" } else { "" }
            ));
        }
        Err(CommandError::told(Exit::No))
    }
}

fn as_text(output: &VerificationOutput) -> String {
    let mut text = format!(
        "{}, {} archived, {} in {}, {} of them signed, {}: {}\n",
        many(output.entries, "entry"),
        output.archived_entries,
        many(output.records, "audit record"),
        many(output.day_files, "day file"),
        output.signed_records,
        many(output.bytes, "byte"),
        if output.sound {
            "sound".green().to_string()
        } else {
            "not sound".red().to_string()
        },
    );
    for problem in &output.problems {
        let number = if problem.number > 0 {
            format!(" at {}", problem.number)
        } else {
            String::new()
        };
        let task = problem
            .task_id
            .as_ref()
            .map(|id| format!(" ({id})"))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "{}{number}{task}: {}: {}",
            problem.path,
            problem.fault.red(),
            problem.detail
        );
    }
    for notice in &output.notices {
        let _ = writeln!(text, "{}: {notice}", "notice".yellow());
    }
    text
}
