//! The rows of `error_key`: which errors have which [`Keys`].
//!
//! Keys are recomputed from the stored text to remove them, so each place that removes an error calls [`remove`] first.

use std::collections::HashMap;

use rusqlite::{Connection, Transaction, params};

use super::keys::Keys;

/// Errors that one key returns at most, the latest ones.
const MOST_OF_A_KEY: u32 = 64;

/// Errors that all keys return at most. A search of frequent keys stops there, the most selective keys being first.
const MOST_OF_ALL: usize = 3_000;

/// Weight of a shared set of words; a pair of runs counts 1. A set covers the whole text but one word.
const WEIGHT_OF_A_SET: u32 = 3;

/// Errors that are indexed when a file of version 1 is opened, the latest ones. It takes a hook about 50 ms, once; older
/// errors are found by all other means until they expire.
const MOST_REBUILT: u32 = 2_000;

/// Adds the keys of an error. Some may exist if a full disk kept them and the id is used again.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    error: i64,
    normalized: &str,
) -> rusqlite::Result<()> {
    let mut query = transaction
        .prepare_cached("INSERT OR IGNORE INTO error_key (key, error) VALUES (?1, ?2)")?;
    for key in Keys::stored(normalized).into_sorted() {
        query.execute(params![key, error])?;
    }
    Ok(())
}

/// Removes the keys of an error.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    error: i64,
    normalized: &str,
) -> rusqlite::Result<()> {
    let mut query =
        transaction.prepare_cached("DELETE FROM error_key WHERE key = ?1 AND error = ?2")?;
    for key in Keys::stored(normalized).into_sorted() {
        query.execute(params![key, error])?;
    }
    Ok(())
}

/// Adds the keys of the latest errors to an empty index.
pub(super) fn rebuild(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut latest =
        transaction.prepare("SELECT id, normalized FROM error_memory ORDER BY id DESC LIMIT ?1")?;
    let rows = latest.query_map([MOST_REBUILT], |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?))
    })?;
    for row in rows {
        let (error, normalized) = row?;
        insert(transaction, error, &normalized)?;
    }
    Ok(())
}

/// Returns the ids of at most `most` errors that share keys with a text, those that share most of them first, and the
/// latest of equals first. An id may be of an error that is gone.
pub(super) fn candidates(
    connection: &Connection,
    normalized: &str,
    most: usize,
) -> rusqlite::Result<Vec<i64>> {
    let keys = Keys::wanted(normalized);
    let weighted = keys
        .sets
        .iter()
        .map(|key| (*key, WEIGHT_OF_A_SET))
        .chain(keys.pairs.iter().map(|key| (*key, 1)));
    let mut query = connection.prepare_cached(
        "SELECT error FROM error_key WHERE key = ?1 ORDER BY error DESC LIMIT ?2",
    )?;
    let mut weights: HashMap<i64, u32> = HashMap::new();
    let mut read = 0;
    for (key, weight) in weighted {
        for error in query.query_map(params![key, MOST_OF_A_KEY], |row| row.get(0))? {
            *weights.entry(error?).or_default() += weight;
            read += 1;
        }
        if read >= MOST_OF_ALL {
            break;
        }
    }
    let mut ranked: Vec<(u32, i64)> = weights
        .into_iter()
        .map(|(error, weight)| (weight, error))
        .collect();
    ranked.sort_unstable_by(|one, other| other.cmp(one));
    ranked.truncate(most);
    Ok(ranked.into_iter().map(|(_, error)| error).collect())
}
