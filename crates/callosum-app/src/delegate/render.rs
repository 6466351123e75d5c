//! Words for the result of a delegation: why a task failed, and what its answer lacks.

use std::time::Duration;

use callosum_arbiter::delegation::{Report, TaskReport, TaskStatus};
use callosum_client::intervention::{Ran, Runner, Watcher};
use callosum_ledger::ErrorCode;

use crate::context::Context;
use crate::delegate::output::DelegateOutput;
use crate::json_error::ErrorOutput;
use crate::watch::fix_line;
use crate::{CommandError, Exit};

/// Most citations of a kind that do not hold and are shown.
pub const MOST_SHOWN: usize = 5;

/// Records the errors that an executor printed before it failed, and returns the fixes that are known for them.
pub fn known_fixes(context: &Context, task: &TaskReport) -> Vec<String> {
    let printed: Vec<&str> = task
        .failures
        .iter()
        .filter_map(|failure| failure.details.as_deref())
        .collect();
    if printed.is_empty() {
        return Vec::new();
    }
    let printed = printed.join("\n");
    let session = task.task_id.as_ref().map(ToString::to_string);
    let runner = Runner {
        client: &task.executor,
        session: session.as_deref().unwrap_or_default(),
        reads_messages: false,
    };
    let ran = Ran {
        command: &task.executor,
        output: printed.as_bytes(),
        has_failed: Some(true),
    };
    let watcher = Watcher::new(&context.disk, &context.environment, context.tree());
    let outcome =
        watcher.and_then(|watcher| watcher.after_command(runner, ran, context.clock.now()));
    match outcome {
        Ok(outcome) => {
            let fixes = outcome.seen.iter().filter_map(|seen| seen.fix.as_ref());
            fixes.map(fix_line).collect()
        }
        Err(error) => {
            context
                .report
                .warn(&format!("cannot record its errors: {error}"), None);
            Vec::new()
        }
    }
}

/// Returns the reason why a task failed, with `name` before it, and the details of its tries.
pub fn failure(task: &TaskReport, name: &str) -> (CommandError, String) {
    let output = DelegateOutput::of(task, None);
    let error = output
        .error
        .unwrap_or_else(|| ErrorOutput::plain("the task failed".to_owned()));
    let what = match &task.task_id {
        Some(id) => format!("{name}task {id} ({}): {}", task.executor, error.message),
        None => format!("{name}{}", error.message),
    };
    let failure = CommandError::new(Exit::No, what).coded(task.code());
    let failure = match error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    (failure, error.details.unwrap_or_default())
}

/// A span of time as a person says it, in its largest unit.
pub fn spelled(age: Duration) -> String {
    let seconds = age.as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3_600 => (seconds / 60, "min"),
        3_600..86_400 => (seconds / 3_600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    format!("{count} {unit}")
}

/// The exit code: the worst of what came of the tasks.
pub fn outcome(report: &Report) -> Result<(), CommandError> {
    if report
        .tasks
        .iter()
        .any(|task| task.status == TaskStatus::Cancelled)
    {
        return Err(CommandError::told(Exit::Interrupted));
    }
    let failed: Vec<&TaskReport> = report
        .tasks
        .iter()
        .filter(|task| !task.is_committed())
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let stored_badly = failed.iter().filter_map(|task| task.code()).any(|code| {
        matches!(
            code,
            ErrorCode::DiskFailure | ErrorCode::LockTimeout | ErrorCode::AuditFailure
        )
    });
    Err(CommandError::told(if stored_badly {
        Exit::Environment
    } else {
        Exit::No
    }))
}
