//! [`merged`]: an earlier text, with others' changes since.
//!
//! Removing our entries from settings by their structure leaves the line breaks that were made for
//! them. If the text before and after our change is known, the change can be reverted to the byte,
//! next to others' changes. Pure.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A piece of one text that is another in the other.
struct Change<'t> {
    /// Its tokens in the text that both began with.
    at: Range<usize>,
    new: Vec<&'t str>,
}

/// Returns the text `now`, which began as `ours`, with that reverted to `before`; `None` if both
/// changed the same place.
pub(super) fn merged(before: &str, ours: &str, now: &str) -> Option<String> {
    let (before, ours, now) = (tokens(before), tokens(ours), tokens(now));
    let back = changes(&ours, &before);
    let since = changes(&ours, &now);
    let meets = |a: &Change<'_>, b: &Change<'_>| {
        if a.at.is_empty() || b.at.is_empty() {
            // What is put in at the end of another change could belong before it or behind it.
            let touches = a.at.end >= b.at.start && b.at.end >= a.at.start;
            return touches && !a.new.is_empty() && !b.new.is_empty();
        }
        a.at.end > b.at.start && b.at.end > a.at.start
    };
    if back.iter().any(|a| since.iter().any(|b| meets(a, b))) {
        return None;
    }
    let mut all: Vec<Change<'_>> = back.into_iter().chain(since).collect();
    // Those of either text stay in their order, in which one puts in what another left out.
    all.sort_by_key(|change| change.at.start);
    let mut text = String::new();
    let mut from = 0;
    for change in all {
        text.extend(ours.get(from..change.at.start)?.iter().copied());
        text.extend(change.new);
        from = change.at.end;
    }
    text.extend(ours.get(from..)?.iter().copied());
    Some(text)
}

fn changes<'t>(from: &[&'t str], to: &[&'t str]) -> Vec<Change<'t>> {
    let mut changes: Vec<Change<'t>> = Vec::new();
    let (mut at, mut is_going_on) = (0, false);
    for op in capture_diff_slices(Algorithm::Patience, from, to) {
        let old = at..at + op.old_range().len();
        at = old.end;
        if matches!(op, DiffOp::Equal { .. }) {
            is_going_on = false;
            continue;
        }
        let new = &to[op.new_range()];
        match changes.last_mut().filter(|_| is_going_on) {
            Some(last) => {
                last.at.end = old.end;
                last.new.extend(new);
            }
            None => changes.push(Change {
                at: old,
                new: new.to_vec(),
            }),
        }
        is_going_on = true;
    }
    changes
}

/// The text in its smallest parts: strings, words, what is blank between them, and every other
/// character by itself. Blanks are one part, so that no more of them are found again than belong
/// there.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let length = if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let is_end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                is_end
            });
            end.map_or(1, |end| end + 2)
        } else if is_of_word(first) {
            rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())
        } else if first.is_whitespace() {
            let end = rest.find(|c: char| !c.is_whitespace());
            end.unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_change_is_taken_back_beside_others() {
        let (before, ours) = ("{\"a\":1}", "{\n  \"a\":1,\n  \"hooks\": {}\n}");
        let now = ours.replace(":1", ":2");
        assert_eq!(merged(before, ours, &now).as_deref(), Some("{\"a\":2}"));
        let now = ours.replace("{}", "{ \"x\": 1 }");
        assert_eq!(merged(before, ours, &now), None);
    }

    proptest! {
        #[test]
        fn tokens_are_the_text(text in "[a-z\"\\\\{}:, \n\u{e9}]{0,40}") {
            prop_assert_eq!(tokens(&text).concat(), text);
        }

        /// Unchanged text is as it was.
        #[test]
        fn alone_a_change_is_taken_back_wholly(before in "[a-z {}\n]{0,40}", ours in "[a-z {}\n]{0,40}") {
            prop_assert_eq!(merged(&before, &ours, &ours), Some(before));
        }
    }
}
