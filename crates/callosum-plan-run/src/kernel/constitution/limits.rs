//! Bounds on a text of policies, held before Cedar's parser sees it.
//!
//! Parser and validator recur over what is nested, and over long chains of operators; the text
//! of a cloned repository could exhaust the stack. So brackets and the size of a policy have an end here.

/// Deepest nesting of brackets.
pub(super) const MAX_DEPTH: usize = 24;

/// Words and signs that one policy may have, those in strings and comments left out.
pub(super) const MAX_TOKENS: usize = 400;

/// Bound that a text exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitExceeded {
    /// Brackets are nested too deep.
    Depth,
    /// A policy has too many words and signs.
    Tokens,
}

/// Returns the first excess of a text, with the line where it is reached.
pub(super) fn excess(text: &str) -> Option<(LimitExceeded, usize)> {
    let mut line = 1;
    let (mut depth, mut tokens) = (0_usize, 0_usize);
    let mut is_in_word = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let was_in_word = std::mem::replace(&mut is_in_word, c.is_alphanumeric() || c == '_');
        match c {
            '\n' => line += 1,
            '"' => {
                line += skip_string(&mut chars);
                tokens += 1;
            }
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|&next| next != '\n') {
                    chars.next();
                }
            }
            // Where no bracket is open a policy ends; one that is left open is an error anyway.
            ';' if depth == 0 => tokens = 0,
            '(' | '[' | '{' => {
                depth += 1;
                tokens += 1;
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                tokens += 1;
            }
            c if c.is_whitespace() => {}
            _ if is_in_word && was_in_word => {}
            _ => tokens += 1,
        }
        if depth > MAX_DEPTH {
            return Some((LimitExceeded::Depth, line));
        }
        if tokens > MAX_TOKENS {
            return Some((LimitExceeded::Tokens, line));
        }
    }
    None
}

/// Skips to the end of a string and returns how many lines that was.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> usize {
    let mut lines = 0;
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => {
                chars.next();
            }
            '\n' => lines += 1,
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_do_not_count() {
        let brackets = "(".repeat(100);
        let plain = format!("// {brackets}\npermit(\"{brackets}\\\"{brackets}\");\n");
        assert_eq!(excess(&plain.repeat(100)), None);
        assert_eq!(
            excess(&format!("\n{brackets}")),
            Some((LimitExceeded::Depth, 2))
        );
        assert_eq!(excess(&"a ".repeat(401)), Some((LimitExceeded::Tokens, 1)));
        assert_eq!(excess(&"a;".repeat(4000)), None);
    }
}
