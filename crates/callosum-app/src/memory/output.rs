//! Results of the memory of past sessions, as `--json` prints them.

use callosum_host::Disk;
use callosum_memory::{
    ClientFolder, Memory, Origin, RecordKind, SessionHit, StoredTurn, UpdateReport,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{MemoryMachine, MemorySettings, unusable, verify};
use crate::CommandError;

/// `callosum find --sessions --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SessionsFoundOutput {
    /// The sessions, the best first.
    pub sessions: Vec<SessionHitOutput>,
    /// Turns that were read before the search, since clients had added them.
    pub added_turns: u64,
}

/// A session that was found.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SessionHitOutput {
    /// The client: `claude-code`, `codex`, `gemini-cli`, `qwen-code` or `opencode`. Of a record its kind: `ledger`, `decision`,
    /// `message`, `task`, `discovery` or `plan`.
    pub agent: String,
    /// The session's id, or the record's.
    pub session: String,
    /// The folder that it ran in, or the project's, if it is known.
    pub folder: Option<String>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The time of its first turn.
    pub first: Option<String>,
    /// The time of its last turn.
    pub last: Option<String>,
    /// From 0 to 1: the share of the highest possible rank.
    pub score: f64,
    /// `verified` if each citation in the turns holds in the folder as it is now, `partly verified` if some do, `refuted` if
    /// none does, `not verified` if they cite nothing or the folder is gone.
    pub verified: String,
    /// Citations in the turns.
    pub citations: u64,
    /// Those that hold.
    pub citations_held: u64,
    /// The command that resumes the session, or shows the record, as words. It is run in the folder.
    pub resume: Vec<String>,
    /// Its best turns, the best first.
    pub turns: Vec<TurnHitOutput>,
}

/// A turn that was found.
#[derive(Debug, JsonSchema, Serialize)]
pub struct TurnHitOutput {
    /// `user`, `agent`, `call`, `failure` or `summary`.
    pub speaker: String,
    /// Its time.
    pub at: Option<String>,
    /// Its text, without secrets, at most 8 KiB.
    pub text: String,
}

/// A turn of the index, a line of `callosum memory export`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StoredTurnOutput {
    /// The client, or the kind of a record.
    pub agent: String,
    /// The session's id.
    pub session: String,
    /// The folder that the session ran in, if it is known.
    pub folder: Option<String>,
    /// The session's title, if it has one.
    pub title: Option<String>,
    /// `user`, `agent`, `call`, `failure` or `summary`.
    pub speaker: String,
    /// The turn's time.
    pub at: Option<String>,
    /// Its text, without secrets, at most 8 KiB.
    pub text: String,
}

/// `callosum memory on`, `off`, `exclude`, `forget` and `rebuild` with `--json`.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize)]
pub struct MemoryChangeOutput {
    /// Turns that were read.
    pub added: u64,
    /// Turns that were removed.
    pub removed: u64,
}

impl From<UpdateReport> for MemoryChangeOutput {
    fn from(report: UpdateReport) -> Self {
        Self {
            added: report.added,
            removed: report.removed,
        }
    }
}

/// `callosum memory status --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MemoryStatusOutput {
    /// Whether it is on.
    pub on: bool,
    /// Sessions in the index, each record of ours counted as one.
    pub sessions: u64,
    /// Turns in the index.
    pub turns: u64,
    /// Size of the index on the disk, in bytes.
    pub bytes: u64,
    /// Whether a model of word vectors is used.
    pub model: bool,
    /// The clients, each with its sessions.
    pub agents: Vec<AgentMemoryOutput>,
    /// Records of ours by their kind.
    pub records: Vec<RecordMemoryOutput>,
    /// Folders whose sessions are left out.
    pub excluded: Vec<String>,
    /// Number of sessions that were forgotten, and are not read again.
    pub forgotten: u64,
}

