//! [`parts`]: three sequences as stretches that both sides left, that one changed, and that both
//! did.

use std::{collections::HashMap, hash::Hash, ops::Range};

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Side that changed a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Neither,
    Ours,
    Theirs,
    /// Both, alike or not.
    Both,
}

/// A stretch of the base, and its replacement in either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) base: Range<usize>,
    pub(crate) ours: Range<usize>,
    pub(crate) theirs: Range<usize>,
    pub(crate) by: By,
}

/// Returns the stretches, in their order; all of every sequence is in one of them.
pub(crate) fn parts<T: Hash + Eq>(base: &[T], ours: &[T], theirs: &[T]) -> Vec<Part> {
    let (base, ours, theirs) = numbered(base, ours, theirs);
    let (in_ours, in_theirs) = (matches(&base, &ours), matches(&base, &theirs));
    let mut parts = Vec::new();
    let mut at = (0, 0, 0);
    loop {
        let same = (at.0..base.len()).zip(0..).take_while(|(index, offset)| {
            in_ours[*index] == Some(at.1 + offset) && in_theirs[*index] == Some(at.2 + offset)
        });
        let same = same.count();
        if same > 0 {
            let to = (at.0 + same, at.1 + same, at.2 + same);
            parts.push(part(at, to, By::Neither));
            at = to;
        }
        if at == (base.len(), ours.len(), theirs.len()) {
            return parts;
        }
        let mut rest = at.0..base.len();
        let next = rest.find_map(|index| Some((index, in_ours[index]?, in_theirs[index]?)));
        let to = next.unwrap_or((base.len(), ours.len(), theirs.len()));
        let was = &base[at.0..to.0];
        let by = match (ours[at.1..to.1] == *was, theirs[at.2..to.2] == *was) {
            (true, _) => By::Theirs,
            (_, true) => By::Ours,
            _ => By::Both,
        };
        parts.push(part(at, to, by));
        at = to;
    }
}

fn part(from: (usize, usize, usize), to: (usize, usize, usize), by: By) -> Part {
    Part {
        base: from.0..to.0,
        ours: from.1..to.1,
        theirs: from.2..to.2,
        by,
    }
}

/// A stretch of two sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) ours: Range<usize>,
    pub(crate) theirs: Range<usize>,
    /// Whether both have it.
    pub(crate) is_shared: bool,
}

/// Returns the common parts of two sequences and, between them, the parts of each alone, in the
/// order of both.
pub(crate) fn beside<T: Hash + Eq>(ours: &[T], theirs: &[T]) -> Vec<Hunk> {
    let (_, ours, theirs) = numbered(&[], ours, theirs);
    stretches(&ours, &theirs)
}

fn stretches(ours: &[usize], theirs: &[usize]) -> Vec<Hunk> {
    let mut found: Vec<Hunk> = Vec::new();
    let mut at = (0, 0);
    for op in capture_diff_slices(Algorithm::Myers, ours, theirs) {
        // An operation that only adds or removes does not give a reliable position in the other
        // sequence.
        let to = (at.0 + op.old_range().len(), at.1 + op.new_range().len());
        let is_shared = matches!(op, DiffOp::Equal { .. });
        match found
            .last_mut()
            .filter(|last| !last.is_shared && !is_shared)
        {
            Some(last) => {
                last.ours.end = to.0;
                last.theirs.end = to.1;
            }
            None => found.push(Hunk {
                ours: at.0..to.0,
                theirs: at.1..to.1,
                is_shared,
            }),
        }
        at = to;
    }
    found
}

/// Returns a number for each item, the same for those that are alike.
fn numbered<'t, T: Hash + Eq>(
    base: &'t [T],
    ours: &'t [T],
    theirs: &'t [T],
) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let mut known: HashMap<&'t T, usize> = HashMap::new();
    let mut numbers = |items: &'t [T]| -> Vec<usize> {
        let numbers = items.iter().map(|item| {
            let next = known.len();
            *known.entry(item).or_insert(next)
        });
        numbers.collect()
    };
    (numbers(base), numbers(ours), numbers(theirs))
}

/// Returns the position of each item of the base in a side.
fn matches(base: &[usize], side: &[usize]) -> Vec<Option<usize>> {
    let mut found = vec![None; base.len()];
    let shared = stretches(base, side).into_iter();
    for shared in shared.filter(|stretch| stretch.is_shared) {
        for (at, there) in shared.ours.zip(shared.theirs) {
            found[at] = Some(there);
        }
    }
    found
}

