//! Arguments and output of `callosum guard secrets`.
//!
//! The use case is [`callosum_app::guard::secrets`].

use callosum_app::guard::secrets::{SecretsOutput, checked, require_on};
use callosum_app::{CommandError, Exit, config_errors, many};
use callosum_config::SecretReadsFile;
use callosum_guard::{Decision, SecretReads};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use crate::cli::context::Context;

/// Ask a person before agents read keys and passwords
///
/// Off by default. While it is on, the guard asks a person before a command or a file tool reads a listed file. With
/// --block, it blocks the read. Applies to every project of this user. The guard blocks these commands in an agent's
/// shell: only a person can run them.
#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Turn it on, with a list of the usual files
    #[command(after_long_help = "\
Examples:
  $ callosum guard secrets on
  $ callosum guard secrets on --block")]
    On(OnArgs),
    /// Turn it off and delete the list
    #[command(after_long_help = "\
Examples:
  $ callosum guard secrets off")]
    Off,
    /// Print the list
    #[command(after_long_help = "\
Examples:
  $ callosum guard secrets list
  $ callosum guard secrets list --json")]
    List,
    /// Add a pattern to the list
    ///
    /// A pattern is a name (`*.key`), a path in the home directory (`~/.vault`) or any other path. A folder covers
    /// everything in it. The last pattern that matches a file decides; a pattern that begins with `!` excludes files.
    #[command(after_long_help = "\
Examples:
  $ callosum guard secrets add '*.key'
  $ callosum guard secrets add '!.env.ci'")]
    Add(PatternArgs),
    /// Remove a pattern from the list
    #[command(after_long_help = "\
Examples:
  $ callosum guard secrets remove '*.pem'")]
    Remove(PatternArgs),
}

#[derive(Args, Debug)]
pub(crate) struct OnArgs {
    /// Block the read instead of asking
    #[arg(long)]
    block: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PatternArgs {
    /// Pattern, as in the list
    pattern: String,
}

pub(super) fn run(context: &Context, command: &SecretsCommand) -> Result<(), CommandError> {
    let file = SecretReadsFile::new(&context.disk, &context.project.homes.secret_reads());
    let failed = |error| config_errors::permit(&error);
    let secrets = match command {
        SecretsCommand::On(args) => {
            let decision = if args.block {
                Decision::Block
            } else {
                Decision::Ask
            };
            let on = |known: Option<SecretReads>| {
                let known = known.unwrap_or_else(|| SecretReads::preset(decision));
                Some(SecretReads { decision, ..known })
            };
            file.change(on).map_err(failed)?
        }
        SecretsCommand::Off => file.change(|_| None).map_err(failed)?,
        SecretsCommand::List => file.read().map_err(failed)?,
        SecretsCommand::Add(args) => {
            let pattern = checked(&args.pattern)?;
            require_on(&file)?;
            let add = |known: Option<SecretReads>| {
                let mut known = known?;
                known.patterns.retain(|other| *other != pattern);
                known.patterns.push(pattern);
                Some(known)
            };
            file.change(add).map_err(failed)?
        }
        SecretsCommand::Remove(args) => {
            let pattern = args.pattern.trim();
            require_on(&file)?;
            let known = file.read().map_err(failed)?;
            if !known.is_some_and(|known| known.patterns.iter().any(|other| other == pattern)) {
                let what = format!("`{}` is not on the list", on_one_line(pattern));
                return Err(
                    CommandError::new(Exit::Usage, what).hint("callosum guard secrets list")
                );
            }
            let remove = |known: Option<SecretReads>| {
                let mut known = known?;
                known.patterns.retain(|other| other != pattern);
                Some(known)
            };
            file.change(remove).map_err(failed)?
        }
    };
    tell(context, command, secrets)
}

/// Prints the list, or says what is in force now.
fn tell(
    context: &Context,
    command: &SecretsCommand,
    secrets: Option<SecretReads>,
) -> Result<(), CommandError> {
    let output = SecretsOutput {
        enabled: secrets.is_some(),
        decision: secrets.as_ref().map(|one| one.decision.name().to_owned()),
        patterns: secrets.map(|one| one.patterns).unwrap_or_default(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let Some(decision) = &output.decision else {
        context.report.say("off: agents may read any file");
        return Ok(());
    };
    let verb = if decision == "block" {
        "blocks"
    } else {
        "asks"
    };
    let count = many(output.patterns.len() as u64, "pattern");
    context.report.say(&format!(
        "on: the guard {verb} before a listed file is read ({count})"
    ));
    if matches!(command, SecretsCommand::List) {
        for pattern in &output.patterns {
            context.ui.data(&format!("{}\n", on_one_line(pattern)))?;
        }
    }
    Ok(())
}
