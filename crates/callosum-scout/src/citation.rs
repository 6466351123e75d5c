//! [`Cited`]: a place and what is quoted of it, so that a statement can lean on it.
//!
//! The grammar is `callosum-citation`'s. What is read comes from foreign files, so a
//! quote never carries what a terminal would obey, and a path that would break a line of the
//! digest is not cited at all.

/// The longest quote, in characters: enough for most declarations, short enough to list many.
const LONGEST_QUOTE: usize = 88;

/// Fewest characters that say something about a line.
const SHORTEST_QUOTE: usize = 3;

/// A place in the tree and the words that it quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cited {
    /// The file, from the root.
    path: String,
    /// The line, from 1.
    line: u32,
    /// Text of that line.
    pub(super) quote: String,
}

impl Cited {
    /// Cites `line`, whose text is `text`; `None` if no part of it can be quoted or the path cannot
    /// be written.
    pub(super) fn of_line(path: &str, line: u32, text: &str) -> Option<Self> {
        Self::of_line_at_most(path, line, text, LONGEST_QUOTE)
    }

    /// Like [`Cited::of_line`], with a quote of about `longest` characters at most.
    pub(super) fn of_line_at_most(
        path: &str,
        line: u32,
        text: &str,
        longest: usize,
    ) -> Option<Self> {
        if !is_citable(path) {
            return None;
        }
        let part = telling_part(text, longest)?;
        // The check of a quote treats a run of blanks as one blank; tabs would only widen the line.
        let quote = part.split_whitespace().collect::<Vec<_>>().join(" ");
        let cited = Self {
            path: path.to_owned(),
            line,
            quote,
        };
        let is_written = callosum_citation::cite_leading(&cited.path, line, &cited.quote).is_some()
            && callosum_citation::cite(&cited.path, line, line, &cited.quote).is_some();
        is_written.then_some(cited)
    }

    /// `path:line`, which identifies the fact; a path without a folder begins with `./`.
    pub(super) fn place(&self) -> String {
        let root = if self.path.contains(['/', '.']) {
            ""
        } else {
            "./"
        };
        format!("{root}{}:{}", self.path, self.line)
    }

    /// Writes the place first: `` src/a.rs:3 `quote` ``, as a line of a digest begins.
    pub(super) fn leading(&self) -> String {
        callosum_citation::cite_leading(&self.path, self.line, &self.quote).unwrap_or_default()
    }

    /// Writes the place behind its quote, `` `quote` [src/a.rs:3] ``, as within a line.
    pub(super) fn trailing(&self) -> String {
        callosum_citation::cite(&self.path, self.line, self.line, &self.quote).unwrap_or_default()
    }
}

/// Whether a path can stand in a citation.
pub(super) fn is_citable(path: &str) -> bool {
    !path.is_empty() && !path.contains(|c: char| c.is_whitespace() || c == '`' || is_unsafe(c))
}

/// Returns the part of a line that is quoted: free of control characters, and of backticks if a
/// stretch without them has nearly as much content.
fn telling_part(text: &str, longest: usize) -> Option<&str> {
    let harmless = longest_of(text.split(is_unsafe))?;
    let whole = shorten(harmless, longest);
    let stretches = harmless.split('`').map(without_target);
    let plain = longest_of(stretches).map(|part| shorten(part, longest))?;
    // A name with a link is between marks that only its target explains.
    let is_linked = harmless.contains("`]") && plain.contains(' ');
    let says_nearly_as_much = is_linked || plain.chars().count() * 4 >= whole.chars().count() * 3;
    let part = if whole.contains('`') && says_nearly_as_much {
        plain
    } else {
        whole
    };
    let part = part.trim_end_matches(|c: char| c == '{' || c.is_whitespace());
    let letters = part.chars().filter(|c| !c.is_whitespace()).count();
    (letters >= SHORTEST_QUOTE && part.contains(char::is_alphanumeric)).then_some(part)
}

/// Returns the text between the target of a link whose words ended before this and a link that
/// begins: `opens` of `][crate::Disk] opens [`.
fn without_target(part: &str) -> &str {
    let part = part.trim_end_matches(['[', ' ']);
    let Some(rest) = part.strip_prefix(']') else {
        return part;
    };
    let close = match rest.chars().next() {
        Some('[') => ']',
        Some('(') => ')',
        _ => return rest.trim_start_matches([':', ' ']),
    };
    rest.split_once(close).map_or(rest, |(_, after)| after)
}

/// The longest of some parts of a line, the first of those where several are.
fn longest_of<'t>(parts: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    parts.map(str::trim).reduce(|best, part| {
        if part.chars().count() > best.chars().count() {
            part
        } else {
            best
        }
    })
}

/// The beginning of `text`, about `longest` characters, never cut within a word.
fn shorten(text: &str, longest: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(longest) else {
        return text;
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let ends_word = |at: usize| !(text[..at].ends_with(is_word) && text[at..].starts_with(is_word));
    let before = (1..=limit)
        .rev()
        .find(|at| text.is_char_boundary(*at) && ends_word(*at));
    let after = (limit..text.len()).find(|at| text.is_char_boundary(*at) && ends_word(*at));
    let head = &text[..before.or(after).unwrap_or(text.len())];
    // An opening without its close reads as a mistake.
    head.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '(' | '{' | '[' | '<' | ',' | '*')
    })
}

