//! [`Filter`]: the events that leave this machine, and those of others that are taken in.
//!
//! Start with [`Filter::outgoing`]. A list of what crosses, not of what does not: an event of another topic never leaves. The
//! same list is asked again for what comes in ([`Filter::incoming`]), since another machine may have any program.

use std::path::{Component, Path};

use callosum_mesh::{
    board::{BEGINS, Board, CLAIM, ENDS, Effect, Message, Task},
    event::{Draft, Event, LONGEST, masked},
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Names, Places, Repository, checkouts::Located, envelope::WireEvent};

/// Beginning of the topics of leases.
const LEASE: &str = "calc.lease.";

/// Highest fencing token that is believed. A higher one would leave no room for those that follow it.
const MOST_FENCE: u64 = 1 << 53;

/// The filter of one machine.
pub(crate) struct Filter<'f> {
    /// Patterns of the repositories whose events are shared.
    pub(crate) repositories: &'f [String],
    /// Places of this machine.
    pub(crate) places: &'f mut dyn Places,
}

impl Filter<'_> {
    /// Returns an event as other machines get it; `None` if it stays here.
    pub(crate) fn outgoing(&mut self, event: &Event, board: &Board) -> Option<WireEvent> {
        if event.from.is_some() {
            return None;
        }
        let mut place = self.place(event.cwd.as_deref());
        let mut payload = event.payload.clone();
        match event.topic.as_str() {
            // The session that is at work, without its process.
            BEGINS | ENDS => {
                place.as_ref()?;
                payload = Map::new();
            }
            _ => match Effect::of(event)? {
                Effect::TaskAdded { id, .. } => {
                    board.task(&id).filter(|task| task.is_shared)?;
                }
                // A claim from before the task was shared is followed by one with a fence.
                Effect::TaskClaimed { fence, .. } => {
                    fence?;
                }
                Effect::TaskReleased { task, fence, .. }
                | Effect::TaskCompleted { task, fence, .. } => {
                    let is_shared = board.task(&task).is_some_and(|task| task.is_shared);
                    // A task that is over may be forgotten by now. Only a shared one has a fence.
                    (is_shared || fence.is_some()).then_some(())?;
                }
                Effect::TaskCancelled { task, .. } | Effect::TaskChanged { task, .. } => {
                    board.task(&task).filter(|task| task.is_shared)?;
                }
                Effect::MessageSent { .. } => {
                    (!event.source.is_us()).then_some(())?;
                    place.as_ref()?;
                }
                Effect::MessageMoved { message, .. } | Effect::MessageRetried { message, .. } => {
                    let message = board.message(&message)?;
                    self.is_shared(message).then_some(())?;
                }
                Effect::Discovered { .. } => {
                    place.as_ref()?;
                }
                Effect::DiscoveryRemoved { .. } => {}
                Effect::LeaseTaken { path, .. } | Effect::LeaseReleased { path } => {
                    place = Some(self.place_of_file(&path)?);
                    payload.shift_remove("path");
                }
                Effect::OutputSettled { .. } | Effect::FieldSet { .. } => return None,
            },
        }
        let Place { located, path } = place.unwrap_or_default();
        let mut payload = Value::Object(payload);
        self.relocate(&mut payload, located.as_ref().map(|located| &*located.root));
        let Value::Object(mut payload) = payload else {
            return None;
        };
        keep_relative_output(&mut payload);
        // The log has masked secrets already, by the rules of its day.
        let payload = masked(payload);
        Some(WireEvent {
            seq: event.seq,
            id: event.id.clone(),
            topic: event.topic.clone(),
            source: event.source.clone(),
            timestamp: event.timestamp,
            session_id: event.session_id.clone(),
            repository: located.map(|located| located.repository),
            path,
            payload,
        })
    }

    /// Whether tasks of this folder are shared.
    pub(crate) fn is_shared_folder(&mut self, cwd: Option<&str>) -> bool {
        self.place(cwd).is_some()
    }

    fn is_shared(&mut self, message: &Message) -> bool {
        let is_own = !message.is_foreign() && !message.from.is_us();
        message.is_foreign() || is_own && self.place(message.cwd.as_deref()).is_some()
    }

    /// Returns the place of a folder; `None` if what happens there is not shared.
    fn place(&mut self, cwd: Option<&str>) -> Option<Place> {
        let located = cwd.and_then(|cwd| self.places.locate(Path::new(cwd)));
        let Some(located) = located else {
            let is_all = self.repositories.iter().any(|pattern| pattern == "*");
            return is_all.then(Place::default);
        };
        self.is_wanted(&located.repository).then_some(())?;
        let path = Path::new(cwd?).strip_prefix(&located.root).ok()?;
        let path = path.to_str().filter(|path| !path.is_empty());
        Some(Place {
            path: path.map(str::to_owned),
            located: Some(located),
        })
    }

    /// Returns the place of a file, which must be in a repository.
    fn place_of_file(&mut self, path: &str) -> Option<Place> {
        let place = self.place(Some(path))?;
        (place.located.is_some() && place.path.is_some()).then_some(place)
    }

    fn is_wanted(&self, repository: &Repository) -> bool {
        let mut patterns = self.repositories.iter();
        patterns.any(|pattern| repository.matches(pattern))
    }

    /// Replaces absolute paths of this machine in all texts: those in the repository become relative to its root, and
    /// others below the home folder begin with `~`.
    fn relocate(&self, value: &mut Value, root: Option<&Path>) {
        match value {
            Value::String(text) => {
                if let Some(root) = root.and_then(Path::to_str) {
                    *text = replaced(text, root, "");
                }
                if let Some(home) = self.places.home().and_then(Path::to_str) {
                    *text = replaced(text, home, "~");
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.relocate(item, root);
                }
            }
            Value::Object(members) => {
                for (_, member) in members {
                    self.relocate(member, root);
                }
            }
            _ => {}
        }
    }

    /// Returns an event of another machine as it is appended here. What is not of the list, or cannot be read, becomes an
    /// event that changes nothing: the place in the other log is taken all the same.
    pub(crate) fn incoming(&mut self, event: WireEvent, names: &Names, now: Timestamp) -> Draft {
        let machine = names.to_string();
        // A lease of a machine whose clock is ahead does not end those of others before their time.
        let timestamp = if event.topic.as_str().starts_with(LEASE) {
            event.timestamp.min(now)
        } else {
            event.timestamp
        };
        match self.taken_in(&event, now) {
            Ok((cwd, payload)) => Draft {
                id: Some(event.id),
                machine: Some(machine),
                timestamp: Some(timestamp),
                session_id: event.session_id,
                cwd,
                ..Draft::new(event.topic, event.source).with_payload(payload)
            },
            Err(reason) => {
                let draft = Draft {
                    machine: Some(machine),
                    timestamp: Some(event.timestamp),
                    ..Draft::new(event.topic, event.source)
                };
                draft.refused(reason)
            }
        }
    }

    fn taken_in(
        &mut self,
        event: &WireEvent,
        now: Timestamp,
    ) -> Result<(Option<String>, Map<String, Value>), &'static str> {
        let mut payload = event.payload.clone();
        let bytes = Value::Object(payload.clone()).to_string().len();
        let session = event.session_id.as_ref().map_or(0, String::len);
        if bytes > LONGEST || event.id.len() > 256 || session > 256 {
            return Err("it is too long");
        }
        let here = self.here(event)?;
        if matches!(event.topic.as_str(), BEGINS | ENDS) {
            return Ok((here, Map::new()));
        }
        if event.topic.as_str().starts_with(LEASE) {
            let path = event.path.as_ref().and(here.clone());
            let path = path.ok_or("it names no file")?;
            payload.insert("path".to_owned(), path.into());
        }
        let tagged = json!({ "type": event.topic, "payload": payload });
        let effect: Effect =
            serde_json::from_value(tagged).map_err(|_| "it is none of the events that cross")?;
        let longest = now + CLAIM + CLAIM;
        match &effect {
            Effect::OutputSettled { .. } | Effect::FieldSet { .. } => {
                return Err("it is none of the events that cross");
            }
            Effect::MessageSent { .. } if event.source.is_us() => {
                return Err("a message of the program itself stays on its machine");
            }
            Effect::TaskClaimed { fence: None, .. } => return Err("a claim without a fence"),
            Effect::TaskClaimed { fence, .. }
            | Effect::TaskReleased { fence, .. }
            | Effect::TaskCompleted { fence, .. }
                if *fence > Some(MOST_FENCE) =>
            {
                return Err("a fence that no server gives");
            }
            // By the clock of its machine, which may be wrong.
            Effect::TaskClaimed { until, .. } | Effect::LeaseTaken { until, .. }
                if *until > longest =>
            {
                payload.insert("until".to_owned(), longest.to_string().into());
            }
            _ => {}
        }
        keep_relative_output(&mut payload);
        Ok((here, payload))
    }

    /// Returns the folder or file that an event is about, as this machine names it. A repository that this machine does
    /// not have is named by its identity.
    fn here(&mut self, event: &WireEvent) -> Result<Option<String>, &'static str> {
        let relative = event.path.as_deref();
        if relative.is_some_and(|path| !is_relative(path)) {
            return Err("its path leaves its repository");
        }
        let Some(repository) = &event.repository else {
            return Ok(None);
        };
        let Some(root) = self.places.checkout(repository) else {
            let rest = relative.map(|path| format!("/{path}"));
            return Ok(Some(format!("{repository}{}", rest.unwrap_or_default())));
        };
        let path = relative.map_or_else(|| root.clone(), |path| root.join(path));
        Ok(Some(path.to_string_lossy().into_owned()))
    }
}

