//! Foreign words, made fit for an error message.
//!
//! What an executor or a file from elsewhere says may hold keys, and bytes that a terminal would
//! obey. Neither belongs into a message, a log or the audit trail.

use callosum_redact::{
    secrets,
    terminal_escape::{harmless, is_unseen},
};

/// Longest words that a message bears, in bytes.
const LONGEST: usize = 500;

/// Bytes that are searched for that: a key must be whole to be recognized.
const LOOKED_AT: usize = 8 * LONGEST;

/// Most lines of an error that are shown.
const MOST_LINES: usize = 4;

/// The words without secrets and colours; what else a terminal would obey is escaped. Lines stay
/// lines.
pub(crate) fn fit(words: &str) -> String {
    let plain = anstream::adapter::strip_str(words).to_string();
    let lines = plain.replace("\r\n", "\n");
    harmless(&secrets::mask(lines.trim()).text)
}

/// The same, cut to what one message bears.
pub(crate) fn fit_shortly(words: &str) -> String {
    let looked_at = &words[..words.floor_char_boundary(LOOKED_AT)];
    let mut fit = fit(looked_at);
    if fit.len() > LONGEST || looked_at.len() < words.len() {
        fit.truncate(fit.floor_char_boundary(LONGEST));
        fit.push('…');
    }
    fit
}

/// The words on one line of at most `longest` bytes and a sign that there was more.
pub(crate) fn fit_line(words: &str, longest: usize) -> String {
    let line: String = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut line = fit_shortly(&line);
    if line.len() > longest {
        line.truncate(line.floor_char_boundary(longest));
        line.push('…');
    }
    line
}

/// Whether nothing of a text is to be seen: blanks, controls, and characters without a width.
pub(crate) fn shows_nothing(text: &str) -> bool {
    /// Those that have a width all the same, and letters that are fillers.
    const BLANK: [char; 6] = [
        '\u{34f}', '\u{115f}', '\u{1160}', '\u{2800}', '\u{3164}', '\u{ffa0}',
    ];
    text.chars()
        .all(|c| c.is_whitespace() || c.is_control() || is_unseen(c) || BLANK.contains(&c))
}

/// The words without the calls that JavaScript lists below an error, and at most the last few lines.
pub(crate) fn without_stack(words: &str) -> String {
    let is_call = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("at ") || line.starts_with("Node.js v")
    };
    let is_blank = |line: &&str| {
        line.trim_matches(['^', '~', ' ', '\t', '\r', '{', '}'])
            .is_empty()
    };
    let words = without_usage(words);
    let lines: Vec<&str> = words
        .lines()
        .filter(|line| !is_call(line) && !is_blank(line))
        .collect();
    lines[lines.len().saturating_sub(MOST_LINES)..].join("\n")
}

/// Returns the words without the description of its options that a program prints if it rejects
/// one.
///
/// The reason comes before it, or on a line of its own after it; words that are nothing else stay
/// as they are.
pub(crate) fn without_usage(words: &str) -> String {
    let is_usage = |line: &str| {
        let line = line.trim_start().as_bytes();
        line.get(..6)
            .is_some_and(|begins| begins.eq_ignore_ascii_case(b"usage:"))
    };
    let Some(at) = words.lines().position(is_usage) else {
        return words.to_owned();
    };
    let is_error = |line: &&str| {
        !line.starts_with(char::is_whitespace) && line.to_lowercase().contains("error:")
    };
    let before = words
        .lines()
        .take(at)
        .filter(|line| !line.trim().is_empty());
    let behind = words.lines().skip(at).filter(is_error);
    let kept: Vec<&str> = before.chain(behind).collect();
    if kept.is_empty() {
        return words.to_owned();
    }
    kept.join("\n")
}

/// Returns an error and its causes, without those that it mentions already.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !words.contains(&message) {
            words = format!("{words}: {message}");
        }
        source = cause.source();
    }
    words
}

/// Returns the end of a text, at most `longest` bytes, from the beginning of a line if there is
/// one.
///
/// Masked before it is cut, so that no key loses the part by which it is recognized.
pub(crate) fn fit_end(words: &str, longest: usize) -> String {
    let mut fit = fit(words);
    if fit.len() > longest {
        let cut = fit.ceil_char_boundary(fit.len() - longest);
        let begins_line = fit[..cut].ends_with('\n');
        let next_line = fit[cut..].find('\n').map(|at| cut + at + 1);
        let line = next_line.filter(|_| !begins_line).unwrap_or(cut);
        fit.drain(..line);
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-ERR-1: the options that a program has are not why it ended.
    #[test]
    fn a_description_of_options_is_no_cause() {
        let qwen = "Unknown arguments: safe-mode, safeMode\nUsage: qwen [options] [command]\n\nQwen Code - an agent\n\n\
                    Options:\n  --disabled-slash-commands  Slash command names to hide\n";
        assert_eq!(
            without_stack(qwen),
            "Unknown arguments: safe-mode, safeMode"
        );
        let python = "usage: x.py [-h]\nx.py: error: unrecognized arguments: --y\n";
        assert_eq!(
            without_stack(python),
            "x.py: error: unrecognized arguments: --y"
        );
        let rust = "error: unexpected argument '-z' found\n\nUsage: x [OPTIONS]\n\nFor more information, try '--help'.\n";
        assert_eq!(without_stack(rust), "error: unexpected argument '-z' found");
        let alone = "Usage: x FILE";
        assert_eq!(without_stack(alone), alone);
    }

    /// LOA-SEC-1: foreign words carry neither keys nor anything that a terminal would obey.
    #[test]
    fn colours_keys_and_what_a_terminal_obeys_do_not_get_through() {
        assert_eq!(
            fit("\u{1b}[31merror\u{1b}[0m:\u{7}\r\n\u{1b}]0;title\u{7}key AKIAQWERTYUIOPASDFGH"),
            "error:\nkey [secret: aws access key]"
        );
        assert_eq!(
            fit("failed\rstatus: \u{202e}deifirev"),
            "failed\\rstatus: \\u{202e}deifirev"
        );
    }

    #[test]
    fn a_key_is_masked_before_words_are_cut() {
        assert_eq!(fit_shortly(&"é".repeat(300)).chars().count(), 251);
        let words = format!("{}AKIAQWERTYUIOPASDFGH", "x ".repeat(245));
        assert_eq!(
            fit_shortly(&words),
            format!("{}[secret: a…", "x ".repeat(245))
        );
        assert_eq!(
            fit_end("key AKIAQWERTYUIOPASDFGH", 20),
            "[secret: aws access key]"[4..]
        );
    }

    #[test]
    fn what_cannot_be_seen_is_nothing() {
        for text in [
            "",
            " \n\t",
            "\u{200b}\u{feff}",
            "\u{2800}\u{a0}\u{0}",
            "\u{2066}\u{2069}",
        ] {
            assert!(shows_nothing(text), "{text:?}");
        }
        for text in ["-", "\u{200b}a", "\u{e9}"] {
            assert!(!shows_nothing(text), "{text:?}");
        }
    }

    #[test]
    fn the_end_begins_with_a_line() {
        assert_eq!(fit_end("one\ntwo\nthree", 13), "one\ntwo\nthree");
        assert_eq!(fit_end("one\ntwo\nthree", 12), "two\nthree");
        assert_eq!(fit_end("one\ntwo\nthree", 9), "two\nthree");
        assert_eq!(fit_end("one\ntwo\nthree", 8), "three");
        assert_eq!(fit_end("ééé", 3), "é");
    }
}
