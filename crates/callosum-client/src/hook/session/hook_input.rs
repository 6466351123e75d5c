//! [`HookInput`]: the fields of a client's session event that are used here.

use std::path::PathBuf;

use serde_json::Value;

use super::super::event;

/// Most characters of an id that are kept.
const LONGEST_ID: usize = 200;

/// A client's session event. Missing fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HookInput {
    /// Its own name of the event.
    pub(super) name: String,
    /// The session, as it names it.
    pub(super) session: String,
    /// The folder that it is in.
    pub(super) folder: Option<PathBuf>,
    /// Source of a context, such as `startup` or `clear`.
    pub(super) source: String,
    /// The kind of a notification, such as `permission_prompt`.
    pub(super) notification: String,
    /// Cause of a compaction: `manual` or `auto`.
    pub(super) trigger: String,
    /// The command that was typed.
    pub(super) command: String,
    /// The session's transcript file.
    pub(super) transcript: Option<PathBuf>,
    /// Key that the events before and after a call of a tool share.
    pub(super) call_key: String,
    /// Whether it goes on only because a hook sent it back.
    pub(super) is_continued: bool,
    /// Whether it is a sub-agent's event. The agent itself reads only a sub-agent's result.
    pub(super) is_helper: bool,
}

impl HookInput {
    /// Reads an event. One that is none says nothing.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let fields = event::fields(bytes).unwrap_or_default();
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let id = |name: &str| -> String {
            let text = text(name).unwrap_or_default();
            text.chars()
                .filter(|c| !c.is_control())
                .take(LONGEST_ID)
                .collect()
        };
        Self {
            name: id("hook_event_name"),
            session: id("session_id"),
            source: id("source"),
            notification: id("notification_type"),
            trigger: id("trigger"),
            command: id("command_name"),
            folder: text("cwd").map(PathBuf::from),
            transcript: text("transcript_path").map(PathBuf::from),
            call_key: event::call_key(&fields),
            is_continued: fields.get("stop_hook_active") == Some(&Value::Bool(true)),
            is_helper: text("agent_id").is_some_and(|id| !id.is_empty()),
        }
    }
}
