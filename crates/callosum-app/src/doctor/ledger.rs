//! Whether the ledger is whole, and can be added to.

use std::ops::ControlFlow;

use callosum_ledger::verify::Scope;
use callosum_ledger::{Ledger, LedgerVersion, OpenError, verify_within};

use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::verify::{is_of_signed, of_others};
use crate::{CommandError, Exit, auto_checkpoint, ledger_errors, many, open_ledger};

/// Checks the ledger and its journal.
pub fn check(context: &Context, checks: &mut Checks) {
    let version = match open_ledger::reader(context) {
        Ok(reader) => reader.version(),
        Err(_) if open_ledger::is_gone(context) => {
            let hint = Some("callosum init");
            checks.add("ledger", Outcome::Failed, open_ledger::GONE, hint);
            return;
        }
        Err(error) => {
            let hint = Some("callosum ledger verify");
            checks.add("ledger", Outcome::Failed, error.one_line(), hint);
            return;
        }
    };
    let Some(version) = version else {
        checks.add(
            "ledger",
            Outcome::Ok,
            "none yet; the first delegation creates it",
            None,
        );
        return;
    };
    if check_writing_ledger(context, checks).is_break() {
        return;
    }
    let kept = auto_checkpoint::kept(context);
    if let Err(error) = &kept {
        checks.add(
            "checkpoints",
            Outcome::Failed,
            error.one_line(),
            error.hint_text(),
        );
    }
    let witness = context.trust_store();
    let scope = Scope {
        archives: true,
        witness: kept.is_ok().then_some(&witness),
    };
    match verify_within(&context.disk, &context.ledger_paths(), scope) {
        Ok(found) if found.is_sound() => {
            let mut text = format!(
                "version {version}, {}, {}, sound",
                many(found.entries, "entry"),
                many(found.records, "audit record")
            );
            if let Some(others) = of_others(&found) {
                text = format!("{text}; {others}");
            }
            checks.add("ledger", Outcome::Ok, text, None);
            checks.has("ledger", &many(found.entries, "entry").to_string());
        }
        Ok(found) => {
            let paths = context.ledger_paths();
            let mut text = many(found.problems.len() as u64, "problem").to_string();
            let mut hint = "callosum ledger verify";
            let mut problems = found.problems.iter();
            if problems.all(|problem| is_of_signed(problem, &paths)) {
                text.push_str(
                    ": the audit journal does not match this machine's signed checkpoints, as after cloning \
                     or moving the project",
                );
                text.push_str(". If you did that yourself, `--reset` accepts the journal as it is");
                hint = "callosum ledger verify; callosum audit checkpoint --reset";
            }
            checks.add("ledger", Outcome::Failed, text, Some(hint));
        }
        Err(error) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            checks.add(
                "ledger",
                Outcome::Failed,
                found,
                Some("callosum ledger verify"),
            );
        }
    }
}

/// Checks whether entries can be added to the ledger that exists. If not, there is no point in
/// verifying it.
fn check_writing_ledger(context: &Context, checks: &mut Checks) -> ControlFlow<()> {
    let opened = Ledger::open(
        context.disk.clone(),
        context.ledger_paths(),
        context.clock.clone(),
        context.ids.clone(),
    );
    let Err(error) = opened else {
        return ControlFlow::Continue(());
    };
    if let OpenError::Newer { found, .. } = &error {
        let found = format!(
            "a newer callosum wrote version {found}; this program writes {} and would drop what it does not \
             know. Use the newer callosum to add entries; this one can read it",
            LedgerVersion::OURS
        );
        checks.add(
            "ledger",
            Outcome::Failed,
            found,
            Some("callosum ledger query"),
        );
        return ControlFlow::Break(());
    }
    let found = ledger_errors::unopened(&error).one_line();
    let hint = Some("callosum ledger verify");
    checks.add("ledger", Outcome::Failed, found, hint);
    // What is wrong with the files themselves is found by verifying them.
    ControlFlow::Continue(())
}
