//! What a delegation prints: the summary alone, or one JSON object per task.

use callosum_arbiter::delegation::{Failure, TaskReport, TaskStatus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::failure::ErrorOutput;

/// `callosum delegate --json`: one task.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DelegateOutput {
    /// The id in the ledger; null where the task was refused before it got one.
    pub(crate) task_id: Option<String>,
    /// The executor that answered, or would have.
    pub(crate) executor: Option<String>,
    /// `scan`, `deps`, `tests` or `api`.
    pub(crate) kind: String,
    /// `sequential`, `concurrent`, `staggered` or `queued`; null where it was not decided.
    pub(crate) mode: Option<String>,
    /// `success`, `error`, `skipped` (a task that it links to failed) or `cancelled`.
    pub(crate) status: String,
    /// The committed summary.
    pub(crate) summary: Option<String>,
    /// The ledger entry's SHA-256, 64 hexadecimal digits.
    pub(crate) checksum: Option<String>,
    /// Tokens that the executor says it used.
    pub(crate) tokens_used: u64,
    /// Estimated tokens of the summary.
    pub(crate) tokens_returned: u64,
    /// Milliseconds from the task's start to its end, retries included.
    pub(crate) elapsed_ms: u64,
    /// How many citations the summary has, and how many hold.
    pub(crate) citations: CitationCounts,
    /// What went wrong; null on success.
    pub(crate) error: Option<ErrorOutput>,
}

/// How many citations there are and how many hold.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub(crate) struct CitationCounts {
    /// All citations of the summary.
    pub(crate) total: u64,
    /// Those whose quote stands word for word where it should.
    pub(crate) verified: u64,
    /// Those whose quote stands elsewhere in its file.
    pub(crate) moved: u64,
    /// Those that nothing confirms.
    pub(crate) missing: u64,
    /// The first of those that do not hold, in words, 20 of each kind.
    pub(crate) failing: Vec<String>,
}

/// Most failing citations of a kind that are told.
const MOST_TOLD: usize = 20;

/// `callosum delegate --tasks FILE --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct TasksOutput {
    /// One object per task, in the order of the file; none where nothing could be run.
    pub(crate) tasks: Vec<NamedOutput>,
    /// Why nothing could be run; null where the tasks tell themselves what came of them.
    pub(crate) error: Option<ErrorOutput>,
}

/// One task of a task file.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct NamedOutput {
    /// The id that the file gives it.
    pub(crate) id: String,
    /// What came of it.
    #[serde(flatten)]
    pub(crate) output: DelegateOutput,
}

impl TasksOutput {
    /// Nothing that could be run.
    pub(crate) fn refused(error: ErrorOutput) -> Self {
        Self {
            tasks: Vec::new(),
            error: Some(error),
        }
    }
}

impl DelegateOutput {
    /// What came of a task that ran, or was passed over.
    pub(crate) fn of(report: &TaskReport) -> Self {
        let mut output = Self {
            task_id: report.task_id.as_ref().map(ToString::to_string),
            executor: Some(report.executor.clone()),
            kind: report.kind.as_str().to_owned(),
            mode: report
                .decision
                .map(|decision| decision.mode.as_str().to_owned()),
            elapsed_ms: report.elapsed.as_millis() as u64,
            ..Self::failed("error")
        };
        match &report.status {
            TaskStatus::Committed {
                entry,
                citations,
                tokens_returned,
            } => {
                "success".clone_into(&mut output.status);
                output.summary = Some(entry.summary.clone());
                output.checksum = Some(entry.checksum.to_string());
                output.tokens_used = entry.tokens_used;
                output.tokens_returned = *tokens_returned;
                output.citations = CitationCounts {
                    total: citations.tally.total,
                    verified: citations.tally.verified,
                    moved: citations.tally.moved,
                    missing: citations.tally.missing,
                    failing: citations.complaints(MOST_TOLD),
                };
            }
            TaskStatus::Failed => output.error = Some(error_of(&report.failures)),
            TaskStatus::DependencyFailed { on } => {
                "skipped".clone_into(&mut output.status);
                output.error = Some(ErrorOutput::plain(format!(
                    "task `{on}`, which it builds on, did not succeed"
                )));
            }
            TaskStatus::Cancelled => {
                "cancelled".clone_into(&mut output.status);
                output.error = Some(ErrorOutput::plain("interrupted".to_owned()));
            }
            TaskStatus::Halted { by } => {
                "skipped".clone_into(&mut output.status);
                output.error = Some(ErrorOutput::plain(format!(
                    "given up: results can no longer be stored (first seen with task `{by}`)"
                )));
            }
        }
        output
    }

