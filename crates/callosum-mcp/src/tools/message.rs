//! `message`: messages between agents.

use callosum_citation::tokens::estimate;
use callosum_mesh::board::{Command, Message};
use callosum_redact::quote::{self, NOTICE};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, addressee, needed, read, schema};
use crate::output_budget;
use callosum_app::context::Context;
use callosum_app::mesh::message::{acknowledge, undeliverable, unread};
use callosum_app::mesh::{asking, open};
use callosum_app::{CommandError, Exit};

pub(super) const TOOL: Tool = Tool {
    name: "message",
    about: "Read messages, or send to agent[@session].",
    effect: Effect::Adds,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Taken as the other tools have it; what is given says as much, so that the list does without it.
    #[schemars(skip)]
    r#do: Option<Deed>,
    to: Option<String>,
    text: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Deed {
    Read,
    Send,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let Arguments {
        r#do: deed,
        to,
        text,
    } = read(arguments)?;
    let voice = asking(context);
    let usage = |what| Err(CommandError::new(Exit::Usage, what));
    let Some(to) = to else {
        if text.is_some() || deed == Some(Deed::Send) {
            return usage("`text` needs a recipient: name the agent in `to`");
        }
        let unread = unread(context, &voice)?;
        let (text, shown_messages, left) = shown(unread);
        // A message that was left out of the answer is not acknowledged either.
        acknowledge(context, shown_messages, &voice, "the tool `message`")?;
        return Ok(if text.is_empty() {
            "no unread messages\n".to_owned()
        } else if left > 0 {
            format!("{NOTICE}{text}[{left} more; read again]\n")
        } else {
            format!("{NOTICE}{text}")
        });
    };
    if deed == Some(Deed::Read) {
        return usage("`to` is only for `send`");
    }
    let id = context.new_id();
    let order = Command::Send {
        id: id.clone(),
        to: addressee(&to)?,
        content: needed(text, "text", "the text to send")?,
        reply_to: None,
        ttl_seconds: None,
    };
    open::given(context, order, &voice)?;
    match undeliverable(context, &id)? {
        Some(error) => Err(error),
        None => Ok(format!("{id} is sent but not read yet\n")),
    }
}

/// The text of as many messages as have room, those, and how many are left.
fn shown(mut unread: Vec<Message>) -> (String, Vec<Message>, usize) {
    let mut text = String::new();
    let mut fits = 0;
    for message in &unread {
        let content = quote::lines(&message.content);
        let piece = format!("{} at {}:\n{content}", message.from, message.timestamp);
        let with = format!("{text}{piece}");
        let is_too_long = estimate(&with) > output_budget::MOST;
        if is_too_long && fits > 0 {
            break;
        }
        fits += 1;
        if is_too_long {
            text = output_budget::cut(&piece, output_budget::MOST);
            break;
        }
        text = with;
    }
    let left = unread.split_off(fits).len();
    (text, unread, left)
}
