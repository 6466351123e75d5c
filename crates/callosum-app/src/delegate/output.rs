//! Output of a delegation: the summary alone, or one JSON object per task.

use callosum_arbiter::budget::Bound;
use callosum_arbiter::delegation::{Failure, TaskReport, TaskStatus};
use callosum_arbiter::kind_name;
use callosum_citation::Review;
use callosum_citation::tokens::estimate;
use callosum_citation::truncate::{LeftOut, digest};
use callosum_ledger::{Entry, TaskId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::delegate::hints::{advice, parted};
use crate::delegate::whole::Whole;
use crate::json_error::ErrorOutput;

/// `callosum delegate --json`: one task.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DelegateOutput {
    /// The id in the ledger; null where the task was refused before it got one.
    pub task_id: Option<String>,
    /// The executor that answered, or would have.
    pub executor: Option<String>,
    /// `scan`, `deps`, `tests` or `api`.
    pub kind: String,
    /// `sequential`, `concurrent`, `staggered` or `queued`; null where it was not decided.
    pub mode: Option<String>,
    /// `success`, `error`, `skipped` (a task that it links to failed, or a bound is reached) or `cancelled`.
    pub status: String,
    /// The committed summary.
    pub summary: Option<String>,
    /// The ledger entry's SHA-256, 64 hexadecimal digits.
    pub checksum: Option<String>,
    /// Tokens that the executor says it used; where the task failed, for all of its tries.
    pub tokens_used: u64,
    /// Estimated tokens of the summary, as it is returned.
    pub tokens_returned: u64,
    /// The part of the summary that `--budget` left out; the ledger has all of it.
    pub left_out: Option<LeftOutOutput>,
    /// The entry that answered, if no executor was asked; null otherwise.
    pub cached_from: Option<CachedFrom>,
    /// Milliseconds from the task's start to its end, retries included.
    pub elapsed_ms: u64,
    /// Citations of the summary, and how many are valid; also if the answer was rejected for them.
    pub citations: CitationCounts,
    /// Failure; null on success.
    pub error: Option<ErrorOutput>,
}

/// The entry that answered a request once more.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct CachedFrom {
    /// The task that it was made for.
    pub task_id: String,
    /// Its age.
    pub age_seconds: u64,
}

/// The missing part of a summary that was cut.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub struct LeftOutOutput {
    /// Statements that are not in it.
    pub statements: usize,
    /// Statements of the whole summary.
    pub of: usize,
    /// Citations that are not in it.
    pub citations: usize,
    /// Estimated tokens of what is not in it.
    pub tokens: u64,
}

impl LeftOutOutput {
    fn of(left_out: LeftOut) -> Self {
        Self {
            statements: left_out.statements,
            of: left_out.of,
            citations: left_out.citations,
            tokens: left_out.tokens,
        }
    }
}

/// The part of a summary that is returned.
pub struct Handed {
    /// The summary, or as much of it as the budget allows.
    pub text: String,
    /// Its tokens, estimated.
    pub tokens: u64,
    /// The part that was cut off, if any.
    pub left_out: Option<LeftOut>,
}

impl Handed {
    /// Cuts an entry's summary to the budget, if there is one. `tokens` is the size of the full
    /// summary.
    pub fn of(entry: &Entry, tokens: u64, budget: Option<u64>) -> Self {
        let Some(budget) = budget else {
            return Self {
                text: entry.summary.clone(),
                tokens,
                left_out: None,
            };
        };
        Self::cut(&entry.summary, budget)
    }

    /// The same for an answer that was formatted again for `--all` or `--section`.
    pub fn whole(whole: Whole, budget: Option<u64>) -> Self {
        match budget {
            Some(budget) => Self::cut(&whole.text, budget),
            None => Self {
                text: whole.text,
                tokens: whole.tokens,
                left_out: None,
            },
        }
    }

    fn cut(text: &str, budget: u64) -> Self {
        let cut = digest(text, budget);
        Self {
            tokens: estimate(&cut.text),
            text: cut.text,
            left_out: cut.left_out,
        }
    }
}

