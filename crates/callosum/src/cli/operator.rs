//! Arguments and output of `callosum operator`.
//!
//! The use case is [`callosum_app::operator`].

use std::path::{Path, PathBuf};

use callosum_app::operator::{OperatorCheckOutput, OperatorSayOutput, operator};
use callosum_app::recall::watcher;
use callosum_app::{CommandError, Exit};
use callosum_client::intervention::person;
use callosum_client::intervention::person::Notice;
use callosum_config::GuardConfig;
use callosum_intervention::operator::{Context as ErrorContext, InterventionType, OperatorError};
use callosum_intervention::voice::GateFacts;
use clap::{Args, Subcommand};

use super::context::Context;
use super::text_input;
use crate::logging;

/// Check and render the messages that agents get about errors
///
/// A message has the form `Operator (CAKE): Stop. {action}. {reference}.` The voice gate checks the form and the words.
/// It also checks that the guard allows the message's command, and that its file and line are those of the error.
#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Check a message against the voice gate
    ///
    /// Exits with 1 if the message does not pass.
    #[command(after_long_help = "\
Examples:
  $ callosum operator check 'Operator (CAKE): Stop. Run pytest. See test results.'
  $ callosum operator check 'I think you should maybe try running tests' --json")]
    Check(CheckArgs),
    /// Render the message about an error
    ///
    /// FILE holds the error as JSON: `error_type`, `file_path`, `line_number`, `error_message`, `escalation_level` from
    /// 1 to 4, `suggested_fix`, `error_signature`, `previous_interventions`, `timestamp`. `-` reads standard input.
    #[command(after_long_help = "\
Examples:
  $ callosum operator say --event event.json
  $ callosum operator say --event - < event.json")]
    Say(SayArgs),
    /// Send a test notification
    ///
    /// Uses the webhook and the desktop as `escalation.human_notification` of the user's `cake_config.yaml` configures
    /// them. Callosum sends a notification when an agent hits the same error for the `escalation.max_strikes`-th time.
    #[command(after_long_help = "\
Examples:
  $ callosum operator notify")]
    Notify(NotifyArgs),
}

#[derive(Args, Debug)]
pub(crate) struct NotifyArgs {
    /// Notification to deliver; hooks use this
    #[arg(value_name = "ID", hide = true)]
    id: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Message to check
    #[arg(value_name = "MESSAGE")]
    message: String,
    /// File with the error of the message, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    event: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SayArgs {
    /// File with the error, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    event: PathBuf,
}

/// Runs `callosum operator`.
pub(super) fn run(context: &Context, command: &OperatorCommand) -> Result<(), CommandError> {
    match command {
        OperatorCommand::Check(args) => check(context, args),
        OperatorCommand::Say(args) => say(context, args),
        OperatorCommand::Notify(args) => notify(context, args),
    }
}

fn notify(context: &Context, args: &NotifyArgs) -> Result<(), CommandError> {
    let homes = &context.project.homes;
    let user = homes.cake_config();
    let escalation = GuardConfig::load(&context.disk, Some(&user), &[])
        .config
        .escalation;
    // The process that a hook starts has no one to print to.
    if let Err(error) = logging::start(&context.disk, &context.environment) {
        context
            .report
            .warn(&format!("logging is off: {error}"), None);
    }
    if !person::is_enabled(&escalation) {
        return Err(CommandError::new(
            Exit::No,
            format!(
                "notifications are off: `escalation.human_notification` in `{}` enables neither a webhook \
                 nor the desktop",
                user.display()
            ),
        )
        .hint("add to that file: escalation: {human_notification: {enabled: true, desktop: true}}"));
    }
    let deliver = |notice: &Notice| {
        person::deliver(&context.environment, &escalation, &context.cancel, notice)
    };
    let delivered = match &args.id {
        Some(id) => person::deliver_stored(&context.disk, homes, id, deliver),
        None => deliver(&Notice {
            id: context.ids.uuid_v4(),
            timestamp: context.clock.now().to_string(),
            project: context.tree().to_string_lossy().into_owned(),
            client: "callosum".to_owned(),
            session: "test".to_owned(),
            error_type: "TestNotification".to_owned(),
            file_path: None,
            message: "this is a test".to_owned(),
            strikes: 0,
        }),
    };
    match &delivered {
        Ok(()) => tracing::info!(id = args.id, "notified a person"),
        Err(error) => tracing::error!(id = args.id, %error, "could not notify a person"),
    }
    delivered.map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    context.report.say("notified");
    Ok(())
}

fn check(context: &Context, args: &CheckArgs) -> Result<(), CommandError> {
    let operator = operator()?;
    let error = args
        .event
        .as_ref()
        .map(|file| read_event(context, file))
        .transpose()?;
    let verdict = watcher(context)?.with_surroundings(|surroundings| {
        let event = error.as_ref().map(ErrorContext::facts);
        let surroundings = GateFacts {
            event,
            ..surroundings
        };
        operator.gate().check(&args.message, &surroundings)
    });
    let output = OperatorCheckOutput::from(verdict);
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let word = if output.passed { "passed" } else { "failed" };
        context.ui.foreign(&format!(
            "{word}: {} (score {:.2}, raw {:.2})\n",
            output.reason, output.score, output.raw_score
        ))?;
    }
    if output.passed {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

/// Reads an error from a file. Its paths are seen from the root of the project, unless it names another.
fn read_event(context: &Context, file: &Path) -> Result<ErrorContext, CommandError> {
    let (name, bytes) = text_input::read(context, file)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut error = ErrorContext::from_json(&text).map_err(|error| {
        CommandError::because(Exit::Usage, format!("cannot read {name}"), &error)
            .hint(r#"{"error_type": "KeyError", "file_path": "app.py", "line_number": 3}"#)
    })?;
    if error.project_root.is_none() {
        error.project_root = Some(context.tree().to_string_lossy().into_owned());
    }
    Ok(error)
}

fn say(context: &Context, args: &SayArgs) -> Result<(), CommandError> {
    let error = read_event(context, &args.event)?;
    let operator = operator()?;
    let built = watcher(context)?
        .with_surroundings(|surroundings| operator.build_message(&error, &surroundings))
        .map_err(|error: OperatorError| CommandError::from_error(Exit::Usage, &error))?;
    let kind = match built.kind {
        InterventionType::Message => "MESSAGE",
        InterventionType::SafeDefault => "SAFE_DEFAULT",
        InterventionType::SystemError => "SYSTEM_ERROR",
    };
    let output = OperatorSayOutput {
        message: built.message,
        kind: kind.to_owned(),
        level: built.level,
        attempts: built.attempts,
        check: built.verdict.into(),
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else if let Some(message) = &output.message {
        context.ui.foreign(&format!("{message}\n"))?;
    }
    match output.message {
        Some(_) => Ok(()),
        None => Err(CommandError::new(
            Exit::No,
            format!("no message passes the voice gate: {}", output.check.reason),
        )),
    }
}
