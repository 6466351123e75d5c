//! [`Submission`]: the tasks of one call, known to be free of cycles.
//!
//! Whether links lead anywhere is settled here and in [`crate::task_file`], once; a
//! [`Schedule`](crate::Schedule) takes it as given.

use crate::task::{Link, Task, TaskIndex};

/// The tasks of one call, in the order given, whose links form no cycle.
#[derive(Clone, Debug)]
pub struct Submission {
    tasks: Vec<Task>,
    dependants: Vec<Vec<TaskIndex>>,
    remaining_chain: Vec<usize>,
}

impl Submission {
    /// Takes the tasks over, or names the first thing that is wrong with their links.
    ///
    /// Cost grows with the number of tasks and links, also in the worst case.
    pub fn new(tasks: Vec<Task>) -> Result<Self, SubmissionError> {
        let mut dependants = vec![Vec::new(); tasks.len()];
        for (place, task) in tasks.iter().enumerate() {
            for target in local_links(task) {
                dependants
                    .get_mut(target.0)
                    .ok_or_else(|| SubmissionError::NoSuchTask {
                        task: task.local_id.clone(),
                        link: target,
                    })?
                    .push(TaskIndex(place));
            }
        }
        let order = links_first(&tasks, &dependants);
        if order.len() < tasks.len() {
            return Err(SubmissionError::Cycle {
                members: find_cycle(&tasks, &order),
            });
        }
        let mut remaining_chain = vec![1; tasks.len()];
        for &place in order.iter().rev() {
            for dependant in &dependants[place] {
                remaining_chain[place] =
                    remaining_chain[place].max(1 + remaining_chain[dependant.0]);
            }
        }
        Ok(Self {
            tasks,
            dependants,
            remaining_chain,
        })
    }

    /// A single task, which must have no local links.
    pub fn single(task: Task) -> Result<Self, SubmissionError> {
        Self::new(vec![task])
    }

    /// The tasks, in the order given.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The task at a place of this submission.
    ///
    /// Panics where `at` comes from another submission.
    pub fn task(&self, at: TaskIndex) -> &Task {
        &self.tasks[at.0]
    }

    /// Every place, in the order given.
    pub fn places(&self) -> impl Iterator<Item = TaskIndex> + use<> {
        (0..self.tasks.len()).map(TaskIndex)
    }

    /// The tasks that link to this one.
    pub fn dependants(&self, at: TaskIndex) -> &[TaskIndex] {
        &self.dependants[at.0]
    }

    /// Returns the number of tasks in the longest chain that begins with this one, itself included.
    pub fn remaining_chain(&self, at: TaskIndex) -> usize {
        self.remaining_chain[at.0]
    }
}

/// The links of a task to others of its submission.
pub(crate) fn local_links(task: &Task) -> impl Iterator<Item = TaskIndex> {
    task.links.iter().filter_map(|link| match link {
        Link::Local(target) => Some(*target),
        Link::Ledger(_) => None,
    })
}

/// Places in an order in which each task comes after its links; those on or behind a cycle are
/// missing.
fn links_first(tasks: &[Task], dependants: &[Vec<TaskIndex>]) -> Vec<usize> {
    let mut unmet: Vec<usize> = tasks.iter().map(|task| local_links(task).count()).collect();
    let mut order: Vec<usize> = (0..tasks.len())
        .filter(|&place| unmet[place] == 0)
        .collect();
    let mut next = 0;
    while next < order.len() {
        for dependant in &dependants[order[next]] {
            unmet[dependant.0] -= 1;
            if unmet[dependant.0] == 0 {
                order.push(dependant.0);
            }
        }
        next += 1;
    }
    order
}

/// Follows unmet links until a task comes again. Each task that `ordered` lacks has such a link.
fn find_cycle(tasks: &[Task], ordered: &[usize]) -> Vec<String> {
    let mut is_ordered = vec![false; tasks.len()];
    for &place in ordered {
        is_ordered[place] = true;
    }
    let mut walked: Vec<usize> = Vec::new();
    let mut at_step: Vec<Option<usize>> = vec![None; tasks.len()];
    let mut here = is_ordered.iter().position(|ordered| !ordered);
    while let Some(place) = here {
        if let Some(first) = at_step[place] {
            walked.drain(..first);
            break;
        }
        at_step[place] = Some(walked.len());
        walked.push(place);
        here = local_links(&tasks[place])
            .map(|target| target.0)
            .find(|&target| !is_ordered[target]);
    }
    walked
        .into_iter()
        .map(|place| tasks[place].local_id.clone())
        .collect()
}

/// Reason that tasks cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmissionError {
    /// Tasks that wait for each other.
    #[error("tasks link to each other in a cycle: {}", circle(members))]
    Cycle {
        /// The ids on the circle, each linking to the next and the last to the first.
        members: Vec<String>,
    },
    /// A link to a place that the submission does not have.
    #[error("task `{task}` links to index {link}, which is not in the submission")]
    NoSuchTask {
        /// The task with the link.
        task: String,
        /// Target of the link.
        link: TaskIndex,
    },
}

/// The circle as a person reads it, ending where it began.
fn circle(members: &[String]) -> String {
    let mut around: Vec<String> = members.iter().map(|id| format!("`{id}`")).collect();
    around.extend(around.first().cloned());
    around.join(" -> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(links: &[&[usize]]) -> Vec<Task> {
        links
            .iter()
            .enumerate()
            .map(|(place, targets)| Task {
                links: targets
                    .iter()
                    .map(|&target| Link::Local(TaskIndex(target)))
                    .collect(),
                ..Task::new(format!("t{place}"), "")
            })
            .collect()
    }

    #[test]
    fn a_cycle_is_named_whole_and_without_what_leads_to_it() {
        let refused = Submission::new(linked(&[&[1], &[2], &[3], &[1], &[]])).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "tasks link to each other in a cycle: `t1` -> `t2` -> `t3` -> `t1`"
        );
        let alone = Submission::new(linked(&[&[0]])).unwrap_err();
        assert_eq!(
            alone.to_string(),
            "tasks link to each other in a cycle: `t0` -> `t0`"
        );
    }

    #[test]
    fn a_link_beyond_the_submission_is_refused() {
        let refused = Submission::new(linked(&[&[7]])).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "task `t0` links to index 7, which is not in the submission"
        );
    }

    /// CAL-ARB-3: the chain counts the tasks that wait, not those before.
    #[test]
    fn the_remaining_chain_is_the_longest_way_to_an_end() {
        let submission = Submission::new(linked(&[&[], &[0], &[1], &[0], &[2, 3], &[]])).unwrap();
        let chains: Vec<usize> = submission
            .places()
            .map(|place| submission.remaining_chain(place))
            .collect();
        assert_eq!(chains, [4, 3, 2, 2, 1, 1]);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_tasks_needs_no_stack() {
        let links: Vec<Vec<usize>> = (0..100_000_usize)
            .map(|place| place.checked_sub(1).into_iter().collect())
            .collect();
        let links: Vec<&[usize]> = links.iter().map(Vec::as_slice).collect();
        let submission = Submission::new(linked(&links)).unwrap();
        assert_eq!(submission.remaining_chain(TaskIndex(0)), 100_000);
    }
}
