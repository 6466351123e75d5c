//! Arguments and output of `callosum plan eval`.
//!
//! The use case is [`callosum_app::plan::eval`].

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use callosum_app::plan::answers::Answers;
use callosum_app::plan::dry_run::{DryRun, RulingOutput};
use callosum_app::plan::eval::{EvalErrorOutput, PlanEvalOutput};
use callosum_app::plan::parameters::{parameters, unstartable};
use callosum_app::plan::source::Source;
use callosum_app::{CommandError, Exit, many};
use callosum_plan::{
    CompileOptions, Failure, Finding, Limits, Machine, Outcome, Program, Value, compile,
};
use callosum_redact::terminal_escape::harmless;
use clap::Args;

use super::source::{SourceArgs, source_of};
use crate::ui::Ui;

/// Evaluate a program and print its value
///
/// Prints the value in the notation of the language. Nothing outside is touched: each call of a capability takes the
/// next answer of the file given with --answers, and fails if there is none. If the program fails, prints the kind of
/// failure and exits with 1.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan eval -e '(map (fn [x] (* x x)) [1 2 3])'
  $ callosum plan eval -e '(defplan greet (name) (str \"hello \" name))' --param 'name=\"Ada\"'
  $ echo '(reduce + 0 (range 10))' | callosum plan eval -

A file of answers has one line of JSON per call, in the order of the calls:
  {\"call\": \":storage.read\", \"value\": \"{:size 3}\"}
  {\"call\": \":nlp.sentiment\", \"error\": \"the model is away\"}")]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Answer the calls from FILE, one line of JSON per call
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Set the parameter NAME to VALUE, in the notation of the language (may be repeated)
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
}

pub(super) fn run(args: &EvalArgs, ui: Ui) -> Result<(), CommandError> {
    let source = source_of(&args.source)?;
    let answers = match &args.answers {
        Some(file) => Answers::read(file)?,
        None => Answers::none(),
    };
    let parameters = parameters(&args.parameters)?;
    let unasked = |_: &Program| Ok(None);
    evaluated(
        &source,
        answers,
        &parameters,
        Limits::default(),
        unasked,
        ui,
    )
}

/// Evaluates a program with answers that are given, and prints what it comes to.
///
/// Where there is a rehearsal each call is put to it first: one that would be denied fails as it would
/// then, and takes no answer.
pub(super) fn evaluated(
    source: &Source,
    mut answers: Answers,
    parameters: &BTreeMap<String, Value>,
    limits: Limits,
    rehearsal: impl FnOnce(&Program) -> Result<Option<DryRun>, CommandError>,
    ui: Ui,
) -> Result<(), CommandError> {
    let program = match compile(&source.text, &CompileOptions::default()) {
        Ok(program) => Arc::new(program),
        Err(findings) => return refused(source, &findings, ui),
    };
    let mut rehearsal = rehearsal(&program)?;
    let machine = Machine::start(program, parameters, limits);
    let mut machine = machine.map_err(|error| unstartable(&error))?;
    let mut calls = Vec::new();
    let result = loop {
        match machine.run() {
            Outcome::Complete(value) => break Ok(value),
            Outcome::Failed(failure) => break Err(failure),
            Outcome::Yield(waiting) => {
                for call in waiting {
                    let answer = match rehearsal.as_mut().map_or(Ok(()), |asked| asked.ask(&call)) {
                        Ok(()) => answers.take(&call)?,
                        Err(denied) => Err(denied),
                    };
                    calls.push(call.key_text());
                    let taken = machine.answer(&call.position, answer);
                    taken.map_err(CommandError::internal)?;
                }
            }
        }
    };
    if answers.left() > 0 {
        let left = many(answers.left() as u64, "answer");
        let were = if answers.left() == 1 { "was" } else { "were" };
        ui.warn(&format!("{left} {were} not used"), None);
    }
    let rulings = rehearsal.map(|asked| asked.rulings).unwrap_or_default();
    if !ui.json {
        for ruling in &rulings {
            ui.say(&harmless(&ruling.line()));
        }
    }
    match result {
        Ok(value) if ui.json => ui.json_data(&PlanEvalOutput {
            value: Some(value.to_string()),
            calls,
            rulings,
            error: None,
        }),
        Ok(value) => ui.foreign(&format!("{value}\n")),
        Err(failure) => failed(source, &failure, calls, rulings, ui),
    }
}

fn refused(source: &Source, findings: &[Finding], ui: Ui) -> Result<(), CommandError> {
    let Some(first) = findings.first() else {
        return Err(CommandError::new(
            Exit::Internal,
            "a program is refused without a reason",
        ));
    };
    let kind = first.rule.failure_kind();
    if ui.json {
        let (line, column) = source.line_and_column(first.span);
        ui.json_data(&PlanEvalOutput {
            value: None,
            calls: Vec::new(),
            rulings: Vec::new(),
            error: Some(EvalErrorOutput {
                kind: kind.to_string(),
                message: first.message.clone(),
                hint: first.hint.clone(),
                line: Some(line),
                column: Some(column),
                findings: findings
                    .iter()
                    .map(|one| source.finding_output(one))
                    .collect(),
            }),
        })?;
        return Err(CommandError::told(Exit::No));
    }
    source.tell(findings, &ui);
    let count = many(findings.len() as u64, "reason");
    Err(CommandError::new(
        Exit::No,
        format!("{kind}: the program was rejected for {count}"),
    ))
}

fn failed(
    source: &Source,
    failure: &Failure,
    calls: Vec<String>,
    rulings: Vec<RulingOutput>,
    ui: Ui,
) -> Result<(), CommandError> {
    if ui.json {
        let place = failure.span.map(|span| source.line_and_column(span));
        ui.json_data(&PlanEvalOutput {
            value: None,
            calls,
            rulings,
            error: Some(EvalErrorOutput {
                kind: failure.kind.to_string(),
                message: failure.message.clone(),
                hint: failure.hint.clone(),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
                findings: Vec::new(),
            }),
        })?;
    } else {
        source.tell_failure(failure, &ui);
    }
    Err(CommandError::told(Exit::No))
}
