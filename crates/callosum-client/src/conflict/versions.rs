//! [`versions`]: the versions of a contested file, found in the undo log. Pure.

use std::path::{Path, PathBuf};

use callosum_mesh::agent::AgentName;
use jiff::Timestamp;

use super::changed_lines;
use crate::undo::{Call, FileState, History, Touch};

/// Most edits of one agent whose lines are counted: the newest.
const MOST_COUNTED: usize = 20;

/// A version of the file as the undo log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredVersions {
    /// There was no file.
    Absent,
    /// The bytes with this sum, if the folder of the day has them.
    Bytes {
        /// Folder of the day.
        day: PathBuf,
        /// SHA-256 of the bytes.
        sum: String,
    },
}

/// The versions of a file before its editor's last edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// The version before both agents' edits.
    pub base: Option<StoredVersions>,
    /// The version that the other agent left.
    pub theirs: Option<StoredVersions>,
    /// The version that the editor's last edit started from.
    pub before_mine: Option<StoredVersions>,
    /// Whether the editor's last edit started from that version.
    pub is_sequential: bool,
}

/// An agent's session, as the undo log and leases name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speaker<'a> {
    pub(super) agent: &'a AgentName,
    pub(super) session: Option<&'a str>,
}

impl Speaker<'_> {
    fn made(&self, call: &Call) -> bool {
        let agent: Option<AgentName> = call.agent.parse().ok();
        let is_session = match (self.session, call.session.as_deref()) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        agent.as_ref() == Some(self.agent) && is_session
    }
}

/// Finds the versions of a file that `me` has just edited, and `other` before that or at the same time.
///
/// `path` is seen from the top of the tree. Only edits since `since` count as the other's.
pub fn versions(
    history: &History,
    path: &str,
    me: (&AgentName, Option<&str>),
    other: (&AgentName, Option<&str>),
    since: Timestamp,
) -> Versions {
    let [me, other] = [me, other].map(|(agent, session)| Speaker { agent, session });
    let touches = touches(history, path);
    let mut backward = touches.iter().rev();
    let Some((mine, my_touch)) = backward.find(|(call, _)| me.made(call) && call.ended.is_some())
    else {
        return of_other(&touches, other, since);
    };
    let before_mine = kept(mine, &my_touch.before);
    let is_before = |call: &Call| call.at >= since && call.begun <= mine.ended.unwrap_or_default();
    let theirs: Vec<_> = touches
        .iter()
        .filter(|(call, _)| other.made(call) && is_before(call))
        .collect();
    let Some((last, last_touch)) = theirs.last() else {
        // Their edits are not recorded, as of a command: the file was like this before mine.
        return Versions {
            base: None,
            theirs: before_mine.clone(),
            before_mine,
            is_sequential: true,
        };
    };
    if last.ended.is_some_and(|ended| ended < mine.begun) {
        let first = theirs.first();
        return Versions {
            base: first.and_then(|(call, touch)| kept(call, &touch.before)),
            theirs: before_mine.clone(),
            before_mine,
            is_sequential: true,
        };
    }
    let after = last_touch.after.as_ref();
    Versions {
        // Both edits started from it.
        base: before_mine.clone(),
        theirs: after.and_then(|after| kept(last, after)),
        before_mine,
        is_sequential: false,
    }
}

/// Returns the versions if the editor's own call is not recorded, such as that of a command.
fn of_other(touches: &[(&Call, &Touch)], other: Speaker<'_>, since: Timestamp) -> Versions {
    let theirs = touches.iter().filter(|(call, _)| other.made(call));
    let theirs: Vec<_> = theirs.filter(|(call, _)| call.at >= since).collect();
    let base = theirs.first();
    let last = theirs.last();
    Versions {
        base: base.and_then(|(call, touch)| kept(call, &touch.before)),
        theirs: last.and_then(|(call, touch)| kept(call, touch.after.as_ref()?)),
        before_mine: None,
        is_sequential: false,
    }
}

/// Returns the number of lines of a file that an agent's session added or changed, as far as `bytes` knows the versions.
/// `current` is the file now.
pub fn speaker_lines(
    history: &History,
    path: &str,
    who: (&AgentName, Option<&str>),
    current: &str,
    bytes: impl Fn(&Path, &str) -> Option<Vec<u8>>,
) -> u64 {
    let who = Speaker {
        agent: who.0,
        session: who.1,
    };
    let touches = touches(history, path);
    let text = |call: &Call, state: &FileState| match kept(call, state)? {
        StoredVersions::Absent => Some(String::new()),
        StoredVersions::Bytes { day, sum } => String::from_utf8(bytes(&day, &sum)?).ok(),
    };
    let mut lines = 0;
    let mut counted = 0;
    for (at, (call, touch)) in touches.iter().enumerate().rev() {
        if !who.made(call) || counted == MOST_COUNTED {
            continue;
        }
        counted += 1;
        let Some(before) = text(call, &touch.before) else {
            continue;
        };
        // What it left is what the next edit found.
        let next = touches.get(at + 1);
        let after = match next {
            Some((next, touch)) => text(next, &touch.before),
            None => Some(current.to_owned()),
        };
        lines += after.map_or(0, |after| changed_lines(&before, &after));
    }
    lines
}

