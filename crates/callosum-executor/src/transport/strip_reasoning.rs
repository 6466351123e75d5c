//! [`answer_in`]: text of a model without the thoughts that some write before their answer.

/// Mark before thoughts.
pub(super) const OPEN: &str = "<think>";

/// Mark after them.
const CLOSE: &str = "</think>";

/// Mark before and after quoted lines.
const FENCE: &str = "```";

/// Returns the answer without the thoughts before it; `None` if these never end.
///
/// If a server's template has written the opening tag itself, the thoughts begin without one, and
/// their end is the first closing tag at the end of a line. A tag within a line or between fences
/// is quoted.
pub(super) fn answer_in(text: &str) -> Option<&str> {
    if let Some(thinking) = text.trim_start().strip_prefix(OPEN) {
        let (_, answer) = thinking.split_once(CLOSE)?;
        return Some(answer.trim_start());
    }
    let ends_line = |rest: &str| {
        let after = rest.trim_start_matches([' ', '\t', '\r']);
        after.is_empty() || after.starts_with('\n')
    };
    let is_quoted = |before: &str| before.matches(FENCE).count() % 2 == 1 || before.contains(OPEN);
    let end = text.match_indices(CLOSE).find_map(|(at, _)| {
        let answer = &text[at + CLOSE.len()..];
        (ends_line(answer) && !is_quoted(&text[..at])).then_some(answer)
    });
    Some(end.map_or(text, str::trim_start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-COM-1: thoughts are no part of an answer, and tags that an answer tells of are.
    #[test]
    fn thoughts_before_an_answer_are_no_part_of_it() {
        for (text, answer) in [
            ("<think>\nhm\n</think>\n\nThe answer.", Some("The answer.")),
            ("<think>hm</think>The answer.", Some("The answer.")),
            ("The answer.", Some("The answer.")),
            ("<think>never ended", None),
            ("  <think>", None),
            ("hm\nhm\n</think>\n\nThe answer.", Some("The answer.")),
            (
                "hm, so be it.</think>\r\n\r\nThe answer.",
                Some("The answer."),
            ),
            ("hm\n</think>\n", Some("")),
            ("</think>\n\nThe answer.", Some("The answer.")),
            (
                "It says </think> somewhere.",
                Some("It says </think> somewhere."),
            ),
            (
                "It has:\n```\nhm\n</think>\n```\n",
                Some("It has:\n```\nhm\n</think>\n```\n"),
            ),
            (
                "It splits <think> from\n</think>\nin a.rs.",
                Some("It splits <think> from\n</think>\nin a.rs."),
            ),
        ] {
            assert_eq!(answer_in(text), answer, "{text}");
        }
    }
}
