//! The pieces that many formats share: places, class names, quoted words and the reasons of the operating system.

use std::borrow::Cow;

use memchr::memmem::{Finder, find};

use crate::{error_type::is_class, line::Line};

/// Whether a line from this one on has the word.
pub(super) fn has_below(lines: &[Line], at: usize, word: &str) -> bool {
    let finder = Finder::new(word);
    lines[at..]
        .iter()
        .any(|line| finder.find(line.text().as_bytes()).is_some())
}

/// Returns the text of a line, empty after the last one.
pub(super) fn text(lines: &[Line], at: usize) -> &str {
    lines.get(at).map_or("", Line::text)
}

/// Whether the text has the word, searched as bytes.
pub(super) fn mentions(text: &str, word: &str) -> bool {
    find(text.as_bytes(), word.as_bytes()).is_some()
}

/// Whether the text has one of the words.
pub(super) fn mentions_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| mentions(text, word))
}

/// Whether the text starts with one of the words.
pub(super) fn starts_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// Whether the text ends with one of the words, as printed: tools do not change the case of a file's name.
pub(super) fn ends_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.ends_with(word))
}

/// Returns the number at the start of a text and the rest.
pub(super) fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Returns the file and line of `file:12` or `file:12:5`.
pub(super) fn place(text: &str) -> Option<(&str, u32)> {
    let (rest, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let (file, line) = match rest.rsplit_once(':') {
        Some((file, line)) if !file.is_empty() && !line.is_empty() => match line.parse() {
            Ok(line) => (file, line),
            Err(_) => (rest, last),
        },
        _ => (rest, last),
    };
    let file = without_scheme(file);
    (!file.is_empty() && !file.ends_with(char::is_whitespace)).then_some((file, line))
}

/// Returns the file, line and rest of `file:12: rest` or `file:12:5: rest`.
pub(super) fn place_before(text: &str) -> Option<(&str, u32, &str)> {
    let mut from = 0;
    // The second chance is for drive letters and for schemes.
    while let Some(at) = text[from..].find(':') {
        let colon = from + at;
        if let Some((line, rest)) = number(&text[colon + 1..]) {
            let rest = rest
                .strip_prefix(':')
                .map_or(rest, |after| match number(after) {
                    Some((_, end)) if end.starts_with(':') => &end[1..],
                    Some((_, "")) => "",
                    _ => after,
                });
            let file = without_scheme(&text[..colon]);
            return (!file.is_empty()).then_some((file, line, rest.trim_start()));
        }
        from = colon + 1;
        if from > 6 && !text.starts_with("file:") {
            return None;
        }
    }
    None
}

/// Whether a text can be the path of a place: source code and quoted lines are not.
pub(super) fn is_path(text: &str) -> bool {
    !(text.is_empty()
        || text.starts_with([' ', '\t', '{', '[', '|', '#', '>'])
        || text.contains(['"', '`', '\t', '=', ';'])
        || text.contains("  ")
        || text.contains(": "))
}

/// Returns a path without `file://`.
pub(super) fn without_scheme(path: &str) -> &str {
    path.strip_prefix("file://").unwrap_or(path)
}

/// Returns the text between the first `open` and the next `close`.
pub(super) fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let from = text.find(open)? + open.len();
    let length = text[from..].find(close)?;
    Some(&text[from..from + length])
}

/// Returns the first word in quotation marks. An apostrophe in a word opens none.
pub(super) fn quoted(text: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(at) = text[from..].find(['\'', '"', '`', '“', '‘']) {
        let open = from + at;
        let mark = text[open..].chars().next()?;
        from = open + mark.len_utf8();
        let is_in_word = text[..open].ends_with(char::is_alphanumeric);
        let inner = &text[from..];
        let close = match mark {
            '“' => '”',
            '‘' => '’',
            // Ruby and Perl open with ` and close with '.
            '`' if !inner.contains('`') => '\'',
            _ => mark,
        };
        if let Some(end) = inner.find(close)
            && end > 0
            && !is_in_word
        {
            return Some(&inner[..end]);
        }
    }
    None
}

/// Returns the class and message of `package.Class: message`, or of `Class` alone.
pub(super) fn class_and_message(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|letter: char| {
            !(letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$' | ':' | '\\' | '!'))
        })
        .unwrap_or(text.len());
    let name = text[..end].trim_end_matches(':');
    let rest = &text[name.len()..];
    let message = match rest.strip_prefix(':') {
        Some(message) => message.trim(),
        None if rest.is_empty() => "",
        None => return None,
    };
    Some((bare_class(name)?, message))
}

/// Returns the last part of a class name if it can be one of an exception.
pub(super) fn bare_class(name: &str) -> Option<&str> {
    let last = name.rsplit(['.', ':', '\\', '/']).next()?;
    let last = match last.rsplit_once('$') {
        Some((_, inner)) if inner.starts_with(|letter: char| letter.is_alphabetic()) => inner,
        _ => last,
    };
    let is_named = last.starts_with(char::is_uppercase) && last.len() > 2;
    (is_named && is_class(last)).then_some(last)
}