/// Place of an event.
#[derive(Default)]
struct Place {
    /// The repository; `None` if all events are shared and this one is in none.
    located: Option<Located>,
    /// The path in it; `None` for its root.
    path: Option<String>,
}

/// Whether a path stays in the folder that it is taken from.
fn is_relative(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Removes the output file of a task unless it is a path in the repository.
fn keep_relative_output(payload: &mut Map<String, Value>) {
    let keep = |members: &mut Map<String, Value>| {
        let path = members.get("output_file").and_then(Value::as_str);
        if path.is_some_and(|path| !is_relative(path)) {
            members.shift_remove("output_file");
        }
    };
    keep(payload);
    if let Some(Value::Object(set)) = payload.get_mut("set") {
        keep(set);
    }
}

/// Replaces a folder at the beginning of each absolute path in a text. Without a replacement, the path becomes relative.
fn replaced(text: &str, folder: &str, by: &str) -> String {
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() {
        return text.to_owned();
    }
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, found) = rest.split_at(at);
        let after = &found[folder.len()..];
        let is_name =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
        let is_begin = !before.ends_with(is_name) && !done_ends(&done, before, is_name);
        let next = after.chars().next();
        let is_end = next.is_none_or(|letter| letter == '/' || !is_name(letter));
        done.push_str(before);
        rest = after;
        if !(is_begin && is_end) {
            done.push_str(folder);
        } else if by.is_empty() {
            match after.strip_prefix('/') {
                Some(after) if !after.is_empty() => rest = after,
                _ => done.push('.'),
            }
        } else {
            done.push_str(by);
        }
    }
    done.push_str(rest);
    done
}

