//! `:task.add`: work that is left for another agent, under an id that follows from the call.

use callosum_arbiter::kernel::{Answer, ApprovedCall, ProviderFailure};
use callosum_host::process::Cancel;
use callosum_mesh::board::{NewTask, Task};
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
    /// What it is about, in a word: while a task of that word is not over, there is no other.
    id: Option<String>,
}

/// How many characters of a call's key stand in the id of its task.
const OF_CALL: usize = 16;

/// The same call twice is one task: its id ends with the call's key.
pub(super) fn perform(
    surroundings: &Surroundings<'_>,
    call: &ApprovedCall,
    _: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    let context = surroundings.context;
    let to = wanted.to.as_deref().map(str::parse).transpose();
    let assigned_to = to.map_err(|error| unfit(call, &format!("`:to`: {error}")))?;
    let about = wanted.id.as_deref().unwrap_or("plan");
    let mark = match wanted.id {
        Some(_) => '.',
        None => '-',
    };
    let of_call: String = call.key().chars().take(OF_CALL).collect();
    let id = format!("{about}{mark}{of_call}");
    let stands_for =
        |task: &Task| wanted.id.is_some() && !task.status.is_over() && is_about(&task.id, about);
    let new = NewTask {
        id,
        assigned_to,
        prompt: wanted.prompt,
        priority: wanted.priority,
        ..NewTask::default()
    };
    let voice = voice(surroundings, context);
    let id = add_once(context, &voice, new, stands_for).map_err(|error| failed(&error))?;
    Ok(free(keyed(&json!({"task": id}))))
}

/// Whether a task was filed by a call with that `:id`.
fn is_about(task: &str, about: &str) -> bool {
    let rest = task.strip_prefix(about);
    let rest = rest.and_then(|rest| rest.strip_prefix('.'));
    rest.is_some_and(|rest| {
        rest.len() == OF_CALL && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
