//! [`advice`]: what helps where a task came to nothing.

use callosum_arbiter::{
    budget::Bound,
    delegation::{TaskReport, TaskStatus},
};
use callosum_ledger::ErrorCode;

/// The hint for a task that has no answer in the ledger: what its failure says helps, else what usually does; `None` where
/// nothing is known to.
pub(super) fn advice(task: &TaskReport) -> Option<String> {
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
            ErrorCode::LockTimeout => "once the other process is done",
            ErrorCode::DiskFailure => "once there is room on the disk",
            ErrorCode::AuditFailure => "once cal_audit/ can be written",
            _ => "",
        };
        if !when.is_empty() {
            return Some(format!(
                "callosum ledger show {id} --answer prints what it answered, {when}"
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
    hint_for(task.code(), &task.executor)
}

/// What a message says is wrong, and what it says helps; `None` where it says only the one.
pub(super) fn parted(message: &str) -> Option<(&str, &str)> {
    message.split_once("; what helps: ")
}

/// What to do about a task that failed with this code.
fn hint_for(code: Option<ErrorCode>, executor: &str) -> Option<String> {
    match code? {
        ErrorCode::ExecutorCrash | ErrorCode::MalformedAnswer | ErrorCode::ChecksumMismatch => {
            Some(format!("callosum executor check {executor}"))
        }
        ErrorCode::Timeout => Some(format!(
            "give {executor} more time: `quiet_ms`, or `total_ms` where it has one, in \
             registry.json, or CAL_EXECUTOR_TIMEOUT_MS"
        )),
        ErrorCode::MemoryOverflow => Some(format!("ask {executor} for less: --path, --kind")),
        ErrorCode::DiskFailure | ErrorCode::AuditFailure => Some(
            "`callosum doctor` says where there is no room, or what cannot be written: mend that, then ask again; what \
             was acknowledged is on disk"
                .to_owned(),
        ),
        ErrorCode::LockTimeout => Some("try again when the other process is done".to_owned()),
    }
}

/// The same with twice the bound; what is done already is not paid for again.
fn wider(bound: &Bound) -> String {
    let (option, more) = match bound {
        Bound::Spawns(most) => ("--max-spawns", (most * 2).max(1).to_string()),
        Bound::Tokens(most) => ("--max-tokens", (most * 2).max(1).to_string()),
        Bound::Cost(most) => ("--max-cost", (most.0.max(1) as f64 / 5_000.0).to_string()),
        Bound::Seconds(most) => ("--max-seconds", (most * 2).max(1).to_string()),
    };
    format!(
        "the same once more with {option} {more}; but for --fresh, what was answered comes from the ledger"
    )
}
