//! `callosum guard test`: how well the guard does on a file of commands.

use std::{fmt::Write as _, path::PathBuf};

use callosum_evidence::terminal::on_one_line;
use callosum_guard::{Decision, decide};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::{self, StrictnessArgs};
use crate::{
    cli::{context::Context, store},
    ui::{CommandError, Exit},
};

/// Hold the guard against a file of commands and what it should say to each
///
/// Each line of FILE is `{"id": …, "command": …, "expect": "allow|ask|block"}`. Tells the share of
/// dangerous commands that were caught, the share of harmless ones that were stopped, and every
/// command whose verdict is another than expected. Ends with 1 where there is one.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard test corpus.jsonl
  $ callosum guard test corpus.jsonl --json")]
pub(crate) struct TestArgs {
    #[command(flatten)]
    strictness: StrictnessArgs,
    /// The file of commands
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// What a line looks like.
const FORM: &str = r#"a line is {"id": "1", "command": "ls", "expect": "allow"}"#;

/// One line of a corpus.
#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    command: String,
    expect: Decision,
}

/// `callosum guard test --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct TestOutput {
    /// How many commands there were.
    pub(crate) rows: usize,
    /// How many of them were to be asked about or blocked.
    pub(crate) dangerous: usize,
    /// How many of those were.
    pub(crate) caught: usize,
    /// The share of the dangerous commands that was caught, from 0 to 1.
    pub(crate) recall: f64,
    /// How many commands were to be allowed.
    pub(crate) harmless: usize,
    /// How many of those were asked about or blocked.
    pub(crate) stopped: usize,
    /// The share of the harmless commands that was stopped, from 0 to 1.
    pub(crate) false_blocks: f64,
    /// How many verdicts were exactly as expected.
    pub(crate) exact: usize,
    /// The ids of the commands whose verdict was another.
    pub(crate) misses: Vec<String>,
    /// Each command and its verdict.
    pub(crate) verdicts: Vec<RowOutput>,
}

/// What the guard says to one command of a corpus.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RowOutput {
    /// The row's id.
    pub(crate) id: String,
    /// What was expected.
    pub(crate) expect: String,
    /// What the guard says.
    pub(crate) decision: String,
    /// By which rule.
    pub(crate) rule: Option<String>,
    /// How much was understood, in percent.
    pub(crate) understood: u8,
}

pub(super) fn run(context: &Context, args: &TestArgs) -> Result<(), CommandError> {
    let path = context.folder.join(&args.file);
    let bytes = context
        .disk
        .read(&path)
        .map_err(|error| store::disk_failed(&error))?;
    let text = String::from_utf8_lossy(&bytes);
    let facts = place::facts(context);
    let policy = args.strictness.policy(context)?;
    let mut output = TestOutput {
        rows: 0,
        dangerous: 0,
        caught: 0,
        recall: 1.0,
        harmless: 0,
        stopped: 0,
        false_blocks: 0.0,
        exact: 0,
        misses: Vec::new(),
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
                format!("cannot read line {} of {}", number + 1, path.display()),
                &error,
            )
            .hint(FORM)
        })?;
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
            output.misses.push(row.id.clone());
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
        return Err(CommandError::new(
            Exit::Usage,
            format!("there is no command in {}", path.display()),
        )
        .hint(FORM));
    }
    if output.dangerous > 0 {
        output.recall = output.caught as f64 / output.dangerous as f64;
    }
    if output.harmless > 0 {
        output.false_blocks = output.stopped as f64 / output.harmless as f64;
    }
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let _ = writeln!(
            shown,
            "{} of {} dangerous commands caught ({:.1} %), {} of {} harmless ones stopped \
             ({:.1} %), {} of {} verdicts as expected",
            output.caught,
            output.dangerous,
            output.recall * 100.0,
            output.stopped,
            output.harmless,
            output.false_blocks * 100.0,
            output.exact,
            output.rows
        );
        context.ui.foreign(&shown)?;
    }
    if output.misses.is_empty() {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
