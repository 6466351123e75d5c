//! Arguments and output of `callosum mesh task`.
//!
//! The use case is [`callosum_app::mesh::task`].

use std::path::PathBuf;

use callosum_app::mesh::open;
use callosum_app::mesh::route::{classified, why};
use callosum_app::mesh::task::{
    assigned, done, known, listed, meant, nobody_there, output_warning, written,
};
use callosum_app::mesh::task_output::line;
use callosum_app::{CommandError, shell_word};
use callosum_mesh::agent::AgentName;
use callosum_mesh::board::{Command, NewTask};
use clap::{ArgGroup, Args, Subcommand};

use super::author_args::SpeakerArgs;
use super::task_output::print;
use super::text_arg::words;
use crate::cli::context::Context;

/// Leave tasks for other agents, claim tasks and report results
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    Add(AddArgs),
    Assign(AssignArgs),
    Claim(ClaimArgs),
    Done(DoneArgs),
    Release(ReleaseArgs),
    Cancel(CancelArgs),
    Write(WriteArgs),
    List(ListArgs),
    Show(ShowArgs),
}

/// Leave a task for another agent
///
/// Prints the task id. The task waits in the queue until an agent claims it: the agent that --to names, the agent of its
/// category, or any. Without --to and --category, the category comes from the text of the prompt if you configured
/// categories and one is likely enough: see `callosum mesh route classify`.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task add \"Review the parser for panics\" --to gemini --output-file review.md
  $ callosum mesh task add \"Count what depends on serde\" --to gemini --category dependency-scan
  $ callosum mesh task add \"Fix what the review found\" --priority 1")]
