//! [`Memory::related`]: turns that have most of what a text says, from the index as it is.
//!
//! Other than a search, it says nothing rather than something far-fetched: a turn counts only if it has enough of the text's
//! words, weighted by their rarity. It knows no vectors, since reading a model takes longer than a session's start may.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use callosum_search::Query;
use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};

use super::{
    memory::{Memory, MemoryError, failed},
    origin::Origin,
    rank::{Limits, TURNS, count, quoted, rarity, sort},
    search::SessionSearch,
    turn_id::session_of,
};

/// Words of a text that are looked up; the rest of a long text is not read.
const MOST_WORDS: usize = 24;

/// Fewest characters of a word that says something.
const SHORTEST: usize = 3;

/// Fewest words that a turn shares with a text of more than four; with a shorter one it shares two thirds.
const FEWEST: usize = 3;

/// A word in more turns than this share of all says nothing.
const COMMON: f64 = 0.05;

/// A word in at most so many turns is never common.
const FEW: usize = 200;

/// An index of fewer turns says little about how rare a word is, and counts as one of so many.
const SMALL: f64 = 1000.0;

/// Turns whose sessions are looked at.
const MOST_TURNS: usize = 50;

/// A turn that is related to a text.
#[derive(Clone, Debug, PartialEq)]
pub struct RelatedHit {
    /// Its origin.
    pub origin: Origin,
    /// Its session's id.
    pub session: String,
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its text.
    pub text: String,
    /// Share of the text's words that it has, weighted by their rarity, from 0 to 1.
    pub share: f64,
}

impl Memory {
    /// Opens an index for reading; `None` if there is none, or one of another version. Makes and changes nothing.
    ///
    /// # Errors
    /// SQLite cannot use the file.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, MemoryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match Connection::open_with_flags(path, flags) {
            Ok(connection) => connection,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
                return Ok(None);
            }
            Err(source) => return Err(failed(path, source)),
        };
        Self::of_reader(connection, path).map_err(|source| failed(path, source))
    }

    /// Returns turns that have at least this share of one of the texts, the best of each session for each text, best first.
    /// Sessions are those in `folders`.
    ///
    /// Costs a look-up per word, and never a pass over all turns.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn related(
        &self,
        texts: &[Query],
        folders: &[PathBuf],
        least: f64,
        limit: usize,
    ) -> Result<Vec<RelatedHit>, MemoryError> {
        let Some(first) = texts.first() else {
            return Ok(Vec::new());
        };
        let search = SessionSearch {
            folders: Some(folders.to_vec()),
            ..SessionSearch::of(first.clone())
        };
        self.read(|connection| {
            let limits = Limits::of(connection, &search)?;
            let mut hits: Vec<RelatedHit> = Vec::new();
            for text in texts {
                hits.extend(related(connection, text, &limits, least, limit)?);
            }
            hits.sort_by(|one, other| other.share.total_cmp(&one.share));
            Ok(hits)
        })
    }
}

fn related(
    connection: &Connection,
    text: &Query,
    limits: &Limits,
    least: f64,
    limit: usize,
) -> rusqlite::Result<Vec<RelatedHit>> {
    let all = (count(connection, TURNS)? as f64).max(SMALL);
    let most = ((all * COMMON) as usize).max(FEW);
    let enough = i64::try_from(most + 1).unwrap_or(i64::MAX);
    let mut seen = HashSet::new();
    let words = text
        .simple_words()
        .filter(|word| word.chars().count() >= SHORTEST)
        .filter(|word| seen.insert(*word));
    let mut weights: HashMap<i64, (f64, usize)> = HashMap::new();
    let (mut total, mut known) = (0.0, 0_usize);
    let mut statement =
        connection.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 LIMIT ?2")?;
    for word in words.take(MOST_WORDS) {
        let rows = statement.query_map((quoted(word), enough), |row| row.get::<_, i64>(0))?;
        let turns: Vec<i64> = rows.collect::<rusqlite::Result<_>>()?;
        if turns.len() > most {
            continue;
        }
        let weight = rarity(all, turns.len());
        total += weight;
        known += 1;
        for turn in turns {
            if limits.session(session_of(turn)) {
                let (sum, shared) = weights.entry(turn).or_default();
                *sum += weight;
                *shared += 1;
            }
        }
    }
    let fitting = weights.into_iter().filter(|(_, (sum, shared))| {
        *shared >= FEWEST.min(known - known / 3) && *sum >= least * total
    });
    let mut turns: Vec<(i64, f64)> = fitting
        .map(|(turn, (sum, _))| (turn, sum / total))
        .collect();
    sort(&mut turns);
    turns.truncate(MOST_TURNS);
    let mut statement = connection.prepare_cached(
        "SELECT client, name, at, text FROM turn JOIN session ON session.id = turn.id >> 20 WHERE turn.id = ?1",
    )?;
    let (mut hits, mut met) = (Vec::new(), HashSet::new());
    for (turn, share) in turns {
        if hits.len() == limit {
            break;
        }
        if !met.insert(session_of(turn)) {
            continue;
        }
        let hit = statement.query_row([turn], |row| {
            let origin: String = row.get(0)?;
            let at: Option<i64> = row.get(2)?;
            let Some(origin) = Origin::of(&origin) else {
                return Ok(None);
            };
            Ok(Some(RelatedHit {
                origin,
                session: row.get(1)?,
                at: at.and_then(|at| Timestamp::from_millisecond(at).ok()),
                text: row.get(3)?,
                share,
            }))
        });
        hits.extend(hit.optional()?.flatten());
    }
    Ok(hits)
}