/// The edits of a file, the oldest first. Undone ones and undos are not edits.
fn touches<'h>(history: &'h History, path: &str) -> Vec<(&'h Call, &'h Touch)> {
    let calls = history.calls.iter();
    let calls = calls.filter(|call| call.targets.is_none() && !call.is_undone);
    let touches = calls.filter_map(|call| {
        let touch = call.touches.iter().find(|touch| touch.path == path)?;
        Some((call, touch))
    });
    touches.collect()
}

fn kept(call: &Call, state: &FileState) -> Option<StoredVersions> {
    match state {
        FileState::Absent => Some(StoredVersions::Absent),
        FileState::File { sum, .. } => Some(StoredVersions::Bytes {
            day: call.day.clone(),
            sum: sum.clone(),
        }),
        FileState::Link { .. } | FileState::Object { .. } | FileState::Unknown { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::undo::{AfterLine, CallLine, FileLine, Line};

    fn file(text: &str) -> FileState {
        FileState::File {
            sum: text.to_owned(),
            mode: 0o644,
        }
    }

    /// Records as the hooks write them: `>` begins a call, `<` ends it. Sums stand for bytes.
    fn history(steps: &[(&str, &str, &str, &str)]) -> History {
        let at: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let lines = steps.iter().map(|(mark, agent, id, sum)| {
            let of = |before, after| FileLine {
                path: "a.rs".to_owned(),
                before,
                after,
            };
            let line = if *mark == ">" {
                Line::Call(CallLine {
                    id: (*id).to_owned(),
                    at,
                    agent: (*agent).to_owned(),
                    session: Some(format!("{agent}-1")),
                    turn: None,
                    call: None,
                    tool: None,
                    label: String::new(),
                    files: vec![of(Some(file(sum)), None)],
                    is_command: false,
                    modes: std::collections::BTreeMap::default(),
                })
            } else {
                Line::After(AfterLine {
                    id: (*id).to_owned(),
                    files: vec![of(None, Some(file(sum)))],
                    names: Vec::new(),
                    more: 0,
                })
            };
            (PathBuf::from("day"), line)
        });
        History::of(lines.collect())
    }

    fn found(steps: &[(&str, &str, &str, &str)]) -> (Option<String>, Option<String>, bool) {
        let (codex, claude) = ("codex".parse().unwrap(), "claude".parse().unwrap());
        let found = versions(
            &history(steps),
            "a.rs",
            (&claude, Some("claude-1")),
            (&codex, Some("codex-1")),
            "2026-01-01T00:00:00Z".parse().unwrap(),
        );
        let sum = |kept: Option<StoredVersions>| match kept? {
            StoredVersions::Absent => Some("-".to_owned()),
            StoredVersions::Bytes { sum, .. } => Some(sum),
        };
        (sum(found.base), sum(found.theirs), found.is_sequential)
    }

    fn some(
        base: &str,
        theirs: &str,
        is_sequential: bool,
    ) -> (Option<String>, Option<String>, bool) {
        (
            Some(base.to_owned()),
            Some(theirs.to_owned()),
            is_sequential,
        )
    }

    /// CALC-FUT-1: the versions of both agents are found, whether one edit followed the other or both ran at once.
    #[test]
    fn versions_are_found_in_every_order_of_two_edits() {
        let after_each_other = [
            (">", "codex", "1", "base"),
            ("<", "codex", "1", "codex's"),
            (">", "claude", "2", "codex's"),
            ("<", "claude", "2", "both"),
        ];
        assert_eq!(found(&after_each_other), some("base", "codex's", true));
        let at_once = [
            (">", "codex", "1", "base"),
            (">", "claude", "2", "base"),
            ("<", "codex", "1", "codex's"),
            ("<", "claude", "2", "claude's"),
        ];
        assert_eq!(found(&at_once), some("base", "codex's", false));
        // A person changed the file between the two.
        let changed = [
            (">", "codex", "1", "base"),
            ("<", "codex", "1", "codex's"),
            (">", "claude", "2", "person's"),
            ("<", "claude", "2", "both"),
        ];
        assert_eq!(found(&changed), some("base", "person's", true));
        let several = [
            (">", "codex", "1", "base"),
            ("<", "codex", "1", "x"),
            (">", "codex", "2", "x"),
            ("<", "codex", "2", "codex's"),
            (">", "claude", "3", "codex's"),
            ("<", "claude", "3", "both"),
        ];
        assert_eq!(found(&several), some("base", "codex's", true));
        // A command is not recorded: neither is what it left.
        let by_command = [(">", "codex", "1", "base"), ("<", "codex", "1", "codex's")];
        assert_eq!(found(&by_command), some("base", "codex's", false));
        assert_eq!(found(&[]), (None, None, false));
    }

    #[test]
    fn lines_of_an_agent_are_those_that_its_own_edits_added() {
        let steps = [
            (">", "codex", "1", "a\n"),
            ("<", "codex", "1", "a\nb\nc\n"),
            (">", "claude", "2", "a\nb\nc\n"),
            ("<", "claude", "2", "a\nb\nC\n"),
        ];
        let lines = |agent: &str| {
            let agent: AgentName = agent.parse().unwrap();
            let bytes = |_: &Path, sum: &str| Some(sum.as_bytes().to_vec());
            speaker_lines(&history(&steps), "a.rs", (&agent, None), "a\nb\nC\n", bytes)
        };
        assert_eq!(lines("codex"), 2);
        assert_eq!(lines("claude"), 1);
        assert_eq!(lines("gemini"), 0);
    }
}
