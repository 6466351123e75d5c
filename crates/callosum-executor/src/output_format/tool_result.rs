//! [`ToolResults`]: results of a client's tools, and the tools that it still waits for. The results are searched for accesses that the system denied.
//!
//! A client passes a tool's complaint on to its model, and does not report it itself. Results of
//! tools that only read are left out: files may contain any text. Deliberately not here: the
//! meaning of a result, and masking it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::stream_state::text;

/// Tools that only read, in the names that clients have for them.
const READING: [&str; 21] = [
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "Read",
    "WebFetch",
    "WebSearch",
    "glob",
    "google_web_search",
    "grep",
    "grep_search",
    "list",
    "list_directory",
    "read",
    "read_file",
    "read_many_files",
    "search_file_content",
    "web_fetch",
    "web_search",
    "webfetch",
    "websearch",
];

/// The results that came and were not handed on yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ToolResults {
    /// The uses of tools that only read.
    reading: BTreeSet<String>,
    /// The uses that were begun and have not ended.
    open: BTreeSet<String>,
    /// Number of uses that may have begun without a report.
    unreported: u64,
    texts: Vec<String>,
}

impl ToolResults {
    /// Records that a tool is used, by the client's own name for that use.
    pub(super) fn begin(&mut self, id: Option<&str>, tool: Option<&str>) {
        let (Some(id), Some(tool)) = (id, tool) else {
            return;
        };
        self.open.insert(id.to_owned());
        if READING.contains(&tool) {
            self.reading.insert(id.to_owned());
        }
    }

    /// Records that a tool may be used from now on, and that earlier possible uses are over. For a
    /// client that reports a use when it is over.
    pub(crate) fn may_begin(&mut self) {
        self.none_is_used();
        self.unreported += 1;
        self.open.insert(format!("untold {}", self.unreported));
    }

    /// Records that no tool is used.
    pub(crate) fn none_is_used(&mut self) {
        self.open.clear();
    }

    /// The uses that were begun, or may have been, and have not ended.
    pub(crate) fn open(&self) -> &BTreeSet<String> {
        &self.open
    }

    /// Processes the result of a use: a text, or a list of parts that have one.
    pub(crate) fn end(&mut self, id: Option<&str>, result: Option<&Value>) {
        if let Some(id) = id {
            self.open.remove(id);
        }
        if id.is_some_and(|id| self.reading.remove(id)) {
            return;
        }
        match result {
            Some(Value::String(words)) => self.texts.push(words.clone()),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| text(part, &["text"]));
                self.texts.extend(texts.map(str::to_owned));
            }
            _ => {}
        }
    }

    /// Processes the result of a tool that is reported together with its use.
    pub(super) fn of_tool(&mut self, tool: Option<&str>, result: Option<&Value>) {
        if !tool.is_some_and(|tool| READING.contains(&tool)) {
            self.end(None, result);
        }
    }

    /// Hands them on.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.texts)
    }
}
