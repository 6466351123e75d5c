//! What a client tells of its sessions: that one begins, comes to rest, is compacted, or ends.
//!
//! Start with [`observe`]. A session that begins is told where things stand ([`begin`]); one that
//! rests or ends is kept ([`rest`]). [`may_clear`] is what a client asks before it clears a context.
//! `callosum-session` decides what is told; this is only who is told it, and how.
//!
//! Which way it fails: who observes says nothing, whatever goes wrong, and leaves a record of it on
//! the trail. The gate before a clear fails shut, where sessions are kept; elsewhere it is open. In a
//! project in which none are kept, nothing is said, written or created.

mod begin;
mod clear;
mod ground;
mod said;

use callosum_agents::client::Client;
use serde_json::json;

pub(super) use self::clear::may_clear;
use self::{
    ground::{Ground, Problem},
    said::Said,
};
use super::answer::Reply;

/// What is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// A context begins: a new one, or one that was cleared, compacted or taken up again.
    Begin,
}

impl Moment {
    /// The moment that an event's name means, whichever client's name it is.
    fn named(name: &str) -> Option<Self> {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        match word.as_str() {
            "sessionstart" => Some(Self::Begin),
            _ => None,
        }
    }

    /// Our word for it.
    fn word(self) -> &'static str {
        match self {
            Self::Begin => "session-start",
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
    };
    match done {
        Ok(Some(text)) => context(&text),
        Ok(None) => silence,
        Err(problem) => {
            ground.tell(client.program, moment.word(), &said, &problem);
            silence
        }
    }
}

/// A text for the model, in the form that all clients with such an event take.
fn context(text: &str) -> Reply {
    let output = json!({"hookSpecificOutput": {
        "hookEventName": "SessionStart", "additionalContext": text,
    }});
    Reply {
        stdout: format!("{output}\n"),
        ..Reply::default()
    }
}
