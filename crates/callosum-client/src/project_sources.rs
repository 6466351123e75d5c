//! Sources of the session-start digest in addition to the mesh itself: hand-offs of the project,
//! new entries of its ledger, other agents at work in it, and files that are never applied.
//!
//! Each is read as it is found; one that is broken is a line, and never a failure. One that does
//! not exist is empty.

use std::path::Path;

use callosum_config::Homes;
use callosum_executor::client::Client;
use callosum_host::{Disk, DiskError, process::table};
use callosum_ledger::{LedgerPaths, Query, ReadError, Reader};
use callosum_mesh::{
    Mesh,
    agent::AgentName,
    bridge::Bridge,
    digest::{Note, Source},
    quoted,
};
use callosum_panes::{HookEvent, Registry, State, hook_event};
use callosum_session::{Session, SessionError};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Most hand-offs and entries that are listed.
const MOST: usize = 3;

/// Most ledger entries whose ids are listed; further ones are counted.
const MOST_IDS: usize = 5;

/// Agents in other panes that are listed.
const MOST_PANES: usize = 5;

/// A registry of panes that is older is kept by no process at the moment.
const KEPT: SignedDuration = SignedDuration::from_secs(60);

/// A ledger that is larger is not read at a session's beginning, in bytes: it would be waited for.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Returns the files next to the bridge file that are never applied, if there are any, so that
/// their author learns of it.
pub fn left_alone(disk: &Disk, mesh: &Mesh) -> Option<Source> {
    let strays = match Bridge::of(disk, mesh).waiting() {
        Ok((_, strays)) => strays,
        Err(error) => {
            let what = format!("cannot read additions to the bridge file: {error}");
            return Some(Source::Broken(what));
        }
    };
    let first = strays.first()?;
    let more = match strays.len() - 1 {
        0 => String::new(),
        count => format!(", nor are {count} more"),
    };
    Some(Source::Broken(format!(
        "{} {} and is never applied{more}: run `callosum doctor`",
        quoted(&first.path.to_string_lossy()),
        first.why
    )))
}

/// The newest entries of a ledger since then that this agent did not ask for itself.
pub fn ledger(
    disk: &Disk,
    paths: &LedgerPaths,
    since: Option<Timestamp>,
    agent: &AgentName,
) -> Source {
    let broken = |reason: &dyn std::fmt::Display| {
        Source::Broken(format!("cannot read the project's ledger: {reason}"))
    };
    match disk.stat(&paths.ledger) {
        Ok(None) => Source::Read(Vec::new()),
        Ok(Some(found)) if found.len > LARGEST => Source::Missing(
            "the ledger is too large to summarize here: run `callosum ledger query`".to_owned(),
        ),
        Ok(Some(_)) => match entries(disk, paths, since, agent) {
            Ok(notes) => Source::Read(notes),
            Err(error) => broken(&error),
        },
        Err(error) => broken(&error),
    }
}

/// Returns the other agents that are at work in a project: from the registry of panes if a process keeps it, else from
/// what hooks have noted. Empty if this agent is alone.
pub fn panes(disk: &Disk, homes: &Homes, root: &Path, own: &Own<'_>, now: Timestamp) -> Source {
    let registry = Registry::read(disk, &homes.pane_registry()).ok().flatten();
    let kept = registry.filter(|registry| registry.age(now).is_some_and(|age| age <= KEPT));
    let mut notes: Vec<Note> = match kept {
        Some(registry) => registry
            .panes
            .iter()
            .filter(|pane| pane.state != State::SessionEnded && pane.pid != own.pid)
            .filter(|pane| own.session.is_none() || pane.session_id.as_deref() != own.session)
            .filter(|pane| pane.cwd.as_ref().is_some_and(|cwd| cwd.starts_with(root)))
            .map(|pane| {
                let place = format!("{} in pane {}", pane.runtime, pane.pane);
                note(
                    &place,
                    pane.state,
                    pane.since,
                    now,
                    pane.last_prompt.as_ref(),
                )
            })
            .collect(),
        None => hook_event::read_all(disk, &homes.hook_events())
            .iter()
            .filter(|event| event.state != State::SessionEnded && event.pid != Some(own.pid))
            .filter(|event| Some(event.session_id.as_str()) != own.session)
            .filter(|event| event.cwd.as_ref().is_some_and(|cwd| cwd.starts_with(root)))
            .filter(|event| runs(event))
            .map(|event| {
                note(
                    &event.client,
                    event.state,
                    event.at,
                    now,
                    event.last_prompt.as_ref(),
                )
            })
            .collect(),
    };
    notes.truncate(MOST_PANES);
    Source::Read(notes)
}

/// The session that a digest is for, which is not listed.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// Its id, if it has one.
    pub session: Option<&'a str>,
    /// Process id of its client; 0 if that is not known.
    pub pid: u32,
}

/// Whether the client of an event still runs. One whose process is not known may have ended long ago.
fn runs(event: &HookEvent) -> bool {
    let process = event.pid.and_then(table::entry);
    process.is_some_and(|process| Some(process.started) == event.started)
}

fn note(
    place: &str,
    state: State,
    since: Timestamp,
    now: Timestamp,
    prompt: Option<&String>,
) -> Note {
    let minutes = now.duration_since(since).as_mins().max(0);
    Note {
        lead: format!(
            "also at work here: {place}, {} for {minutes} min",
            state.name()
        ),
        words: prompt.cloned().unwrap_or_default(),
        rev: None,
    }
}

