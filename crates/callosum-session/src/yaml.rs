//! [`read`]: a YAML text as a value, or what is wrong with it and in which line, in words of our own.
//!
//! The reader's own words speak of its options and of how it scans, to people who write programs with it.

use std::fmt;

use serde_json::Value;
use serde_saphyr::Error;

/// Why a text is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotYaml {
    /// What is wrong there.
    what: String,
    /// The line, counted from 1.
    line: usize,
}

impl fmt::Display for NotYaml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {})", self.what, self.line)
    }
}

/// Reads a text. Duplicate keys, tabs that indent, and anchors that expand without end are refused.
pub(crate) fn read(text: &str) -> Result<Value, NotYaml> {
    serde_saphyr::from_str(text).map_err(|error| told(text, &error))
}

fn told(text: &str, error: &Error) -> NotYaml {
    let mut error = error.without_snippet();
    // What is wrong with what an alias stands for.
    while let Error::AliasError { error: inner, .. } = error {
        error = inner.without_snippet();
    }
    let named = error.location().map_or(0, |at| at.line());
    let line = usize::try_from(named).unwrap_or(usize::MAX).max(1);
    let what = match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("the key `{key}` stands there a second time")
        }
        Error::DuplicateMappingKey { key: None, .. } => {
            "a key stands there a second time".to_owned()
        }
        Error::UnknownAnchor { .. } => "an alias of what has no anchor before it".to_owned(),
        Error::MultipleDocuments { .. } => "a second document begins".to_owned(),
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "it expands to more than is read".to_owned()
        }
        _ => {
            let is_indented = |line: &str| {
                let indent = line.len() - line.trim_start().len();
                line[..indent].contains('\t') && indent < line.len()
            };
            return match text.lines().position(is_indented) {
                Some(tab) => NotYaml {
                    what: "a tab indents what only blanks may".to_owned(),
                    line: tab + 1,
                },
                None => NotYaml {
                    what: "what stands there, or begins before and has no end, is no YAML"
                        .to_owned(),
                    line: line.min(text.lines().count().max(1)),
                },
            };
        }
    };
    NotYaml { what, line }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-FMT-1: what is not understood is named with its line, in words that a person can act on.
    #[test]
    fn what_is_no_yaml_is_told_in_our_own_words() {
        for (text, said) in [
            (
                "id: 1\ntitle: a\ntitle: b\n",
                "the key `title` stands there a second time (line 3)",
            ),
            (
                "id: 1\n\ttitle: x\n",
                "a tab indents what only blanks may (line 2)",
            ),
            (
                "id: 1\ntitle: *b\n",
                "an alias of what has no anchor before it (line 2)",
            ),
            ("id: 1\n---\nid: 2\n", "a second document begins (line 3)"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), said, "{text}");
        }
        for text in [
            "id: 1\ntitle: \"x\n  - y: [\n",
            "id: 1\ntitle: {a\n",
            "a: b: c\n",
        ] {
            let said = read(text).unwrap_err().to_string();
            assert!(
                said.starts_with("what stands there, or begins before"),
                "{said}"
            );
            assert!(!said.contains("error"), "{said}");
        }
        let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for to in b'b'..=b'k' {
            let (to, from) = (char::from(to), char::from(to - 1));
            let line = format!("{to}: &{to} [{}]\n", format!("*{from},").repeat(10));
            bomb.push_str(&line);
        }
        let said = read(&bomb).unwrap_err().to_string();
        assert!(
            said.starts_with("it expands to more than is read"),
            "{said}"
        );
    }
}
