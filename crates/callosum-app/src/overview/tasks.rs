//! The mesh tasks of an overview.

use callosum_mesh::board::{Board, Status, Task};
use jiff::Timestamp;

use super::argv::command;
use super::{TaskCountsOutput, TaskSummaryOutput, age, beginning};

/// Most tasks in an overview.
const MOST: usize = 200;

/// Most tasks that are named as missing before another.
const MOST_NEEDS: usize = 20;

/// Returns the number of tasks by status, and those that are not over: in progress first, then the most urgent.
///
/// Costs a walk over all tasks, and one for each need of those that are listed.
pub(super) fn listed(board: &Board, now: Timestamp) -> (TaskCountsOutput, Vec<TaskSummaryOutput>) {
    let mut counts = TaskCountsOutput::default();
    let mut open: Vec<(Status, &Task)> = Vec::new();
    for task in &board.tasks {
        let status = task.status_at(now);
        let count = match status {
            Status::Pending => &mut counts.pending,
            Status::InProgress => &mut counts.in_progress,
            Status::Complete => &mut counts.complete,
            Status::Cancelled => &mut counts.cancelled,
        };
        *count += 1;
        if !status.is_over() {
            open.push((status, task));
        }
    }
    open.sort_by_key(|(status, task)| (*status == Status::Pending, task.priority));
    let tasks = open.into_iter().take(MOST);
    let tasks = tasks.map(|(status, task)| summary(board, status, task, now));
    (counts, tasks.collect())
}

/// Returns the number of tasks that are not over.
pub(super) fn open_count(board: &Board) -> u64 {
    let open = board.tasks.iter().filter(|task| !task.status.is_over());
    open.count() as u64
}

fn summary(board: &Board, status: Status, task: &Task, now: Timestamp) -> TaskSummaryOutput {
    let claim = task.claim_at(now);
    let missing = board.waits_for(task).take(MOST_NEEDS);
    let id = task.id.as_str();
    TaskSummaryOutput {
        id: task.id.clone(),
        status: status.as_str(),
        priority: task.priority,
        prompt: beginning(&task.prompt),
        assigned_to: task.assigned_to.as_ref().map(ToString::to_string),
        claimed_by: claim.map(|claim| claim.by.to_string()),
        claimed_session: claim.and_then(|claim| claim.session_id.clone()),
        claimed_until: claim.map(|claim| claim.until.to_string()),
        created_by: task.created_by.to_string(),
        created_at: task.created_at.to_string(),
        age_seconds: age(task.created_at, now),
        folder: task.cwd.clone(),
        blocked_by: missing.map(str::to_owned).collect(),
        commands: vec![
            command("show", &["mesh", "task", "show", "--", id]),
            command("cancel", &["mesh", "task", "cancel", "--", id]),
        ],
    }
}
