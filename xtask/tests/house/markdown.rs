//! As much of Markdown as the rules need: links, headings, tables and code blocks.
//!
//! Deliberately not a parser: the papers are plain, and what is not understood here should not
//! be written there.

/// Returns the lines of `text` that are not inside a fenced code block, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        let shown = !fenced && !fence;
        fenced ^= fence;
        shown.then_some((index + 1, line))
    })
}

/// Returns the targets of the inline links of `text`, with their lines.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // What stands at an odd place between backticks is code.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for after in plain.split("](").skip(1) {
            if let Some((target, _)) = after.split_once(')') {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// Returns the anchors under which the headings of `text` can be linked to.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    prose(text)
        .filter_map(|(_, line)| line.strip_prefix('#'))
        .map(|heading| {
            heading
                .trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

/// Returns the cells of every table row of `text`, without heads' separator lines.
pub(crate) fn rows(text: &str) -> Vec<Vec<&str>> {
    prose(text)
        .filter_map(|(_, line)| line.trim().strip_prefix('|')?.strip_suffix('|'))
        .map(|row| row.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|cells| {
            !cells
                .iter()
                .all(|cell| cell.trim_matches(['-', ':']).is_empty())
        })
        .collect()
}

/// Returns the lines of all fenced code blocks of `text`.
pub(crate) fn code(text: &str) -> Vec<&str> {
    let outside: Vec<usize> = prose(text).map(|(number, _)| number).collect();
    text.lines()
        .enumerate()
        .filter(|(index, _)| !outside.contains(&(index + 1)))
        .map(|(_, line)| line)
        .filter(|line| !line.trim_start().starts_with("```"))
        .collect()
}

/// Returns the part of `text` under the heading `## title`, up to the next of its rank.
pub(crate) fn section<'a>(text: &'a str, title: &str) -> Option<&'a str> {
    let head = format!("## {title}\n");
    let start = text.find(&head)? + head.len();
    let rest = &text[start..];
    Some(rest.find("\n## ").map_or(rest, |end| &rest[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A page: `one`\n\nSee [two](two.md#x), not `[code](no)`.\n\n\
        ```\n[fenced](no)\ncargo test\n```\n\n## Rooms\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n## Next\n";

    #[test]
    fn links_in_code_are_not_links() {
        assert_eq!(links(PAGE), [(3, "two.md#x".to_owned())]);
    }

    #[test]
    fn an_anchor_drops_punctuation_and_joins_words() {
        assert_eq!(anchors(PAGE), ["a-page-one", "rooms", "next"]);
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_rank() {
        assert_eq!(
            rows(section(PAGE, "Rooms").unwrap()),
            [["a", "b"], ["1", "2"]]
        );
        assert_eq!(section(PAGE, "Absent"), None);
    }

    #[test]
    fn code_is_what_stands_between_fences() {
        assert_eq!(code(PAGE), ["[fenced](no)", "cargo test"]);
    }
}
