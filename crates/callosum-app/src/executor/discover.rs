//! `callosum executor discover`: known programs that are installed, and servers of models that listen here.
//!
//! What is found is entered in one way, [`take_in`]. Deliberately not here: what is looked for, which is
//! data of [`callosum_executor`].

use callosum_executor::local_server::{Answering, LocalServer, look_around, several_models};
use callosum_executor::registry::{Executor, Status};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::executor_pool::Roster;
use crate::{CommandError, Exit};

/// Names the servers of models that are looked for, in place of where they usually listen.
const SERVERS: &str = "CALLOSUM_MODEL_SERVERS";

/// `callosum executor discover --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DiscoverOutput {
    /// The known programs that PATH has, and the servers that answer.
    pub found: Vec<FoundOutput>,
}

/// An executor that is there.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FoundOutput {
    /// Its id in the registry.
    pub id: String,
    /// Its place: the file of a program, or the address of a server.
    pub program: String,
    /// The file that a program leads to, where it is a link; null for any other.
    pub resolved_path: Option<String>,
    /// The version manager whose shim the program is, such as `asdf`, which can start a different
    /// file each time; null if it is no shim.
    pub shim_for: Option<String>,
    /// `active` or `inactive`, as the registry says now.
    pub status: String,
    /// Whether it is new in the registry.
    pub registered_now: bool,
    /// Reason why it is inactive, or gets no tasks for now.
    pub reason: Option<String>,
    /// Remedy, if one is known.
    pub hint: Option<String>,
    /// Whether it was active and so not asked again: the program in `PATH` may be another one than
    /// the one that passed.
    #[serde(skip)]
    pub is_unasked: bool,
}

/// Lists the servers of models to look for.
pub fn servers(context: &Context) -> Result<Vec<LocalServer>, CommandError> {
    let Some(value) = context.environment.get(SERVERS) else {
        return Ok(LocalServer::usual());
    };
    let text = value.to_string_lossy();
    LocalServer::listed(&text).map_err(|error| {
        let what = format!("the variable {SERVERS} is `{text}`");
        CommandError::because(Exit::Environment, what, &error)
            .hint(format!("export {SERVERS}=ollama=http://127.0.0.1:11434"))
    })
}

/// Those of them that answer.
pub fn listening(
    context: &Context,
    servers: Vec<LocalServer>,
) -> Result<Vec<Answering>, CommandError> {
    if servers.is_empty() {
        return Ok(Vec::new());
    }
    let progress = context
        .report
        .progress("looking for model servers on this machine");
    let found = look_around(servers, &context.surroundings()?);
    drop(progress);
    Ok(found)
}

/// Registers a server if it has a model. An executor that asks it already stays as it is.
pub fn take_in_server(
    context: &Context,
    roster: &mut Roster<'_>,
    answering: &Answering,
) -> Result<Option<Discovery>, CommandError> {
    let server = &answering.server;
    let Some(model) = answering.models.first() else {
        let what = format!(
            "{} answers at {} but has no model yet",
            server.id, server.endpoint
        );
        context.report.say(&what);
        return Ok(None);
    };
    let place = server.endpoint.clone();
    let mut known = roster.registry().executors().iter();
    if let Some(known) = known.find(|known| server.is_asked_by(known)) {
        let known = known.clone();
        return take_in(roster, place, known).map(Some);
    }
    let mut entry = server.entry(model);
    if let Err(error) = entry.check() {
        let what = format!("{} answers at {place} but was skipped: {error}", server.id);
        context.report.warn(&what, None);
        return Ok(None);
    }
    if answering.models.len() > 1
        && let Some(reason) = several_models(&entry)
    {
        entry.deactivate(&reason);
    }
    take_in(roster, place, entry).map(Some)
}

/// An executor that is there, and its entry where that is to be written.
pub struct Discovery {
    /// The result for the output.
    pub output: FoundOutput,
    /// The entry for the registry, if the program can be an executor.
    pub entry: Option<Executor>,
}

/// Looks an entry up, and takes it for a new one where its id is.
pub fn take_in(
    roster: &mut Roster<'_>,
    place: String,
    new: Executor,
) -> Result<Discovery, CommandError> {
    let mut output = FoundOutput {
        id: new.id.clone(),
        program: place,
        resolved_path: None,
        shim_for: None,
        status: String::new(),
        registered_now: false,
        reason: None,
        hint: None,
        is_unasked: false,
    };
    let executor = match roster.registry().get(&new.id).cloned() {
        Some(there) if !roster.is_trusted(&there) => {
            output.status = there.status.to_string();
            output.reason = Some("comes with the repository and is not trusted yet".to_owned());
            output.hint = Some("callosum trust --list".to_owned());
            return Ok(Discovery {
                output,
                entry: None,
            });
        }
        Some(there) if there.status == Status::Active => {
            output.status = there.status.to_string();
            output.is_unasked = true;
            if let Some(left) = roster.left_alone(&there.id) {
                output.reason = Some(format!(
                    "paused for {} s more after repeated failures; it gets no tasks until then",
                    left.as_secs().max(1)
                ));
                output.hint = Some(format!("callosum executor check {}", there.id));
            }
            return Ok(Discovery {
                output,
                entry: None,
            });
        }
        Some(inactive) => inactive,
        None => {
            roster.trust(&new)?;
            roster.put(&new);
            output.registered_now = true;
            new
        }
    };
    Ok(Discovery {
        output,
        entry: Some(executor),
    })
}
