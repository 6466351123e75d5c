//! JSON output of `callosum recall`. The names are the seed's (Seed CAKE §3).

use callosum_intervention::knowledge::{Fix, InterventionHistory};
use callosum_intervention::recall::{ErrorRecord, SentRecord};
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum recall list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecallListOutput {
    /// The errors, the latest first.
    pub errors: Vec<ErrorOutput>,
}

/// `callosum recall show --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecallShowOutput {
    /// The error.
    pub error: ErrorOutput,
    /// Its fixes, best first.
    pub fixes: Vec<FixOutput>,
    /// The messages that were sent about it, the latest first.
    pub interventions: Vec<InterventionOutput>,
    /// History of errors of its type.
    pub history: HistoryOutput,
}

/// `callosum recall similar --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecallSimilarOutput {
    /// Similar errors, the most similar first.
    pub similar: Vec<SimilarOutput>,
}

/// `callosum recall forget`, `outcome` and `fix` with `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecallChangeOutput {
    /// Number of errors, fixes or messages that were changed.
    pub changed: usize,
    /// The number of the fix.
    pub fix: Option<i64>,
}

/// One error.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ErrorOutput {
    /// `sha256:` and 64 digits over the normalized error.
    pub error_signature: String,
    /// The root of the project.
    pub project: String,
    /// Its type.
    pub error_type: String,
    /// The file as printed.
    pub file_path: Option<String>,
    /// Its message when it was seen last.
    pub message: String,
    /// When it was seen first, in UTC.
    pub first_seen: String,
    /// When it was seen last, in UTC.
    pub last_seen: String,
    /// Number of occurrences.
    pub occurrence_count: u32,
    /// Number of messages that were sent about it.
    pub intervention_count: u32,
    /// Number of times that it was fixed.
    pub success_count: u32,
    /// The last message about it.
    pub last_intervention: Option<String>,
    /// The client that hit it last.
    pub last_client: String,
    /// The command that printed it last.
    pub last_command: String,
    /// When it is no longer listed, in UTC.
    pub expires_at: String,
}

impl From<ErrorRecord> for ErrorOutput {
    fn from(record: ErrorRecord) -> Self {
        Self {
            error_signature: record.error_signature,
            project: record.project,
            error_type: record.error_type,
            file_path: record.file_path,
            message: record.message,
            first_seen: record.first_seen,
            last_seen: record.last_seen,
            occurrence_count: record.occurrence_count,
            intervention_count: record.intervention_count,
            success_count: record.success_count,
            last_intervention: record.last_intervention,
            last_client: record.last_client,
            last_command: record.last_command,
            expires_at: record.expires_at,
        }
    }
}

/// One fix.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FixOutput {
    /// Its number.
    pub id: i64,
    /// Commands that were run, in order.
    pub commands: Vec<String>,
    /// Files that were changed.
    pub files: Vec<String>,
    /// Note of a person.
    pub note: Option<String>,
    /// The client whose session showed it, or `person`.
    pub client: String,
    /// When it was learned, in UTC.
    pub learned_at: String,
    /// Number of times that it helped.
    pub worked: u32,
    /// Number of times that it did not.
    pub failed: u32,
    /// Mean seconds from the error to the success.
    pub mean_seconds: u32,
    /// Whether a person confirmed or wrote it.
    pub confirmed: bool,
    /// Whether agents are offered it.
    pub offered: bool,
}

impl From<Fix> for FixOutput {
    fn from(fix: Fix) -> Self {
        let offered = fix.is_offered();
        Self {
            id: fix.id,
            commands: fix.commands,
            files: fix.files,
            note: fix.note,
            client: fix.client,
            learned_at: fix.learned_at,
            worked: fix.worked,
            failed: fix.failed,
            mean_seconds: fix.mean_seconds,
            confirmed: fix.confirmed,
            offered,
        }
    }
}

/// One message that an agent was sent.
#[derive(Debug, JsonSchema, Serialize)]
pub struct InterventionOutput {
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
    /// Whether it helped; `null` while that is open.
    pub success: Option<bool>,
}

impl From<SentRecord> for InterventionOutput {
    fn from(sent: SentRecord) -> Self {
        Self {
            id: sent.id,
            client: sent.client,
            level: sent.level,
            text: sent.text,
            at: sent.at,
            success: sent.success,
        }
    }
}

/// History of a type of error.
#[derive(Debug, JsonSchema, Serialize)]
pub struct HistoryOutput {
    /// Messages after which the error went away.
    pub successful_fixes: Vec<String>,
    /// Messages after which it did not.
    pub failed_attempts: Vec<String>,
    /// Mean seconds from a message to the success.
    pub avg_resolution_time: Option<f64>,
    /// Escalation when messages do not help.
    pub escalation_patterns: EscalationOutput,
}

/// Escalation when messages do not help.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EscalationOutput {
    /// The highest level that was reached; 0 if no message was sent.
    pub after_attempts: u8,
    /// The message that was sent most often at that level.
    pub common_escalation: Option<String>,
}

impl From<InterventionHistory> for HistoryOutput {
    fn from(history: InterventionHistory) -> Self {
        Self {
            successful_fixes: history.successful_fixes,
            failed_attempts: history.failed_attempts,
            avg_resolution_time: history.avg_resolution_time,
            escalation_patterns: EscalationOutput {
                after_attempts: history.escalation_patterns.after_attempts,
                common_escalation: history.escalation_patterns.common_escalation,
            },
        }
    }
}

/// An error that reads like another.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SimilarOutput {
    /// Its similarity, from 0 to 1.
    pub score: f64,
    /// The error.
    pub error: ErrorOutput,
}
