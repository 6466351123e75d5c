//! Arguments and output of `callosum plan resume`.
//!
//! The use case is [`callosum_app::plan::resume`].

use callosum_app::plan::resume::{SCHEMA_WORK, SaidOf, decided};
use callosum_app::{CommandError, Exit, capability, disk_errors};
use callosum_plan::{CapabilityName, Value};
use callosum_plan_run::run::{DecisionWord, keep};
use clap::Args;

use super::drive;
use super::drive::carry_on;
use crate::cli::context::Context;

/// Resume a run
///
/// Evaluates the plan again with the recorded answers, and continues after them: answered calls are not made again.
/// Calls with an unknown outcome are not retried automatically: settle them with --set-result or --retry-call.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan resume 0f3a
  $ callosum plan resume 0f3a --set-result '9c1d={:summary \"It is done.\"}'
  $ callosum plan resume 0f3a --retry-call 9c1d")]
pub(crate) struct ResumeArgs {
    /// Id of the run, or its beginning
    #[arg(value_name = "ID")]
    run: String,
    /// The call KEY was made and returned VALUE, in the notation of the language
    #[arg(long = "set-result", value_name = "KEY=VALUE")]
    answers: Vec<String>,
    /// The call KEY was not made: make it
    #[arg(long = "retry-call", value_name = "KEY")]
    not_done: Vec<String>,
    /// Resume the run in the background, and return at once
    #[arg(long)]
    detach: bool,
}

pub(super) fn run(context: &Context, args: &ResumeArgs) -> Result<(), CommandError> {
    let mut taken = drive::take(context, &args.run)?;
    let catalogue = capability::catalogue(context)?;
    let mut records = Vec::new();
    let mut said_of = SaidOf::default();
    for pair in &args.answers {
        let refuse = |why: String, of: &str| {
            CommandError::new(Exit::Usage, format!("--set-result {pair}: {why}")).hint(format!(
                "use `--set-result 'KEY=VALUE'` with a value of type {of} in the language's notation"
            ))
        };
        let Some((key, value)) = pair.split_once('=') else {
            let why = "the `=` is missing".to_owned();
            return Err(refuse(why, "Any"));
        };
        let call = said_of.call(&taken.state, key)?;
        let name = CapabilityName::parse(&call.intended.capability);
        let manifest = name.ok().and_then(|name| catalogue.get(&name));
        let of = manifest.map_or("Any", |manifest| manifest.output.as_str());
        let refuse = |why: String| refuse(why, of);
        let value = Value::read(value).map_err(|error| refuse(error.to_string()))?;
        let mismatch = manifest.and_then(|one| one.output.mismatch_within(&value, SCHEMA_WORK));
        if let Some(mismatch) = mismatch {
            return Err(refuse(format!(
                "{mismatch}, which `:{}` answers",
                call.intended.capability
            )));
        }
        let text = value.to_string();
        let found = callosum_redact::secrets::mask(&text).found;
        if !found.is_empty() {
            return Err(refuse("it contains what looks like a secret".to_owned()));
        }
        let value = keep(&callosum_app::plan::drive::answers(context), text);
        let value = value.map_err(|error| disk_errors::disk_failed(&error))?;
        records.push(decided(call, DecisionWord::Done, Some(value)));
    }
    for key in &args.not_done {
        let call = said_of.call(&taken.state, key)?;
        records.push(decided(call, DecisionWord::NotDone, None));
    }
    if !records.is_empty() {
        callosum_app::plan::drive::tell(context, &mut taken, records)?;
    }
    if args.detach {
        return drive::detach(context, taken);
    }
    carry_on(context, taken)
}
