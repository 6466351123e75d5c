//! `callosum plan resume`: a run gone on with, from where its records stand.

use std::collections::BTreeSet;

use callosum_arbiter::plan_run::{
    CallKey, CallStanding, CallState, Decided, DecisionWord, KeptText, RunRecord, RunState, keep,
};
use callosum_plan::{CapabilityName, Value};
use clap::Args;

use super::{
    carry::{self, carry_on},
    history::call_of,
};
use crate::{
    cli::{capability, context::Context, store},
    ui::{CommandError, Exit},
};

/// Units of work that holding a value against a type may take.
const SCHEMA_WORK: u64 = 1 << 20;

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
}

pub(super) fn run(context: &Context, args: &ResumeArgs) -> Result<(), CommandError> {
    let mut taken = carry::take(context, &args.run)?;
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
        let found = callosum_evidence::secrets::mask(&text).found;
        if !found.is_empty() {
            return Err(refuse("it contains what looks like a secret".to_owned()));
        }
        let value = keep(&carry::answers(context), text);
        let value = value.map_err(|error| store::disk_failed(&error))?;
        records.push(decided(call, DecisionWord::Done, Some(value)));
    }
    for key in &args.not_done {
        let call = said_of.call(&taken.state, key)?;
        records.push(decided(call, DecisionWord::NotDone, None));
    }
    if !records.is_empty() {
        carry::tell(context, &mut taken, records)?;
    }
    carry_on(context, taken)
}

/// The calls that something was said of, each once: two words for one would be two outcomes.
#[derive(Default)]
struct SaidOf(BTreeSet<CallKey>);

impl SaidOf {
    /// The call of this key, or of what begins it, of which nothing was said yet and nobody knows whether it was made.
    fn call<'s>(&mut self, state: &'s RunState, key: &str) -> Result<&'s CallState, CommandError> {
        let call = call_of(state, key)?;
        let show = format!("callosum plan show {}", state.run());
        let refuse = |what: String| CommandError::new(Exit::Usage, what);
        if call.standing != CallStanding::Begun {
            let what = format!("it is already known whether the call `{key}` was made");
            return Err(refuse(what).hint(show));
        }
        if !self.0.insert(call.intended.key) {
            let what = format!("the call `{key}` is named twice: settle it once");
            return Err(refuse(what).hint(show));
        }
        Ok(call)
    }
}

fn decided(call: &CallState, decision: DecisionWord, value: Option<KeptText>) -> RunRecord {
    RunRecord::Decided(Decided {
        key: call.intended.key,
        decision,
        value,
    })
}
