//! [`Board`]: the columns of tasks, each with a bounded number of cards.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Task;

/// Most cards of a column.
const MOST_CARDS: usize = 30;

/// Most agents that a task can be dropped on.
const MOST_AGENTS: usize = 20;

/// Agents that are always offered.
const USUAL_AGENTS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];

/// Authors that do no tasks.
const NO_AGENTS: [&str; 3] = ["person", "unknown", "callosum"];

/// A column of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Pending,
    Claimed,
    Done,
}

impl Column {
    const ALL: [Self; 3] = [Self::Pending, Self::Claimed, Self::Done];

    /// Name in the query.
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Claimed => "claimed",
            Self::Done => "done",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Claimed => "Claimed",
            Self::Done => "Done",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    pub(super) fn of(task: &Task) -> Self {
        if task.is_pending() {
            Self::Pending
        } else if task.is_claimed() {
            Self::Claimed
        } else {
            Self::Done
        }
    }

    /// Sorts tasks of this column: the most urgent first, or of those that are over the last one first.
    pub(super) fn sort(self, tasks: &mut [Task]) {
        if self == Self::Done {
            let end = |task: &Task| {
                let end = task.completed_at.as_ref().unwrap_or(&task.created_at);
                std::cmp::Reverse(end.clone())
            };
            tasks.sort_by_cached_key(end);
        }
    }
}

/// The columns.
#[derive(Serialize)]
pub(super) struct Board {
    pub(super) columns: Vec<Cards>,
}

/// The cards of a column.
#[derive(Serialize)]
pub(super) struct Cards {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) tasks: Vec<Task>,
    /// Number of tasks that pass the filter.
    pub(super) total: usize,
}

impl Board {
    /// Returns the board of the tasks that contain every word of a filter.
    pub(super) fn new(tasks: Vec<Task>, filter: &str) -> Self {
        let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
        let has_all = |task: &Task| {
            let text = task.text().to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut lists: [Vec<Task>; 3] = Default::default();
        for task in tasks {
            if words.is_empty() || has_all(&task) {
                lists[Column::of(&task) as usize].push(task);
            }
        }
        let columns = Column::ALL
            .into_iter()
            .zip(lists)
            .map(|(column, mut tasks)| {
                let total = tasks.len();
                column.sort(&mut tasks);
                tasks.truncate(MOST_CARDS);
                Cards {
                    name: column.name(),
                    title: column.title(),
                    tasks,
                    total,
                }
            });
        Self {
            columns: columns.collect(),
        }
    }
}

/// Returns the agents that a task can be assigned to: the usual ones, and those that the board names.
pub(super) fn known_agents(tasks: &[Task]) -> Vec<String> {
    let named = tasks.iter().flat_map(|task| {
        let agents = [&task.assigned_to, &task.claimed_by].into_iter().flatten();
        agents.chain([&task.created_by])
    });
    let named = named
        .map(String::as_str)
        .filter(|name| !NO_AGENTS.contains(name));
    let others: BTreeSet<&str> = named.filter(|name| !USUAL_AGENTS.contains(name)).collect();
    let agents = USUAL_AGENTS.into_iter().chain(others).take(MOST_AGENTS);
    agents.map(str::to_owned).collect()
}
