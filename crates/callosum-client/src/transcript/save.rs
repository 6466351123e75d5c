//! [`save`]: a checkpoint of the time since the last one, written from a transcript.

use std::{path::Path, time::Duration};

use callosum_host::DiskError;
use callosum_session::{
    Config, Delta, Session, SessionError, Synthesized,
    budget::Budget,
    heal::{Healed, Past},
};

use super::{activity::Work, usage::usage};

/// The reason why no checkpoint was written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The transcript cannot be read.
    #[error(transparent)]
    Transcript(#[from] DiskError),
    /// The session's files do not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// The files that were written.
#[derive(Debug, Default)]
pub struct Saved {
    /// The checkpoint; `None` if nothing happened since the last one.
    pub synthesized: Option<Synthesized>,
    /// Files that were repaired before.
    pub healed: Vec<Healed>,
}

/// Writes a checkpoint of a session: the work in its transcript since the last one, and records of
/// its trajectory that the notes lack. Writes nothing if nothing happened since; that costs a look
/// at the transcript's end, and nothing is locked or written if it did not grow. One that became
/// shorter is read from its start.
///
/// It waits as long as `patience` for another session's step. Notes that a crash has left torn or
/// blank are healed first, from `past`.
pub fn save(
    session: &Session<'_>,
    config: &Config,
    transcript: Option<&Path>,
    session_id: Option<&str>,
    patience: Duration,
    past: &dyn Past,
) -> Result<Saved, SaveError> {
    let mut delta = Delta {
        session_id: session_id.map(str::to_owned),
        ..Delta::default()
    };
    if let Some(path) = transcript {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let since = session.position(&name)?;
        let work = Work::since(session.disk, path, since, &session.zones.tree)?;
        if work.position <= since && since > 0 && !work.is_from_start {
            return Ok(Saved::default());
        }
        delta.shrunk_from = work.is_from_start.then_some(since);
        if let Some(reading) = usage(session.disk, path)? {
            let budget = Budget::of(&reading.usage, &config.limits);
            delta.tokens = Some(budget.tokens);
            delta.zone = Some(budget.zone);
        }
        delta.position = Some((name.into_owned(), work.position));
        delta.files = work.files;
        delta.reasoning = work.at;
    }
    let held = session.hold_within(patience)?;
    let healed = held.heal_torn_notes(past)?;
    held.note_healed(&healed)?;
    Ok(Saved {
        synthesized: held.synthesize(&delta)?,
        healed,
    })
}
