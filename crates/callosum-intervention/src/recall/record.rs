//! Recording an error, and what the database holds about it afterwards.

use callosum_diagnose::ErrorEvent;
use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use serde::Serialize;

use super::{RecallDb, RecallError, Signature, index};

/// Longest stored message and command, in bytes.
const LONGEST: usize = 500;

/// Widest span of the ids of errors in one database; past it those with the lowest ids are removed with the expired ones.
const WIDEST_SPAN: u32 = 100_000;

/// Ids that lie between an error and the latest one before the error gets a new id when it is seen again.
const MOST_BEHIND: u32 = WIDEST_SPAN / 2;

/// Errors that one record removes at most, so that the first record of a morning is not slow.
const MOST_EXPIRED: u32 = 25;

/// The project, client, session and command of an error. The caller has masked secrets in `command` before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The root of the project.
    pub project: String,
    /// The client's name, such as `claude`.
    pub client: String,
    /// The session, as the client names it.
    pub session: String,
    /// The command that printed it.
    pub command: String,
}

/// The counts of an error after it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its signature.
    pub signature: String,
    /// Number of times it was seen in this project within the TTL, this time included.
    pub occurrences: u32,
    /// Number of messages about it that this session received. Other sessions have not read them.
    pub interventions: u32,
    /// Time of the last message to this session.
    pub last_intervention_at: Option<Timestamp>,
}

/// An error of the database, with the seed's names (Seed CAKE §3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorRecord {
    /// Its signature.
    pub error_signature: String,
    /// The root of the project that it was seen in.
    pub project: String,
    /// Its type.
    pub error_type: String,
    /// The file as printed.
    pub file_path: Option<String>,
    /// The message when it was seen last.
    pub message: String,
    /// When it was seen first, in UTC.
    pub first_seen: String,
    /// When it was seen last, in UTC.
    pub last_seen: String,
    /// Number of times it was seen.
    pub occurrence_count: u32,
    /// Number of messages about it.
    pub intervention_count: u32,
    /// Number of times it went away.
    pub success_count: u32,
    /// The last message.
    pub last_intervention: Option<String>,
    /// The client that hit it last.
    pub last_client: String,
    /// The command that printed it last.
    pub last_command: String,
    /// When it is no longer listed, in UTC.
    pub expires_at: String,
}

/// A violation of a pattern, with the seed's names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Its type, such as `scope_drift`.
    pub pattern_type: String,
    /// What was done.
    pub details: String,
    /// The session, as the client names it.
    pub session: String,
    /// When, in UTC.
    pub timestamp: String,
    /// Whether it was kept from happening.
    pub is_prevented: bool,
}

/// The columns of an [`ErrorRecord`], for queries.
pub(super) const COLUMNS: &str = "error_signature, project, error_type, file_path, message, first_seen, last_seen, \
     occurrence_count, intervention_count, success_count, last_intervention, last_client, last_command, expires_at";

impl ErrorRecord {
    /// Reads a row of [`COLUMNS`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            error_signature: row.get(0)?,
            project: row.get(1)?,
            error_type: row.get(2)?,
            file_path: row.get(3)?,
            message: row.get(4)?,
            first_seen: row.get(5)?,
            last_seen: row.get(6)?,
            occurrence_count: row.get(7)?,
            intervention_count: row.get(8)?,
            success_count: row.get(9)?,
            last_intervention: row.get(10)?,
            last_client: row.get(11)?,
            last_command: row.get(12)?,
            expires_at: row.get(13)?,
        })
    }
}