/// Number of citations, and of those that hold.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct CitationCounts {
    /// All citations of the summary.
    pub total: u64,
    /// Citations whose quote is at its place, word for word.
    pub verified: u64,
    /// Citations whose quote is elsewhere in its file.
    pub moved: u64,
    /// Those that nothing confirms.
    pub missing: u64,
    /// The first of those that do not hold, in words, 20 of each kind.
    pub failing: Vec<String>,
}

impl CitationCounts {
    fn of(review: &Review) -> Self {
        Self {
            total: review.tally.total,
            verified: review.tally.verified,
            moved: review.tally.moved,
            missing: review.tally.missing,
            failing: review.complaints(MOST_TOLD),
        }
    }
}

/// Most failing citations of a kind that are listed.
const MOST_TOLD: usize = 20;

/// `callosum delegate --tasks FILE --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct TasksOutput {
    /// One object per task, in the order of the file; none where nothing could be run.
    pub tasks: Vec<NamedOutput>,
    /// Failure that kept all tasks from running; null if the tasks have their own results.
    pub error: Option<ErrorOutput>,
}

/// One task of a task file.
#[derive(Debug, JsonSchema, Serialize)]
pub struct NamedOutput {
    /// The id that the file gives it.
    pub id: String,
    /// Result of the task.
    #[serde(flatten)]
    pub output: DelegateOutput,
}

impl TasksOutput {
    /// Nothing that could be run.
    pub fn refused(error: ErrorOutput) -> Self {
        Self {
            tasks: Vec::new(),
            error: Some(error),
        }
    }
}

impl DelegateOutput {
    /// Returns the output for a task that ran or was skipped.
    pub fn of(report: &TaskReport, budget: Option<u64>) -> Self {
        let mut output = Self {
            task_id: report.task_id.as_ref().map(ToString::to_string),
            executor: Some(report.executor.clone()),
            kind: kind_name(report.kind).to_owned(),
            mode: report
                .decision
                .map(|decision| decision.mode.as_str().to_owned()),
            elapsed_ms: report.elapsed.as_millis() as u64,
            tokens_used: report.tokens_in_vain(),
            ..Self::failed("error")
        };
        match &report.status {
            TaskStatus::Committed {
                entry,
                citations,
                tokens_returned,
                reused,
            } => {
                output.cached_from = reused.map(|age| CachedFrom {
                    task_id: entry.task_id.to_string(),
                    age_seconds: age.as_secs(),
                });
                "success".clone_into(&mut output.status);
                let handed = Handed::of(entry, *tokens_returned, budget);
                output.summary = Some(handed.text);
                output.left_out = handed.left_out.map(LeftOutOutput::of);
                output.checksum = Some(entry.checksum.to_string());
                output.tokens_used = entry.tokens_used;
                output.tokens_returned = handed.tokens;
                output.citations = CitationCounts::of(citations);
            }
            TaskStatus::Failed => {
                output.error = Some(error_of(report.task_id.as_ref(), &report.failures));
                let refused_for = report.failures.last();
                if let Some(citations) = refused_for.and_then(|last| last.citations.as_deref()) {
                    output.citations = CitationCounts::of(citations);
                }
            }
            TaskStatus::DependencyFailed { on } => {
                "skipped".clone_into(&mut output.status);
                output.error = Some(ErrorOutput::plain(format!(
                    "task `{on}`, on which it depends, failed"
                )));
            }
            TaskStatus::OverBudget { bound } => {
                "skipped".clone_into(&mut output.status);
                output.error = Some(ErrorOutput::plain(format!(
                    "not started: this task tree has reached its {bound} ({})",
                    counted(bound)
                )));
            }
            TaskStatus::Cancelled => {
                "cancelled".clone_into(&mut output.status);
                output.error = Some(ErrorOutput::plain("interrupted".to_owned()));
            }
            TaskStatus::Halted { by } => {
                "skipped".clone_into(&mut output.status);
                output.error = Some(ErrorOutput::plain(format!(
                    "skipped: results can no longer be stored (first seen with task `{by}`)"
                )));
            }
        }
        if let Some(error) = &mut output.error {
            error.hint = advice(report);
            if let Some((what, helps)) = parted(&error.message)
                && error.hint.as_deref() == Some(helps)
            {
                error.message = what.to_owned();
            }
            // An answer that was to be stored when the run ended.
            if error.details.is_none()
                && let Some(last) = report.failures.last()
            {
                error.details = kept(report.task_id.as_ref(), last);
            }
        }
        output
    }

