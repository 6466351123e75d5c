//! [`Untold`]: a context that has begun, and whose client does not put before its model what a hook says just then.
//!
//! Gemini CLI 0.61 takes `additionalContext` at `SessionStart` only when a session starts or is resumed. At `source: clear` it
//! drops it, and after `/compress` it fires no such event. A hook remembers such a session, and its next `BeforeAgent`, which the
//! client obeys, tells what the beginning would have. Start with [`When::of`].

use std::path::PathBuf;

use callosum_executor::client::Client;
use callosum_host::{Disk, DiskError};
use callosum_json::Checksum;

use super::{HookInput, SessionEvent};
use callosum_config::Homes;

/// The client with this behavior.
const CLIENT: &str = "gemini";

/// The sources of a beginning at which it takes a context.
const OBEYED: [&str; 2] = ["startup", "resume"];

/// The trigger of a context that a person compacted. `auto` comes with each request, even if
/// nothing is compressed.
const BY_HAND: &str = "manual";

/// Most sessions that are remembered; of those that were killed nothing more is heard.
const MOST: usize = 64;

/// The event at which the text of a beginning is output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// In the answer to this event.
    Now,
    /// At the next prompt, since the client drops it now.
    AtNextPrompt,
    /// Nothing begins or is made shorter: the event is passed over.
    Never,
}

impl When {
    /// Decides it for an event.
    pub(super) fn of(client: &Client, moment: SessionEvent, input: &HookInput) -> Self {
        match moment {
            _ if client.program != CLIENT => Self::Now,
            SessionEvent::Begin if OBEYED.contains(&input.source.as_str()) => Self::Now,
            SessionEvent::Begin => Self::AtNextPrompt,
            SessionEvent::Compact if input.trigger == BY_HAND => Self::AtNextPrompt,
            SessionEvent::Compact => Self::Never,
            SessionEvent::Between
            | SessionEvent::Rest
            | SessionEvent::End
            | SessionEvent::Typed => Self::Now,
        }
    }
}

/// A marker file for a session that got no text at its beginning.
#[derive(Clone, Debug)]
pub(super) struct Untold {
    disk: Disk,
    path: PathBuf,
}

impl Untold {
    /// The place for a session; `None` if its client names no session, or tells each beginning.
    pub(super) fn place(homes: &Homes, client: &Client, input: &HookInput) -> Option<Self> {
        let is_of_client = client.program == CLIENT && !input.session.is_empty();
        is_of_client.then(|| Self {
            disk: Disk::real(),
            // A client names its session: that is no name of a file.
            path: homes
                .untold()
                .join(Checksum::of(input.session.as_bytes()).to_string()),
        })
    }

    /// Whether the session was remembered.
    pub(super) fn is_noted(&self) -> bool {
        self.disk.exists(&self.path).unwrap_or(false)
    }

    /// Remembers the session.
    pub(super) fn note(&self) -> Result<(), DiskError> {
        if let Some(folder) = self.path.parent() {
            self.disk.create_private_dir(folder)?;
            let mut known = Vec::new();
            for entry in self.disk.list_dir(folder)? {
                let path = folder.join(&entry.name);
                let modified = self.disk.stat(&path)?.map(|stat| stat.modified);
                known.push((modified, path));
            }
            known.sort();
            let surplus = (known.len() + 1).saturating_sub(MOST);
            for (_, path) in known.iter().take(surplus) {
                self.disk.remove_file(path)?;
            }
        }
        self.disk.replace_unsynced(&self.path, b"", 0o600)
    }

    /// Removes the marker: the session got the text, or is over.
    pub(super) fn forget(&self) -> Result<(), DiskError> {
        self.disk.remove_file(&self.path).map(drop)
    }
}

/// Whether a client's event brings a person's words, so that a model is asked next.
pub(super) fn is_prompt(event: &str, input: &HookInput) -> bool {
    let is_named = |name: &str| {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        matches!(word.as_str(), "userpromptsubmit" | "beforeagent")
    };
    if event.is_empty() {
        is_named(&input.name)
    } else {
        is_named(event)
    }
}