/// A kind of records of ours, as the memory knows it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecordMemoryOutput {
    /// `ledger`, `decision`, `message`, `task`, `discovery` or `plan`.
    pub kind: String,
    /// Records in the index.
    pub records: u64,
    /// Turns in the index.
    pub turns: u64,
}

/// A client, as the memory knows it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AgentMemoryOutput {
    /// Its name.
    pub agent: String,
    /// Its folder.
    pub folder: String,
    /// Whether the folder is there.
    pub installed: bool,
    /// Sessions in the index.
    pub sessions: u64,
    /// Turns in the index.
    pub turns: u64,
}

pub(super) fn hit(disk: &Disk, hit: SessionHit) -> SessionHitOutput {
    let folder = hit.folder.as_deref();
    let tallies = hit.turns.iter();
    let (citations, citations_held) = tallies
        .filter_map(|turn| verify::tally(disk, folder, &turn.text))
        .fold((0, 0), |(all, held), tally| {
            (all + tally.total, held + tally.verified + tally.moved)
        });
    let verified = match (citations, citations_held) {
        (0, _) => "not verified",
        (all, held) if all == held => "verified",
        (_, 0) => "refuted",
        _ => "partly verified",
    };
    let turns = hit.turns.into_iter().map(|turn| TurnHitOutput {
        speaker: turn.speaker.name().to_owned(),
        at: turn.at.map(|at| at.to_string()),
        text: turn.text,
    });
    SessionHitOutput {
        agent: hit.origin.name().to_owned(),
        resume: hit.origin.command(&hit.session),
        session: hit.session,
        folder: hit.folder,
        title: hit.title,
        first: hit.first.map(|at| at.to_string()),
        last: hit.last.map(|at| at.to_string()),
        score: (hit.score * 1000.0).round() / 1000.0,
        verified: verified.to_owned(),
        citations,
        citations_held,
        turns: turns.collect(),
    }
}

pub(super) fn stored(turn: StoredTurn) -> StoredTurnOutput {
    StoredTurnOutput {
        agent: turn.origin.name().to_owned(),
        session: turn.session,
        folder: turn.folder,
        title: turn.title,
        speaker: turn.turn.speaker.name().to_owned(),
        at: turn.turn.at.map(|at| at.to_string()),
        text: turn.turn.text,
    }
}

pub(super) fn status(
    machine: &MemoryMachine,
    settings: MemorySettings,
    memory: Option<&Memory>,
    folders: &[ClientFolder],
) -> Result<MemoryStatusOutput, CommandError> {
    let sizes = memory.map(Memory::sizes).transpose();
    let sizes = sizes.map_err(|error| unusable(&error))?.unwrap_or_default();
    let by_origin = memory.map(Memory::by_origin).transpose();
    let by_origin = by_origin
        .map_err(|error| unusable(&error))?
        .unwrap_or_default();
    let counts = |origin: Origin| by_origin.get(&origin).copied().unwrap_or_default();
    let agents = folders.iter().map(|folder| {
        let (sessions, turns) = counts(folder.client.into());
        AgentMemoryOutput {
            agent: folder.client.name().to_owned(),
            folder: folder.path.display().to_string(),
            installed: machine.disk.exists(&folder.path).unwrap_or(false),
            sessions,
            turns,
        }
    });
    let records = RecordKind::ALL.into_iter().map(|kind| {
        let (records, turns) = counts(kind.into());
        RecordMemoryOutput {
            kind: kind.name().to_owned(),
            records,
            turns,
        }
    });
    let excluded = settings.excluded.iter();
    Ok(MemoryStatusOutput {
        on: settings.on,
        sessions: sizes.sessions,
        turns: sizes.turns,
        bytes: sizes.bytes,
        model: machine.disk.exists(&machine.homes.model()).unwrap_or(false),
        agents: agents.collect(),
        records: records.collect(),
        excluded: excluded
            .map(|folder| folder.display().to_string())
            .collect(),
        forgotten: settings.forgotten.len() as u64,
    })
}
