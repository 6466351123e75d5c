//! Recognizes a call that a client asks about twice.
//!
//! Claude Code and Qwen Code run every hook that matches, so a hook that is registered for the user and for the project
//! runs twice for one call, often at the same time. [`fingerprint`] names the call; [`is_first`] lets one of the hooks
//! write the record. Calls without an id of their own, such as Gemini's, are always new.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use callosum_host::{Disk, DiskError, OpenHow};
use callosum_json::Checksum;
use jiff::Timestamp;

use super::event::{Action, Event};
use callosum_config::{Environment, Homes};

/// Time for which a call is remembered: longer than clients wait for a hook.
const REMEMBERED: Duration = Duration::from_secs(30);

/// The folder of the machine's home with one empty file for each call.
const FOLDER: &str = "calls";

/// Returns what tells this call from every other: its client, session, sub-agent, id, tool and words. `None` if the client
/// gave it no id.
pub(super) fn fingerprint(client: &str, event: &Event) -> Option<Checksum> {
    let call = event.call.as_deref().filter(|call| !call.is_empty())?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (session, agent, tool) = (text(&event.session), text(&event.agent), text(&event.tool));
    let folder = event.folder.as_deref().map(|path| path.to_string_lossy());
    let folder = folder.unwrap_or_default();
    let mut parts: Vec<&str> = vec![client, &session, &agent, call, &tool, &folder];
    match &event.action {
        Action::Shell(command) => parts.push(command),
        Action::Write(paths) | Action::Read(paths) => {
            parts.extend(paths.iter().map(String::as_str));
        }
        Action::Other => {}
    }
    // No part holds a NUL: a command or path with one is refused before.
    Some(Checksum::of(parts.join("\0").as_bytes()))
}

/// Returns whether no other hook has recorded this call so far, before its tool or, in `is_permission`, when the client is
/// about to ask a person. If that cannot be found out, it is the first: a record too many is better than none.
pub(super) fn is_first(
    disk: &Disk,
    environment: &Environment,
    (call, is_permission): (&Checksum, bool),
    now: Timestamp,
) -> bool {
    let Ok(homes) = Homes::find(environment) else {
        return true;
    };
    let kind = if is_permission { "permission" } else { "tool" };
    let name = format!("{call}.{kind}");
    claim(disk, &homes.machine.join(FOLDER), &name, now.into()).unwrap_or(true)
}

/// Creates an empty file of this name, and removes those of calls that are over. `false` if it is there already.
fn claim(disk: &Disk, folder: &Path, name: &str, now: SystemTime) -> Result<bool, DiskError> {
    disk.create_private_dir(folder)?;
    for entry in disk.list_dir(folder)? {
        let path = folder.join(&entry.name);
        // One from a time to come is left: its clock was put back, and no other call has its name.
        let age = disk
            .stat(&path)?
            .and_then(|found| now.duration_since(found.modified).ok());
        if age.is_some_and(|age| age >= REMEMBERED) {
            disk.remove_file(&path)?;
        }
    }
    match disk.open(&folder.join(name), OpenHow::CREATE_NEW.with_mode(0o600)) {
        Ok(_) => Ok(true),
        Err(error) if error.is_taken() => Ok(false),
        Err(error) => Err(error),
    }
}