impl RecallDb {
    /// Records that an error was seen, and returns what is known about it. Secrets in the event are masked already.
    ///
    /// One transaction; expired errors are removed in it, a few at a time.
    pub fn record(
        &self,
        event: &ErrorEvent,
        place: &Place,
        now: Timestamp,
    ) -> Result<Recorded, RecallError> {
        let signature = Signature::of_event(event);
        let (at, expires) = (now.to_string(), self.expiry(now).to_string());
        let message = cut(&event.message);
        let command = cut(&place.command);
        self.write(|transaction| {
            expire(transaction, &at)?;
            let known: Option<i64> = transaction
                .prepare_cached(
                    "SELECT id FROM error_memory WHERE error_signature = ?1 AND project = ?2",
                )?
                .query_row(params![signature.id, place.project], |row| row.get(0))
                .optional()?;
            if let Some(id) = known {
                transaction.execute(
                    "UPDATE error_memory SET last_seen = ?2, expires_at = ?3, file_path = ?4, message = ?5, \
                     last_client = ?6, last_session = ?7, last_command = ?8, \
                     occurrence_count = occurrence_count + 1 WHERE id = ?1",
                    params![
                        id,
                        at,
                        expires,
                        event.file_path,
                        message,
                        place.client,
                        place.session,
                        command
                    ],
                )?;
                renew(transaction, id, &signature.normalized)?;
            } else {
                transaction.execute(
                    "INSERT INTO error_memory (error_signature, project, error_type, file_path, message, normalized, \
                     first_seen, last_seen, last_client, last_session, last_command, expires_at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10, ?11)",
                    params![
                        signature.id,
                        place.project,
                        event.error_type,
                        event.file_path,
                        message,
                        signature.normalized,
                        at,
                        place.client,
                        place.session,
                        command,
                        expires
                    ],
                )?;
                index::insert(
                    transaction,
                    transaction.last_insert_rowid(),
                    &signature.normalized,
                )?;
            }
            let occurrences = transaction.query_row(
                "SELECT occurrence_count FROM error_memory WHERE error_signature = ?1 AND project = ?2",
                params![signature.id, place.project],
                |row| row.get(0),
            )?;
            let (interventions, sent): (u32, Option<String>) = transaction.query_row(
                "SELECT count(*), max(at) FROM intervention WHERE error_signature = ?1 AND project = ?2 \
                 AND client = ?3 AND session = ?4",
                params![signature.id, place.project, place.client, place.session],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            Ok(Recorded {
                signature: signature.id.clone(),
                occurrences,
                interventions,
                last_intervention_at: sent.and_then(|sent| sent.parse().ok()),
            })
        })
    }

    /// Records a violation of a pattern (Seed CAKE §3), such as `scope_drift`. The same details count once in a session.
    pub fn record_violation(
        &self,
        pattern_type: &str,
        details: &str,
        place: &Place,
        is_prevented: bool,
        now: Timestamp,
    ) -> Result<(), RecallError> {
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO pattern_violations (pattern_type, details, project, session, timestamp, prevented) \
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM pattern_violations \
                 WHERE pattern_type = ?1 AND details = ?2 AND project = ?3 AND session = ?4)",
                params![
                    pattern_type,
                    cut(details),
                    place.project,
                    place.session,
                    now.to_string(),
                    is_prevented
                ],
            )?;
            Ok(())
        })
    }

    /// Returns the violations of a project since a time, the latest first; at most `limit`.
    pub fn violations(
        &self,
        project: &str,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Violation>, RecallError> {
        self.read(|connection| {
            let mut query = connection.prepare(
                "SELECT pattern_type, details, session, timestamp, prevented FROM pattern_violations \
                 WHERE project = ?1 AND timestamp >= ?2 ORDER BY id DESC LIMIT ?3",
            )?;
            query
                .query_map(params![project, since.to_string(), limit], |row| {
                    Ok(Violation {
                        pattern_type: row.get(0)?,
                        details: row.get(1)?,
                        session: row.get(2)?,
                        timestamp: row.get(3)?,
                        is_prevented: row.get(4)?,
                    })
                })?
                .collect()
        })
    }

    /// Removes what has expired, and returns how many errors that were. Their counts are kept.
    pub fn expire(&self, now: Timestamp) -> Result<u32, RecallError> {
        let at = now.to_string();
        let mut removed = 0;
        loop {
            let some = self.write(|transaction| expire(transaction, &at))?;
            removed += some;
            if some == 0 {
                return Ok(removed);
            }
        }
    }
}

/// Moves the counts of at most [`MOST_EXPIRED`] expired or surplus errors to the totals, and removes the errors.
fn expire(transaction: &Transaction<'_>, at: &str) -> rusqlite::Result<u32> {
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let mut expired: Vec<(i64, String)> = transaction
        .prepare_cached("SELECT id, normalized FROM error_memory WHERE expires_at < ?1 LIMIT ?2")?
        .query_map(params![at, MOST_EXPIRED], read)?
        .collect::<rusqlite::Result<_>>()?;
    if expired.is_empty() {
        // Ids only grow, so their span bounds the number of rows without counting them.
        expired = transaction
            .prepare_cached(
                "SELECT id, normalized FROM error_memory \
                 WHERE id <= (SELECT max(id) FROM error_memory) - ?1 ORDER BY id LIMIT ?2",
            )?
            .query_map([WIDEST_SPAN, MOST_EXPIRED], read)?
            .collect::<rusqlite::Result<_>>()?;
    }
    for (id, normalized) in &expired {
        transaction.execute(
            "INSERT INTO error_total SELECT error_signature, project, error_type, occurrence_count, \
             intervention_count, success_count, first_seen, last_seen FROM error_memory WHERE id = ?1 \
             ON CONFLICT DO UPDATE SET occurrence_count = occurrence_count + excluded.occurrence_count, \
             intervention_count = intervention_count + excluded.intervention_count, \
             success_count = success_count + excluded.success_count, last_seen = excluded.last_seen",
            [id],
        )?;
        index::remove(transaction, *id, normalized)?;
        transaction.execute("DELETE FROM error_memory WHERE id = ?1", [id])?;
    }
    Ok(expired.len() as u32)
}

/// Gives an error that was seen again a new id if its own is low.
///
/// Otherwise an error that keeps coming back is removed as surplus.
fn renew(transaction: &Transaction<'_>, id: i64, normalized: &str) -> rusqlite::Result<()> {
    let latest: i64 = transaction
        .prepare_cached("SELECT max(id) FROM error_memory")?
        .query_row([], |row| row.get(0))?;
    if latest - id > MOST_BEHIND.into() {
        index::remove(transaction, id, normalized)?;
        transaction.execute(
            "UPDATE error_memory SET id = ?2 WHERE id = ?1",
            [id, latest + 1],
        )?;
        index::insert(transaction, latest + 1, normalized)?;
    }
    Ok(())
}

/// Returns text of at most [`LONGEST`] bytes, cut at a character.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}
