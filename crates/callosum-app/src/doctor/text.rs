//! Groups the results of `callosum doctor` for its short form.

use crate::doctor::CheckLine;

/// Most lines of a summary.
pub const MOST_LINES: usize = 8;

/// Most characters of a problem in a summary; `-v` prints it whole.
const LONGEST: usize = 160;

/// Checks whose problem is solved by the same command.
pub struct Problem<'a> {
    /// The worst result of the group.
    pub worst: &'a CheckLine,
    /// Further checks with the same command.
    pub others: usize,
}

impl Problem<'_> {
    /// Returns the number of results in the group.
    pub fn lines(&self) -> usize {
        1 + usize::from(self.worst.hint.is_some())
    }
}

/// Joins problems that one command fixes, at the place of the worst of them.
pub fn by_fix(found: Vec<&CheckLine>) -> Vec<Problem<'_>> {
    let mut problems: Vec<Problem<'_>> = Vec::new();
    for check in found {
        let same = problems
            .iter_mut()
            .find(|problem| check.hint.is_some() && problem.worst.hint == check.hint);
        match same {
            Some(problem) => problem.others += 1,
            None => problems.push(Problem {
                worst: check,
                others: 0,
            }),
        }
    }
    problems
}

/// Whether a check is about the hook that stops commands.
pub fn is_guard(check: &CheckLine) -> bool {
    check.name.starts_with("guard")
}

/// Shortens a result to one line.
pub fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