    /// Nothing that could be run: what is known, and why not.
    pub(crate) fn refused(executor: Option<String>, kind: &str, error: ErrorOutput) -> Self {
        Self {
            executor,
            kind: kind.to_owned(),
            error: Some(error),
            ..Self::failed("error")
        }
    }

    fn failed(status: &str) -> Self {
        Self {
            task_id: None,
            executor: None,
            kind: String::new(),
            mode: None,
            status: status.to_owned(),
            summary: None,
            checksum: None,
            tokens_used: 0,
            tokens_returned: 0,
            elapsed_ms: 0,
            citations: CitationCounts::default(),
            error: None,
        }
    }
}

/// The last try's failure, with what the others add to it as details.
pub(super) fn error_of(failures: &[Failure]) -> ErrorOutput {
    let Some((last, earlier)) = failures.split_last() else {
        return ErrorOutput::plain("it failed".to_owned());
    };
    // The message quotes the end of what the executor said; only what it lacks is worth more.
    let said = |details: &&String| !last.message.ends_with(details.as_str());
    let mut details: Vec<String> = last.details.iter().filter(said).cloned().collect();
    if let Some(hash) = last.kept_answer {
        details.push(format!("the whole answer is kept as {hash}"));
    }
    let mut number = 1;
    for alike in earlier.chunk_by(is_alike) {
        let tries = match alike.len() {
            1 => format!("try {number}"),
            more => format!("tries {number} to {}", number + more - 1),
        };
        number += alike.len();
        let Some(first) = alike.first() else { continue };
        let what = if is_alike(first, last) {
            "the same".to_owned()
        } else {
            let code = first.code.map_or("-", |code| code.as_str());
            format!("{code} {}", first.message)
        };
        details.push(format!("{tries}: {what}"));
    }
    ErrorOutput {
        code: last.code.map(|code| code.as_str().to_owned()),
        message: last.message.clone(),
        details: (!details.is_empty()).then(|| details.join("\n")),
    }
}

fn is_alike(one: &Failure, other: &Failure) -> bool {
    one.code == other.code && one.message == other.message
}

#[cfg(test)]
mod tests {
    use callosum_ledger::ErrorCode;

    use super::*;

    fn failure(message: &str, details: Option<&str>) -> Failure {
        Failure {
            code: Some(ErrorCode::ExecutorCrash),
            message: message.to_owned(),
            details: details.map(str::to_owned),
            kept_answer: None,
            is_final: false,
        }
    }

    /// REQ-ERR-001: each try is told, and what was said once is not said again.
    #[test]
    fn tries_that_failed_alike_are_told_once() {
        let crash = || failure("`x` crashed: no luck", Some("no luck"));
        let error = error_of(&[crash(), failure("other", None), crash(), crash(), crash()]);
        assert_eq!(error.message, "`x` crashed: no luck");
        assert_eq!(
            error.details.as_deref(),
            Some("try 1: the same\ntry 2: E001 other\ntries 3 to 4: the same")
        );
        assert_eq!(error_of(&[crash()]).details, None);
    }

    #[test]
    fn what_the_message_only_quotes_stays_in_the_details() {
        let error = error_of(&[failure("`x` crashed: end", Some("begin\nend"))]);
        assert_eq!(error.details.as_deref(), Some("begin\nend"));
    }
}
