//! Errors that read alike: candidates by shared keys, ranked by edit distance (Seed CAKE §3, `get_similar_errors`).

use rusqlite::OptionalExtension as _;

use super::{
    RecallDb, RecallError,
    distance::Pattern,
    index,
    record::{COLUMNS, ErrorRecord},
};

/// The seed's threshold of similarity.
pub const THRESHOLD: f64 = 0.85;

/// Characters of candidates that one search compares at most: 160 candidates, or fewer if texts are long.
const MOST_COMPARED: usize = 25_600;

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
    /// The index finds the latest errors that share a key (see `super::keys`), those that share most first. Of texts that
    /// differ in one word it finds all, and of similar ones nearly all, unless hundreds of errors share each key.
    pub fn similar(
        &self,
        normalized: &str,
        threshold: f64,
        limit: usize,
    ) -> Result<Vec<Similar>, RecallError> {
        let pattern = Pattern::new(normalized);
        let most = (MOST_COMPARED / normalized.len().max(1)).clamp(48, 160);
        self.read(|connection| {
            let mut text =
                connection.prepare_cached("SELECT normalized FROM error_memory WHERE id = ?1")?;
            let mut ranked: Vec<(f64, i64)> = Vec::new();
            for id in index::candidates(connection, normalized, most)? {
                let text: Option<String> = text.query_row([id], |row| row.get(0)).optional()?;
                let score = text.and_then(|text| pattern.similarity(&text, threshold));
                ranked.extend(score.map(|score| (score, id)));
            }
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
    Pattern::new(one).similarity(other, 0.0).unwrap_or(0.0)
}
