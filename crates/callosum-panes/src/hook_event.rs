//! [`HookEvent`]: the last event that a hook of ours saw of a session, one small file each.
//!
//! A hook writes the file when the state that follows from its event changes, so a call of a tool in the middle of a
//! turn writes nothing. Start with [`note`] and [`read_all`].

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::state::State;

/// Letters of a prompt that are kept.
pub const LONGEST_PROMPT: usize = 160;

/// Bytes of a file that are read.
const LARGEST: u64 = 16 * 1024;

/// Files that are read. Older ones are removed by [`sweep`].
const MOST: usize = 1_000;

/// Last event of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookEvent {
    /// The client's program: `claude`, `codex` or `gemini`.
    pub client: String,
    /// The session's id.
    pub session_id: String,
    /// The event as the client names it.
    pub event: String,
    /// The state that follows from it.
    pub state: State,
    /// When the state began.
    pub at: Timestamp,
    /// Process id of the client, if it was found.
    pub pid: Option<u32>,
    /// Start time of the process, in the system's ticks since boot.
    pub started: Option<u64>,
    /// The folder that the session works in.
    pub cwd: Option<PathBuf>,
    /// The last prompt: one line, secrets masked, cut.
    pub last_prompt: Option<String>,
}

/// Returns the state that follows from an event, by the name that any of the clients gives it.
///
/// `None` for an event that says nothing about the state. `notification` is the kind of a notification.
pub fn state_of(event: &str, notification: &str) -> Option<State> {
    let letters = event.chars().filter(char::is_ascii_alphanumeric);
    let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    match word.as_str() {
        "sessionstart" => Some(State::TrulyIdle),
        "userpromptsubmit" | "beforeagent" | "pretooluse" | "beforetool" | "posttooluse"
        | "posttoolusefailure" | "aftertool" | "precompact" => Some(State::Working),
        "permissionrequest" => Some(State::BlockedOnApproval),
        "notification" => match notification {
            "permission_prompt" | "elicitation_dialog" | "ToolPermission" => {
                Some(State::BlockedOnApproval)
            }
            _ => None,
        },
        "stop" | "afteragent" => Some(State::TaskComplete),
        "sessionend" => Some(State::SessionEnded),
        _ => None,
    }
}

/// Writes an event unless the file has the same state and prompt. Returns whether it wrote.
///
/// What the event lacks (process, prompt) stays as it was. Costs a small read, and a write without waiting for the disk.
pub fn note(disk: &Disk, folder: &Path, mut event: HookEvent) -> Result<bool, DiskError> {
    let file = folder.join(file_name(&event.client, &event.session_id));
    let before = disk.read_if_there(&file)?;
    let before: Option<HookEvent> = before.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(before) = before {
        if before.state == event.state
            && event.last_prompt.is_none()
            && matches!(event.state, State::Working | State::BlockedOnApproval)
        {
            return Ok(false);
        }
        event.pid = event.pid.or(before.pid);
        event.started = event.started.or(before.started);
        event.cwd = event.cwd.or(before.cwd);
        event.last_prompt = event.last_prompt.or(before.last_prompt);
    } else {
        disk.create_private_dir(folder)?;
    }
    let text = serde_json::to_vec(&event).unwrap_or_default();
    disk.replace_unsynced(&file, &text, 0o600)?;
    Ok(true)
}

/// Returns the last event of each session. A file that cannot be read is left out.
pub fn read_all(disk: &Disk, folder: &Path) -> Vec<HookEvent> {
    let listed = disk.list_dir(folder).unwrap_or_default();
    let files = listed.into_iter().take(MOST);
    files
        .filter_map(|entry| {
            let bytes = disk.read_at_most(&folder.join(entry.name), LARGEST).ok()?;
            serde_json::from_slice(&bytes).ok()
        })
        .collect()
}

/// Returns the last event of one session.
pub fn last(disk: &Disk, folder: &Path, client: &str, session: &str) -> Option<HookEvent> {
    let bytes = disk.read_at_most(&folder.join(file_name(client, session)), LARGEST);
    serde_json::from_slice(&bytes.ok()?).ok()
}

/// Whether an event is a prompt that was just sent, by the name that any of the clients gives it.
pub fn is_prompt(event: &str) -> bool {
    let letters = event.chars().filter(char::is_ascii_alphanumeric);
    let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    matches!(word.as_str(), "userpromptsubmit" | "beforeagent")
}

/// Removes the files of sessions whose last event is older than `before`.
pub fn sweep(disk: &Disk, folder: &Path, before: Timestamp) -> Result<(), DiskError> {
    for event in read_all(disk, folder) {
        if event.at < before {
            disk.remove_file(&folder.join(file_name(&event.client, &event.session_id)))?;
        }
    }
    Ok(())
}