/// Returns the ids of the newest entries of a ledger, if it can be read at once. Without them, the
/// rest of the digest is still output.
pub fn newest_ids(disk: &Disk, paths: &LedgerPaths) -> Vec<String> {
    let found = disk.stat(&paths.ledger).ok().flatten();
    if found.is_none_or(|found| found.len > LARGEST) {
        return Vec::new();
    }
    let newest = Query {
        limit: Some(MOST),
        ..Query::default()
    };
    let reader = Reader::open(disk.clone(), paths.clone()).ok();
    let entries = reader.and_then(|reader| reader.query(&newest).ok());
    let entries = entries.unwrap_or_default().into_iter();
    entries.map(|entry| entry.task_id.to_string()).collect()
}

fn entries(
    disk: &Disk,
    paths: &LedgerPaths,
    since: Option<Timestamp>,
    agent: &AgentName,
) -> Result<Vec<Note>, ReadError> {
    let query = Query {
        since,
        limit: Some(MOST_IDS * 4),
        ..Query::default()
    };
    let found = Reader::open(disk.clone(), paths.clone())?.query(&query)?;
    let is_own = |asked_by: Option<&str>| {
        let asked_by = asked_by.and_then(|name| name.parse::<AgentName>().ok());
        asked_by.as_ref() == Some(agent)
    };
    let others = found.into_iter().filter(|entry| {
        let asked_by = entry.metadata.get("asked_by").and_then(Value::as_str);
        !is_own(asked_by)
    });
    // Their ids alone: a summary costs tokens in every session, and each is one command away.
    let ids: Vec<String> = others
        .map(|entry| format!("{} ({})", entry.task_id, entry.executor))
        .collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let more = match ids.len().saturating_sub(MOST_IDS) {
        0 => String::new(),
        more => format!(", +{more} more"),
    };
    let first: Vec<&str> = ids.iter().take(MOST_IDS).map(String::as_str).collect();
    Ok(vec![Note {
        lead: "new in the ledger (`callosum ledger show ID`)".to_owned(),
        words: format!("{}{more}", first.join(", ")),
        rev: None,
    }])
}

/// Returns the hand-offs to an agent in a project that are not picked up.
pub fn hand_offs(session: &Session<'_>, agent: &AgentName) -> Source {
    match waiting(session, agent) {
        Ok(notes) => Source::Read(notes),
        Err(error) => Source::Broken(format!("cannot read hand-offs: {error}")),
    }
}

fn waiting(session: &Session<'_>, agent: &AgentName) -> Result<Vec<Note>, WaitingError> {
    if !session.zones.are_used(session.disk)? {
        return Ok(Vec::new());
    }
    let name = agent.as_str();
    let program = name.trim_end_matches("-code").trim_end_matches("-cli");
    let names = names(program);
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.push(name);
    let waiting = session.waiting_for(&names, "")?;
    let notes = waiting.into_iter().take(MOST).map(|waiting| Note {
        lead: format!(
            "hand-off to you from {} at {} (`callosum session recover`)",
            waiting.from, waiting.ts
        ),
        words: waiting.reasoning.unwrap_or_default(),
        rev: None,
    });
    Ok(notes.collect())
}

/// The names by which a hand-off may mean a client's agent.
pub fn names(program: &str) -> [String; 3] {
    [
        program.to_owned(),
        format!("{program}-code"),
        format!("{program}-cli"),
    ]
}

/// Whether a client keeps its model's commands from writing outside of the project, by default.
pub fn is_sandboxed(client: Option<&Client>) -> bool {
    client.is_some_and(|client| client.has_sandbox)
}

/// The reason why hand-offs cannot be read.
#[derive(Debug, thiserror::Error)]
enum WaitingError {
    /// The disk does not say.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A session's files cannot be used.
    #[error(transparent)]
    Session(#[from] SessionError),
}

#[cfg(test)]
mod tests {
    use callosum_config::NewState;

    use super::*;

    /// CALC-BOOT-1: a session's digest names who else is at work on the project, and no one else.
    #[test]
    fn others_in_the_same_project_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let homes = Homes {
            machine: folder.path().to_owned(),
            user_config: folder.path().join("config.toml"),
            new_state: NewState::Project,
        };
        let disk = Disk::real();
        let now = Timestamp::from_second(1_000_000).unwrap();
        let own_pid = std::process::id();
        let started = table::entry(own_pid).map(|process| process.started);
        let event = |session: &str, cwd: &str, pid: Option<u32>| HookEvent {
            client: "codex".to_owned(),
            session_id: session.to_owned(),
            event: "UserPromptSubmit".to_owned(),
            state: State::Working,
            at: now - SignedDuration::from_mins(3),
            pid,
            started,
            cwd: Some(cwd.into()),
            last_prompt: Some("fix the cart".to_owned()),
        };
        let all = [
            event("other", "/srv/shop/src", Some(own_pid)),
            event("mine", "/srv/shop", Some(own_pid)),
            event("elsewhere", "/srv/shop-two", Some(own_pid)),
            event("gone", "/srv/shop", None),
        ];
        for one in all {
            hook_event::note(&disk, &homes.hook_events(), one).unwrap();
        }
        let own = Own {
            session: Some("mine"),
            pid: 0,
        };
        let Source::Read(notes) = panes(&disk, &homes, Path::new("/srv/shop"), &own, now) else {
            panic!("it is always readable");
        };
        let [note] = &*notes else { panic!("{notes:?}") };
        assert_eq!(note.lead, "also at work here: codex, WORKING for 3 min");
        assert_eq!(note.words, "fix the cart");
    }
}
