//! [`decide`]: the line that answers name together, and [`Outcome`], how that compares with the planted line.

/// Lines that are this close count as the same.
pub(super) const NEAR: usize = 2;

/// How a method did on one bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It named the line, or one near it.
    Found,
    /// It named another line.
    WrongLine,
    /// It named no line.
    NotFound,
}

impl Outcome {
    /// Compares the line that was named with the planted one.
    pub(super) fn of(named: Option<usize>, planted: usize) -> Self {
        match named {
            Some(line) if is_near(line, planted) => Self::Found,
            Some(_) => Self::WrongLine,
            None => Self::NotFound,
        }
    }

    /// Returns its word.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::WrongLine => "wrong-line",
            Self::NotFound => "not-found",
        }
    }
}

fn is_near(one: usize, other: usize) -> bool {
    one.abs_diff(other) <= NEAR
}

/// Returns whether two answers agree: on lines near each other, or on no line.
fn agree(one: Option<usize>, other: Option<usize>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_near(one, other),
        (one, other) => one == other,
    }
}

/// Returns the answer that most answers agree with; of several such, the one that was given first. No answers decide on
/// no line.
pub(super) fn decide(answers: &[Option<usize>]) -> Option<usize> {
    let support = |answer: &Option<usize>| {
        let others = answers.iter();
        others.filter(|other| agree(*answer, **other)).count()
    };
    let mut best = (None, 0);
    for answer in answers {
        let count = support(answer);
        if count > best.1 {
            best = (*answer, count);
        }
    }
    best.0
}

/// Returns whether answers differ: at least one does not agree with what they decide.
pub(super) fn is_split(answers: &[Option<usize>]) -> bool {
    let decided = decide(answers);
    answers.iter().any(|answer| !agree(*answer, decided))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_answers_decide_and_near_lines_are_the_same() {
        assert_eq!(decide(&[]), None);
        assert_eq!(decide(&[Some(9), Some(30), Some(31)]), Some(30));
        assert_eq!(decide(&[Some(9), Some(30)]), Some(9));
        assert_eq!(decide(&[None, None, Some(3)]), None);
        // 12 is near both others, which are not near each other.
        assert_eq!(decide(&[Some(10), Some(12), Some(14), Some(50)]), Some(12));
    }

    #[test]
    fn answers_that_differ_are_a_split() {
        assert!(!is_split(&[]));
        assert!(!is_split(&[Some(3), Some(4), Some(5)]));
        assert!(is_split(&[Some(3), Some(4), Some(9)]));
        assert!(is_split(&[Some(3), None]));
    }

    #[test]
    fn an_outcome_compares_with_the_planted_line() {
        assert_eq!(Outcome::of(Some(12), 10), Outcome::Found);
        assert_eq!(Outcome::of(Some(13), 10), Outcome::WrongLine);
        assert_eq!(Outcome::of(None, 10), Outcome::NotFound);
    }
}
