//! What a delegation prints: the summary alone, or one JSON object per task.

use callosum_arbiter::delegation::{Failure, TaskReport, TaskStatus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ui::CommandError;

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
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize)]
pub(crate) struct CitationCounts {
    /// All citations of the summary.
    pub(crate) total: u64,
    /// Those whose quote stands word for word where it should.
    pub(crate) verified: u64,
}

/// A failure, as programs read it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct ErrorOutput {
    /// The seed's code, E001 to E008, where it has one.
    pub(crate) code: Option<String>,
    /// What failed, on one line.
    pub(crate) message: String,
    /// More for diagnosis: the executor's words, every attempt.
    pub(crate) details: Option<String>,
}

/// `callosum delegate --tasks FILE --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct TasksOutput {
    /// One object per task, in the order of the file.
    pub(crate) tasks: Vec<NamedOutput>,
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
                    total: citations.total,
                    verified: citations.verified,
                };
            }
            TaskStatus::Failed => output.error = Some(ErrorOutput::of(&report.failures)),
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

impl ErrorOutput {
    /// A failure without a code.
    pub(crate) fn plain(message: String) -> Self {
        Self {
            code: None,
            message,
            details: None,
        }
    }

    /// A command that failed before anything ran.
    pub(crate) fn of_command(error: &CommandError) -> Self {
        Self {
            code: error.code.map(|code| code.as_str().to_owned()),
            message: error.one_line(),
            details: None,
        }
    }

    /// The last try's failure, with those before it as details.
    fn of(failures: &[Failure]) -> Self {
        let Some((last, earlier)) = failures.split_last() else {
            return Self::plain("it failed".to_owned());
        };
        let mut details: Vec<String> = last.details.iter().cloned().collect();
        if let Some(hash) = last.kept_answer {
            details.push(format!("the whole answer is kept as {hash}"));
        }
        for (number, failure) in earlier.iter().enumerate() {
            let code = failure.code.map_or("-", |code| code.as_str());
            details.push(format!("try {}: {code} {}", number + 1, failure.message));
        }
        Self {
            code: last.code.map(|code| code.as_str().to_owned()),
            message: last.message.clone(),
            details: (!details.is_empty()).then(|| details.join("\n")),
        }
    }
}