/// Whether the text before ends in a letter of a name, if nothing comes between.
fn done_ends(done: &str, before: &str, is_name: impl Fn(char) -> bool) -> bool {
    before.is_empty() && done.ends_with(is_name)
}

/// Whether a task of this machine is to be shared: it is in a repository that is.
pub(crate) fn is_to_be_shared(filter: &mut Filter<'_>, task: &Task) -> bool {
    !task.is_shared && !task.status.is_over() && filter.is_shared_folder(task.cwd.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_this_machine_are_replaced_in_texts() {
        for (text, expected) in [
            ("fix /home/ana/app/src/x.rs now", "fix src/x.rs now"),
            ("in /home/ana/app", "in ."),
            ("in /home/ana/app/", "in ./"),
            ("`/home/ana/app/a`, `/home/ana/app/b`", "`a`, `b`"),
            ("/home/ana/app2/x", "/home/ana/app2/x"),
            ("/mnt/home/ana/app/x", "/mnt/home/ana/app/x"),
        ] {
            assert_eq!(replaced(text, "/home/ana/app", ""), expected, "{text}");
        }
        assert_eq!(replaced("~ is /home/ana/x", "/home/ana", "~"), "~ is ~/x");
    }

    #[test]
    fn a_path_that_leaves_its_repository_is_none() {
        for (path, is_good) in [
            ("src/x.rs", true),
            ("../x", false),
            ("src/../../x", false),
            ("/etc/passwd", false),
            ("", false),
        ] {
            assert_eq!(is_relative(path), is_good, "{path}");
        }
    }
}
