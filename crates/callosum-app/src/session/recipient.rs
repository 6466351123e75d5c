//! [`recipient`]: valid recipients of a hand-off.

use callosum_executor::client::Client;
use callosum_executor::output_format::Dialect;
use callosum_executor::registry::Registry;
use callosum_session::trajectory::Agent;

use crate::context::Context;
use crate::session::agent;
use crate::{CommandError, Exit};

/// The agent that a name means, in whichever case: a client by its program, also with `-code` or
/// `-cli` behind, or an executor of the registry by its id; one that runs a client means that client,
/// whose session start tells it.
pub fn recipient(context: &Context, name: &str) -> Result<Agent, CommandError> {
    let wanted = name.to_ascii_lowercase();
    let plain = ["-code", "-cli"]
        .iter()
        .find_map(|end| wanted.strip_suffix(end));
    let mut known: Vec<&str> = Dialect::ALL
        .into_iter()
        .filter_map(Client::of)
        .filter(|client| client.hooks.is_some())
        .map(|client| client.program)
        .collect();
    if let Some(client) = known
        .iter()
        .find(|client| wanted == **client || plain == Some(client))
    {
        return agent(client);
    }
    // An unreadable registry adds no names; `doctor` reports its fault.
    let path = &context.project.places.registry;
    let registry = Registry::load(&context.disk, path).ok().flatten();
    let executors = registry.as_ref().map(Registry::executors);
    let executors = executors.into_iter().flatten();
    if let Some(executor) = executors
        .clone()
        .find(|executor| executor.id.eq_ignore_ascii_case(name))
    {
        let client = Client::behind(executor).filter(|client| client.hooks.is_some());
        if client.is_none() {
            let what = format!(
                "`{}` will not see the hand-off when a session starts",
                executor.id
            );
            let hint = "callosum session recover --level 2";
            context.report.warn(&what, Some(hint));
        }
        return agent(client.map_or(&executor.id, |client| client.program));
    }
    known.extend(executors.map(|executor| executor.id.as_str()));
    known.sort_unstable();
    known.dedup();
    let what = format!(
        "cannot hand off to `{}`: unknown agent",
        name.escape_debug()
    );
    Err(CommandError::new(Exit::Usage, what).hint(format!("allowed: {}", known.join(", "))))
}
