//! What an agent is told at a session's beginning beside what the mesh itself knows: hand-offs of the project, and what its
//! ledger has since, and what is never taken over.
//!
//! Each is read as it is found; one that is broken is a line, and never a failure. One that does not exist is empty.

use callosum_agents::client::Client;
use callosum_host::{Disk, DiskError};
use callosum_ledger::{LedgerPaths, Query, ReadError, Reader};
use callosum_mesh::{
    Mesh,
    agent::AgentName,
    bridge::Bridge,
    digest::{Note, Source},
    quoted,
};
use callosum_session::{Session, SessionError};
use jiff::Timestamp;
use serde_json::Value;

/// Hand-offs that are told, and entries whose ids are.
const MOST: usize = 3;

/// Entries of the ledger whose ids are told; further ones are counted.
const MOST_IDS: usize = 5;

/// A ledger that is larger is not read at a session's beginning, in bytes: it would be waited for.
const LARGEST: u64 = 8 * 1024 * 1024;

/// What stands beside the bridge file and is never taken over, where there is anything: whoever put it there waits in vain.
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

/// Returns the ids of the newest entries of a ledger, as far as it can be read at once: without them, the rest is told all
/// the same.
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

/// What was handed over to an agent in a project, and not picked up.
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

/// Whether a client keeps what its model runs from writing outside of the project, unless it is told otherwise.
pub fn is_sandboxed(client: Option<&Client>) -> bool {
    client.is_some_and(|client| client.has_sandbox)
}

/// Why hand-offs cannot be read.
#[derive(Debug, thiserror::Error)]
enum WaitingError {
    /// The disk does not say.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A session's files cannot be used.
    #[error(transparent)]
    Session(#[from] SessionError),
}
