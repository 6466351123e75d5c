//! [`advice`]: hints after a failed task.

use callosum_arbiter::budget::Bound;
use callosum_arbiter::delegation::{TaskReport, TaskStatus};
use callosum_executor::registry::EMBEDDED_ID;
use callosum_ledger::ErrorCode;

use crate::time_span::span_text;

/// The hint for a task that has no answer in the ledger: what its failure says helps, else what usually does; `None` where
/// nothing is known to.
pub fn advice(task: &TaskReport) -> Option<String> {
    if let TaskStatus::OverBudget { bound } = &task.status {
        return Some(wider(bound));
    }
    let last = task.failures.last();
    if let (Some(id), Some(code), Some(_)) = (
        &task.task_id,
        task.code(),
        last.and_then(|last| last.kept_answer),
    ) {
        let when = match code {
            ErrorCode::LockTimeout => "once the other process has finished",
            ErrorCode::DiskFailure => "once the disk has free space",
            ErrorCode::AuditFailure => "once cal_audit/ is writable",
            _ => "",
        };
        if !when.is_empty() {
            return Some(format!(
                "{when}, print its answer: callosum ledger show {id} --answer"
            ));
        }
    }
    if let Some((_, helps)) = last.and_then(|last| parted(&last.message)) {
        return Some(helps.to_owned());
    }
    // What lasts says what is wrong with the request.
    if last.is_some_and(|last| last.is_final) {
        return None;
    }
    let message = last.map_or("", |last| last.message.as_str());
    hint_for(task.code(), &task.executor, message)
}

/// Splits a message into the fault and the remedy; `None` if it has no remedy.
pub fn parted(message: &str) -> Option<(&str, &str)> {
    message.split_once("; what helps: ")
}

/// Returns a hint for a task that failed with this code and message.
fn hint_for(code: Option<ErrorCode>, executor: &str, message: &str) -> Option<String> {
    match code? {
        ErrorCode::ExecutorCrash | ErrorCode::MalformedAnswer | ErrorCode::ChecksumMismatch => {
            Some(format!("callosum executor check {executor}"))
        }
        ErrorCode::Timeout => Some(more_time(executor, message)),
        ErrorCode::MemoryOverflow => Some(format!("ask {executor} for less: add --path or --kind")),
        ErrorCode::DiskFailure | ErrorCode::AuditFailure => Some(
            "`callosum doctor` shows which disk is full or which file is not writable: fix that, then ask \
             again; acknowledged writes are on disk"
                .to_owned(),
        ),
        ErrorCode::LockTimeout => Some("try again when the other process has finished".to_owned()),
    }
}

/// The line that gives an executor four times what its message says was not enough; where it says nothing of that, as
/// after a health check, the one that asks it by hand.
fn more_time(executor: &str, message: &str) -> String {
    let bounds = [
        ("was silent for ", "--idle-timeout"),
        ("took longer than ", "--timeout"),
    ];
    let given = bounds.into_iter().find_map(|(words, option)| {
        let (_, behind) = message.split_once(words)?;
        let (number, _) = behind.split_once(" ms")?;
        Some((option, number.parse::<u64>().ok()?.saturating_mul(4)))
    });
    match given {
        Some((option, more)) if executor != EMBEDDED_ID => {
            format!(
                "to give {executor} more time: callosum executor register {executor} {option} {}",
                span_text(more)
            )
        }
        Some((_, more)) => format!("to give it more time: export CAL_EXECUTOR_TIMEOUT_MS={more}"),
        None => format!("callosum executor check {executor}"),
    }
}

/// The same with twice the bound; what is done already is not paid for again.
fn wider(bound: &Bound) -> String {
    let (option, more) = match bound {
        Bound::Spawns(most) => ("--max-spawns", (most * 2).max(1).to_string()),
        Bound::Tokens(most) => ("--max-tokens", (most * 2).max(1).to_string()),
        Bound::Cost(most) => ("--max-cost", (most.0.max(1) as f64 / 5_000.0).to_string()),
        Bound::Seconds(most) => ("--timeout", format!("{}s", (most * 2).max(1))),
    };
    format!(
        "repeat the command with {option} {more}; unless you use --no-cache, finished tasks are answered from \
         the ledger"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-ERR-2: who took too long is given more of that which was not enough, by a line that can be pasted.
    #[test]
    fn a_bound_that_was_reached_is_reported_with_the_line_that_widens_it() {
        for (executor, message, line) in [
            (
                "ag",
                "`ag` was silent for 5000 ms and was stopped: working",
                "to give ag more time: callosum executor register ag --idle-timeout 20s",
            ),
            (
                "ag",
                "`ag` took longer than 900000 ms and was stopped",
                "to give ag more time: callosum executor register ag --timeout 1h",
            ),
            (
                "scout",
                "`scout` was silent for 5000 ms and was stopped",
                "to give it more time: export CAL_EXECUTOR_TIMEOUT_MS=20000",
            ),
            (
                "ag",
                "executor `ag` did not pass its health check",
                "callosum executor check ag",
            ),
        ] {
            let hint = hint_for(Some(ErrorCode::Timeout), executor, message);
            assert_eq!(hint.as_deref(), Some(line), "{message}");
        }
    }
}
