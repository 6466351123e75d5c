//! Listing, showing and forgetting errors.

use callosum_diagnose::Severity;
use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use super::{
    RecallDb, RecallError, index,
    record::{COLUMNS, ErrorRecord},
};

/// Most errors that one signature prefix may name.
const MOST_NAMED: u32 = 3;

/// Most messages of one error that are listed.
const MOST_SENT: u32 = 50;

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRecord {
    /// Its id.
    pub id: String,
    /// The client that it was sent to.
    pub client: String,
    /// Its level, from 1 to 4.
    pub level: u8,
    /// The message.
    pub text: String,
    /// When it was sent, in UTC.
    pub at: String,
    /// Whether it helped; `None` until that is known.
    pub success: Option<bool>,
}

impl RecallDb {
    /// Returns the errors of a project, or of all, that were seen last first.
    pub fn list(
        &self,
        project: Option<&str>,
        error_type: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ErrorRecord>, RecallError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM error_memory WHERE (?1 IS NULL OR project = ?1) \
             AND (?2 IS NULL OR error_type = ?2) ORDER BY last_seen DESC, id DESC LIMIT ?3"
        );
        self.read(|connection| {
            let mut query = connection.prepare(&sql)?;
            query
                .query_map(params![project, error_type, limit], ErrorRecord::read)?
                .collect()
        })
    }

    /// Returns the errors whose signature begins with this, with or without `sha256:`; at most three.
    pub fn named(
        &self,
        prefix: &str,
        project: Option<&str>,
    ) -> Result<Vec<ErrorRecord>, RecallError> {
        let prefix = prefix.strip_prefix("sha256:").unwrap_or(prefix);
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let first = format!("sha256:{}", prefix.to_lowercase());
        let sql = format!(
            "SELECT {COLUMNS} FROM error_memory WHERE error_signature >= ?1 AND error_signature < ?1 || 'g' \
             AND (?2 IS NULL OR project = ?2) LIMIT ?3"
        );
        self.read(|connection| {
            let mut query = connection.prepare(&sql)?;
            query
                .query_map(params![first, project, MOST_NAMED], ErrorRecord::read)?
                .collect()
        })
    }

    /// Returns the normalized text of an error.
    pub fn normalized(
        &self,
        signature: &str,
        project: &str,
    ) -> Result<Option<String>, RecallError> {
        self.read(|connection| {
            connection
                .query_row(
                    "SELECT normalized FROM error_memory WHERE error_signature = ?1 AND project = ?2",
                    params![signature, project],
                    |row| row.get(0),
                )
                .optional()
        })
    }

    /// Returns the messages that were sent about an error, the latest first.
    pub fn interventions(
        &self,
        signature: &str,
        project: &str,
    ) -> Result<Vec<SentRecord>, RecallError> {
        self.read(|connection| {
            let mut query = connection.prepare(
                "SELECT id, client, level, text, at, success FROM intervention \
                 WHERE error_signature = ?1 AND project = ?2 ORDER BY at DESC LIMIT ?3",
            )?;
            query
                .query_map(params![signature, project, MOST_SENT], |row| {
                    Ok(SentRecord {
                        id: row.get(0)?,
                        client: row.get(1)?,
                        level: row.get(2)?,
                        text: row.get(3)?,
                        at: row.get(4)?,
                        success: row.get(5)?,
                    })
                })?
                .collect()
        })
    }

    /// Removes an error of a project with its fixes and totals, and returns whether it was there.
    pub fn forget(&self, signature: &str, project: &str) -> Result<bool, RecallError> {
        self.write(|transaction| {
            let key = params![signature, project];
            let known: Option<(i64, String)> = transaction
                .query_row(
                    "SELECT id, normalized FROM error_memory WHERE error_signature = ?1 AND project = ?2",
                    key,
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()?;
            if let Some((id, normalized)) = known {
                index::remove(transaction, id, &normalized)?;
            }
            let mut removed = 0;
            for table in ["error_memory", "error_total", "fix", "intervention"] {
                let sql =
                    format!("DELETE FROM {table} WHERE error_signature = ?1 AND project = ?2");
                removed += transaction.execute(&sql, key)?;
            }
            Ok(removed > 0)
        })
    }

    /// Removes everything about a project, and returns how many errors that were.
    pub fn forget_project(&self, project: &str) -> Result<usize, RecallError> {
        self.write(|transaction| {
            // Reads the whole index once, which is faster than a look-up for each key of thousands of errors.
            transaction.execute(
                "DELETE FROM error_key WHERE error IN (SELECT id FROM error_memory WHERE project = ?1)",
                [project],
            )?;
            let removed =
                transaction.execute("DELETE FROM error_memory WHERE project = ?1", [project])?;
            for table in [
                "error_total",
                "fix",
                "intervention",
                "pattern_violations",
                "episode",
            ] {
                let sql = format!("DELETE FROM {table} WHERE project = ?1");
                transaction.execute(&sql, [project])?;
            }
            Ok(removed)
        })
    }

    /// Calls `take` with each message that was sent in any project, the earliest first.
    pub fn each_intervention(&self, mut take: impl FnMut(SentFacts)) -> Result<(), RecallError> {
        self.read(|connection| {
            let mut query = connection.prepare(
                "SELECT error_type, severity, level, success, score, took_us FROM intervention ORDER BY at, id",
            )?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                take(SentFacts {
                    error_type: row.get(0)?,
                    severity: row.get(1)?,
                    level: row.get(2)?,
                    success: row.get(3)?,
                    score: row.get(4)?,
                    took_us: row.get(5)?,
                });
            }
            Ok(())
        })
    }

    /// Records a message that was sent about an error. `fix` is the fix that it names.
    pub fn record_intervention(
        &self,
        sent: &SentMessage<'_>,
        now: Timestamp,
    ) -> Result<(), RecallError> {
        let at = now.to_string();
        self.write(|transaction| {
            transaction.execute(
                "UPDATE error_memory SET intervention_count = intervention_count + 1, last_intervention = ?3 \
                 WHERE error_signature = ?1 AND project = ?2",
                params![sent.signature, sent.project, sent.text],
            )?;
            transaction.execute(
                "INSERT OR IGNORE INTO intervention (id, error_signature, project, session, client, error_type, level, \
                 text, fix, at, severity, score, took_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                params![
                    sent.id,
                    sent.signature,
                    sent.project,
                    sent.session,
                    sent.client,
                    sent.error_type,
                    sent.level,
                    sent.text,
                    sent.fix,
                    at,
                    sent.severity.name(),
                    sent.score,
                    sent.took_us
                ],
            )?;
            Ok(())
        })
    }
}

