//! The shell's patterns, and what `${name…}` makes of a value with them.

/// A change to a value, its words expanded.
pub(crate) enum Edit {
    Nothing,
    Strip {
        pattern: String,
        front: bool,
        longest: bool,
    },
    Replace {
        pattern: String,
        with: String,
        all: bool,
    },
    Slice {
        offset: String,
        length: Option<String>,
    },
    Case {
        upper: bool,
        all: bool,
    },
}

/// The longest value that patterns are tried on, in characters.
const MAX_EDITED: usize = 512;

impl Edit {
    /// Returns the changed value; unchanged if it is too long to be examined.
    pub(crate) fn apply(&self, value: &str) -> String {
        let letters: Vec<char> = value.chars().collect();
        if letters.len() > MAX_EDITED {
            return value.to_owned();
        }
        let text = |letters: &[char]| letters.iter().collect::<String>();
        let count = letters.len();
        match self {
            Self::Nothing => value.to_owned(),
            Self::Strip {
                pattern,
                front,
                longest,
            } => {
                let mut lengths: Vec<usize> = (0..=count).collect();
                if *longest {
                    lengths.reverse();
                }
                for length in lengths {
                    let (piece, rest) = if *front {
                        (&letters[..length], &letters[length..])
                    } else {
                        (&letters[count - length..], &letters[..count - length])
                    };
                    if matches(pattern, &text(piece)) {
                        return text(rest);
                    }
                }
                value.to_owned()
            }
            Self::Replace { pattern, with, all } => {
                let mut out = String::new();
                let mut at = 0;
                let mut done = false;
                while at < count {
                    let end = (at + 1..=count)
                        .rev()
                        .find(|&end| !done && matches(pattern, &text(&letters[at..end])));
                    if let Some(end) = end {
                        out.push_str(with);
                        at = end;
                        done = !all;
                    } else {
                        out.push(letters[at]);
                        at += 1;
                    }
                }
                out
            }
            Self::Slice { offset, length } => {
                // Counted from the end if it is negative.
                let from = |base: usize, by: i64| {
                    let by_abs = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
                    if by < 0 {
                        count.saturating_sub(by_abs)
                    } else {
                        base.saturating_add(by_abs).min(count)
                    }
                };
                let start = from(0, offset.trim().parse().unwrap_or(0));
                let end = match length
                    .as_ref()
                    .and_then(|length| length.trim().parse().ok())
                {
                    Some(length) => from(start, length).max(start),
                    None => count,
                };
                text(&letters[start..end])
            }
            Self::Case { upper, all } => letters
                .iter()
                .enumerate()
                .flat_map(|(at, letter)| {
                    let change = *all || at == 0;
                    let changed: Vec<char> = match (change, upper) {
                        (false, _) => vec![*letter],
                        (true, true) => letter.to_uppercase().collect(),
                        (true, false) => letter.to_lowercase().collect(),
                    };
                    changed
                })
                .collect(),
        }
    }
}

/// Whether a pattern of `*`, `?` and `[…]` fits a whole text.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            Some('[') => bracket(&pattern, p, text[t]),
            Some('\\') if pattern.get(p + 1) == Some(&text[t]) => Some(p + 2),
            Some(c) if *c == text[t] => Some(p + 1),
            _ => None,
        };
        match (step, star) {
            (Some(next), _) => {
                p = next;
                t += 1;
            }
            (None, Some((after, at))) => {
                p = after;
                t = at + 1;
                star = Some((after, at + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Returns the position in the pattern behind a set that holds this character.
fn bracket(pattern: &[char], at: usize, c: char) -> Option<usize> {
    let close = (at + 2..pattern.len()).find(|&end| pattern[end] == ']')?;
    let mut set = &pattern[at + 1..close];
    let not = matches!(set.first(), Some('!' | '^'));
    if not {
        set = &set[1..];
    }
    let mut held = false;
    let mut i = 0;
    while i < set.len() {
        if i + 2 < set.len() && set[i + 1] == '-' {
            held |= (set[i]..=set[i + 2]).contains(&c);
            i += 3;
        } else {
            held |= set[i] == c;
            i += 1;
        }
    }
    (held != not).then_some(close + 1)
}

#[cfg(test)]
mod tests {
    use super::{Edit, matches};

    /// CAKE-SHIM-1: patterns hold for names as the shell would have it.
    #[test]
    fn patterns_fit_as_in_the_shell() {
        for (pattern, text, fits) in [
            ("r?", "rm", true),
            ("[a-s]m", "rm", true),
            ("[!r]m", "rm", false),
            ("*b*d", "abcd", true),
            ("*b*d", "abc", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    /// CAKE-SHIM-1: a name cut out of another is that name.
    #[test]
    fn values_change_as_in_the_shell() {
        let strip = Edit::Strip {
            pattern: "x*".to_owned(),
            front: false,
            longest: true,
        };
        assert_eq!(strip.apply("rmxax"), "rm");
        let slice = Edit::Slice {
            offset: "1".to_owned(),
            length: Some("2".to_owned()),
        };
        assert_eq!(slice.apply("xrmx"), "rm");
        let replace = Edit::Replace {
            pattern: "X".to_owned(),
            with: "m".to_owned(),
            all: false,
        };
        assert_eq!(replace.apply("rX"), "rm");
    }
}
