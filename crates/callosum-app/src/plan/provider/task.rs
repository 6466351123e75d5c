//! `:task.add`: work that is left for another agent, under an id that follows from the call.

use callosum_host::process::Cancel;
use callosum_json::Checksum;
use callosum_mesh::board::{NewTask, Task};
use callosum_plan_run::kernel::{Answer, ApprovedCall, ProviderFailure};
use serde::Deserialize;
use serde_json::json;

use crate::context::Context;
use crate::mesh::task::add_once;
use crate::plan::provider::{PlanEnvironment, arguments, failed, free, keyed, unfit, voice};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    prompt: String,
    /// An agent, as codex.
    to: Option<String>,
    priority: Option<i64>,
    /// Subject, in a word: while a task with that word is not over, the project has no other with
    /// it.
    id: Option<String>,
}

/// Characters of a call's key in the id of its task.
const OF_CALL: usize = 16;

/// Characters of the project's mark before them, if the task has a subject: the board is the whole
/// machine's.
const OF_PROJECT: usize = 8;

/// The same call twice is one task: its id ends with the call's key.
pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    _: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    let context = surroundings.context;
    let to = wanted.to.as_deref().map(str::parse).transpose();
    let assigned_to = to.map_err(|error| unfit(call, &format!("`:to`: {error}")))?;
    let of_call: String = call.key().chars().take(OF_CALL).collect();
    let about = wanted.id.map(|about| format!("{about}.{}", mark(context)));
    let id = match &about {
        Some(about) => format!("{about}{of_call}"),
        None => format!("plan-{of_call}"),
    };
    let is_about_same = |task: &Task| {
        let is_it = |about: &String| is_about(&task.id, about);
        !task.status.is_over() && about.as_ref().is_some_and(is_it)
    };
    let new = NewTask {
        id,
        assigned_to,
        prompt: wanted.prompt,
        priority: wanted.priority,
        ..NewTask::default()
    };
    let voice = voice(surroundings, context);
    let id = add_once(context, &voice, new, is_about_same).map_err(|error| failed(&error))?;
    Ok(free(keyed(&json!({"task": id}))))
}

/// Returns a mark that tells the project from others of the machine. It is made from the folder of
/// its state, so all its worktrees share it.
fn mark(context: &Context) -> String {
    let root = context.state().as_os_str().as_encoded_bytes();
    let mark = Checksum::of(root).to_string();
    mark.chars().take(OF_PROJECT).collect()
}

/// Whether a task was filed by a call that was about this, its project's mark at the end.
fn is_about(task: &str, about: &str) -> bool {
    let of_call = task.strip_prefix(about);
    of_call.is_some_and(|of_call| {
        of_call.len() == OF_CALL && of_call.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
