//! `:mesh.publish`: an event for the other agents, under an id that follows from the call.
//!
//! It publishes no event that changes the board: otherwise a plan could avoid a policy about
//! `task.add` by publishing instead.

use callosum_host::process::Cancel;
use callosum_mesh::is_about_board;
use callosum_mesh::topic::Topic;
use callosum_plan::FailureKind;
use callosum_plan_run::kernel::{Answer, ApprovedCall, ProviderFailure};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::mesh::publish_once;
use crate::plan::provider::{PlanEnvironment, arguments, failed, free, keyed, voice};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Topic, such as `agent.note`.
    topic: String,
    #[serde(default)]
    payload: Map<String, Json>,
}

/// The same call twice is one event: its id is the call's key.
pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    cancel: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    refuse_of_board(&wanted.topic)?;
    let context = surroundings
        .context
        .for_call(cancel)
        .map_err(|error| failed(&error))?;
    let voice = voice(surroundings, &context);
    let id = format!("plan-{}", call.key());
    let payload = Json::Object(wanted.payload);
    publish_once(&context, &voice, &wanted.topic, payload, &id).map_err(|error| failed(&error))?;
    Ok(free(keyed(&json!({"id": id, "topic": wanted.topic}))))
}

/// Refuses the topics that the board is made of, and names the capability that does the same, if
/// there is one.
fn refuse_of_board(topic: &str) -> Result<(), ProviderFailure> {
    // One that is no topic is refused with what else is wrong with the event.
    if !topic
        .parse::<Topic>()
        .is_ok_and(|topic| is_about_board(&topic))
    {
        return Ok(());
    }
    let instead = if topic == "calc.task_handoff" {
        "use `:task.add` to add a task"
    } else {
        "no capability has the effect of such an event; events of other topics reach every \
         subscriber"
    };
    let what = format!(":mesh.publish: the topic `{topic}` is reserved for the board: {instead}");
    let kind = FailureKind::SecurityViolation;
    Err(ProviderFailure::before(kind, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-GOV-1: no topic that changes the board is published, however it is spelled.
    #[test]
    fn topics_of_the_board_are_refused() {
        for topic in [
            "calc.task_handoff",
            "calc.task.completed",
            "calc.message",
            "calc.message.receipt",
            "calc.discovery",
            "calc.lease.taken",
            "calc.bridge.field",
        ] {
            let refused = refuse_of_board(topic).unwrap_err();
            assert_eq!(refused.kind, FailureKind::SecurityViolation, "{topic}");
            assert!(!refused.may_have_happened, "{topic}");
        }
        for topic in ["agent.note", "calc.request", "calc.tasks", "task.claimed"] {
            assert!(refuse_of_board(topic).is_ok(), "{topic}");
        }
    }
}