    /// Replaces the summary by the answer that `--all` or `--section` asks for.
    pub fn print_whole(&mut self, whole: Whole, budget: Option<u64>) {
        self.citations = CitationCounts::of(&whole.citations);
        let handed = Handed::whole(whole, budget);
        self.summary = Some(handed.text);
        self.tokens_returned = handed.tokens;
        self.left_out = handed.left_out.map(LeftOutOutput::of);
    }

    /// Nothing that could be run: what is known, and why not.
    pub fn refused(executor: Option<String>, kind: &str, error: ErrorOutput) -> Self {
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
            left_out: None,
            cached_from: None,
            elapsed_ms: 0,
            citations: CitationCounts::default(),
            error: None,
        }
    }
}

/// Returns the noun for the things that a bound counts.
fn counted(bound: &Bound) -> &'static str {
    match bound {
        Bound::Spawns(_) => "executor starts, including retries and nested ones",
        Bound::Tokens(_) => "tokens, as reported by executors",
        Bound::Cost(_) => "US dollars, as reported by executors",
        Bound::Seconds(_) => "seconds since its first task",
    }
}

/// The last try's failure, with what the others add to it as details.
pub fn error_of(task: Option<&TaskId>, failures: &[Failure]) -> ErrorOutput {
    // An executor that is left alone after failing has no code of its own.
    let code = failures.iter().rev().find_map(|failure| failure.code);
    let Some((last, earlier)) = failures.split_last() else {
        return ErrorOutput::plain("the task failed".to_owned());
    };
    // The message quotes the end of the executor's output; only details that it lacks are worth
    // showing.
    let is_new = |details: &&String| !last.message.ends_with(details.as_str());
    let mut details: Vec<String> = last.details.iter().filter(is_new).cloned().collect();
    details.extend(kept(task, last));
    if let Some(hash) = last.kept_part {
        details.push(format!("the partial answer is stored as {hash}"));
        if let Some(file) = &last.kept_at {
            details.push(format!("its file: {}", file.display()));
        }
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
        code: code.map(|code| code.as_str().to_owned()),
        message: last.message.clone(),
        details: (!details.is_empty()).then(|| details.join("\n")),
        hint: None,
    }
}

/// Returns where the full answer of a failed try is stored.
fn kept(task: Option<&TaskId>, failure: &Failure) -> Option<String> {
    let hash = failure.kept_answer?;
    let shown = match task {
        Some(id) => format!(": callosum ledger show {id} --answer"),
        None => String::new(),
    };
    Some(format!("the full answer is stored as {hash}{shown}"))
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
            kept_part: None,
            kept_at: None,
            resets_in: None,
            citations: None,
            is_final: false,
            spares_executor: false,
            tokens: 0,
        }
    }

    /// REQ-ERR-001: each try is reported, and no detail is reported twice.
    #[test]
    fn tries_that_failed_alike_are_reported_once() {
        let crash = || failure("`x` crashed: no luck", Some("no luck"));
        let error = error_of(
            None,
            &[crash(), failure("other", None), crash(), crash(), crash()],
        );
        assert_eq!(error.message, "`x` crashed: no luck");
        assert_eq!(
            error.details.as_deref(),
            Some("try 1: the same\ntry 2: E001 other\ntries 3 to 4: the same")
        );
        assert_eq!(error_of(None, &[crash()]).details, None);
    }

    #[test]
    fn what_the_message_only_quotes_stays_in_the_details() {
        let error = error_of(None, &[failure("`x` crashed: end", Some("begin\nend"))]);
        assert_eq!(error.details.as_deref(), Some("begin\nend"));
    }
}
