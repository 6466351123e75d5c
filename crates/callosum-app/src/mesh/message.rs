//! `callosum mesh message`: messages between agents, and their delivery state.

use callosum_arbiter::suggest::nearest;
use callosum_mesh::Author;
use callosum_mesh::board::{Command, Message, Receipt};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::mesh::open;
use crate::{CommandError, Exit};

/// `callosum mesh message read|list|send --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MessagesOutput {
    /// The messages, oldest first.
    pub messages: Vec<MessageOutput>,
}

/// A message.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MessageOutput {
    /// Its id.
    pub id: String,
    /// Sender.
    pub from: String,
    /// Person and machine, such as `ana@laptop`, if it was sent on another machine.
    pub from_machine: Option<String>,
    /// To whom.
    pub to: String,
    /// Text.
    pub content: String,
    /// The message that it answers.
    pub reply_to: Option<String>,
    /// When.
    pub timestamp: String,
    /// Delivery state: `queued`, `delivered`, `seen`, `acked`, `dead` or `dropped`.
    pub state: String,
    /// The evidence of its delivery, or why it could not be delivered.
    pub evidence: Option<String>,
    /// When it becomes a dead letter, unless it is delivered before.
    pub expires: Option<String>,
    /// The session that it was delivered to.
    pub session_id: Option<String>,
}

impl MessageOutput {
    /// Returns what is printed about a message.
    pub fn of(message: &Message) -> Self {
        Self {
            id: message.id.clone(),
            from: message.from.to_string(),
            from_machine: message.machine.clone(),
            to: message.to.to_string(),
            content: message.content.clone(),
            reply_to: message.reply_to.clone(),
            timestamp: message.timestamp.to_string(),
            state: message.receipt.map_or("queued", Receipt::as_str).to_owned(),
            evidence: message.evidence.clone(),
            expires: message.expires.map(|expires| expires.to_string()),
            session_id: message.session_id.clone(),
        }
    }
}

/// Returns the error for a message that was just sent and cannot be delivered; `None` if it may be.
pub fn undeliverable(context: &Context, id: &str) -> Result<Option<CommandError>, CommandError> {
    let mut mesh = open::mesh_again(context)?;
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let sent = board.message(id);
    let dead = sent.filter(|message| message.receipt == Some(Receipt::Dead));
    Ok(dead.map(|dead| {
        let why = dead.evidence.clone().unwrap_or_default();
        let what = format!("the message is stored but was not delivered: {why}");
        let to = &dead.to.agent;
        let meant = nearest(to.as_str(), board.heard_of());
        let meant = meant.filter(|_| !board.has_heard_of(to));
        let meant = meant.map(|meant| format!(", did you mean `{meant}`?"));
        let what = format!("{what}{}", meant.unwrap_or_default());
        CommandError::new(Exit::No, what).hint(format!("callosum mesh message drop {id}"))
    }))
}

/// The messages for this agent that it has not acknowledged, oldest first.
pub fn unread(context: &Context, voice: &Author) -> Result<Vec<Message>, CommandError> {
    let (mut mesh, _) = open::readable(context)?;
    let voice = open::with_session(context, &mut mesh, voice)?;
    let session = voice.session_id.as_deref();
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let unread = board.messages.iter().filter(|message| {
        message.is_for(&voice.agent, session) && !message.receipt.is_some_and(Receipt::is_over)
    });
    Ok(unread.cloned().collect())
}

/// Says that this agent has read these, which `evidence` shows.
pub fn acknowledge(
    context: &Context,
    read: Vec<Message>,
    voice: &Author,
    evidence: &str,
) -> Result<(), CommandError> {
    if read.is_empty() {
        return Ok(());
    }
    let mut mesh = open::mesh_again(context)?;
    for message in read {
        let order = Command::Move {
            message: message.id,
            receipt: Receipt::Acked,
            evidence: Some(evidence.to_owned()),
        };
        mesh.give(order, voice)
            .map_err(|error| open::explain(&error))?;
    }
    open::show_done(context, &mut mesh);
    Ok(())
}
