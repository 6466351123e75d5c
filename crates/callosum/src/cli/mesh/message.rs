//! Arguments and output of `callosum mesh message`.
//!
//! The use case is [`callosum_app::mesh::message`].

use std::fmt::Write as _;
use std::time::Duration;

use callosum_app::mesh::message::{
    MessageOutput, MessagesOutput, acknowledge, undeliverable, unread,
};
use callosum_app::mesh::open;
use callosum_app::time_span::any_span;
use callosum_app::{CommandError, Exit};
use callosum_mesh::addressee::Addressee;
use callosum_mesh::agent::AgentName;
use callosum_mesh::board::{Command, Message, Receipt};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use super::author_args::SpeakerArgs;
use super::text_arg::words;
use crate::cli::context::Context;

/// Send messages to other agents, and read yours
#[derive(Debug, Subcommand)]
pub(crate) enum MessageCommand {
    Send(SendArgs),
    Read(ReadArgs),
    List(ListArgs),
    Retry(RetryArgs),
    Drop(DropArgs),
}

/// Send a message to an agent
///
/// Prints the message id. The message waits until a hook of the agent's client delivers it, or the agent reads it.
/// `callosum mesh message list` shows its state.
///
/// A message that is not delivered in time is a dead letter: see `callosum mesh message list --dead`. A message to an
/// unknown name is a dead letter at once, and the command exits with 1.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh message send codex \"The schema changed: see docs/schema.md\" --as claude
  $ printf 'two\\nlines' | callosum mesh message send gemini -")]
pub(crate) struct SendArgs {
    /// Recipient: an agent, or one session of an agent
    #[arg(value_name = "AGENT[@SESSION]")]
    to: Addressee,
    /// Text of the message, or `-` to read it from standard input
    #[arg(value_name = "TEXT")]
    content: String,
    /// Id of the message that this one answers
    #[arg(long, value_name = "MESSAGE")]
    reply_to: Option<String>,
    /// Id of the message [default: a new one]
    ///
    /// Sending the same message twice under one id sends it once. A different message under that id is refused.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Time limit for delivery, such as 10m or 2h [default: one week]
    ///
    /// A message that is not delivered by then becomes a dead letter.
    #[arg(long, value_name = "DURATION", value_parser = any_span)]
    ttl: Option<Duration>,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Read and acknowledge the messages for this agent
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh message read --as codex
  $ callosum mesh message read --as codex --peek --json")]
pub(crate) struct ReadArgs {
    /// Show the messages and leave them unread
    #[arg(long)]
    peek: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// List messages and their delivery state, oldest first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh message list --agent codex
  $ callosum mesh message list --dead --json")]
pub(crate) struct ListArgs {
    /// Include acknowledged and dropped messages
    #[arg(long)]
    all: bool,
    /// Only messages that could not be delivered
    #[arg(long, conflicts_with = "all")]
    dead: bool,
    /// Only messages from or to this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<AgentName>,
}

/// Deliver a dead letter again
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh message list --dead
  $ callosum mesh message retry 0f3a")]
pub(crate) struct RetryArgs {
    /// Id of the message
    #[arg(value_name = "MESSAGE")]
    message: String,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Withdraw a message
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh message drop 0f3a")]
pub(crate) struct DropArgs {
    /// Id of the message
    #[arg(value_name = "MESSAGE")]
    message: String,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

pub(super) fn run(context: &Context, command: &MessageCommand) -> Result<(), CommandError> {
    match command {
        MessageCommand::Send(args) => send(context, args),
        MessageCommand::Read(args) => read(context, args),
        MessageCommand::List(args) => list(context, args),
        MessageCommand::Retry(args) => {
            let message = args.message.clone();
            args.speaker.give(context, Command::Retry { message })
        }
        MessageCommand::Drop(args) => {
            let order = Command::Move {
                message: args.message.clone(),
                receipt: Receipt::Dropped,
                evidence: Some("callosum mesh message drop".to_owned()),
            };
            args.speaker.give(context, order)
        }
    }
}

fn send(context: &Context, args: &SendArgs) -> Result<(), CommandError> {
    if let Some(message) = &args.reply_to {
        let mut mesh = open::synced_anyway(context)?;
        let board = mesh.board().map_err(|error| open::explain(&error))?;
        if board.message(message).is_none() {
            let what = format!("there is no message `{message}` to reply to");
            return Err(CommandError::new(Exit::No, what).hint("callosum mesh message list --all"));
        }
    }
    let id = args.id.clone().unwrap_or_else(|| context.ids.uuid_v4());
    let order = Command::Send {
        id: id.clone(),
        to: args.to.clone(),
        content: words(&args.content)?,
        reply_to: args.reply_to.clone(),
        ttl_seconds: args.ttl.map(|ttl| ttl.as_secs()),
    };
    args.speaker.give(context, order)?;
    if context.ui.json {
        show(context, |message| message.id == id)?;
    } else {
        context.ui.read_by_all(&format!("{id}\n"))?;
    }
    match undeliverable(context, &id)? {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn read(context: &Context, args: &ReadArgs) -> Result<(), CommandError> {
    let voice = args.speaker.voice(context);
    if !args.peek {
        // If they cannot be acknowledged afterwards, the error comes first.
        open::mesh_again(context)?;
    }
    let unread = unread(context, &voice)?;
    print(context, unread.iter(), "no unread messages", Column::Time)?;
    if args.peek {
        return Ok(());
    }
    // Only now: who could not print them has not read them.
    acknowledge(context, unread, &voice, "callosum mesh message read")
}

fn list(context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    show(context, |message| {
        let is_over = message.receipt.is_some_and(Receipt::is_over);
        let is_dead = message.receipt == Some(Receipt::Dead);
        let is_of = |agent: &AgentName| message.from == *agent || message.to.agent == *agent;
        args.agent.as_ref().is_none_or(is_of)
            && if args.dead {
                is_dead
            } else {
                args.all || !is_over
            }
    })
}

fn show(context: &Context, is_wanted: impl Fn(&Message) -> bool) -> Result<(), CommandError> {
    let (mut mesh, _) = open::readable(context)?;
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let messages = board.messages.iter().filter(|message| is_wanted(message));
    print(context, messages, "no messages", Column::State)
}

/// The column between a message's id and its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// The delivery state.
    State,
    /// When it was sent. A message that is read has only now come as far as it can.
    Time,
}

fn print<'a>(
    context: &Context,
    messages: impl Iterator<Item = &'a Message>,
    none: &str,
    column: Column,
) -> Result<(), CommandError> {
    let output = MessagesOutput {
        messages: messages.map(MessageOutput::of).collect(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.messages.is_empty() {
        context.report.say(none);
    }
    let mut text = String::new();
    for message in &output.messages {
        let MessageOutput {
            id,
            from,
            from_machine,
            to,
            content,
            state,
            timestamp,
            ..
        } = message;
        let second = match column {
            Column::State => state,
            Column::Time => timestamp,
        };
        let on = from_machine.as_deref().map(on_one_line);
        let on = on.map(|on| format!(" on {on}")).unwrap_or_default();
        let _ = writeln!(
            text,
            "{id} {second} {from}{on} to {to}: {}",
            on_one_line(content)
        );
    }
    context.ui.read_by_all(&text)
}