/// Text from a foreign file, made fit for one line of a digest: no control or invisible
/// characters, no line breaks, no backticks, at most `longest` characters.
pub(super) fn plain(text: &str, longest: usize) -> String {
    let mut out = String::with_capacity(text.len().min(longest * 4));
    let mut count = 0;
    let mut gap = false;
    let text = without_marks(text);
    for c in text.chars() {
        if c.is_whitespace() || is_unsafe(c) {
            gap = count > 0;
            continue;
        }
        if count + usize::from(gap) >= longest {
            out.push('…');
            break;
        }
        if gap {
            out.push(' ');
            count += 1;
            gap = false;
        }
        out.push(c);
        count += 1;
    }
    out
}

/// The longest description, in characters; a longer sentence is left out.
const LONGEST_SENTENCE: usize = 240;

/// Returns a description from a foreign file, fit for one line of a digest: whole, or empty if it
/// has more than [`LONGEST_SENTENCE`] characters. A cut sentence would have another meaning.
pub(super) fn sentence(text: &str) -> String {
    let words = plain(text, LONGEST_SENTENCE);
    // What an outline gives may be cut already.
    if words.ends_with('…') {
        return String::new();
    }
    words
}

/// Text without the marks of Markdown and of documentation tools that mean nothing to a reader:
/// code spans and links to declarations.
fn without_marks(text: &str) -> String {
    let mut text = text.replace("`~", "`");
    // Sphinx names the role of a word before it: `:class:` of a class.
    while let Some(end) = text.find(":`") {
        let start = text[..end].rfind(':');
        let is_role = |start: &usize| {
            text[start + 1..end]
                .chars()
                .all(|c| c.is_ascii_alphabetic())
        };
        match start.filter(is_role).filter(|start| start + 1 < end) {
            Some(start) => text.replace_range(start..=end, ""),
            None => text.replace_range(end..end + 2, ":"),
        }
    }
    text.replace("[`", "").replace("`]", "").replace('`', "")
}

/// Control characters, and those that change how what follows is shown without being seen.
fn is_unsafe(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cite(path: &str, line: u32, text: &str) -> Option<String> {
        Cited::of_line(path, line, text).map(|cited| cited.trailing())
    }

    #[test]
    fn a_plain_line_is_quoted_whole() {
        assert_eq!(
            cite("src/a.rs", 3, "    pub fn read(&self) {").as_deref(),
            Some("`pub fn read(&self)` [src/a.rs:3]")
        );
    }

    #[test]
    fn a_backtick_is_left_out_where_little_is_lost() {
        assert_eq!(
            cite("a.md", 1, "The long tail of this sentence follows `x`.").as_deref(),
            Some("`The long tail of this sentence follows` [a.md:1]")
        );
        assert_eq!(
            cite("a.md", 1, "a `b` c `d` e `f` g").as_deref(),
            Some("``a `b` c `d` e `f` g`` [a.md:1]")
        );
    }

    #[test]
    fn what_is_left_of_a_link_is_not_quoted() {
        assert_eq!(
            cite(
                "a.rs",
                1,
                "[`Command`][crate::Command] line argument parser"
            )
            .as_deref(),
            Some("`line argument parser` [a.rs:1]")
        );
        assert_eq!(
            cite("a.rs", 1, "[`Command`]: the line of arguments").as_deref(),
            Some("`the line of arguments` [a.rs:1]")
        );
        assert_eq!(
            cite("a.rs", 1, "Define [`Command`] line [arguments][`Arg`]").as_deref(),
            Some("`line [arguments]` [a.rs:1]")
        );
    }

    #[test]
    fn control_characters_never_reach_a_quote() {
        let cited = cite("a.md", 1, "\u{1b}[31mred alert\u{1b}[0m and \u{202e}more").unwrap();
        assert_eq!(cited, "`[31mred alert` [a.md:1]");
    }

    #[test]
    fn paths_that_would_break_a_line_are_not_cited() {
        for path in ["a b.rs", "a]b.rs", "a\nb.rs", "a`b.rs", ""] {
            assert_eq!(cite(path, 1, "fn main() {}"), None, "{path:?}");
        }
        assert!(cite("app/[slug]/page.tsx", 1, "fn main() {}").is_some());
    }

    #[test]
    fn a_line_that_says_nothing_is_not_quoted() {
        assert_eq!(cite("a.rs", 1, "  }  "), None);
        assert_eq!(cite("a.rs", 1, ""), None);
    }

    #[test]
    fn a_quote_is_never_cut_within_a_word() {
        assert_eq!(shorten("alpha beta_gamma", 8), "alpha");
        assert_eq!(shorten("alphabeta gamma", 4), "alphabeta");
        assert_eq!(shorten("read(first, second)", 12), "read(first");
    }

    #[test]
    fn a_place_is_written_before_or_behind_its_quote() {
        let cited = Cited::of_line("Makefile", 3, "test: all").unwrap();
        assert_eq!(cited.leading(), "./Makefile:3 `test: all`");
        assert_eq!(cited.trailing(), "`test: all` [Makefile:3]");
        assert_eq!(cited.place(), "./Makefile:3");
    }

    #[test]
    fn a_sentence_is_whole_or_absent() {
        let fits = format!("{} end.", "word ".repeat(40).trim());
        assert_eq!(sentence(&fits), fits);
        assert_eq!(sentence(&"word ".repeat(60)), "");
        assert_eq!(sentence("Cut by an outl…"), "");
    }

    #[test]
    fn plain_text_stays_on_one_line_and_within_its_length() {
        assert_eq!(plain("a\n  b\u{7}\u{200b}c [`d`]", 100), "a b c d");
        assert_eq!(
            plain("a :class:`~shop.Book` is:`x`", 100),
            "a shop.Book is:x"
        );
        assert_eq!(plain("abcdef", 3), "abc…");
        assert_eq!(plain("ab cdef", 3), "ab…");
    }
}
