//! `:tool.NAME.TOOL`: one call of a tool of a server, with the arguments of the plan and nothing else.
//!
//! No task is made of it: no prompt, no other try, no entry in the ledger. The run's own records tell that
//! it was made and what came of it.

use std::time::Duration;

use callosum_agents::transport::call_tool;
use callosum_arbiter::kernel::{Answer, ApprovedCall, Provenance, ProviderFailure};
use callosum_evidence::secrets;
use callosum_host::process::Cancel;
use callosum_plan::{FailureKind, Key, Value};

use super::{Surroundings, arguments, failed, free, unfit};
use crate::cli::roster::Roster;

/// How much is told of why a tool failed, in bytes.
const LONGEST_SAID: usize = 4096;

pub(super) fn perform(
    surroundings: &Surroundings<'_>,
    call: &ApprovedCall,
    cancel: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let name = call.capability();
    let asked = arguments(call)?;
    let manifest = surroundings.catalogue.get(name);
    let Some((manifest, Provenance::ToolServer(server))) =
        manifest.map(|manifest| (manifest, &manifest.provenance))
    else {
        return Err(unfit(call, "it is no tool of a server"));
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
            format!(":{name}: {}", said(&error.words)),
        )
    })?;
    if answer.is_error {
        let words = format!(":{name}: {}", said(&answer.text));
        return Err(ProviderFailure::before(FailureKind::CapabilityError, words));
    }
    let mut entries = vec![(Key::Keyword("text".into()), Value::text(answer.text))];
    if let Some(json) = answer.structured {
        // A number beyond 64 bits makes the whole a text: what was answered is not lost.
        let value = Value::of_json(&json).unwrap_or_else(|_| Value::text(json.to_string()));
        entries.push((Key::Keyword("structured".into()), value));
    }
    Ok(free(Value::map(entries.into_iter().collect())))
}

/// Why a tool failed, in the server's words: masked, and not longer than a message.
fn said(words: &str) -> String {
    let mut words = secrets::mask(words.trim()).text;
    if words.is_empty() {
        return "it failed and did not say why".to_owned();
    }
    if words.len() > LONGEST_SAID {
        words.truncate(words.floor_char_boundary(LONGEST_SAID));
        words.push('…');
    }
    words
}
