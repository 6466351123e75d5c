//! Words that are written down: on one line, without secrets, and titles that are short. Two texts
//! are compared in that form too.

use callosum_redact::secrets;
use unicode_segmentation::UnicodeSegmentation as _;

/// Most words of a decision's title (LOA-REC-1: level 1 shows titles whole or not at all).
pub const MOST_TITLE_WORDS: usize = 12;

/// Returns a text on one line: each run of blanks and line breaks is one blank, and control
/// characters are gone, so that no statement opens a section or a record of its own.
pub fn one_line(text: &str) -> String {
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the title that a decision gets which was given none: its first words, at most
/// [`MOST_TITLE_WORDS`].
pub fn title_of(decision: &str) -> String {
    cut_to(decision, MOST_TITLE_WORDS)
}

/// Whether a title has at most [`MOST_TITLE_WORDS`].
pub fn is_short_title(title: &str) -> bool {
    title.split_whitespace().count() <= MOST_TITLE_WORDS
}

/// Returns the first words of a text, at most so many, on one line. A mark shows that the text
/// continues.
///
/// Text without blanks counts as the number of words of about the same length: Chinese, Japanese
/// and Thai put none between them, and a word of any language may be long.
pub(crate) fn cut_to(text: &str, most: usize) -> String {
    let mut kept = Vec::new();
    let mut left = most;
    for word in text.split_whitespace() {
        let words = words_in(word);
        if words <= left {
            left -= words;
            kept.push(word);
            continue;
        }
        // Of one that is many, the beginning.
        if words > 1 && left > 0 {
            kept.push(beginning(word, left * LONGEST_WORD));
        } else if let [first] = kept[..] {
            // A number or short word by itself says nothing about text that continues without
            // blanks.
            let room = LONGEST_WORD.saturating_sub(length_of(first) + 1);
            let goes_on = word.chars().next().is_some_and(|letter| length(letter) > 1);
            let more = if goes_on { beginning(word, room) } else { "" };
            kept.extend(Some(more).filter(|more| !more.is_empty()));
        }
        // The mark counts as a word of its own for no reader, so it is glued to the last.
        return format!("{}…", kept.join(" "));
    }
    kept.join(" ")
}

/// Most letters of a word.
const LONGEST_WORD: usize = 32;

/// Number of letters of other scripts that one letter of a script without blanks counts as.
const UNSPACED: usize = 10;

/// Returns the number of words that a text without blanks counts as.
fn words_in(word: &str) -> usize {
    length_of(word).div_ceil(LONGEST_WORD)
}

/// Returns the length of a text, in letters of scripts with blanks.
fn length_of(text: &str) -> usize {
    text.chars().map(length).sum()
}

/// Returns the beginning of a text without blanks, up to a maximum length, ending after a whole
/// letter.
fn beginning(word: &str, most: usize) -> &str {
    let mut length_of_all = 0;
    let mut end = 0;
    for letter in word.graphemes(true) {
        length_of_all += length_of(letter);
        if length_of_all > most {
            break;
        }
        end += letter.len();
    }
    &word[..end]
}

/// Returns the length of a letter, in letters of scripts with blanks.
fn length(letter: char) -> usize {
    match letter {
        // Thai and Lao; Myanmar; Khmer; Chinese and Japanese.
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}' => UNSPACED,
        _ => 1,
    }
}

/// Whether two texts are the same but for secrets and line breaks.
pub(crate) fn says_the_same(a: &str, b: &str) -> bool {
    a == b || comparable(a) == comparable(b)
}

/// Returns the form of a text in which two texts of the same words are equal: one line, secrets
/// masked.
///
/// Masking costs far more than comparing, so code that compares many texts computes this once for
/// each.
pub(crate) fn comparable(text: &str) -> String {
    one_line(&secrets::mask(text).text)
}

/// Removes secrets from text before it is written, and remembers their kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Kinds of the secrets that were found, in the order of finding.
    pub kinds: Vec<secrets::Kind>,
}

impl Redaction {
    /// Returns the text on one line and without secrets.
    pub fn statement(&mut self, text: &str) -> String {
        // A key that spans lines is seen before they are joined; one that blanks hid, after.
        let masked = self.mask(text);
        let line = one_line(&masked);
        self.mask(&line)
    }

    /// Remembers the secrets that were taken out of a text before.
    pub fn masked(&mut self, text: &str) {
        self.kinds.extend(secrets::masks_in(text));
    }

    /// Returns the text without secrets.
    pub fn mask(&mut self, text: &str) -> String {
        let masked = secrets::mask(text);
        self.kinds.extend(masked.found);
        masked.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_never_spans_lines() {
        assert_eq!(one_line(" a\n## b\r\n\tc \u{1b}[2J"), "a ## b c [2J");
        assert_eq!(one_line("\n\n"), "");
    }

    /// LOA-REC-1: a title may have at most twelve words.
    #[test]
    fn a_title_is_the_first_twelve_words() {
        assert_eq!(title_of("Use  sliding expiry"), "Use sliding expiry");
        let long = "a b c d e f g h i j k l m";
        assert_eq!(title_of(long), "a b c d e f g h i j k l…");
        assert!(is_short_title(&title_of(long)));
        assert!(!is_short_title(long));
    }

    /// LOA-REC-1: a text without blanks is cut by its length, and never within a letter.
    #[test]
    fn a_text_without_blanks_is_cut_by_its_length() {
        let chinese = "我们决定使用单一连接池".repeat(9);
        let title = title_of(&chinese);
        assert!(
            title.starts_with("我们决定使用单一连接池我们") && title.ends_with('…'),
            "{title}"
        );
        assert_eq!(title.chars().count(), 39);
        assert_eq!(title_of("我们决定使用单一连接池"), "我们决定使用单一连接池");
        assert_eq!(cut_to(&chinese, 1), "我们决…");
        let thai = "กำหนดให้ใช้พูลเดียว".repeat(9);
        let cut = cut_to(&thai, 2);
        assert!(
            thai.graphemes(true)
                .any(|letter| cut.trim_end_matches('…').ends_with(letter)),
            "{cut}"
        );
        assert_eq!(cut_to(&"x".repeat(99), 2), format!("{}…", "x".repeat(64)));
        assert_eq!(cut_to("use 一个连接池 always", 1), "use 一个…");
        assert_eq!(cut_to("3 アップストリーム", 1), "3 アップ…");
        assert_eq!(cut_to("use it always", 1), "use…");
        assert_eq!(cut_to("", 3), "");
    }

    /// LOA-SEC-1: what is written has no secrets, and it is known that there were some.
    #[test]
    fn secrets_are_taken_out_and_counted() {
        let mut redaction = Redaction::default();
        let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6");
        let clean = redaction.statement(&format!("use\n{token}"));
        assert_eq!(clean, "use [secret: github token]");
        assert_eq!(redaction.kinds, [secrets::Kind::GitHub]);
    }
}
