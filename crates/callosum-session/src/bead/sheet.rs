//! [`Sheet`]: a bead's file as text, changed line by line.
//!
//! No printer of YAML keeps comments, anchors and the order of keys, so a change is made where it
//! belongs in the text, and the new text is read back: unless it says exactly what the old one said
//! with the change, it is not kept, and the next way to write the change is tried.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Largest file that is read, in bytes.
pub(super) const LARGEST: u64 = 4 * 1024 * 1024;

/// A bead's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    text: String,
    members: Map<String, Value>,
}

/// A change to a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Gives a key a value that is no list and no mapping.
    Set(&'static str, Value),
    /// Adds an item to the end of a list, which is created where there is none.
    Push(&'static str, Value),
    /// Makes a list have these items and no others.
    Replace(&'static str, Vec<Value>),
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SheetError {
    /// It is no YAML, or what it says is no mapping.
    #[error("it is no bead: {problem}")]
    NotYaml {
        /// Where and why, on one line.
        problem: String,
    },
    /// No way was found to write the change without changing something else.
    #[error("`{key}` in line {line} is written in a way that cannot be added to")]
    Unwritable {
        /// The key.
        key: &'static str,
        /// Its line, counted from 1; 0 where it is not there.
        line: usize,
    },
}

impl Sheet {
    /// Reads a file. Duplicate keys, tabs that indent, and anchors that expand without end are
    /// refused.
    pub fn read(text: &str) -> Result<Self, SheetError> {
        let said = members(text)?;
        Ok(Self {
            text: text.to_owned(),
            members: said,
        })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says.
    pub fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// The file with a change made.
    pub fn with(&self, step: &Step) -> Result<Self, SheetError> {
        let mut wanted = self.members.clone();
        let (key, candidates) = match step {
            Step::Set(key, value) => {
                wanted.insert((*key).to_owned(), value.clone());
                (*key, self.set(key, value))
            }
            Step::Push(key, item) => {
                let list = wanted.entry(*key).or_insert(Value::Null);
                if list.is_null() {
                    *list = Value::Array(Vec::new());
                }
                let Value::Array(items) = list else {
                    return Err(self.unwritable(key));
                };
                items.push(item.clone());
                (*key, self.push(key, item))
            }
            Step::Replace(key, items) => {
                wanted.insert((*key).to_owned(), items.clone().into());
                (*key, self.replace(key, items))
            }
        };
        let is_same = |text: &String| members(text).is_ok_and(|said| said == wanted);
        match candidates.into_iter().find(is_same) {
            Some(text) => Ok(Self {
                text,
                members: wanted,
            }),
            None => Err(self.unwritable(key)),
        }
    }

    /// The file with every change made, in their order.
    pub fn with_all(&self, steps: &[Step]) -> Result<Self, SheetError> {
        let mut sheet = self.clone();
        for step in steps {
            sheet = sheet.with(step)?;
        }
        Ok(sheet)
    }

    fn unwritable(&self, key: &'static str) -> SheetError {
        let line = self.lines().iter().position(|line| is_key(line, key));
        SheetError::Unwritable {
            key,
            line: line.map_or(0, |line| line + 1),
        }
    }

    fn lines(&self) -> Vec<&str> {
        self.text.split_inclusive('\n').collect()
    }

    fn eol(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    fn set(&self, key: &str, value: &Value) -> Vec<String> {
        let lines = self.lines();
        let Some(at) = lines.iter().position(|line| is_key(line, key)) else {
            return self.added(&format!("{key}: {}{}", scalar(value), self.eol()));
        };
        let end = span_end(&lines, at);
        let kept = comment(lines[at]).unwrap_or_default();
        let gap = if kept.is_empty() { "" } else { "  " };
        let line = format!("{key}: {}{gap}{kept}{}", scalar(value), self.eol());
        vec![
            joined(&lines, at..at + 1, &line),
            joined(&lines, at..end, &line),
        ]
    }

    fn push(&self, key: &str, item: &Value) -> Vec<String> {
        let lines = self.lines();
        let eol = self.eol();
        let Some(at) = lines.iter().position(|line| is_key(line, key)) else {
            return self.added(&format!("{key}:{eol}{}", block_item(item, "  ", eol)));
        };
        let end = span_end(&lines, at);
        let kept = comment(lines[at]).unwrap_or_default();
        let gap = if kept.is_empty() { "" } else { "  " };
        let mut items = lines[at + 1..end].iter();
        let indent = items.find_map(|line| {
            let rest = line.trim_start_matches(' ');
            let is_item = rest.starts_with("- ") || rest.trim_end() == "-";
            is_item.then(|| &line[..line.len() - rest.len()])
        });
        let mut candidates = Vec::new();
        if let Some(indent) = indent {
            let block = block_item(item, indent, eol);
            for line in ends(&lines, at, end, indent.len()) {
                candidates.push(put_in(&lines, line, &block, eol));
            }
        } else {
            let head = format!("{key}:{gap}{kept}{eol}{}", block_item(item, "  ", eol));
            candidates.push(joined(&lines, at..at + 1, &head));
        }
        // A list in brackets, on one line or several.
        let whole: String = lines[at..end].concat();
        if let Some(close) = whole.rfind(']') {
            let is_empty = whole[..close].trim_end().ends_with('[');
            let comma = if is_empty { "" } else { ", " };
            let flow = format!(
                "{}{comma}{}{}",
                &whole[..close],
                flow(item),
                &whole[close..]
            );
            candidates.push(joined(&lines, at..end, &flow));
        }
        candidates
    }

    fn replace(&self, key: &str, items: &[Value]) -> Vec<String> {
        let lines = self.lines();
        let eol = self.eol();
        let mut block = format!("{key}:{eol}");
        for item in items {
            block.push_str(&block_item(item, "  ", eol));
        }
        if items.is_empty() {
            block = format!("{key}: []{eol}");
        }
        let Some(at) = lines.iter().position(|line| is_key(line, key)) else {
            return self.added(&block);
        };
        let end = span_end(&lines, at);
        let filled = ends(&lines, at, end, 0);
        let mut candidates: Vec<String> = filled
            .into_iter()
            .map(|last| joined(&lines, at..last, &block))
            .collect();
        candidates.push(joined(&lines, at..end, &block));
        candidates
    }

    /// The text with something new at its end, before the mark that ends a document.
    fn added(&self, new: &str) -> Vec<String> {
        let lines = self.lines();
        let end = lines.iter().rposition(|line| line.trim_end() == "...");
        let end = end.unwrap_or(lines.len());
        vec![put_in(&lines, end, new, self.eol())]
    }
}

fn members(text: &str) -> Result<Map<String, Value>, SheetError> {
    match serde_saphyr::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(SheetError::NotYaml {
            problem: "it is no mapping".to_owned(),
        }),
        Err(error) => Err(SheetError::NotYaml {
            problem: error.to_string().lines().next().unwrap_or("").to_owned(),
        }),
    }
}

/// Whether a line gives the top-level key a value.
fn is_key(line: &str, key: &str) -> bool {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let rest = [key.to_owned(), format!("\"{key}\""), format!("'{key}'")]
        .iter()
        .find_map(|written| line.strip_prefix(written.as_str()));
    rest.is_some_and(|rest| {
        rest.trim_start_matches(' ')
            .strip_prefix(':')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\r', '\n']))
    })
}

/// Where the value that begins in a line ends: before the next line at column 0 that is no item, no
/// comment and not blank.
fn span_end(lines: &[&str], at: usize) -> usize {
    let goes_on = |line: &&str| {
        let is_item = line.starts_with("- ") || line.trim_end() == "-";
        is_item || line.trim().is_empty() || line.starts_with([' ', '#', '\t', ']', '}'])
    };
    at + 1
        + lines[at + 1..]
            .iter()
            .take_while(|line| goes_on(line))
            .count()
}

/// Where in a span something may be put after all that belongs to it: most likely first.
fn ends(lines: &[&str], at: usize, end: usize, indent: usize) -> Vec<usize> {
    let last = |is: &dyn Fn(&str) -> bool| {
        (at..end)
            .rev()
            .find(|line| is(lines[*line]))
            .map_or(at + 1, |line| line + 1)
    };
    let mut ends = vec![
        last(&|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')),
        last(&|line| line.len() - line.trim_start().len() > indent && !line.trim().is_empty()),
        end,
    ];
    ends.dedup();
    ends
}

/// The comment at the end of a line whose value is short, with its mark.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let (mut in_single, mut in_double, mut before) = (false, false, ' ');
    for (at, character) in line.char_indices() {
        match character {
            '\'' if !in_double => in_single = !in_single,
            '"' if !in_single && before != '\\' => in_double = !in_double,
            '#' if !in_single && !in_double && before.is_whitespace() => return Some(&line[at..]),
            _ => {}
        }
        before = character;
    }
    None
}

fn joined(lines: &[&str], replaced: std::ops::Range<usize>, with: &str) -> String {
    [
        lines[..replaced.start].concat().as_str(),
        with,
        lines[replaced.end..].concat().as_str(),
    ]
    .concat()
}

/// The lines with something put before one of them, also where the one before has no end.
fn put_in(lines: &[&str], at: usize, new: &str, eol: &str) -> String {
    let before = lines[..at].concat();
    let gap = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        eol
    };
    [before.as_str(), gap, new, lines[at..].concat().as_str()].concat()
}

/// An item of a list as the seed writes it.
fn block_item(item: &Value, indent: &str, eol: &str) -> String {
    let mut text = String::new();
    match item {
        Value::Object(members) if !members.is_empty() => {
            let mut lead = format!("{indent}- ");
            for (key, value) in members {
                match value {
                    Value::Array(items) if !items.is_empty() => {
                        let _ = write!(text, "{lead}{key}:{eol}");
                        let deeper = format!("{indent}    ");
                        for inner in items {
                            text.push_str(&block_item(inner, &deeper, eol));
                        }
                    }
                    Value::Array(_) | Value::Object(_) => {
                        let _ = write!(text, "{lead}{key}: {}{eol}", flow(value));
                    }
                    _ => {
                        let _ = write!(text, "{lead}{key}: {}{eol}", scalar(value));
                    }
                }
                lead = format!("{indent}  ");
            }
        }
        Value::Array(_) | Value::Object(_) => {
            let _ = write!(text, "{indent}- {}{eol}", flow(item));
        }
        _ => {
            let _ = write!(text, "{indent}- {}{eol}", scalar(item));
        }
    }
    text
}

/// A value on one line: plain where nothing could take it for something else.
fn scalar(value: &Value) -> String {
    let Value::String(text) = value else {
        return flow(value);
    };
    let is_time = text.len() == 20 && text.ends_with('Z') && text.as_bytes()[10] == b'T';
    let is_path = text.starts_with("${PROJECT_ROOT}/");
    let is_word = text
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        && text.len() > 3
        && !["true", "false", "null"].contains(&text.as_str());
    let is_id = super::BeadId::new(text).is_some();
    let has_marks = text.contains(|c: char| !(c.is_ascii_alphanumeric() || "${}_/.:-".contains(c)));
    if (is_time || is_path || is_word || is_id) && !has_marks && !text.ends_with(':') {
        text.clone()
    } else {
        flow(value)
    }
}

/// A value as JSON, which YAML reads, with all escaped that YAML does not take as it is.
fn flow(value: &Value) -> String {
    let json = value.to_string();
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        let code = u32::from(character);
        if character.is_control() || matches!(code, 0x2028 | 0x2029 | 0xfeff | 0xfffe | 0xffff) {
            let _ = write!(text, "\\u{code:04x}");
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::bead::Bead;

    /// The seed's own example (Seed LOA §5.2), shortened.
    const SEED: &str = "\
# Extended Bead schema for Lossless Ledger Protocol
id: bd-x7y8
title: \"Implement JWT refresh token rotation\"
type: feature
status: in_progress  # since Monday
priority: 1

# Standard Bead fields...
created: 2024-01-15T10:00:00Z
assignee: null
x_team: {colour: blue}

# NEW: Decision history (append-only ledger)
decisions:
  - ts: 2024-01-15T10:30:00Z
    decision: \"Use rotating refresh tokens\"
    rationale: \"Prevents token theft replay attacks\"
    evidence:
      - path: ${PROJECT_ROOT}/src/auth/refresh.ts
        line: 12
        quote: \"export async function rotateRefreshToken()\"

# NEW: EDD verification (required before handoff)
test_scenarios:
  - name: \"Token expires at boundary\"
    type: edge_case
    expected: \"Grace period applies, no forced logout\"

# Next steps (specific, actionable)
next_steps:
  - \"Implement clock skew tolerance (±30 seconds)\"

# Blockers and questions
blockers: []
questions:
  - \"Should grace period be configurable per-client?\"
";

    fn decided() -> Value {
        json!({
            "ts": "2024-01-15T14:30:00Z", "decision": "Add \"grace\"\n", "rationale": null,
            "evidence": [{"path": "${PROJECT_ROOT}/a b.rs", "line": 3, "quote": "x: [y] # z"}],
        })
    }

    /// LOA-FMT-1: the seed's own bead is read.
    #[test]
    fn the_bead_of_the_seed_is_understood() {
        let bead = Bead::of(Sheet::read(SEED).unwrap().members());
        assert_eq!((bead.id.as_str(), bead.priority), ("bd-x7y8", 1));
        assert_eq!(bead.status, "in_progress");
        assert_eq!(bead.decisions[0].evidence[0].path, "src/auth/refresh.ts");
        assert_eq!(bead.scenarios, ["Token expires at boundary"]);
        assert_eq!(bead.next_steps.len(), 1);
    }

    /// LOA-FMT-1: comments and unknown keys survive our writes.
    #[test]
    fn what_is_changed_is_the_only_thing_that_changes() {
        let sheet = Sheet::read(SEED).unwrap();
        let changed = sheet
            .with_all(&[
                Step::Push("decisions", decided()),
                Step::Push("blockers", json!("bd-2")),
                Step::Set("status", json!("closed")),
                Step::Push(
                    "handoffs",
                    json!({"session_id": "sess-001", "grounding_ratio": 0.97}),
                ),
            ])
            .unwrap();
        let before: Vec<&str> = SEED.lines().collect();
        let after: Vec<&str> = changed.text().lines().collect();
        let lost: Vec<&&str> = before.iter().filter(|line| !after.contains(line)).collect();
        assert_eq!(
            lost,
            [&"status: in_progress  # since Monday", &"blockers: []"]
        );
        assert!(changed.text().contains("status: closed  # since Monday\n"));
        assert!(changed.text().contains("blockers:\n  - bd-2\nquestions:"));
        assert!(changed.text().contains(
            "rotateRefreshToken()\"\n  - ts: 2024-01-15T14:30:00Z\n    decision: \"Add \\\"grace\\\"\\n\"\n"
        ));
        assert!(
            changed
                .text()
                .contains("        line: 3\n        quote: \"x: [y] # z\"\n\n# NEW: EDD")
        );
        assert!(
            changed
                .text()
                .ends_with("handoffs:\n  - session_id: sess-001\n    grounding_ratio: 0.97\n")
        );
    }

    #[test]
    fn other_ways_to_write_a_list_are_added_to() {
        for (text, expected) in [
            (
                "a: 1\nnext_steps: [x, 'y']  # c\n",
                "a: 1\nnext_steps: [x, 'y', \"new one\"]  # c\n",
            ),
            (
                "next_steps:\n- x\n- y\nb: 2",
                "next_steps:\n- x\n- y\n- \"new one\"\nb: 2",
            ),
            (
                "next_steps:\r\n    - x\r\n",
                "next_steps:\r\n    - x\r\n    - \"new one\"\r\n",
            ),
            (
                "next_steps: # none\nb: 2\n",
                "next_steps:  # none\n  - \"new one\"\nb: 2\n",
            ),
            (
                "next_steps:\n  - |\n    # x\n",
                "next_steps:\n  - |\n    # x\n  - \"new one\"\n",
            ),
            (
                "---\na: 1\n...\n",
                "---\na: 1\nnext_steps:\n  - \"new one\"\n...\n",
            ),
            ("a: 1", "a: 1\nnext_steps:\n  - \"new one\"\n"),
            ("a: &x [q]\nnext_steps: *x\n", ""),
            ("next_steps: words\n", ""),
        ] {
            let changed = Sheet::read(text)
                .unwrap()
                .with(&Step::Push("next_steps", json!("new one")));
            match changed {
                Ok(changed) => assert_eq!(changed.text(), expected),
                Err(_) => assert_eq!(expected, "", "{text}"),
            }
        }
    }

    #[test]
    fn a_list_is_replaced_whole() {
        let sheet = Sheet::read("next_steps:\n  - x\n  - y\n\n# c\nb: 2\n").unwrap();
        let changed = sheet
            .with(&Step::Replace("next_steps", vec![json!("z")]))
            .unwrap();
        assert_eq!(changed.text(), "next_steps:\n  - \"z\"\n\n# c\nb: 2\n");
        let empty = changed.with(&Step::Replace("next_steps", vec![])).unwrap();
        assert_eq!(empty.text(), "next_steps: []\n\n# c\nb: 2\n");
    }

    #[test]
    fn what_is_no_bead_is_refused_with_its_line() {
        for (text, said) in [
            ("a: 1\nb: 2\na: 3\n", "duplicate"),
            ("a:\n\t- x\n", "tab"),
            ("- a\n", "mapping"),
            ("a: [\n", "line"),
        ] {
            let problem = Sheet::read(text).unwrap_err().to_string();
            assert!(problem.to_lowercase().contains(said), "{text}: {problem}");
        }
        let bomb: String = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
            let m = n - 1;
            format!("{text}a{n}: &a{n} [*a{m}, *a{m}, *a{m}, *a{m}]\n")
        });
        assert!(Sheet::read(&bomb).is_err());
    }

    proptest! {
        /// LOA-FMT-1: whatever is written is read back as it was meant, whatever it is.
        #[test]
        fn any_text_is_an_item_and_a_value(text in any::<String>()) {
            let sheet = Sheet::read(SEED).unwrap();
            let item = json!({"decision": text, "more": [text, {"quote": text}]});
            let changed = sheet.with_all(&[
                Step::Push("decisions", item),
                Step::Push("next_steps", json!(text)),
                Step::Set("title", json!(text)),
            ]);
            prop_assert!(changed.is_ok(), "{:?}", changed);
        }
    }
}
