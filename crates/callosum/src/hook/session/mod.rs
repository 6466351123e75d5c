//! What a client tells of its sessions: that one begins, comes to rest, is compacted, or ends.
//!
//! Start with [`observe`]. A session that begins is told where things stand ([`begin`]); one that
//! rests, is compacted or ends is kept ([`rest`]). [`may_clear`] is what a client asks before it clears a context.
//! `callosum-session` decides what is told; this is only who is told it, and how.
//!
//! Which way it fails: who observes says nothing, whatever goes wrong, and leaves a record of it on
//! the trail. The gate before a clear fails shut, where sessions are kept; elsewhere it is open. In a
//! project in which none are kept, nothing is said, written or created.

mod begin;
mod clear;
mod ground;
mod neighbours;
mod rest;
mod said;

use std::time::Duration;

use callosum_agents::client::Client;
use serde_json::{Value, json};

pub(super) use self::clear::{may_clear, unchecked_in};
use self::{
    ground::{Ground, Problem, Unfound},
    neighbours::{Neighbours, NeighboursError},
    said::Said,
};
use super::answer::Reply;
use crate::config::Environment;

/// How long another session's step is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The command that a client clears a context by.
const CLEAR: &str = "clear";

/// What is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// A context begins: a new one, or one that was cleared, compacted or taken up again.
    Begin,
    /// A person has said something, or a tool has run: the model is asked next.
    Between,
    /// A turn is over.
    Rest,
    /// The context is about to be made shorter.
    Compact,
    /// The session ends.
    End,
    /// A command of a file's was typed, and is about to be sent to the model.
    Typed,
}

/// What is to be said.
#[derive(Debug, PartialEq, Eq)]
enum Done {
    /// Nothing.
    Nothing,
    /// This, to the model.
    Context(String),
    /// This, to the person.
    Tell(String),
    /// That it must not go on, and why.
    Block(String),
}

impl Moment {
    /// The moment that an event's name means, whichever client's name it is.
    fn named(name: &str) -> Option<Self> {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        match word.as_str() {
            "sessionstart" => Some(Self::Begin),
            "userpromptsubmit" | "beforeagent" | "posttooluse" | "aftertool" => Some(Self::Between),
            "stop" | "afteragent" => Some(Self::Rest),
            "precompact" => Some(Self::Compact),
            "sessionend" => Some(Self::End),
            "userpromptexpansion" | "typedcommand" => Some(Self::Typed),
            _ => None,
        }
    }

    /// Our word for it.
    fn word(self) -> &'static str {
        match self {
            Self::Begin => "session-start",
            Self::Between => "between-calls",
            Self::Rest => "stop",
            Self::Compact => "pre-compact",
            Self::End => "session-end",
            Self::Typed => "typed-command",
        }
    }
}

/// Does what is to be done at an event, named by `event` or else by itself, and answers: `silence`
/// where there is nothing to say.
pub(super) fn observe(client: &'static Client, event: &str, bytes: &[u8], silence: Reply) -> Reply {
    let said = Said::read(bytes);
    let Some(moment) = Moment::named(event).or_else(|| Moment::named(&said.name)) else {
        return silence;
    };
    if moment == Moment::Typed {
        return if said.command == CLEAR {
            clear::typed(client.program)
        } else {
            silence
        };
    }
    let environment = Environment::from_process();
    if moment == Moment::Between {
        let told = Neighbours::find(&environment, client, &said).and_then(|found| {
            found
                .map(|mut found| found.between(moment.word(), bytes, said.is_helper))
                .transpose()
        });
        return match told {
            Ok(Some(text)) if !text.is_empty() => reply(&said.name, &Done::Context(text)),
            Ok(_) => silence,
            Err(error) => {
                Unfound::of(environment, error.into()).tell(client.program, moment.word());
                silence
            }
        };
    }
    let done = match Ground::find(said.folder.as_deref()) {
        Ok(Some(ground)) => kept(&ground, client, moment, &said),
        Ok(None) => Done::Nothing,
        Err(unfound) => {
            unfound.tell(client.program, moment.word());
            Done::Nothing
        }
    };
    let done = match with_neighbours(&environment, client, moment, &said, &done) {
        Ok(told) => told.unwrap_or(done),
        Err(error) => {
            Unfound::of(environment, error.into()).tell(client.program, moment.word());
            done
        }
    };
    match done {
        Done::Nothing => silence,
        done => reply(&said.name, &done),
    }
}

/// What the project's own sessions have to say at a moment.
fn kept(ground: &Ground, client: &'static Client, moment: Moment, said: &Said) -> Done {
    let done = match moment {
        Moment::Begin => begin::told(ground, client, said),
        Moment::Rest => rest::rested(ground, said),
        Moment::Compact => rest::compacted(ground, said),
        Moment::End => rest::ended(ground, said),
        Moment::Between | Moment::Typed => Ok(Done::Nothing),
    };
    done.unwrap_or_else(|problem| {
        ground.tell(client.program, moment.word(), said, &problem);
        Done::Nothing
    })
}

/// The same, with what the other agents on this machine have to say; `None` where they have nothing.
fn with_neighbours(
    environment: &Environment,
    client: &Client,
    moment: Moment,
    said: &Said,
    done: &Done,
) -> Result<Option<Done>, NeighboursError> {
    if !matches!(moment, Moment::Begin | Moment::Rest | Moment::End) {
        return Ok(None);
    }
    let Some(mut found) = Neighbours::find(environment, client, said)? else {
        return Ok(None);
    };
    if moment == Moment::End {
        found.at_end()?;
        return Ok(None);
    }
    if moment == Moment::Rest {
        found.at_rest()?;
        return Ok(None);
    }
    let recovered = match done {
        Done::Context(text) => text.as_str(),
        _ => "",
    };
    let told = found.at_begin(recovered)?;
    if told.is_empty() {
        return Ok(None);
    }
    let between = if recovered.is_empty() || recovered.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    Ok(Some(Done::Context(format!("{recovered}{between}{told}"))))
}

/// What is said, in the form that all clients with such an event take.
fn reply(event: &str, done: &Done) -> Reply {
    // Clients take a context under the name of their own event alone.
    let event = if event.is_empty() {
        "SessionStart"
    } else {
        event
    };
    let output: Value = match done {
        Done::Nothing => json!({}),
        Done::Context(text) => json!({"hookSpecificOutput": {
            "hookEventName": event, "additionalContext": text,
        }}),
        Done::Tell(text) => json!({"systemMessage": text}),
        Done::Block(reason) => json!({"decision": "block", "reason": reason}),
    };
    Reply {
        stdout: format!("{output}\n"),
        ..Reply::default()
    }
}
