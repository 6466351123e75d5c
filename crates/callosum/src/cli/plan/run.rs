//! Arguments and output of `callosum plan run`.
//!
//! The use case is [`callosum_app::plan::run`].

use std::path::PathBuf;
use std::time::Duration;

use callosum_app::CommandError;
use callosum_app::plan::answers::Answers;
use callosum_app::plan::dry_run::DryRun;
use callosum_app::plan::run::{some_dollars, some_time};
use callosum_app::plan::{drive, parameters};
use callosum_app::time_span::milliseconds;
use callosum_arbiter::budget::Money;
use callosum_plan::{CompileOptions, Limits, Machine, Program};
use callosum_plan_run::kernel::RunCaps;
use clap::{Args, value_parser};

use super::drive::{begun, carry_on, compiled};
use super::eval;
use super::source::{SourceArgs, source_of};
use crate::cli::context::Context;

/// Run a plan
///
/// The kernel permits each call, denies it, or requires the approval of a person. Each call is recorded before it is
/// made, and its answer before it is used. A run that was killed continues with `callosum plan resume` and does
/// nothing twice. Prints the value in the notation of the language.
///
/// Exits with 5 if the run waits for a person, and prints the command to paste.
///
/// Parameters are values: nothing in them becomes part of the plan.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan run -e '(count (call :ledger.query {:limit 3}))'
  $ callosum plan run -e '(defplan add (these) (reduce + 0 these))' --input '{\"these\": [1, 2]}'
  $ callosum plan run -e '(defplan greet (name) (str \"hello \" name))' --param 'name=\"Ada\"'
  $ callosum plan run -e '(count (call :ledger.query {}))' --max-tokens 20000 --max-cost 0.5
  $ callosum plan run -e '(count (call :ledger.query {:limit 3}))' --dry-run --answers answers.jsonl

With --dry-run, no call is made and nothing is recorded. The kernel's decision on each call is printed.
A call that would be denied fails; --answers answers the others:
  {\"call\": \":ledger.query\", \"value\": \"[1 2 3]\"}")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Set the parameter NAME to VALUE, in the notation of the language (may be repeated)
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// Set the parameters to the values of this JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "parameters")]
    input: Option<String>,
    /// Make no calls and keep no record
    ///
    /// Prints the kernel's decision on each call, and answers the call from --answers.
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run, answer the calls from FILE, one line of JSON per call
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    answers: Option<PathBuf>,
    /// Limit the run to N calls
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
    /// Make no more calls once calls have used this many tokens
    #[arg(long, value_name = "TOKENS", value_parser = value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// Make no more calls once calls have cost this many US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = some_dollars)]
    max_cost: Option<Money>,
    /// Limit the total time of all calls, such as 90s or 15m; pauses do not count
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    timeout: Option<Duration>,
}

impl RunArgs {
    pub(super) fn writes(&self) -> bool {
        !self.dry_run
    }

    /// Returns the limits of its calls' usage. Their number is a limit of the evaluation.
    fn caps(&self) -> RunCaps {
        RunCaps {
            yields: None,
            tokens: self.max_tokens,
            cost: self.max_cost,
            milliseconds: self.timeout.map(milliseconds),
        }
    }
}

pub(super) fn run(context: &Context, args: &RunArgs) -> Result<(), CommandError> {
    let source = source_of(&args.source)?;
    let input = match &args.input {
        Some(json) => parameters::of_json(json)?,
        None => parameters::parameters(&args.parameters)?,
    };
    let limits = Limits {
        yields: args.max_calls.unwrap_or(Limits::default().yields),
        ..Limits::default()
    };
    if args.dry_run {
        let answers = match &args.answers {
            Some(file) => Answers::read(file)?,
            None => Answers::none(),
        };
        let rehearsal = |program: &Program| {
            let rehearsal = DryRun::of(context, &source, program, args.caps())?;
            Ok(Some(rehearsal))
        };
        return eval::evaluated(&source, answers, &input, limits, rehearsal, context.ui);
    }
    let options = CompileOptions {
        max_yields: args.max_calls,
        provided: Some(drive::provided(context)?),
        ..CompileOptions::default()
    };
    let program = compiled(context, &source, &options)?;
    // What can't be started is refused before there is anything on record.
    Machine::start(program.clone(), &input, limits.clone())
        .map_err(|error| parameters::unstartable(&error))?;
    let id = context.new_id().parse().map_err(CommandError::internal)?;
    let taken = begun(
        context,
        source,
        program,
        &id,
        &input,
        (&limits, args.caps()),
    )?;
    carry_on(context, taken)
}
