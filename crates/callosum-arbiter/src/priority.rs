//! [`Priority`]: in which order waiting tasks start, and which executor gets them.

use std::fmt;

use crate::task::Task;

/// Order of a task among those that wait (Seed CAL §4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// The more it builds on, the earlier it starts.
    #[default]
    ContextPriority,
    /// In the order given, over the executors in turn.
    RoundRobin,
    /// The longer the chain of tasks that waits for it, the earlier it starts.
    DependencyChain,
}

impl Priority {
    /// All three, in the seed's order.
    pub const ALL: [Self; 3] = [
        Self::ContextPriority,
        Self::RoundRobin,
        Self::DependencyChain,
    ];

    /// The name in the ledger, in task files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ContextPriority => "context-priority",
            Self::RoundRobin => "round-robin",
            Self::DependencyChain => "dependency-chain",
        }
    }

    /// Returns the weight of a task with so many links, at the head of a chain of so many tasks
    /// that are still to run (itself included). The heavier starts first; among equals, the one
    /// that was submitted first.
    ///
    /// The three are on one scale, on which a task that has nothing to do with others weighs 1: a
    /// submission may mix them.
    pub fn weight(self, links: usize, remaining_chain: usize) -> f64 {
        match self {
            // Seed CAL §4.4.
            Self::ContextPriority => 1.0 + 0.5 * links as f64,
            Self::RoundRobin => 1.0,
            Self::DependencyChain => remaining_chain as f64,
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Says which executor each task goes to, given the candidates in order of preference.
///
/// A task that names one keeps it. Of the others, the round-robin ones take the candidates in
/// turn, and the rest the first. `None` where there is no candidate.
pub fn assign_executors<'a>(tasks: &'a [Task], candidates: &'a [String]) -> Vec<Option<&'a str>> {
    let mut in_turn = candidates.iter().cycle();
    tasks
        .iter()
        .map(|task| match (&task.executor, task.priority) {
            (Some(named), _) => Some(named.as_str()),
            (None, Priority::RoundRobin) => in_turn.next().map(String::as_str),
            (None, _) => candidates.first().map(String::as_str),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-ARB-3: 1 + 0.5 × links.
    #[test]
    fn each_link_adds_half_a_weight() {
        assert!((Priority::ContextPriority.weight(0, 9) - 1.0).abs() < f64::EPSILON);
        assert!((Priority::ContextPriority.weight(3, 9) - 2.5).abs() < f64::EPSILON);
    }

    /// CAL-ARB-3: round-robin takes executor `i % n`, and passes over tasks that name theirs.
    #[test]
    fn round_robin_takes_the_executors_in_turn() {
        let mut tasks = vec![Task::new("a", ""), Task::new("b", ""), Task::new("c", "")];
        for task in &mut tasks {
            task.priority = Priority::RoundRobin;
        }
        tasks.insert(1, Task::new("first", ""));
        tasks.insert(2, Task::new("named", ""));
        tasks[2].executor = Some("mine".to_owned());
        let candidates = ["x".to_owned(), "y".to_owned()];
        assert_eq!(
            assign_executors(&tasks, &candidates),
            [Some("x"), Some("x"), Some("mine"), Some("y"), Some("x")],
        );
        assert_eq!(
            assign_executors(&tasks, &[]),
            [None, None, Some("mine"), None, None]
        );
    }
}
