//! The view *Conversation*: messages of all agents as threads, and discoveries, newest first, with a box to write.

#[cfg(test)]
mod tests;
mod thread;

use std::collections::BTreeSet;

use askama::Template;
use serde::{Deserialize, Serialize};

use self::thread::{Item, items};
use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::{Listing, element_id},
    visit::Visit,
};

/// Agents that are always offered.
const USUAL_AGENTS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];

/// Most agents and sessions that are offered.
const MOST_OFFERED: usize = 60;

/// `mesh message list --json`, as far as it is shown.
#[derive(Default, Deserialize)]
struct Messages {
    messages: Vec<Message>,
}

/// A message.
#[derive(Deserialize, Serialize)]
struct Message {
    id: String,
    from: String,
    to: String,
    content: String,
    reply_to: Option<String>,
    timestamp: String,
    state: String,
    evidence: Option<String>,
    expires: Option<String>,
    session_id: Option<String>,
}

impl Message {
    fn element(&self) -> String {
        element_id("message", &self.id)
    }

    fn tone(&self) -> &'static str {
        match self.state.as_str() {
            "acked" | "seen" => "ok",
            "delivered" => "busy",
            "queued" => "wait",
            "dead" => "bad",
            _ => "idle",
        }
    }

    fn words(&self) -> &str {
        match self.state.as_str() {
            "queued" => "waits for delivery",
            "delivered" => "delivered",
            "seen" => "seen",
            "acked" => "acknowledged",
            "dead" => "dead letter: not delivered",
            "dropped" => "withdrawn",
            other => other,
        }
    }

    fn is_dead(&self) -> bool {
        self.state == "dead"
    }

    /// Line that answers it, with a text from standard input.
    fn answer_line(&self) -> String {
        Command::new(&["mesh", "message", "send"])
            .option("--reply-to", &self.id)
            .values([self.from.as_str(), "-"])
            .line()
    }

    /// Whether it can be withdrawn.
    fn is_open(&self) -> bool {
        !matches!(self.state.as_str(), "acked" | "dropped")
    }

    /// Agent of the recipient or author, without a session.
    fn agents(&self) -> [&str; 2] {
        [&self.from, &self.to].map(|name| name.split('@').next().unwrap_or(name))
    }
}

/// `mesh discovery list --json`, as far as it is shown.
#[derive(Default, Deserialize)]
struct Discoveries {
    discoveries: Vec<Discovery>,
}

/// A discovery.
#[derive(Deserialize, Serialize)]
struct Discovery {
    id: String,
    content: String,
    source: String,
    timestamp: String,
    cwd: Option<String>,
}

impl Discovery {
    fn element(&self) -> String {
        element_id("discovery", &self.id)
    }
}

#[derive(Serialize, Template)]
#[template(path = "conversation.html")]
struct ConversationView {
    /// Address of this view.
    base: String,
    items: Listing<Item>,
    /// Agents of the stream, for the filter.
    agents: Vec<String>,
    /// Agents and sessions that a message can be sent to.
    recipients: Vec<String>,
    /// The agent of the filter; empty for all.
    agent: String,
    dead: usize,
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    let messages = Command::new(&["mesh", "message", "list", "--all"]);
    let discoveries = Command::new(&["mesh", "discovery", "list"]);
    let (messages, discoveries): (Option<Messages>, Option<Discoveries>) =
        std::thread::scope(|scope| {
            let discoveries = scope.spawn(|| visit.ask_or_report(&discoveries));
            let messages = visit.ask_or_report(&messages);
            (messages, discoveries.join().ok().flatten())
        });
    let messages = messages.unwrap_or_default().messages;
    let discoveries = discoveries.unwrap_or_default().discoveries;
    let dead = messages.iter().filter(|message| message.is_dead()).count();
    let names = messages.iter().flat_map(Message::agents);
    let names = names.chain(
        discoveries
            .iter()
            .map(|discovery| discovery.source.as_str()),
    );
    let agents: BTreeSet<&str> = names.chain(USUAL_AGENTS).collect();
    let agents: Vec<String> = agents
        .into_iter()
        .take(MOST_OFFERED)
        .map(str::to_owned)
        .collect();
    let recipients = recipients(&messages);
    let agent = visit.param("agent").unwrap_or_default().to_owned();
    let mut items = items(messages, discoveries);
    if !agent.is_empty() {
        items.retain(|item| item.has_agent(&agent));
    }
    Answer::of(&ConversationView {
        base: visit.href(visit.view),
        items: Listing::new(visit, items, Item::text),
        agents,
        recipients,
        agent,
        dead,
    })
}

/// Returns who a message can be sent to: the usual agents, then authors and recipients of the last messages, with sessions.
fn recipients(messages: &[Message]) -> Vec<String> {
    let mut found: Vec<String> = USUAL_AGENTS.map(str::to_owned).into();
    for message in messages.iter().rev() {
        for name in [&message.from, &message.to] {
            let is_agent = !matches!(name.as_str(), "person" | "unknown" | "callosum");
            if is_agent && found.len() < MOST_OFFERED && !found.contains(name) {
                found.push(name.clone());
            }
        }
    }
    found
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    let of_one = |words: &[&str]| Ok(Command::new(words).values([form.required("id")?]));
    match action {
        "send" => {
            let other = form.optional("other")?.map(str::trim);
            let to = match other {
                Some(other) => other,
                None => form.required("to")?,
            };
            let mut command = Command::new(&["mesh", "message", "send"]);
            if let Some(message) = form.optional("reply_to")? {
                command = command.option("--reply-to", message);
            }
            Ok(command.values([to, form.required("text")?]))
        }
        "share" => {
            Ok(Command::new(&["mesh", "discovery", "share"]).values([form.required("text")?]))
        }
        "retry" => of_one(&["mesh", "message", "retry"]),
        "drop" => of_one(&["mesh", "message", "drop"]),
        "forget" => of_one(&["mesh", "discovery", "remove"]),
        other => Err(BadForm::Action(other.to_owned())),
    }
}
