//! Errors that read alike: candidates by their words, ranked by edit distance (Seed CAKE §3, `get_similar_errors`).

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, params};

use super::{
    RecallDb, RecallError,
    record::{COLUMNS, ErrorRecord},
};

/// The seed's threshold of similarity.
pub const THRESHOLD: f64 = 0.85;

/// Most candidates that one search of the index returns.
const MOST_CANDIDATES: u32 = 24;

/// Most words of a text that the index is asked for.
const MOST_WORDS: usize = 6;

/// Words that may differ between two similar errors: the longest ones are left out in turn.
const MOST_LEFT_OUT: usize = 3;

/// An error that reads like another.
#[derive(Clone, Debug, PartialEq)]
pub struct Similar {
    /// The error.
    pub record: ErrorRecord,
    /// Its similarity, from 0 to 1.
    pub score: f64,
}

impl RecallDb {
    /// Returns the errors whose normalized text is at least `threshold` like this one, most similar first.
    ///
    /// The index finds the latest errors that share all long words but one; [`strsim`] ranks them.
    pub fn similar(
        &self,
        normalized: &str,
        threshold: f64,
        limit: usize,
    ) -> Result<Vec<Similar>, RecallError> {
        self.read(|connection| {
            let mut ranked: Vec<(f64, i64)> = candidates(connection, normalized)?
                .into_iter()
                .map(|(id, text)| (similarity(normalized, &text), id))
                .filter(|(score, _)| *score >= threshold)
                .collect();
            ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
            ranked.truncate(limit);
            let sql = format!("SELECT {COLUMNS} FROM error_memory WHERE id = ?1");
            let mut query = connection.prepare_cached(&sql)?;
            ranked
                .into_iter()
                .map(|(score, id)| {
                    let record = query.query_row([id], ErrorRecord::read)?;
                    Ok(Similar { record, score })
                })
                .collect()
        })
    }
}

/// Returns how alike two normalized texts are, from 0 to 1: 1 minus the edit distance over the longer length.
pub fn similarity(one: &str, other: &str) -> f64 {
    // Lengths alone decide most pairs.
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    if long > 0 && (short as f64) / (long as f64) < THRESHOLD / 2.0 {
        return 0.0;
    }
    strsim::normalized_levenshtein(one, other)
}

/// Returns the ids and texts of errors that share long words with a text.
fn candidates(
    connection: &Connection,
    normalized: &str,
) -> rusqlite::Result<BTreeMap<i64, String>> {
    let mut words: Vec<&str> = normalized
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().count() >= 3)
        .collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(*word));
    words.truncate(MOST_WORDS);
    // A conjunction is answered by the shortest list of the index.
    let mut forms: Vec<Vec<&str>> = vec![words.clone()];
    for left_out in 0..words.len().min(MOST_LEFT_OUT) {
        let mut some = words.clone();
        some.remove(left_out);
        forms.push(some);
    }
    let mut query = connection.prepare_cached(
        "SELECT error_memory.id, error_memory.normalized FROM error_text \
         JOIN error_memory ON error_memory.id = error_text.rowid \
         WHERE error_text MATCH ?1 ORDER BY error_text.rowid DESC LIMIT ?2",
    )?;
    let mut found = BTreeMap::new();
    for form in forms.iter().filter(|form| !form.is_empty()) {
        let text: Vec<String> = form.iter().map(|word| format!("\"{word}\"")).collect();
        let rows = query.query_map(params![text.join(" AND "), MOST_CANDIDATES], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        for row in rows {
            let (id, text) = row?;
            found.insert(id, text);
        }
    }
    Ok(found)
}
