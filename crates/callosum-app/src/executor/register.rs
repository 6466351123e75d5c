//! `callosum executor register`: a new executor, after a handshake.

use callosum_executor::client::{Acp, Client};
use callosum_executor::discover::{Known, Speaks};
use callosum_plan::CapabilityName;
use callosum_sandbox::{InvalidHost, Policy, Whitelisted};

use crate::context::Context;
use crate::executor::list::next_line;
use crate::executor_pool::Roster;
use crate::{CommandError, Exit};

/// Parses a sandbox policy.
pub fn policy(name: &str) -> Result<Policy, String> {
    let all = [Policy::Required, Policy::BestEffort, Policy::Off].map(Policy::as_str);
    Policy::named(name).ok_or_else(|| format!("allowed: {}", all.join(", ")))
}

/// A variable, or the beginning of several: what is neither would never match.
pub fn variable(text: &str) -> Result<String, &'static str> {
    let name = text.strip_suffix('*').unwrap_or(text);
    let is_name = |c: char| !c.is_whitespace() && !c.is_control() && !['*', '=', ','].contains(&c);
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(
            "allowed: one name, or a prefix followed by `*`, such as OLLAMA_*; repeat the option for several",
        );
    }
    Ok(text.to_owned())
}

/// Checks the address of a host.
pub fn host(text: &str) -> Result<String, InvalidHost> {
    Whitelisted::parse(text).map(|_| text.to_owned())
}

/// Tells which executor takes tasks that name none, and how the new one would.
pub fn tell_next(context: &Context, id: &str) -> Result<(), CommandError> {
    let now = context.anew()?;
    let roster = Roster::load(&now)?;
    let choice = roster.choice();
    context
        .report
        .say(&format!("registered {id}; {}", next_line(&choice)));
    if let Some(priority) = choice.priority_to_lead(id) {
        context.report.hint(&format!(
            "to send them to {id}: callosum executor enable {id} --priority {priority}"
        ));
    }
    Ok(())
}

/// Refuses a name that plans could not call, and no policy could speak of.
pub fn capability_of(name: &str) -> Result<(), CommandError> {
    let refuse = |why: String| {
        let what = format!("`{name}` cannot be the name of an executor: {why}");
        CommandError::new(Exit::Usage, what)
    };
    let capability = CapabilityName::parse(&format!("agent.{name}"));
    let capability = capability.map_err(|error| refuse(error.to_string()))?;
    if capability.as_str() == CapabilityName::DELEGATE {
        return Err(refuse(format!("`{capability}` is a built-in capability")));
    }
    Ok(())
}

/// Returns the command that starts a program that Callosum knows as a speaker of the Agent Client
/// Protocol.
pub fn acp_command(known: &Known) -> Result<&'static str, CommandError> {
    let through = match known.speaks {
        Speaks::Dialect(dialect) => match Client::of(dialect).map(|client| client.acp) {
            Some(Acp::Itself(template)) => return Ok(template),
            Some(Acp::Through(program)) => program,
            None => "TEMPLATE",
        },
        Speaks::Acp => return Ok(known.command_template),
        Speaks::Seed | Speaks::Guess => "TEMPLATE",
    };
    let what = format!(
        "`{}` does not speak the Agent Client Protocol as far as is known; name the program that does",
        known.id
    );
    let hint = format!(
        "callosum executor register {} --protocol acp --command {through}",
        known.id
    );
    Err(CommandError::new(Exit::Usage, what).hint(hint))
}

/// Adds what is not listed yet.
pub fn add(list: &mut Vec<String>, more: &[String]) {
    for one in more {
        if !list.contains(one) {
            list.push(one.clone());
        }
    }
}
