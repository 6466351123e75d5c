//! Arguments and output of `callosum executor enable`.
//!
//! The use case is [`callosum_app::executor::enable`].

use callosum_app::CommandError;
use callosum_app::executor::enable::set;
use callosum_app::executor::list::ExecutorOutput;
use callosum_app::executor_pool::Roster;
use callosum_config::{Address, DEFAULT_PRIORITY, Origin, PRIORITIES, Value};
use clap::Args;

use crate::cli::context::Context;

/// Enable an executor for tasks that name no executor
///
/// These tasks go to the enabled and active executor with the lowest priority number. This command
/// does not make an executor active: its handshake decides that.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor enable scout
  $ callosum executor enable scout --priority 2")]
pub(crate) struct EnableArgs {
    /// Executor to enable
    #[arg(value_name = "ID")]
    executor: String,
    /// Set its priority number; the lowest number is preferred
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(PRIORITIES))]
    priority: Option<u64>,
}

/// Disable an executor so that it gets no tasks
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor disable scout")]
pub(crate) struct DisableArgs {
    /// Executor to disable
    #[arg(value_name = "ID")]
    executor: String,
}

pub(super) fn enable(context: &mut Context, args: &EnableArgs) -> Result<(), CommandError> {
    Roster::load(context)?.known(&args.executor)?;
    let standing = context.project.settings.executor(&args.executor);
    // Registration alone puts it behind the default executor: that is taken back.
    let stepped_back =
        standing.enabled.origin == Origin::Default && standing.priority.origin != Origin::Default;
    let usual = stepped_back.then_some(DEFAULT_PRIORITY);
    if let Some(priority) = args.priority.or(usual) {
        set(
            context,
            &Address::Priority(args.executor.clone()),
            &Value::Count(priority),
        )?;
    }
    set(
        context,
        &Address::Enabled(args.executor.clone()),
        &Value::Switch(true),
    )?;
    context.report.say(&format!("enabled {}", args.executor));
    print(context, &args.executor)
}

pub(super) fn disable(context: &mut Context, args: &DisableArgs) -> Result<(), CommandError> {
    Roster::load(context)?.known(&args.executor)?;
    set(
        context,
        &Address::Enabled(args.executor.clone()),
        &Value::Switch(false),
    )?;
    context.report.say(&format!("disabled {}", args.executor));
    print(context, &args.executor)
}

/// Prints the current entry as JSON.
fn print(context: &Context, id: &str) -> Result<(), CommandError> {
    if !context.ui.json {
        return Ok(());
    }
    let context = context.reloaded()?;
    let roster = Roster::load(&context)?;
    let executor = roster.known(id)?;
    let surroundings = context.surroundings().ok();
    let output = ExecutorOutput::of(executor, &roster, surroundings.as_ref());
    context.ui.json_data(&output)
}