/// Applies the changes of one side alone to all three, as git would: the remaining differences are
/// those that both changed. Also returns whether there are none.
pub(crate) fn reduced<'t, T: Hash + Eq + ?Sized>(
    base: &[&'t T],
    ours: &[&'t T],
    theirs: &[&'t T],
) -> ([Vec<&'t T>; 3], bool) {
    let mut made: [Vec<&'t T>; 3] = Default::default();
    let mut is_settled = true;
    for part in parts(base, ours, theirs) {
        let (was, own, new) = (
            &base[part.base.clone()],
            &ours[part.ours.clone()],
            &theirs[part.theirs.clone()],
        );
        let all = match part.by {
            By::Neither | By::Ours => [own; 3],
            By::Theirs => [new; 3],
            By::Both if own == new => [own; 3],
            By::Both => {
                is_settled = false;
                [was, own, new]
            }
        };
        for (made, lines) in made.iter_mut().zip(all) {
            made.extend_from_slice(lines);
        }
    }
    (made, is_settled)
}

/// Returns the text with the changes of both sides; `None` if both changed the same lines
/// differently.
///
/// Changes in neighboring lines count as changes of the same lines. A change that both sides made
/// is in the result once.
pub fn merged_lines(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let [base, ours, theirs] = [base, ours, theirs].map(|text| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines
    });
    let ([_, merged, _], is_settled) = reduced(&base, &ours, &theirs);
    is_settled.then(|| merged.concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// CALC-FUT-1: changes of different lines merge, equal ones are there once, and others are for a person to decide.
    #[test]
    fn lines_merge_unless_both_sides_changed_the_same() {
        let base = "a\nb\nc\nd\ne\n";
        for (ours, theirs, merged) in [
            (
                "A\nb\nc\nd\ne\n",
                "a\nb\nc\nd\nE\n",
                Some("A\nb\nc\nd\nE\n"),
            ),
            (
                "A\nb\nc\nd\ne\n",
                "A\nb\nc\nD\ne\n",
                Some("A\nb\nc\nD\ne\n"),
            ),
            ("A\nb\nc\nd\ne\n", "X\nb\nc\nd\ne\n", None),
            ("", "a\nb\nc\nd\ne\n", Some("")),
            (
                "a\nb\nc\nd\ne",
                "a\nb\nx\nc\nd\ne\n",
                Some("a\nb\nx\nc\nd\ne"),
            ),
        ] {
            assert_eq!(
                merged_lines(base, ours, theirs).as_deref(),
                merged,
                "{ours:?} {theirs:?}"
            );
        }
    }

    proptest! {
        /// Merging does not depend on which side is which, and an unchanged side changes nothing.
        #[test]
        fn a_merge_of_lines_is_symmetric(
            base in "[abc\n]{0,16}", ours in "[abc\n]{0,16}", theirs in "[abc\n]{0,16}",
        ) {
            prop_assert_eq!(merged_lines(&base, &ours, &theirs), merged_lines(&base, &theirs, &ours));
            prop_assert_eq!(merged_lines(&base, &ours, &base), Some(ours.clone()));
            prop_assert_eq!(merged_lines(&base, &ours, &ours), Some(ours));
        }

        /// LOA-FMT-1: all of each side is in the stretches, and a stretch that only one side
        /// changed, or neither, is as that side has it.
        #[test]
        fn stretches_make_up_every_sequence(
            base in proptest::collection::vec(0_u8..6, 0..12),
            ours in proptest::collection::vec(0_u8..6, 0..12),
            theirs in proptest::collection::vec(0_u8..6, 0..12),
        ) {
            let mut whole: [Vec<u8>; 3] = Default::default();
            for part in parts(&base, &ours, &theirs) {
                let all = [&base[part.base.clone()], &ours[part.ours.clone()], &theirs[part.theirs.clone()]];
                match part.by {
                    By::Neither => prop_assert!(all[0] == all[1] && all[0] == all[2]),
                    By::Ours => prop_assert!(all[0] == all[2]),
                    By::Theirs => prop_assert!(all[0] == all[1]),
                    By::Both => prop_assert!(all[0] != all[1] && all[0] != all[2]),
                }
                for (whole, items) in whole.iter_mut().zip(all) {
                    whole.extend_from_slice(items);
                }
            }
            prop_assert_eq!(whole, [base, ours, theirs]);
        }
    }
}
