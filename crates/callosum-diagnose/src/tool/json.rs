//! JSON reports in the output: one document over many lines, or one on each line.
//!
//! Start with [`read`], which finds the documents. `json_lint` and `json_test` know their shapes.

use serde_json::Value;

use super::{
    json_lint, json_test,
    scan::{mentions, text},
};
use crate::{finding::Finding, line::Line, window::Window};

/// Longest document, in bytes. A longer one is cut, and its start is read.
const LONGEST: usize = 2 * 1024 * 1024;

/// Most documents without an end that are read: each costs a look at the rest of the window.
const MOST_CUT: usize = 3;

/// Keys of the shapes that the readers know. Text without one is not parsed.
pub(super) const KEYS: &[&str] = &[
    "\"reason\":",
    "\"$message_type\"",
    "\"Action\":",
    "\"filePath\"",
    "\"filename\"",
    "\"generalDiagnostics\"",
    "\"posn\"",
    "\"diagnostics\"",
    "\"testResults\"",
    "\"failures\"",
    "\"examples\"",
    "\"runs\"",
    "\"Issues\"",
    "\"message-id\"",
    "\"messageId\"",
    "\"severity\"",
    "\"warnings\"",
    "\"offenses\"",
    "\"results\"",
    "\"comments\"",
    "\"level\"",
    "\"locations\"",
    "\"check_name\"",
    "\"@level\"",
    "\"event\"",
    "\"files\"",
    "\"issue_text\"",
    "\"ruleId\"",
    "\"diagnostic\"",
    "\"summary\"",
    "\"tests\"",
];

/// A document with the lines that it is on.
pub(super) struct Document {
    /// Its value.
    pub(super) value: Value,
    /// Its first line.
    pub(super) first: usize,
    /// Its last line.
    pub(super) last: usize,
}

/// Reads the reports of compilers, linters and test runners.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if !lines.has_any(KEYS) || !lines.iter().any(|line| starts_document(line.text())) {
        return;
    }
    let mut documents = Vec::new();
    let mut cut = 0;
    let mut at = 0;
    while at < lines.len() {
        // `go test -json` has thousands of lines, which `json_test` reads without a tree of values.
        if is_go_event(text(lines, at)) {
            at += 1;
            continue;
        }
        let is_start = starts_document(text(lines, at)) && goes_on(lines, at);
        match is_start.then(|| document(lines, at, &mut cut)).flatten() {
            Some(document) => {
                at = document.last + 1;
                documents.push(document);
            }
            None => at += 1,
        }
        if cut > MOST_CUT {
            break;
        }
    }
    json_test::read_go(lines, found);
    json_test::read(&documents, found);
    json_lint::read(&documents, found);
    found.sort_by_key(|finding| finding.first);
}

/// Whether a line is an event of `go test -json`.
pub(super) fn is_go_event(line: &str) -> bool {
    line.starts_with('{') && line.ends_with('}') && mentions(line, "\"Action\":")
}

/// Whether a line can be the first of a document: `{`, `[`, `{"…` or `[{…`.
fn starts_document(line: &str) -> bool {
    let line = line.trim_end();
    let Some(rest) = line.strip_prefix(['{', '[']) else {
        return false;
    };
    let rest = rest.trim_start();
    rest.is_empty()
        || rest.starts_with(['"', '{'])
        || (line.starts_with('{') && rest.starts_with('}'))
}

/// Whether the line below a bracket can be part of a document.
fn goes_on(lines: &[Line], at: usize) -> bool {
    let line = text(lines, at).trim_end();
    line.len() > 1
        || text(lines, at + 1)
            .trim_start()
            .starts_with(['"', '{', '[', '}', ']'])
}

/// Returns the document that starts on a line, and counts it if it has no end.
fn document(lines: &[Line], first: usize, cut: &mut usize) -> Option<Document> {
    let mut depth = Depth::default();
    let mut whole = String::new();
    let mut last = first;
    for (at, line) in lines.iter().enumerate().skip(first) {
        if whole.len() + line.text().len() > LONGEST {
            break;
        }
        depth.add(line.text());
        whole.push_str(line.text());
        whole.push('\n');
        last = at;
        if depth.is_closed() || (at == first && is_whole_line(line.text())) {
            break;
        }
    }
    let value = if depth.is_closed() {
        serde_json::from_str(&whole).ok()?
    } else {
        // It was cut: its start is read.
        *cut += 1;
        serde_json::from_str(&completed(&whole)?).ok()?
    };
    Some(Document { value, first, last })
}

/// Whether one line that was cut is a document of its own: it is too long to go on below.
fn is_whole_line(line: &str) -> bool {
    line.len() >= 16 * 1024 - 4
}

/// Brackets that are open, outside of strings.
#[derive(Default)]
struct Depth {
    open: usize,
    has_opened: bool,
    is_in_string: bool,
    is_escaped: bool,
}

impl Depth {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.is_in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.is_in_string = true,
                b'{' | b'[' => {
                    self.open += 1;
                    self.has_opened = true;
                }
                b'}' | b']' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.has_opened && self.open == 0 && !self.is_in_string
    }
}

/// Returns a document that was cut, with its last whole value as its end.
fn completed(text: &str) -> Option<String> {
    let mut open: Vec<u8> = Vec::new();
    let mut is_in_string = false;
    let mut is_escaped = false;
    let mut safe = None;
    for (at, byte) in text.bytes().enumerate() {
        if is_in_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => is_in_string = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                open.pop();
            }
            // What is before a comma is whole.
            b',' => safe = Some((at, open.clone())),
            _ => {}
        }
    }
    let (end, open) = safe?;
    let mut whole = text[..end].to_owned();
    whole.extend(open.iter().rev().map(|byte| char::from(*byte)));
    Some(whole)
}

/// Returns a text at a path of keys.
pub(super) fn string<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    path.iter()
        .try_fold(value, |value, key| value.get(key))?
        .as_str()
}

/// Returns a line number at a path of keys.
pub(super) fn line_number(value: &Value, path: &[&str]) -> Option<u32> {
    let number = path
        .iter()
        .try_fold(value, |value, key| value.get(key))?
        .as_u64()?;
    u32::try_from(number).ok()
}

/// Returns the entries of a list at a key.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: a report that was cut keeps its first entries, and any other JSON is quiet.
    #[test]
    fn cut_reports_are_read_and_other_json_is_not() {
        let whole = r#"[{"filePath":"/w/a.js","messages":[{"ruleId":"eqeqeq","severity":2,"message":"x","line":3},{"ruleId":"no-undef","severity":2,"mess"#;
        assert_eq!(first(read, whole), event("LintError", "/w/a.js", 3));
        for quiet in [
            r#"{"error": null, "errors": [], "severity": "error"}"#,
            r#"{"level":"error","message":"x","severity":"high"}"#,
            "[\n  {\n    \"summary\": \"a\"\n  }\n]",
            "{ not json \"severity\": }",
        ] {
            assert!(findings(read, quiet).is_empty(), "{quiet}");
        }
    }
}
