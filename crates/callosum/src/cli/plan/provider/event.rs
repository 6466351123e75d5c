//! `:mesh.publish`: an event for the other agents, under an id that follows from the call.

use callosum_arbiter::kernel::{Answer, ApprovedCall, ProviderFailure};
use callosum_host::process::Cancel;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{Surroundings, arguments, failed, free, keyed, voice};
use crate::cli::mesh::publish_once;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What it is about, as `agent.note`.
    topic: String,
    #[serde(default)]
    payload: Map<String, Json>,
}

/// The same call twice is one event: its id is the call's key.
pub(super) fn perform(
    surroundings: &Surroundings<'_>,
    call: &ApprovedCall,
    cancel: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
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