/// Returns a prompt as it is stored: one line, secrets masked, nothing that a terminal obeys, cut.
pub fn stored_prompt(prompt: &str) -> Option<String> {
    // Masking reads the whole text, and a prompt may be a megabyte of log.
    let start: String = prompt
        .trim_start()
        .chars()
        .take(LONGEST_PROMPT * 8)
        .collect();
    let masked = callosum_redact::secrets::mask(&start).text;
    let line = callosum_redact::terminal_escape::on_one_line(masked.trim());
    let mut letters = line.chars();
    let mut text: String = letters.by_ref().take(LONGEST_PROMPT).collect();
    if letters.next().is_some() {
        text.push('…');
    }
    (!text.is_empty()).then_some(text)
}

/// Returns the file of a session. An id may have any letters, so those that a path gives a meaning are replaced.
fn file_name(client: &str, session: &str) -> String {
    let plain = |text: &str| -> String {
        let letters = text.chars().take(100).map(|letter| {
            let is_plain = letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
            if is_plain { letter } else { '_' }
        });
        letters.collect()
    };
    format!("{}.{}.json", plain(client), plain(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, seconds: i64) -> HookEvent {
        HookEvent {
            client: "claude-code".to_owned(),
            session_id: "s/1".to_owned(),
            event: name.to_owned(),
            state: state_of(name, "").unwrap(),
            at: Timestamp::from_second(seconds).unwrap(),
            pid: None,
            started: None,
            cwd: None,
            last_prompt: None,
        }
    }

    #[test]
    fn the_last_event_of_a_session_is_kept_with_what_earlier_ones_knew() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("events");
        let disk = Disk::real();
        let start = HookEvent {
            pid: Some(7),
            ..event("SessionStart", 1)
        };
        assert!(note(&disk, &folder, start).unwrap());
        let prompt = HookEvent {
            last_prompt: Some("fix it".to_owned()),
            ..event("UserPromptSubmit", 2)
        };
        assert!(note(&disk, &folder, prompt).unwrap());
        assert!(
            !note(&disk, &folder, event("PreToolUse", 3)).unwrap(),
            "nothing has changed"
        );
        assert!(note(&disk, &folder, event("Stop", 4)).unwrap());
        let [last] = &*read_all(&disk, &folder) else {
            panic!()
        };
        assert_eq!(
            (last.pid, last.last_prompt.as_deref()),
            (Some(7), Some("fix it"))
        );
        assert_eq!(
            (last.event.as_str(), last.state),
            ("Stop", State::TaskComplete)
        );
        let one = super::last(&disk, &folder, "claude-code", "s/1");
        assert_eq!(one.as_ref(), Some(last));
        assert_eq!(super::last(&disk, &folder, "claude-code", "s2"), None);
        sweep(&disk, &folder, Timestamp::from_second(4).unwrap()).unwrap();
        assert_eq!(read_all(&disk, &folder).len(), 1);
        sweep(&disk, &folder, Timestamp::from_second(5).unwrap()).unwrap();
        assert!(read_all(&disk, &folder).is_empty());
    }

    #[test]
    fn a_file_that_hands_have_edited_is_left_out_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let file = folder.path().join(file_name("claude-code", "s/1"));
        disk.replace(&file, b"{\"state\": \"BORED\"}", 0o600)
            .unwrap();
        assert!(read_all(&disk, folder.path()).is_empty());
        assert!(note(&disk, folder.path(), event("Stop", 4)).unwrap());
        assert_eq!(read_all(&disk, folder.path()).len(), 1);
    }

    #[test]
    fn events_of_all_clients_mean_states() {
        assert_eq!(state_of("BeforeAgent", ""), Some(State::Working));
        assert_eq!(state_of("user-prompt-submit", ""), Some(State::Working));
        assert_eq!(
            state_of("Notification", "permission_prompt"),
            Some(State::BlockedOnApproval)
        );
        assert_eq!(state_of("Notification", "idle_prompt"), None);
        assert_eq!(state_of("BeforeModel", ""), None);
        assert!(is_prompt("user-prompt-submit") && is_prompt("BeforeAgent") && !is_prompt("Stop"));
    }

    #[test]
    fn a_prompt_is_stored_without_secrets_and_on_one_line() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let stored = stored_prompt(&format!(
            "  use {token}\n\u{1b}]0;x\u{7}then {}",
            "y".repeat(900)
        ));
        let stored = stored.unwrap();
        assert!(
            !stored.contains(&token) && !stored.contains('\n') && !stored.contains('\u{1b}'),
            "{stored}"
        );
        assert!(stored.chars().count() <= LONGEST_PROMPT + 1);
        assert_eq!(stored_prompt(" \n "), None);
    }

    #[test]
    fn an_id_is_no_path() {
        assert_eq!(file_name("c", "../../etc/x"), "c.______etc_x.json");
    }
}
