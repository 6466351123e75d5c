//! [`InterventionHistory`]: what helped against a type of error, and what did not (Seed CAKE §3).

use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;

use crate::recall::{RecallDb, RecallError};

/// Most messages of each kind that are listed.
const MOST_LISTED: u32 = 10;

/// The history of a type of error, with the seed's names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InterventionHistory {
    /// Messages after which the error went away, most often first.
    pub successful_fixes: Vec<String>,
    /// Messages after which it did not.
    pub failed_attempts: Vec<String>,
    /// Mean seconds from the message to the success; `None` if none succeeded.
    pub avg_resolution_time: Option<f64>,
    /// The steps that follow when messages do not help.
    pub escalation_patterns: EscalationPatterns,
}

/// The steps that follow when messages do not help.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EscalationPatterns {
    /// The highest level that was reached, from 1 to 4; 0 if no message was sent.
    pub after_attempts: u8,
    /// The message of the highest level that was sent most often.
    pub common_escalation: Option<String>,
}

impl RecallDb {
    /// Returns what is known about a type of error in a project.
    pub fn history(
        &self,
        error_type: &str,
        project: &str,
    ) -> Result<InterventionHistory, RecallError> {
        self.read(|connection| {
            let texts = |success: bool| -> rusqlite::Result<Vec<String>> {
                let mut query = connection.prepare_cached(
                    "SELECT text FROM intervention WHERE error_type = ?1 AND project = ?2 AND success = ?3 \
                     GROUP BY text ORDER BY count(*) DESC, max(at) DESC LIMIT ?4",
                )?;
                query
                    .query_map(params![error_type, project, success, MOST_LISTED], |row| {
                        row.get(0)
                    })?
                    .collect()
            };
            let avg_resolution_time = connection.query_row(
                "SELECT avg(seconds) FROM intervention WHERE error_type = ?1 AND project = ?2 AND success = 1",
                params![error_type, project],
                |row| row.get(0),
            )?;
            let escalation_patterns = connection
                .query_row(
                    "SELECT level, text FROM intervention WHERE error_type = ?1 AND project = ?2 \
                     GROUP BY level, text ORDER BY level DESC, count(*) DESC LIMIT 1",
                    params![error_type, project],
                    |row| {
                        Ok(EscalationPatterns {
                            after_attempts: row.get(0)?,
                            common_escalation: row.get(1)?,
                        })
                    },
                )
                .or_else(|error| match error {
                    rusqlite::Error::QueryReturnedNoRows => Ok(EscalationPatterns::default()),
                    other => Err(other),
                })?;
            Ok(InterventionHistory {
                successful_fixes: texts(true)?,
                failed_attempts: texts(false)?,
                avg_resolution_time,
                escalation_patterns,
            })
        })
    }

    /// Records whether a message helped (Seed CAKE §3, `update_outcome`), and counts it for the fix that it named.
    /// Returns whether there is such a message.
    pub fn update_outcome(
        &self,
        intervention: &str,
        success: bool,
        now: Timestamp,
    ) -> Result<bool, RecallError> {
        self.write(|transaction| {
            let found = transaction.query_row(
                "SELECT at, fix FROM intervention WHERE id = ?1",
                [intervention],
                |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?)),
            );
            let (at, fix) = match found {
                Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(false),
                other => other?,
            };
            let seconds = at
                .parse::<Timestamp>()
                .map(|at| now.duration_since(at).as_secs())
                .unwrap_or_default();
            transaction.execute(
                "UPDATE intervention SET success = ?2, seconds = ?3 WHERE id = ?1",
                params![intervention, success, seconds],
            )?;
            if let Some(fix) = fix.filter(|_| !success) {
                transaction.execute("UPDATE fix SET failed = failed + 1 WHERE id = ?1", [fix])?;
            }
            Ok(true)
        })
    }

    /// Records that the messages of a session about an error did not help: it came back.
    pub fn fail_interventions(
        &self,
        signature: &str,
        project: &str,
        session: &str,
    ) -> Result<(), RecallError> {
        self.write(|transaction| {
            transaction.execute(
                "UPDATE fix SET failed = failed + 1 WHERE id IN (SELECT fix FROM intervention \
                 WHERE error_signature = ?1 AND project = ?2 AND session = ?3 AND success IS NULL AND fix IS NOT NULL)",
                params![signature, project, session],
            )?;
            transaction.execute(
                "UPDATE intervention SET success = 0 WHERE error_signature = ?1 AND project = ?2 AND session = ?3 \
                 AND success IS NULL",
                params![signature, project, session],
            )?;
            Ok(())
        })
    }
}
