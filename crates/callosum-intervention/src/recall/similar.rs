//! Errors that read alike: candidates by trigrams, ranked by edit distance (Seed CAKE §3, `get_similar_errors`).

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::{
    RecallDb, RecallError,
    record::{COLUMNS, ErrorRecord},
};

/// The seed's threshold of similarity.
pub const THRESHOLD: f64 = 0.85;

/// Most candidates that are compared.
const MOST_CANDIDATES: u32 = 60;

/// Most trigrams of a text that the index is asked for.
const MOST_TRIGRAMS: usize = 6;

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
    /// The index finds candidates that share the longest words; [`strsim`] ranks at most 60 of them.
    pub fn similar(
        &self,
        normalized: &str,
        threshold: f64,
        limit: usize,
    ) -> Result<Vec<Similar>, RecallError> {
        self.read(|connection| {
            let mut similar = Vec::new();
            for (text, record) in candidates(connection, normalized)? {
                let score = similarity(normalized, &text);
                if score >= threshold {
                    similar.push(Similar { record, score });
                }
            }
            similar.sort_by(|one, other| {
                (other.score.total_cmp(&one.score))
                    .then_with(|| other.record.last_seen.cmp(&one.record.last_seen))
            });
            similar.truncate(limit);
            Ok(similar)
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

/// Returns errors that share long words with a text.
///
/// All of the words at first, then fewer: a conjunction is answered by the index alone, while a disjunction of common
/// trigrams would rank every row of the table.
fn candidates(
    connection: &Connection,
    normalized: &str,
) -> rusqlite::Result<Vec<(String, ErrorRecord)>> {
    let mut words: Vec<&str> = normalized
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| word.chars().count() >= 3)
        .collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(*word));
    words.truncate(MOST_TRIGRAMS);
    let sql = format!(
        "SELECT {COLUMNS}, error_memory.normalized FROM error_text JOIN error_memory ON error_memory.id = error_text.rowid \
         WHERE error_text MATCH ?1 ORDER BY error_text.rowid DESC LIMIT ?2"
    );
    let mut query = connection.prepare_cached(&sql)?;
    let mut found: Vec<(String, ErrorRecord)> = Vec::new();
    let mut known = HashSet::new();
    // The words that differ between similar errors are dropped one by one, the longest and the shortest first.
    let mut forms: Vec<Vec<&str>> = vec![words.clone()];
    for left_out in 0..words.len() {
        let mut some = words.clone();
        some.remove(left_out);
        forms.push(some);
    }
    if words.len() > 3 {
        forms.push(words[1..words.len() - 1].to_vec());
        forms.push(words[words.len() / 2..].to_vec());
    }
    for form in forms {
        if form.is_empty() || found.len() >= MOST_CANDIDATES as usize {
            continue;
        }
        let text: Vec<String> = form.iter().map(|word| format!("\"{word}\"")).collect();
        let rows = query.query_map(params![text.join(" AND "), MOST_CANDIDATES], |row| {
            let normalized: String = row.get(14)?;
            Ok((normalized, ErrorRecord::read(row)?))
        })?;
        for row in rows {
            let (text, record) = row?;
            if known.insert((record.error_signature.clone(), record.project.clone())) {
                found.push((text, record));
            }
        }
    }
    Ok(found)
}
