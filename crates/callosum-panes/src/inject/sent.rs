//! Finds a text among the prompts that a client shows as sent or queued.
//!
//! A client marks them with a sign (`❯`, `›`, `>`), or lists them below a line that says "Queued". Prose that merely
//! repeats the text has neither.

use super::text::{Prepared, squash};
use crate::screen::{Line, Screen};

/// Bytes from which a client may show a marker instead of a pasted text. The recorded clients collapse from 200
/// characters or 3 lines on; a marker for a shorter text is not ours.
const COLLAPSED: usize = 100;

/// Lines that one prompt is read from.
const LINES: usize = 8;

/// Lines below a heading that list queued prompts.
const QUEUE: usize = 6;

/// Signs before a prompt.
const SIGNS: [char; 4] = ['❯', '›', '>', '↳'];

/// Words with which Claude Code shows a text that came to its socket while it was idle. The text follows on its own line.
pub(super) const PEER_MESSAGE: &str = "Another Claude session sent a message:";

/// Counts the prompts above line `end` that begin like `text`. `is_collapsed` counts markers of pasted texts instead.
pub fn count(screen: &Screen, end: usize, text: &Prepared, is_collapsed: bool) -> usize {
    let lines = screen.lines.get(..end).unwrap_or(&screen.lines);
    let needle = text.needle();
    let is_match = |index: &usize| {
        let Some(mut first) = prompt(lines, *index) else {
            return false;
        };
        let mut index = *index;
        if first == PEER_MESSAGE {
            index += 1;
            first = lines.get(index).map_or("", |line| line.text.trim());
        }
        if is_collapsed && is_marker(&squash(first)) {
            return true;
        }
        let mut found = squash(first);
        for line in lines.iter().skip(index + 1).take(LINES - 1) {
            if found.len() >= needle.len() || prompt_sign(&line.text).is_some() {
                break;
            }
            // A gap within a prompt is one blank line; the text itself decides if more belongs to it.
            found.push_str(&squash(&line.text));
        }
        if text.squashed().len() > needle.len() {
            found.starts_with(needle)
        } else {
            // A short text must be the whole first line, or a prompt that merely begins alike would count.
            found.starts_with(needle)
                && (squash(first) == needle || squash(first).len() < needle.len())
        }
    };
    (0..lines.len()).filter(is_match).count()
}

/// Whether a client may show a marker instead of a text.
pub(super) fn is_collapsible(text: &Prepared) -> bool {
    let text = text.as_str();
    text.len() >= COLLAPSED || text.lines().count() >= 3
}

/// Whether squashed text is what a client shows instead of a long paste.
pub(super) fn is_marker(squashed: &str) -> bool {
    let inner = squashed
        .strip_prefix("[Pasted")
        .and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| {
        !inner.contains(['[', ']'])
            && ["text", "Text", "Content"]
                .iter()
                .any(|word| inner.starts_with(word))
    })
}

/// Returns the text of a prompt's first line, or `None` if the line is none.
fn prompt(lines: &[Line], index: usize) -> Option<&str> {
    let line = lines.get(index)?.text.as_str();
    if let Some(rest) = prompt_sign(line) {
        return Some(rest);
    }
    let above = lines.get(index.saturating_sub(QUEUE)..index)?;
    let is_queued = above.iter().any(|line| {
        let words = line.text.trim_start_matches(['•', ' ']);
        words.starts_with("Queued")
    });
    is_queued.then(|| line.trim())
}

fn prompt_sign(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix(SIGNS)?;
    Some(rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::prepare;

    fn counted(screen: &str, text: &str) -> usize {
        let screen = Screen::read(screen.as_bytes(), None);
        count(&screen, screen.lines.len(), &prepare(text).unwrap(), false)
    }

    #[test]
    fn sent_and_queued_prompts_count_and_prose_does_not() {
        assert_eq!(counted("❯ Fix it\n\n● Fix it\nFix it", "Fix it"), 1);
        assert_eq!(counted("❯ Fix it now", "Fix it"), 0);
        assert_eq!(counted("❯ Fix it\n● ok\n❯ Fix it", "Fix it"), 2);
        assert_eq!(
            counted("• Queued follow-up inputs\n  ↳ Then fix\n", "Then fix"),
            1
        );
        assert_eq!(
            counted("  Queued (press ↑ to edit):\n    Then fix\n", "Then fix"),
            1
        );
        assert_eq!(counted(" > Fix it\n", "Fix it"), 1);
    }

    #[test]
    fn a_text_from_the_socket_counts_in_the_words_around_it() {
        let screen = "❯ Another Claude session sent a message:\n  Say it once more\n\n  This came from another";
        assert_eq!(counted(screen, "Say it once more"), 1);
        assert_eq!(counted(screen, "Say it"), 0);
        assert_eq!(counted(screen, "This came from another"), 0);
        assert_eq!(counted("❯ Another Claude session sent a message:", "x"), 0);
    }

    #[test]
    fn a_wrapped_prompt_is_put_together() {
        let text =
            "Read the whole file and then tell me about every function in it, please, at once.";
        assert_eq!(
            counted(
                "❯ Read the whole file and then\n  tell me about every\n  function in it,",
                text
            ),
            1
        );
        assert_eq!(
            counted("❯ Read the whole file\n❯ and then tell me", text),
            0
        );
        assert_eq!(counted("❯ one\n  two", "one\n  two"), 1);
    }

    #[test]
    fn markers_of_all_clients_are_known() {
        for marker in [
            "[Pastedtext#1+11lines]",
            "[PastedContent1200chars]",
            "[PastedText:12lines]",
        ] {
            assert!(is_marker(marker));
        }
        assert!(!is_marker("[Pastedtext#1]and[Pastedtext#2]"));
        assert!(!is_marker("[Pasted]"));
        let screen = Screen::read("❯ [Pasted text #1 +11 lines]\n".as_bytes(), None);
        let text = prepare("some text").unwrap();
        assert_eq!(count(&screen, 1, &text, true), 1);
        assert_eq!(count(&screen, 1, &text, false), 0);
    }
}
