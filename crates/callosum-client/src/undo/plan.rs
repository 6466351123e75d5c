//! Decides what becomes of each file when calls are undone. Pure: what is on disk is given.

use std::collections::BTreeMap;

use super::{
    file_state::FileState,
    history::{Call, History, Touch},
};

/// The decision on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It gets its earlier content back.
    Restore,
    /// It is as it was already.
    Same,
    /// Its current content was not seen when the calls ended, so someone else may have changed it.
    Unverified,
    /// Someone else changed it.
    Conflict(String),
    /// Its earlier content was not kept.
    NotKept(String),
}

/// One file, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// The path, relative to the root.
    pub path: String,
    /// The step for the file.
    pub step: Step,
    /// The state to restore.
    pub before: FileState,
    /// The current state.
    pub now: FileState,
    /// The call in whose record the earlier content is named, by its place in the history.
    pub call: usize,
}

/// Decides it for the files of the selected calls, in the order of paths. `now` tells what is at a path.
pub fn plan(
    history: &History,
    selected: &[usize],
    mut now: impl FnMut(&str) -> FileState,
) -> Vec<FilePlan> {
    let mut files: BTreeMap<&str, Vec<(usize, &Touch)>> = BTreeMap::new();
    for &at in selected {
        for touch in &history.calls[at].touches {
            files.entry(&touch.path).or_default().push((at, touch));
        }
    }
    let mut plans = Vec::new();
    for (path, touches) in files {
        let (call, first) = touches[0];
        let now = now(path);
        plans.push(FilePlan {
            path: path.to_owned(),
            step: step(history, selected, path, &touches, &now),
            before: first.before.clone(),
            now,
            call,
        });
    }
    plans
}

fn step(
    history: &History,
    selected: &[usize],
    path: &str,
    touches: &[(usize, &Touch)],
    now: &FileState,
) -> Step {
    let (_, first) = touches[0];
    let (last_call, last) = touches[touches.len() - 1];
    if let FileState::Unknown { reason } = &first.before {
        return Step::NotKept(reason.clone());
    }
    if first.before == *now {
        return Step::Same;
    }
    let others = || others(history, selected, path);
    for (at, _) in touches {
        let own = &history.calls[*at];
        if let Some(other) = others().find(|other| ran_together(own, other, path)) {
            return Step::Conflict(format!("{} changed it at the same time", other.agent));
        }
    }
    for pair in touches.windows(2) {
        let [(earlier, from), (later, to)] = pair else {
            continue;
        };
        let (earlier, later) = (&history.calls[*earlier], &history.calls[*later]);
        let is_between = |other: &&Call| earlier.begun < other.begun && other.begun < later.begun;
        let other = others().find(is_between);
        match &from.after {
            Some(after) if after.has_content_of(&to.before) => {}
            Some(_) => {
                let who = other.map_or("someone", |other| other.agent.as_str());
                return Step::Conflict(format!("{who} changed it in between"));
            }
            None => {
                if let Some(other) = other {
                    return Step::Conflict(format!("{} changed it in between", other.agent));
                }
            }
        }
    }
    let next = || {
        let mut later = others().filter(|other| other.begun > history.calls[last_call].begun);
        let next = later.find_map(|other| touch_of(other, path));
        next.map(|touch| touch.before.clone())
    };
    // A call that failed is not heard of again, and left everything as it was.
    let as_before = || Some(last.before.clone()).filter(|before| before.has_content_of(now));
    let left = last.after.clone().or_else(as_before).or_else(next);
    match left.filter(|left| !left.is_unknown()) {
        Some(left) if left.has_content_of(now) => Step::Restore,
        Some(_) => {
            let mut later = others().filter(|other| other.begun > history.calls[last_call].begun);
            let who = later.next().map_or("someone", |other| &other.agent);
            Step::Conflict(format!("{who} changed it since"))
        }
        // Only the permission bits differ, which no record can tell more of.
        None if first.before.has_content_of(now) => Step::Restore,
        None => Step::Unverified,
    }
}

/// The calls that are not selected and changed the file, or may have.
fn others<'h>(
    history: &'h History,
    selected: &[usize],
    path: &str,
) -> impl Iterator<Item = &'h Call> {
    let all = history.calls.iter().enumerate();
    all.filter(move |(at, call)| {
        !selected.contains(at)
            && match touch_of(call, path) {
                Some(touch) => touch.after.as_ref() != Some(&touch.before),
                None => call.is_command && call.ended.is_none() && call.names(path),
            }
    })
    .map(|(_, call)| call)
}

fn touch_of<'c>(call: &'c Call, path: &str) -> Option<&'c Touch> {
    call.touches.iter().find(|touch| touch.path == path)
}

/// Returns whether another call ran while this one did, so that no one can tell which of them changed the file.
fn ran_together(own: &Call, other: &Call, path: &str) -> bool {
    let end = |call: &Call| call.ended.unwrap_or(call.begun);
    let is_overlapping = other.begun < end(own) && end(other) > own.begun;
    // A command that names the file changed it, and not one that names others.
    let is_others = other.names(path) || !own.names(path);
    is_overlapping && is_others
}
