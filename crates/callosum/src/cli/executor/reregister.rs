//! Effect of a registration on an entry of the same name that was registered on this machine.
//!
//! This file has the part with arguments and output; the rest is
//! [`callosum_app::executor::reregister`].

use callosum_app::executor::register_command::{questions, registration_line, worded};
use callosum_app::executor::reregister::{
    SINGLE, can_have, has, is_same_client, left_of, noted, other_command, starts, with_bounds_of,
};
use callosum_app::{CommandError, Exit};
use callosum_executor::registry::Executor;
use callosum_executor::template::Template;
use callosum_executor::transport::Transport;

use super::register::{RegisterArgs, bounded, entry};

/// Returns the entry that the arguments make of the existing one, with notes on that.
pub(super) fn renewed(
    args: &RegisterArgs,
    standing: &Executor,
) -> Result<(Executor, Vec<String>), CommandError> {
    if !args.say_what_is_started() {
        if args.api_key_env.is_some() && !standing.is_remote() {
            let what = format!(
                "an API key needs a server, but `{}` runs as a local command",
                standing.id
            );
            return Err(CommandError::new(Exit::Usage, what));
        }
        let mut kept = standing.clone();
        kept.api_key_env = args.api_key_env.clone().or(kept.api_key_env);
        let kept = bounded(kept, args);
        let given = bounded(Executor::cli("given", ""), args);
        let mut notes = noted(standing, &kept, &given);
        notes.extend(other_command(standing));
        return Ok((kept, notes));
    }
    let fresh = entry(&completed(args, standing))?;
    let both = with_bounds_of(fresh.clone(), standing);
    if starts(&fresh) == starts(standing) || is_same_client(&fresh, standing) {
        let notes = noted(standing, &both, &fresh);
        return Ok((both, notes));
    }
    let mut notes = asked_otherwise(args, standing, &fresh);
    let (lost, useless): (Vec<_>, Vec<_>) = left_of(standing, &fresh)
        .into_iter()
        .filter(|(option, _)| !SINGLE.contains(option) || !has(&fresh, option))
        .partition(|(option, _)| can_have(&fresh, option));
    if !useless.is_empty() {
        notes.push(format!(
            "not kept from the entry of {}: {}, which do not apply to the new one",
            standing.id,
            worded(&useless)
        ));
    }
    if lost.is_empty() {
        return Ok((fresh, notes));
    }
    let what = format!(
        "`{}` is registered with {}, which this command would drop because it starts something else",
        standing.id,
        worded(&lost)
    );
    let hint = format!(
        "to keep it: {}; to start from scratch, add --replace to your command",
        registration_line(&both)
    );
    Err(CommandError::new(Exit::Usage, what).hint(hint))
}

/// Returns the arguments, completed from the entry: the protocol, if the same program is started in
/// another way, and the question to a server and its protocol.
fn completed(given: &RegisterArgs, standing: &Executor) -> RegisterArgs {
    let program = |template: &str| {
        Some(
            Template::parse_for_client(template)
                .ok()?
                .program()
                .to_owned(),
        )
    };
    let is_same = given
        .command
        .as_deref()
        .is_some_and(|template| program(template) == program(&standing.command_template));
    let mut args = given.clone();
    if is_same && args.tool.is_none() && standing.dialect().is_some() {
        args.protocol = args.protocol.or_else(|| standing.protocol.clone());
    }
    if standing.is_remote() && args.command.is_none() {
        complete_question(&mut args, standing);
    }
    args
}

/// Fills in what is asked of a server, as an entry that is there asks it.
fn complete_question(args: &mut RegisterArgs, standing: &Executor) {
    // A hosted provider is asked at its own endpoint, in its own protocol; at another endpoint it
    // is another provider.
    if Transport::of(standing) == Some(Transport::Hosted) {
        return;
    }
    let asks_a_model = standing.model.is_some();
    let wants = args.protocol.as_deref();
    let is_of_its_kind = match wants {
        None => true,
        Some(protocol) if asks_a_model => ["openai", "ollama"].contains(&protocol),
        Some(protocol) => protocol == "mcp",
    };
    let asks_otherwise = if asks_a_model {
        args.tool.is_some()
    } else {
        args.model.is_some()
    };
    if asks_otherwise || !is_of_its_kind {
        return;
    }
    let fill = |given: &mut Option<String>, kept: &Option<String>| {
        if given.is_none() {
            given.clone_from(kept);
        }
    };
    fill(&mut args.endpoint, &standing.endpoint);
    fill(&mut args.model, &standing.model);
    if asks_a_model {
        fill(&mut args.protocol, &standing.protocol);
    } else if standing.tool.is_none() && args.tool.is_none() {
        args.protocol.get_or_insert_with(|| "mcp".to_owned());
    } else if wants.is_none() && args.tool.is_none() {
        fill(&mut args.tool, &standing.tool);
        fill(&mut args.argument, &standing.argument);
    }
}

/// Returns a note on the question to a server if its protocol changes, or if it is kept although it
/// was not given.
fn asked_otherwise(args: &RegisterArgs, standing: &Executor, fresh: &Executor) -> Vec<String> {
    if let (Some(before), Some(now)) = (&standing.protocol, &fresh.protocol)
        && before != now
    {
        return vec![format!(
            "{} now uses the protocol {now} instead of {before}",
            standing.id
        )];
    }
    if !standing.is_remote() || !fresh.is_remote() {
        return Vec::new();
    }
    let kept = questions(fresh)
        .into_iter()
        .filter(|(option, _)| !args.gives(option))
        .collect::<Vec<_>>();
    let note = (!kept.is_empty()).then(|| {
        format!(
            "kept from the entry of {}: {} (--replace starts from scratch)",
            standing.id,
            worded(&kept)
        )
    });
    note.into_iter().collect()
}
