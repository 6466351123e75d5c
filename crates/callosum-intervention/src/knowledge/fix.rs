//! [`Fix`]: something that made an error go away, and how often it helped.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use serde::Serialize;

use super::{Episodes, Learned, Observation};
use crate::recall::{Place, RecallDb, RecallError, THRESHOLD, cut, similarity};

/// Most fixes of one type of error that are compared.
const MOST_COMPARED: u32 = 200;

/// Most commands and files of one fix.
const MOST_PARTS: usize = 10;

/// A stored fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// Its id.
    pub id: i64,
    /// The error that it fixed.
    pub error_signature: String,
    /// The error's type.
    pub error_type: String,
    /// Commands that were run, in order.
    pub commands: Vec<String>,
    /// Files that were changed.
    pub files: Vec<String>,
    /// The note that a person wrote about it.
    pub note: Option<String>,
    /// The client whose session showed it.
    pub client: String,
    /// When it was learned, in UTC.
    pub learned_at: String,
    /// Number of times it helped.
    pub worked: u32,
    /// Number of times it did not help.
    pub failed: u32,
    /// Mean seconds from the error to the success.
    pub mean_seconds: u32,
    /// Whether a person confirmed or wrote it.
    pub confirmed: bool,
}

pub(super) const COLUMNS: &str = "id, error_signature, error_type, commands, files, note, client, learned_at, worked, failed, \
     seconds, confirmed, normalized";

impl Fix {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let list = |text: String| serde_json::from_str(&text).unwrap_or_default();
        let (worked, seconds): (u32, i64) = (row.get(8)?, row.get(10)?);
        Ok(Self {
            id: row.get(0)?,
            error_signature: row.get(1)?,
            error_type: row.get(2)?,
            commands: list(row.get(3)?),
            files: list(row.get(4)?),
            note: row.get(5)?,
            client: row.get(6)?,
            learned_at: row.get(7)?,
            worked,
            failed: row.get(9)?,
            mean_seconds: u32::try_from(seconds / i64::from(worked.max(1))).unwrap_or(u32::MAX),
            confirmed: row.get(11)?,
        })
    }

    /// Returns whether it may be proposed: it did not fail more often than it helped, or a person confirmed it.
    pub fn is_offered(&self) -> bool {
        self.confirmed || self.failed <= self.worked
    }

    /// Returns its rank among fixes of one error; higher is better.
    fn rank(&self) -> (bool, i64, String) {
        let balance = i64::from(self.worked) - 2 * i64::from(self.failed);
        (self.confirmed, balance, self.learned_at.clone())
    }
}

impl RecallDb {
    /// Takes in what a session did, stores the fixes that it shows, and returns them.
    ///
    /// One transaction, so that two hooks of a session that run at once lose nothing.
    pub fn observe(
        &self,
        observation: &Observation<'_>,
        place: &Place,
        now: Timestamp,
    ) -> Result<(Episodes, Vec<Learned>), RecallError> {
        let session = format!("{}:{}", place.client, place.session);
        self.write(|transaction| {
            let stored: Option<String> = transaction
                .query_row(
                    "SELECT state FROM episode WHERE project = ?1 AND session = ?2",
                    params![place.project, session],
                    |row| row.get(0),
                )
                .optional()?;
            // A state of another version teaches nothing, and is replaced.
            let mut episodes: Episodes = stored
                .as_deref()
                .and_then(|state| serde_json::from_str(state).ok())
                .unwrap_or_default();
            let before = episodes.clone();
            let learned = episodes.observe(observation, now);
            for fix in &learned {
                learn(transaction, fix, place, now)?;
            }
            if episodes.is_empty() {
                transaction.execute(
                    "DELETE FROM episode WHERE project = ?1 AND session = ?2",
                    params![place.project, session],
                )?;
            } else if episodes != before {
                let state = serde_json::to_string(&episodes).unwrap_or_default();
                transaction.execute(
                    "INSERT OR REPLACE INTO episode (project, session, state, at) VALUES (?1, ?2, ?3, ?4)",
                    params![place.project, session, state, now.to_string()],
                )?;
            }
            Ok((episodes, learned))
        })
    }

