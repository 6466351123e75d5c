//! [`note`]: keeps the last event of a session where `callosum mesh panes` reads it.
//!
//! A call of a tool in the middle of a turn costs a small read and writes nothing. What fails is on the trail and
//! keeps nothing else from being done.

use callosum_executor::client::Client;
use callosum_host::{Disk, process::Identity};
use callosum_panes::hook_event::{self, HookEvent};

use super::{ToolMoment, hook_input::HookInput, session_project::Unfound, tool_moment};
use crate::hook::event;
use callosum_config::{Environment, Homes};

/// Notes that a client asks a person for permission. What fails is on the trail.
pub(in crate::hook) fn note_dialog(
    environment: &Environment,
    client: &'static Client,
    bytes: &[u8],
) {
    let input = HookInput::read(bytes);
    if let Err(error) = note(environment, client, "permission-request", &input, bytes) {
        Unfound::of(environment.clone(), error.into()).tell(client.program, "permission-request");
    }
}

/// Notes an event, unless it says nothing about a state. Events of sub-agents are part of their session's turn.
pub(super) fn note(
    environment: &Environment,
    client: &'static Client,
    name: &str,
    input: &HookInput,
    bytes: &[u8],
) -> Result<(), callosum_host::DiskError> {
    let own_name = if input.name.is_empty() {
        name
    } else {
        &input.name
    };
    let Some(state) = hook_event::state_of(own_name, &input.notification) else {
        return Ok(());
    };
    let Ok(homes) = Homes::find(environment) else {
        return Ok(());
    };
    if input.session.is_empty() {
        return Ok(());
    }
    let Ok(clock) = environment.clock() else {
        return Ok(());
    };
    let is_prompt = tool_moment(name, input) == Some(ToolMoment::Prompt);
    // The client is looked for once a turn: that reads a few files of the system.
    let is_call = tool_moment(name, input) == Some(ToolMoment::After);
    let process = (!is_call)
        .then(|| Identity::ancestors().first().copied())
        .flatten();
    let prompt = is_prompt.then(|| event::fields(bytes).ok()).flatten();
    let prompt = prompt.and_then(|fields| {
        fields
            .get("prompt")?
            .as_str()
            .and_then(hook_event::stored_prompt)
    });
    let event = HookEvent {
        client: client.program.to_owned(),
        session_id: input.session.clone(),
        event: own_name.to_owned(),
        state,
        at: clock.now(),
        pid: process.map(|process| process.pid),
        started: process.map(|process| process.started),
        cwd: input.folder.clone(),
        last_prompt: prompt,
    };
    hook_event::note(&Disk::real(), &homes.hook_events(), event)?;
    Ok(())
}
