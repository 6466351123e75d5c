//! Bounded text of tools: whole pieces within a budget of tokens, and a count of what was left out.

use callosum_citation::tokens::estimate;

/// Tokens of an answer, estimated, where a call names no other number.
pub(super) const USUAL: u64 = 2000;

/// The most that a call may ask for: clients cut longer answers themselves, without a word.
pub(super) const MOST: u64 = 20_000;

/// The fewest that say something.
const LEAST: u64 = 64;

/// The budget that a call comes to.
pub(super) fn budget(wanted: Option<u64>) -> u64 {
    wanted.unwrap_or(USUAL).clamp(LEAST, MOST)
}

/// Returns as many whole pieces as fit, then the number and kind of the rest. The first piece
/// is always there, cut if necessary.
pub(super) fn fitted(pieces: &[String], budget: u64, kind: &str) -> String {
    let mut text = String::new();
    for (done, piece) in pieces.iter().enumerate() {
        let with = format!("{text}{piece}");
        if estimate(&with) <= budget {
            text = with;
            continue;
        }
        if done == 0 {
            text = cut(piece, budget);
        }
        let left = pieces.len() - done.max(1);
        if left > 0 {
            text = format!("{text}[{left} more {kind} left out; a larger `budget` shows more]\n");
        }
        break;
    }
    text
}

/// As many lines of a text as fit, and a note of the rest.
pub(super) fn cut(text: &str, budget: u64) -> String {
    if estimate(text) <= budget {
        return text.to_owned();
    }
    let mut end = 0;
    let ends: Vec<usize> = text
        .split_inclusive('\n')
        .map(|line| {
            end += line.len();
            end
        })
        .collect();
    let fits = ends.partition_point(|end| estimate(&text[..*end]) <= budget);
    let left = ends.len() - fits;
    let kept = fits.checked_sub(1).map_or("", |last| &text[..ends[last]]);
    format!("{kept}[{left} more lines left out]\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let pieces: Vec<String> = (0..40)
            .map(|n| format!("passage {n} of the tree\n"))
            .collect();
        let all = fitted(&pieces, MOST, "passages");
        assert_eq!(all, pieces.concat());
        let some = fitted(&pieces, 64, "passages");
        let shown = some.matches("of the tree").count();
        assert!(shown > 0, "{some}");
        let left = format!("[{} more passages left out;", 40 - shown);
        assert!(some.contains(&left), "{some}");
        let one = fitted(&[pieces.concat()], 64, "passages");
        assert!(one.contains("more lines left out"), "{one}");
    }

    proptest! {
        /// A cut text is a prefix, within the budget.
        #[test]
        fn a_cut_text_is_a_beginning(text in "[a-z \n]{0,2000}", budget in LEAST..500) {
            let short = cut(&text, budget);
            if short != text {
                let (kept, note) = short.rsplit_once('[').unwrap();
                prop_assert!(text.starts_with(kept));
                prop_assert!(note.ends_with("more lines left out]\n"));
                prop_assert!(estimate(kept) <= budget);
            }
        }
    }
}
