//! `callosum executor register`: a new executor, after a handshake.

use callosum_agents::{
    dialect::Dialect,
    discover::{self, Known},
    registry::{EMBEDDED_ID, Executor},
    template::Template,
};
use clap::Args;

use super::check::{enter, shake_hands};
use crate::{
    cli::{context::Context, roster::Roster, store},
    ui::{CommandError, Exit},
};

/// Register an executor and shake hands with it
///
/// The command template is split into words as a shell would, but no shell ever runs it. `{prompt}`
/// stands for the prompt; a template without it gets the request as JSON on standard input.
/// `{self}` is this program. A coding agent that Callosum knows hears the request in words, and its
/// template may have `{schema}` and `{schema_file}`, the form of an answer. Registering an executor here also trusts it on this machine.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor register mine --command 'python3 tools/answer.py'
  $ callosum executor register claude
  $ callosum executor register ollama --protocol text --command 'ollama run qwen3'")]
pub(crate) struct RegisterArgs {
    /// Its name: letters, digits, `.`, `_` and `-`
    name: String,
    /// How it is started; may be left out for a program that Callosum knows
    #[arg(long, value_name = "TEMPLATE")]
    command: Option<String>,
    /// What it answers in, where that is not the protocol: claude, codex, gemini, opencode, qwen, or
    /// text
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// Longest silence in milliseconds before it is ended (default: executor_timeout_ms)
    #[arg(long, value_name = "MS")]
    quiet_ms: Option<u64>,
    /// Longest time in all in milliseconds (default: none)
    #[arg(long, value_name = "MS")]
    total_ms: Option<u64>,
    /// Pass this environment variable on to it (may be repeated)
    #[arg(long, value_name = "NAME")]
    pass_env: Vec<String>,
}

pub(super) fn run(context: &Context, args: &RegisterArgs) -> Result<(), CommandError> {
    let executor = entry(args)?;
    if executor.id == EMBEDDED_ID {
        let what = format!("`{EMBEDDED_ID}` is the executor that Callosum carries itself");
        return Err(CommandError::new(Exit::Usage, what));
    }
    let ledger = store::open(context)?;
    Roster::load(context)?.trust(&executor)?;
    let id = executor.id.clone();
    let (handshake, executor, output) = shake_hands(context, executor)?;
    enter(context, &ledger, executor, "registered")?;
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&output.as_text())?;
        if handshake.passed() {
            let next = Roster::load(context)?.candidates();
            let next = next.first().map_or("nobody", String::as_str);
            context.ui.say(&format!(
                "registered {id}; tasks that name nobody go to {next}"
            ));
        }
    }
    match handshake.fault() {
        None => Ok(()),
        Some((step, fault)) => Err(CommandError::because(
            Exit::No,
            format!("`{id}` is registered as inactive: its handshake failed at {step}"),
            fault,
        )
        .hint(format!("callosum executor check {id}"))),
    }
}

fn entry(args: &RegisterArgs) -> Result<Executor, CommandError> {
    Executor::check_id(&args.name)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    let known = discover::KNOWN.iter().find(|known| known.id == args.name);
    let mut executor = match (&args.command, known) {
        (Some(template), _) => Executor::cli(&args.name, template),
        (None, Some(known)) => Known::entry(known),
        (None, None) => {
            let what = format!("`{}` is not a program that Callosum knows", args.name);
            let hint = format!(
                "callosum executor register {} --command TEMPLATE",
                args.name
            );
            return Err(CommandError::new(Exit::Usage, what).hint(hint));
        }
    };
    if let Some(protocol) = &args.protocol {
        executor.protocol = Some(protocol.clone());
        if Dialect::of(&executor).is_none() {
            let known: Vec<&str> = Dialect::ALL.iter().map(|known| known.as_str()).collect();
            let what = format!("`{protocol}` is not a protocol that Callosum knows");
            return Err(CommandError::new(Exit::Usage, what).hint(known.join(", ")));
        }
    }
    let template = if Dialect::of(&executor).is_some() {
        Template::parse_for_client(&executor.command_template)
    } else {
        Template::parse(&executor.command_template)
    };
    template.map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    executor.quiet_ms = args.quiet_ms.or(executor.quiet_ms);
    executor.total_ms = args.total_ms.or(executor.total_ms);
    executor
        .pass_environment
        .extend(args.pass_env.iter().cloned());
    Ok(executor)
}
