//! Arguments and output of `callosum guard test`.
//!
//! The use case is [`callosum_app::guard::evaluate`].

use std::fmt::Write as _;
use std::path::PathBuf;

use callosum_app::guard::evaluate::{FORM, Row, RowOutput, TestOutput};
use callosum_app::guard::gather_facts;
use callosum_app::{CommandError, Exit};
use callosum_guard::{Decision, decide};
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use super::gather_facts::StrictnessArgs;
use crate::cli::context::Context;
use crate::cli::text_input;

/// Test the guard against a file of commands with expected verdicts
///
/// Each line of FILE is `{"id": …, "command": …, "expect": "allow|ask|block"}`; `-` reads standard input. Prints the
/// share of dangerous commands that were caught, the share of harmless commands that were stopped, and each command
/// with an unexpected verdict. Exits with 1 if a dangerous command got a milder verdict than expected, or a harmless
/// command was stopped. A block instead of a prompt is printed but does not fail the test.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard test corpus.jsonl
  $ callosum guard test corpus.jsonl --json
  $ jq -c 'select(.expect == \"block\")' corpus.jsonl | callosum guard test -")]
pub(crate) struct TestArgs {
    #[command(flatten)]
    strictness: StrictnessArgs,
    /// File of commands, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(context: &Context, args: &TestArgs) -> Result<(), CommandError> {
    let (name, bytes) = text_input::read(context, &args.file)?;
    let text = String::from_utf8_lossy(&bytes);
    let facts = gather_facts::facts(context);
    let policy = args.strictness.policy(context)?;
    let mut output = TestOutput {
        rows: 0,
        dangerous: 0,
        caught: 0,
        recall: None,
        harmless: 0,
        stopped: 0,
        false_blocks: None,
        exact: 0,
        misses: Vec::new(),
        too_lenient: Vec::new(),
        too_strict: Vec::new(),
        false_positives: Vec::new(),
        verdicts: Vec::new(),
    };
    let mut shown = String::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let row: Row = serde_json::from_str(line).map_err(|error| {
            CommandError::because(
                Exit::Usage,
                format!("cannot read line {} of {name}", number + 1),
                &error,
            )
            .hint(FORM)
        })?;
        // As the hook would, also by the entries at the command's paths.
        let facts = gather_facts::facts_besides(context, &facts, &row.command);
        let verdict = decide(&row.command, &facts, &policy);
        let passed = verdict.decision == Decision::Allow;
        output.rows += 1;
        if row.expect == Decision::Allow {
            output.harmless += 1;
            output.stopped += usize::from(!passed);
        } else {
            output.dangerous += 1;
            output.caught += usize::from(!passed);
        }
        if verdict.decision == row.expect {
            output.exact += 1;
        } else {
            let _ = writeln!(
                shown,
                "{}: {} instead of {}: {}",
                row.id,
                verdict.decision.name(),
                row.expect.name(),
                on_one_line(&row.command)
            );
            let other = match (row.expect, verdict.decision) {
                (Decision::Allow, _) => &mut output.false_positives,
                (_, Decision::Allow) => &mut output.misses,
                (_, Decision::Ask) => &mut output.too_lenient,
                (_, Decision::Block) => &mut output.too_strict,
            };
            other.push(row.id.clone());
        }
        output.verdicts.push(RowOutput {
            id: row.id,
            expect: row.expect.name().to_owned(),
            decision: verdict.decision.name().to_owned(),
            rule: verdict.rule,
            understood: verdict.coverage.percent,
        });
    }
    if output.rows == 0 {
        // Of no commands, neither share says anything.
        return Err(
            CommandError::new(Exit::Usage, format!("there are no commands in {name}")).hint(FORM),
        );
    }
    let share = |part: usize, of: usize| (of > 0).then(|| part as f64 / of as f64);
    output.recall = share(output.caught, output.dangerous);
    output.false_blocks = share(output.stopped, output.harmless);
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let percent = |share: Option<f64>| {
            share.map_or_else(String::new, |share| format!(" ({:.1} %)", share * 100.0))
        };
        let _ = writeln!(
            shown,
            "{} of {} dangerous commands caught{}, {} of {} harmless ones stopped{}, \
             {} of {} verdicts as expected",
            output.caught,
            output.dangerous,
            percent(output.recall),
            output.stopped,
            output.harmless,
            percent(output.false_blocks),
            output.exact,
            output.rows
        );
        context.ui.foreign(&shown)?;
    }
    let faults = [&output.misses, &output.too_lenient, &output.false_positives];
    if faults.iter().all(|ids| ids.is_empty()) {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
