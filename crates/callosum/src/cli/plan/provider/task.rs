//! `:task.add`: work that is left for another agent, under an id that follows from the call.

use callosum_arbiter::kernel::{Answer, ApprovedCall, ProviderFailure};
use callosum_host::process::Cancel;
use callosum_mesh::board::NewTask;
use serde::Deserialize;
use serde_json::json;

use super::{Surroundings, arguments, failed, free, keyed, unfit, voice};
use crate::cli::mesh::task::add_once;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    prompt: String,
    /// An agent, as codex.
    to: Option<String>,
    priority: Option<i64>,
}

/// The same call twice is one task: its id is made of the call's key.
pub(super) fn perform(
    surroundings: &Surroundings<'_>,
    call: &ApprovedCall,
    _: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    let context = surroundings.context;
    let to = wanted.to.as_deref().map(str::parse).transpose();
    let assigned_to = to.map_err(|error| unfit(call, &format!("`:to`: {error}")))?;
    let id = format!("plan-{}", call.key().chars().take(16).collect::<String>());
    let new = NewTask {
        id: id.clone(),
        assigned_to,
        prompt: wanted.prompt,
        priority: wanted.priority,
        ..NewTask::default()
    };
    let voice = voice(surroundings, context);
    add_once(context, &voice, new).map_err(|error| failed(&error))?;
    Ok(free(keyed(&json!({"task": id}))))
}
