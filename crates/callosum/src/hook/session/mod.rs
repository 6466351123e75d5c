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
mod rest;
mod said;

use std::time::Duration;

use callosum_agents::client::Client;
use serde_json::{Value, json};

pub(super) use self::clear::may_clear;
use self::{
    ground::{Ground, Problem},
    said::Said,
};
use super::answer::Reply;

/// How long another session's step is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The command that a client clears a context by.
const CLEAR: &str = "clear";

/// What is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// A context begins: a new one, or one that was cleared, compacted or taken up again.
    Begin,
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
    let ground = match Ground::find(said.folder.as_deref()) {
        Ok(Some(ground)) => ground,
        Ok(None) => return silence,
        Err(unfound) => {
            unfound.tell(client.program, moment.word());
            return silence;
        }
    };
    let done = match moment {
        Moment::Begin => begin::told(&ground, client, &said),
        Moment::Rest => rest::rested(&ground, &said),
        Moment::Compact => rest::compacted(&ground, &said),
        Moment::End => rest::ended(&ground, &said),
        Moment::Typed => Ok(Done::Nothing),
    };
    match done {
        Ok(Done::Nothing) => silence,
        Ok(done) => reply(&done),
        Err(problem) => {
            ground.tell(client.program, moment.word(), &said, &problem);
            silence
        }
    }
}

/// What is said, in the form that all clients with such an event take.
fn reply(done: &Done) -> Reply {
    let output: Value = match done {
        Done::Nothing => json!({}),
        Done::Context(text) => json!({"hookSpecificOutput": {
            "hookEventName": "SessionStart", "additionalContext": text,
        }}),
        Done::Tell(text) => json!({"systemMessage": text}),
        Done::Block(reason) => json!({"decision": "block", "reason": reason}),
    };
    Reply {
        stdout: format!("{output}\n"),
        ..Reply::default()
    }
}
