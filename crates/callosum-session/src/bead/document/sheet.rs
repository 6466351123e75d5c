//! [`Sheet`]: a bead's file, and the changes that can be made to it.

use serde_json::{Map, Value};

use super::{
    lines::{comment, ends, is_key, joined, put_in, span_end},
    scalars::{block_item, flow, scalar},
};
use crate::yaml;

/// Largest file that is read, in bytes.
pub(in crate::bead) const LARGEST: u64 = 4 * 1024 * 1024;

/// A bead's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    text: String,
    members: Map<String, Value>,
}

/// A change to a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Sets a key to a value that is not a list or a mapping.
    Set(&'static str, Value),
    /// Adds an item to the end of a list, which is created if there is none.
    Push(&'static str, Value),
    /// Makes a list have these items and no others.
    Replace(&'static str, Vec<Value>),
}

/// Error while reading or changing a bead file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SheetError {
    /// It is not YAML, or its content is not a mapping.
    #[error("not a bead: {problem}")]
    NotYaml {
        /// Cause and line, on one line.
        problem: String,
    },
    /// No way was found to write the change without changing something else.
    #[error("`{key}` in line {line} has a form that cannot be extended")]
    Unwritable {
        /// The key.
        key: &'static str,
        /// Its line, counted from 1; the first line if it is not there.
        line: usize,
    },
}

impl Sheet {
    /// Reads a file. Duplicate keys, tabs that indent, and anchors that expand without end are
    /// refused.
    pub fn read(text: &str) -> Result<Self, SheetError> {
        let parsed = members(text)?;
        Ok(Self {
            text: text.to_owned(),
            members: parsed,
        })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the top-level keys and values.
    pub fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// Returns the file with a change made.
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
        let is_same = |text: &String| members(text).is_ok_and(|read_back| read_back == wanted);
        let candidates = candidates.into_iter().chain(self.in_braces(&wanted));
        match { candidates }.find(is_same) {
            Some(text) => Ok(Self {
                text,
                members: wanted,
            }),
            None => Err(self.unwritable(key)),
        }
    }

    /// Returns the file with every change made, in their order.
    pub fn with_all(&self, steps: &[Step]) -> Result<Self, SheetError> {
        let mut sheet = self.clone();
        for step in steps {
            sheet = sheet.with(step)?;
        }
        Ok(sheet)
    }

    fn unwritable(&self, key: &'static str) -> SheetError {
        SheetError::Unwritable {
            key,
            line: self.line_of(key).unwrap_or(1),
        }
    }

    /// Returns the line of a key, counted from 1. For a file in braces, the first line that has the
    /// name before a colon.
    pub(in crate::bead) fn line_of(&self, key: &str) -> Option<usize> {
        let lines = self.lines();
        let line = lines.iter().position(|line| is_key(line, key));
        let in_braces = || {
            let has = |line: &&str| {
                let names = [
                    format!("{key}:"),
                    format!("\"{key}\":"),
                    format!("'{key}':"),
                ];
                names.iter().any(|name| {
                    let before = line.split_once(name.as_str()).map(|(before, _)| before);
                    before.is_some_and(|before| {
                        before.is_empty() || before.ends_with(['{', ',', ' ', '\t'])
                    })
                })
            };
            let is_in_braces = self.braces().is_some();
            lines.iter().position(|line| is_in_braces && has(line))
        };
        line.or_else(in_braces).map(|line| line + 1)
    }

    /// Returns the position of the braces that enclose the whole file.
    fn braces(&self) -> Option<std::ops::Range<usize>> {
        let begin = self.text.find('{')?;
        let end = self.text.rfind('}')? + 1;
        let is_mark = |line: &str| {
            let line = line.trim_start_matches('\u{feff}').trim();
            line.is_empty() || line == "---" || line == "..." || line.starts_with(['#', '%'])
        };
        let outside = [&self.text[..begin], &self.text[end..]];
        (begin < end && outside.iter().all(|text| text.lines().all(is_mark))).then_some(begin..end)
    }

    /// Returns the file written from scratch, if all of it is in braces on one line.
    pub(super) fn in_braces(&self, wanted: &Map<String, Value>) -> Option<String> {
        let braces = self.braces()?;
        let is_of_one_line = !self.text[braces.clone()].contains('\n');
        is_of_one_line.then(|| {
            let (before, after) = (&self.text[..braces.start], &self.text[braces.end..]);
            format!("{before}{}{after}", flow(&Value::Object(wanted.clone())))
        })
    }

    pub(super) fn lines(&self) -> Vec<&str> {
        self.text.split_inclusive('\n').collect()
    }

    pub(super) fn eol(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    pub(super) fn set(&self, key: &str, value: &Value) -> Vec<String> {
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

    pub(super) fn push(&self, key: &str, item: &Value) -> Vec<String> {
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

    pub(super) fn replace(&self, key: &str, items: &[Value]) -> Vec<String> {
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

    /// Returns the text with something new at its end, before the mark that ends a document.
    fn added(&self, new: &str) -> Vec<String> {
        let lines = self.lines();
        let end = lines.iter().rposition(|line| line.trim_end() == "...");
        let end = end.unwrap_or(lines.len());
        vec![put_in(&lines, end, new, self.eol())]
    }
}

fn members(text: &str) -> Result<Map<String, Value>, SheetError> {
    match yaml::read_as_written(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(SheetError::NotYaml {
            problem: "it has no keys".to_owned(),
        }),
        Err(error) => Err(SheetError::NotYaml {
            problem: error.to_string(),
        }),
    }
}