    /// Returns the best fix for an error: of the same signature, else of a similar error of the same type.
    pub fn known_fix(
        &self,
        signature: &str,
        normalized: &str,
        error_type: &str,
        project: &str,
    ) -> Result<Option<Fix>, RecallError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM fix WHERE project = ?1 AND error_type = ?2 ORDER BY learned_at DESC LIMIT ?3"
        );
        let fixes = self.read(|connection| {
            let mut query = connection.prepare_cached(&sql)?;
            query
                .query_map(params![project, error_type, MOST_COMPARED], |row| {
                    let text: String = row.get(12)?;
                    Ok((Fix::read(row)?, text))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let offered = || fixes.iter().filter(|(fix, _)| fix.is_offered());
        let exact = offered()
            .filter(|(fix, _)| fix.error_signature == signature)
            .max_by_key(|(fix, _)| fix.rank());
        let best = exact.or_else(|| {
            offered()
                .filter(|(_, text)| {
                    // The error of another missing module is similar, but has another fix.
                    quoted_names(normalized) == quoted_names(text)
                        && similarity(normalized, text) >= THRESHOLD
                })
                .max_by_key(|(fix, _)| fix.rank())
        });
        Ok(best.map(|(fix, _)| fix.clone()))
    }

    /// Returns the fixes of an error, best first, those that are not offered included.
    pub fn fixes(&self, signature: &str, project: &str) -> Result<Vec<Fix>, RecallError> {
        let sql = format!("SELECT {COLUMNS} FROM fix WHERE error_signature = ?1 AND project = ?2");
        let mut fixes = self.read(|connection| {
            let mut query = connection.prepare(&sql)?;
            query
                .query_map(params![signature, project], Fix::read)?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        fixes.sort_by_key(|fix| std::cmp::Reverse(fix.rank()));
        Ok(fixes)
    }

    /// Counts a person's verdict on a fix. Returns whether there is such a fix.
    pub fn judge_fix(&self, id: i64, project: &str, has_worked: bool) -> Result<bool, RecallError> {
        let sql = if has_worked {
            "UPDATE fix SET worked = worked + 1, confirmed = 1 WHERE id = ?1 AND project = ?2"
        } else {
            "UPDATE fix SET failed = failed + 1, confirmed = 0 WHERE id = ?1 AND project = ?2"
        };
        self.write(|transaction| Ok(transaction.execute(sql, params![id, project])? > 0))
    }

    /// Stores what a person wrote as the fix of an error.
    pub fn add_fix(&self, fix: &PersonalFix<'_>, now: Timestamp) -> Result<i64, RecallError> {
        let commands = serde_json::to_string(fix.commands).unwrap_or_default();
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO fix (error_signature, project, error_type, normalized, commands, files, note, client, \
                 learned_at, confirmed) VALUES (?1, ?2, ?3, ?4, ?5, '[]', ?6, 'person', ?7, 1) \
                 ON CONFLICT DO UPDATE SET confirmed = 1, note = excluded.note",
                params![
                    fix.signature,
                    fix.project,
                    fix.error_type,
                    fix.normalized,
                    commands,
                    fix.note.map(cut),
                    now.to_string()
                ],
            )?;
            transaction.query_row(
                "SELECT id FROM fix WHERE error_signature = ?1 AND project = ?2 AND commands = ?3 AND files = '[]'",
                params![fix.signature, fix.project, commands],
                |row| row.get(0),
            )
        })
    }
}

/// Returns the words of a text that are in quotation marks, in order.
pub(super) fn quoted_names(text: &str) -> Vec<&str> {
    text.split(['\'', '"', '`']).skip(1).step_by(2).collect()
}

/// A fix that a person writes down.
#[derive(Clone, Copy, Debug)]
pub struct PersonalFix<'a> {
    /// The error.
    pub signature: &'a str,
    /// The error's normalized text.
    pub normalized: &'a str,
    /// The error's type.
    pub error_type: &'a str,
    /// The root of the project.
    pub project: &'a str,
    /// Commands that fix it.
    pub commands: &'a [String],
    /// A note about it.
    pub note: Option<&'a str>,
}

/// Stores a fix, or counts that a known one helped again, and settles what was sent about the error.
fn learn(
    transaction: &Transaction<'_>,
    learned: &Learned,
    place: &Place,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let known: Option<(String, String)> = transaction
        .query_row(
            "SELECT error_type, normalized FROM error_memory WHERE error_signature = ?1 AND project = ?2",
            params![learned.signature, place.project],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let Some((error_type, normalized)) = known else {
        return Ok(());
    };
    let parts = |list: &[String]| {
        let list: Vec<&str> = list.iter().take(MOST_PARTS).map(|part| cut(part)).collect();
        serde_json::to_string(&list).unwrap_or_default()
    };
    transaction.execute(
        "INSERT INTO fix (error_signature, project, error_type, normalized, commands, files, client, learned_at, \
         seconds, attempts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
         ON CONFLICT DO UPDATE SET worked = worked + 1, seconds = seconds + excluded.seconds, \
         attempts = attempts + excluded.attempts, learned_at = excluded.learned_at",
        params![
            learned.signature,
            place.project,
            error_type,
            normalized,
            parts(&learned.commands),
            parts(&learned.files),
            place.client,
            now.to_string(),
            learned.seconds,
            learned.attempts
        ],
    )?;
    transaction.execute(
        "UPDATE error_memory SET success_count = success_count + 1 WHERE error_signature = ?1 AND project = ?2",
        params![learned.signature, place.project],
    )?;
    transaction.execute(
        "UPDATE intervention SET success = 1, seconds = ?4 WHERE error_signature = ?1 AND project = ?2 \
         AND session = ?3 AND success IS NULL",
        params![learned.signature, place.project, place.session, learned.seconds],
    )?;
    Ok(())
}