/// Whether a class name ends as those of exceptions do.
pub(super) fn is_exception(class: &str) -> bool {
    class.ends_with("Error") || class.ends_with("Exception") || class.ends_with("Throwable")
}

/// Returns a text on one line, with single spaces.
pub(super) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(600));
    for word in text.split_whitespace() {
        if line.len() > 600 {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the type for the reason of a failed call, as systems and their libraries print it.
pub(super) fn reason(message: &str) -> Option<&'static str> {
    const REASONS: [(&str, &[&str]); 5] = [
        (
            "AddressInUse",
            &[
                "EADDRINUSE",
                "ddress already in use",
                "port is already allocated",
            ],
        ),
        ("DiskFull", &["ENOSPC", "o space left on device"]),
        (
            "ConnectionError",
            &[
                "ECONNREFUSED",
                "ECONNRESET",
                "ENOTFOUND",
                "ETIMEDOUT",
                "EAI_AGAIN",
                "EHOSTUNREACH",
                "ENETUNREACH",
                "onnection refused",
                "onnection reset",
                "no such host",
                "ould not resolve host",
                "i/o timeout",
                "TLS handshake timeout",
                "onnection timed out",
                "o route to host",
                "etwork is unreachable",
                "emporary failure in name resolution",
                "ame or service not known",
            ],
        ),
        (
            "PermissionError",
            &[
                "EACCES",
                "EPERM",
                "ermission denied",
                "peration not permitted",
            ],
        ),
        ("FileNotFoundError", &["ENOENT", "o such file or directory"]),
    ];
    REASONS
        .iter()
        .find(|(_, words)| mentions_any(message, words))
        .map(|(name, _)| *name)
}

/// Returns a class as an error type.
pub(super) fn named(class: &str) -> Cow<'static, str> {
    Cow::Owned(class.to_owned())
}

/// Returns the number of spaces and tabs at the start of a text.
pub(super) fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        Severity,
        finding::Finding,
        line::{Line, LineSplitter},
        window::Window,
    };

    /// Returns the lines of a text.
    pub(in crate::tool) fn lines(text: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut splitter = LineSplitter::default();
        splitter.push(text.as_bytes(), |line| lines.push(Line::new(line)));
        lines.extend(splitter.finish().map(Line::new));
        lines
    }

    /// Returns the findings of a reader, the one to act on first.
    pub(in crate::tool) fn findings(
        reader: fn(&Window<'_>, &mut Vec<Finding>),
        text: &str,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        let lines = lines(text);
        reader(&Window::new(&lines), &mut found);
        found.sort_by_key(|finding| finding.first);
        found.sort_by_key(|finding| (finding.severity == Severity::Low, finding.is_secondary));
        found
    }

    /// Returns type, file and line of the first finding of a reader.
    pub(in crate::tool) fn first(
        reader: fn(&Window<'_>, &mut Vec<Finding>),
        text: &str,
    ) -> (String, Option<String>, Option<u32>) {
        let finding = findings(reader, text).into_iter().next();
        finding.map_or((String::new(), None, None), |finding| {
            (finding.error_type.into_owned(), finding.file, finding.line)
        })
    }

    /// Returns what [`first`] returns, from literals.
    pub(in crate::tool) fn event(
        name: &str,
        file: &str,
        line: u32,
    ) -> (String, Option<String>, Option<u32>) {
        (
            name.to_owned(),
            (!file.is_empty()).then(|| file.to_owned()),
            (line > 0).then_some(line),
        )
    }

    /// CAKE-WATCH-1: a place is read with and without a column, a scheme or a drive.
    #[test]
    fn places_are_read_in_their_forms() {
        assert_eq!(place("src/a.ts:3:5"), Some(("src/a.ts", 3)));
        assert_eq!(place("a.rb:7"), Some(("a.rb", 7)));
        assert_eq!(place("file:///x/a.mjs:1:2"), Some(("/x/a.mjs", 1)));
        assert_eq!(place("C:\\x\\a.ts:3:5"), Some(("C:\\x\\a.ts", 3)));
        assert_eq!(place("time: 3"), None);
        assert_eq!(place_before("./m.go:4:14: bad"), Some(("./m.go", 4, "bad")));
        assert_eq!(
            place_before("A.java:3: error: x"),
            Some(("A.java", 3, "error: x"))
        );
    }

    /// CAKE-WATCH-1: a class is the last part of its name.
    #[test]
    fn classes_are_read_without_their_package() {
        assert_eq!(
            class_and_message("java.lang.IllegalStateException: no: x"),
            Some(("IllegalStateException", "no: x"))
        );
        assert_eq!(
            class_and_message("JSON::ParserError: x"),
            Some(("ParserError", "x"))
        );
        assert_eq!(class_and_message("Main$Bad"), Some(("Bad", "")));
        assert_eq!(class_and_message("Not a class"), None);
        assert_eq!(class_and_message("note: x"), None);
    }
}