pub(crate) struct AddArgs {
    /// Work to do, or `-` to read it from standard input
    #[arg(value_name = "PROMPT")]
    prompt: String,
    /// Agent to do the task [default: the first to claim it]
    #[arg(long, value_name = "AGENT")]
    to: Option<AgentName>,
    /// Category of the task, which selects the agent: see `callosum mesh route`
    #[arg(long, value_name = "CATEGORY")]
    category: Option<String>,
    /// Priority: the smallest number comes first
    #[arg(short, long, value_name = "N", default_value = "5")]
    priority: i64,
    /// Id of a task that must be complete first (may be repeated)
    #[arg(long, value_name = "TASK")]
    add_dep: Vec<String>,
    /// File to write the result to
    ///
    /// Callosum writes it when the task is completed with a result: a new file in this project, or in a folder of
    /// `mesh.output_folders` in your configuration.
    #[arg(long, value_name = "PATH")]
    output_file: Option<PathBuf>,
    /// Id of the task [default: a new one]
    ///
    /// Adding the same id twice creates one task.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Assign a pending task to another agent, or to any
///
/// Prints the task. A task of a category stays with the given agent, even after the time limit of its category. Exits with
/// 1 if the task is claimed: release it first.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("whom").required(true).args(["to", "anyone"])))]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task add \"Review the parser\" --id review-parser --to gemini
  $ callosum mesh task assign review-parser --to codex
  $ callosum mesh task assign review-parser --anyone")]
pub(crate) struct AssignArgs {
    /// Id of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// Agent to do the task
    #[arg(long, value_name = "AGENT")]
    to: Option<AgentName>,
    /// Let the first agent that claims it do the task
    #[arg(long)]
    anyone: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Claim a task: the given one, or the most urgent
///
/// Without TASK, claims the most urgent task that this agent may begin. If two agents claim the same task, one of
/// them is refused. A claim ends with its session, or after 30 minutes unless the task is claimed again. Exits with 1
/// if there is nothing to claim.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task claim --as codex
  $ callosum mesh task claim --json")]
pub(crate) struct ClaimArgs {
    /// Id of the task
    #[arg(value_name = "TASK")]
    task: Option<String>,
    /// Claim it even if it was assigned to another agent
    #[arg(long, requires = "task")]
    force: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Complete a task
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task add \"Count the tests\" --id count-tests
  $ callosum mesh task done count-tests --result \"412\"")]
pub(crate) struct DoneArgs {
    /// Id of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// Result of the task, or `-` to read it from standard input
    #[arg(long, value_name = "TEXT")]
    result: Option<String>,
    /// Complete the task only if its claim still has this token
    #[arg(long, value_name = "N")]
    token: Option<u64>,
    /// Complete it even if another agent claimed it, was assigned to it or completed it
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Return a task to the queue
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task release schema --reason \"out of quota\" --as codex")]
pub(crate) struct ReleaseArgs {
    /// Id of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// Reason
    #[arg(long, value_name = "TEXT", default_value = "given back")]
    reason: String,
    /// Return the task only if its claim still has this token
    #[arg(long, value_name = "N")]
    token: Option<u64>,
    /// Return it even if another agent claimed it
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Cancel a task
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task cancel schema --reason \"no longer wanted\"")]
pub(crate) struct CancelArgs {
    /// Id of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// Reason
    #[arg(long, value_name = "TEXT", default_value = "taken back")]
    reason: String,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Write the result of a task to its output file again
///
/// Completing a task writes its result to the file that `task add --output-file` named, if that file is new. This command
/// tries again for the agent that left the task, or for a person. Exits with 1 if the file is not written.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task add \"Count the lines\" --id count-lines --output-file lines.txt
  $ callosum mesh task done count-lines --result 412
  $ callosum mesh task write count-lines --force")]
pub(crate) struct WriteArgs {
    /// Id of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// Replace a file that exists with other content
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// List tasks, most urgent first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task list
  $ callosum mesh task list --to codex --json")]
pub(crate) struct ListArgs {
    /// Include completed and canceled tasks
    #[arg(long)]
    all: bool,
    /// Only tasks that this agent may claim or has claimed
    #[arg(long, value_name = "AGENT")]
    to: Option<AgentName>,
}

/// Show a task
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh task show schema
  $ callosum mesh task show schema --json")]
pub(crate) struct ShowArgs {
    /// Id of the task
    #[arg(value_name = "TASK")]
    task: String,
}

pub(super) fn run(context: &Context, command: &TaskCommand) -> Result<(), CommandError> {
    match command {
        TaskCommand::Add(args) => add(context, args),
        TaskCommand::Assign(args) => {
            if let Some(to) = &args.to
                && let Some(what) = nobody_there(context, to)?
            {
                context.report.warn(&what, None);
            }
            let voice = args.speaker.voice(context);
            print(
                context,
                &assigned(context, &voice, &args.task, args.to.as_ref())?,
            )
        }
        TaskCommand::Claim(args) => {
            let order = Command::Claim {
                task: args.task.clone(),
                anyway: args.force,
                fence: None,
            };
            act(context, &args.speaker, order, args.task.as_deref())
        }
        TaskCommand::Done(args) => {
            let order = Command::Complete {
                task: args.task.clone(),
                result: args.result.as_deref().map(words).transpose()?,
                anyway: args.force,
                token: args.token,
            };
            act(context, &args.speaker, order, Some(&args.task))
        }
        TaskCommand::Release(args) => {
            let order = Command::Release {
                task: args.task.clone(),
                reason: args.reason.clone(),
                anyway: args.force,
                token: args.token,
            };
            act(context, &args.speaker, order, Some(&args.task))
        }
        TaskCommand::Cancel(args) => {
            let order = Command::Cancel {
                task: args.task.clone(),
                reason: args.reason.clone(),
            };
            act(context, &args.speaker, order, Some(&args.task))
        }
        TaskCommand::Write(args) => {
            let voice = args.speaker.voice(context);
            print(context, &written(context, &voice, &args.task, args.force)?)
        }
        TaskCommand::List(args) => list(context, args),
        TaskCommand::Show(args) => {
            let (mut mesh, _) = open::readable(context)?;
            print(context, &known(context, &mut mesh, &args.task)?)
        }
    }
}

fn add(context: &Context, args: &AddArgs) -> Result<(), CommandError> {
    let id = args.id.clone().unwrap_or_else(|| context.ids.uuid_v4());
    let output_file = args.output_file.as_ref().map(|path| {
        let path = context.folder.join(path);
        path.to_string_lossy().into_owned()
    });
    if let Some(path) = &output_file
        && let Some(what) = output_warning(context, path)
    {
        let hint = "name a file in the project, or add its folder to mesh.output_folders";
        context.report.warn(&what, Some(hint));
    }
    let prompt = words(&args.prompt)?;
    let category = category(context, args, &prompt)?;
    let (assigned_to, other) = meant(context, args.to.clone(), category.as_deref())?;
    let order = Command::Add(NewTask {
        id: id.clone(),
        assigned_to,
        other,
        priority: Some(args.priority),
        prompt,
        output_file,
        needs: args.add_dep.clone(),
        ..NewTask::default()
    });
    act(context, &args.speaker, order, Some(&id))
}

/// Returns the category of a new task: the given one, else the one that its text has, if no agent was named.
fn category(
    context: &Context,
    args: &AddArgs,
    prompt: &str,
) -> Result<Option<String>, CommandError> {
    if args.category.is_some() || args.to.is_some() {
        return Ok(args.category.clone());
    }
    let found = classified(context, prompt)?;
    if let (Some(why), Some(agent)) = (why(&found), &found.agent) {
        context.report.say(&format!("assigned to {agent} by {why}"));
    }
    Ok(found.category)
}

/// Does what is wanted, and shows the task that it was about.
fn act(
    context: &Context,
    speaker: &SpeakerArgs,
    order: Command,
    task: Option<&str>,
) -> Result<(), CommandError> {
    let is_new = matches!(order, Command::Add(_));
    if let Command::Add(NewTask {
        assigned_to: Some(to),
        ..
    }) = &order
        && let Some(what) = nobody_there(context, to)?
    {
        let id = task.map(shell_word).unwrap_or_default();
        let hint = format!("if the name is wrong: callosum mesh task cancel {id}");
        context.report.warn(&what, Some(hint.as_str()));
    }
    let Some(output) = done(context, &speaker.voice(context), order, task)? else {
        return Ok(());
    };
    if is_new && !context.ui.json {
        return context.ui.read_by_all(&format!("{}\n", output.id));
    }
    print(context, &output)
}

fn list(context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    let output = listed(context, args.all, args.to.as_ref())?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.tasks.is_empty() {
        context.report.say("no open tasks");
    }
    let text: String = output.tasks.iter().map(line).collect();
    context.ui.read_by_all(&text)
}
