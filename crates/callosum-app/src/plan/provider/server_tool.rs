//! `:tool.NAME.TOOL`: one call of a tool of a server, with the arguments of the plan and nothing else.
//!
//! No task is made of it: no prompt, no other try, no entry in the ledger. The run's own records tell that
//! it was made and what came of it.

use std::time::Duration;

use callosum_executor::transport::call_tool;
use callosum_host::process::Cancel;
use callosum_plan::{FailureKind, Key, Schema, Value};
use callosum_plan_run::kernel::{Answer, ApprovedCall, Provenance, ProviderFailure};
use callosum_redact::secrets;
use serde_json::Value as Json;

use crate::executor_pool::Roster;
use crate::plan::provider::{PlanEnvironment, arguments, failed, free, unfit};

/// Units of work that holding an answer against its type may take.
const SCHEMA_WORK: u64 = 1 << 20;

/// Maximum length of a tool's failure message, in bytes.
const LONGEST_SAID: usize = 4096;

pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    cancel: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let name = call.capability();
    let asked = arguments(call)?;
    let manifest = surroundings.catalogue.get(name);
    let Some((manifest, Provenance::ToolServer(server))) =
        manifest.map(|manifest| (manifest, &manifest.provenance))
    else {
        return Err(unfit(call, "it is not a tool of a server"));
    };
    let context = surroundings.context.for_call(cancel);
    let context = context.map_err(|error| failed(&error))?;
    let roster = Roster::load(&context).map_err(|error| failed(&error))?;
    let executor = roster.usable(server).map_err(|error| failed(&error))?;
    let around = context.surroundings().map_err(|error| failed(&error))?;
    let within = Duration::from_millis(manifest.quotas.milliseconds);
    let answer = call_tool(executor, &manifest.name, asked, &around, within);
    let answer = answer.map_err(|error| ProviderFailure {
        kind: if error.took_too_long {
            FailureKind::Timeout
        } else {
            FailureKind::CapabilityError
        },
        may_have_happened: error.may_have_happened,
        ..ProviderFailure::before(
            FailureKind::CapabilityError,
            format!(":{name}: {}", failure_text(&error.words)),
        )
    })?;
    if answer.is_error {
        let words = format!(":{name}: {}", failure_text(&answer.text));
        return Err(ProviderFailure::before(FailureKind::CapabilityError, words));
    }
    if let Some(mismatch) = mismatch(&manifest.output, &answer.text, answer.structured.as_ref()) {
        let what = format!(
            ":{name}: its answer does not match the schema that its server declares: \
                {mismatch}"
        );
        return Err(ProviderFailure::midway(
            FailureKind::TypeValidationError,
            what,
        ));
    }
    // A number beyond 64 bits makes the whole a text: what was answered is not lost.
    let structured = answer
        .structured
        .map(|json| Value::of_json(&json).unwrap_or_else(|_| Value::text(json.to_string())));
    Ok(free(value_of(answer.text, structured)))
}

fn value_of(text: String, structured: Option<Value>) -> Value {
    let text = (Key::Keyword("text".into()), Value::text(text));
    let structured = structured.map(|value| (Key::Keyword("structured".into()), value));
    Value::map(std::iter::once(text).chain(structured).collect())
}

/// The first thing about an answer that is not as its tool's type says. Numbers beyond 64 bits can't be held, and of
/// JSON's numbers `7.0` is the integer 7.
fn mismatch(output: &Schema, text: &str, structured: Option<&Json>) -> Option<String> {
    let structured = match structured {
        Some(json) => Some(Value::of_json(&with_integers(json)).ok()?),
        None => None,
    };
    let value = value_of(text.to_owned(), structured);
    output.mismatch_within(&value, SCHEMA_WORK)
}

fn with_integers(json: &Json) -> Json {
    /// Above, a float tells no integer from its neighbour.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match json {
        Json::Number(number) if number.is_f64() => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() <= LARGEST => (float as i64).into(),
            _ => json.clone(),
        },
        Json::Array(items) => items.iter().map(with_integers).collect(),
        Json::Object(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (key.clone(), with_integers(value)));
            Json::Object(entries.collect())
        }
        other => other.clone(),
    }
}

/// Returns a tool's failure in the server's words: masked, and not longer than a message.
fn failure_text(words: &str) -> String {
    let mut words = secrets::mask(words.trim()).text;
    if words.is_empty() {
        return "it failed without giving a reason".to_owned();
    }
    if words.len() > LONGEST_SAID {
        words.truncate(words.floor_char_boundary(LONGEST_SAID));
        words.push('…');
    }
    words
}