/// A message that an agent received.
#[derive(Clone, Copy, Debug)]
pub struct SentMessage<'a> {
    /// Its id, unique on the machine.
    pub id: &'a str,
    /// The error that it is about.
    pub signature: &'a str,
    /// The error's type.
    pub error_type: &'a str,
    /// The root of the project.
    pub project: &'a str,
    /// The session that it was sent to.
    pub session: &'a str,
    /// The client of that session.
    pub client: &'a str,
    /// Its level, from 1 to 4.
    pub level: u8,
    /// The message.
    pub text: &'a str,
    /// The id of the fix that it names.
    pub fix: Option<i64>,
    /// The error's severity.
    pub severity: Severity,
    /// Its similarity to the corpus, from 0 to 1.
    pub score: f64,
    /// Microseconds from reading the output to the message.
    pub took_us: u32,
}

/// What metrics count of a message that was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct SentFacts {
    /// The error's type.
    pub error_type: String,
    /// The error's severity.
    pub severity: String,
    /// Its level, from 1 to 4.
    pub level: u8,
    /// Whether it helped; `None` while that is open.
    pub success: Option<bool>,
    /// Its similarity to the corpus; `None` if an earlier version sent it.
    pub score: Option<f64>,
    /// Microseconds from reading the output to the message; `None` if an earlier version sent it.
    pub took_us: Option<u32>,
}
