//! [`Policy`]: answers to the requests of an agent.
//!
//! No one is there to be asked, and approving everything is no answer. Requests that only read
//! within the tree are granted. All others are refused, with the errors that the protocol defines
//! for that.

use std::path::Path;

use callosum_host::{Disk, disk::EntryKind};
use serde_json::{Value, json};

/// Largest file that is handed to an agent, in bytes.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// The code of a method that there is none of.
const NO_METHOD: i32 = -32601;

/// The code of parameters that will not do.
const NO_PARAMS: i32 = -32602;

/// Permissions of an agent, limited to one tree.
pub(super) struct Policy<'p> {
    /// The disk.
    pub(super) disk: &'p Disk,
    /// The tree.
    pub(super) root: &'p Path,
}

impl Policy<'_> {
    /// Returns the result of a request of the agent, or an error's code and words.
    pub(super) fn answer(&self, method: &str, params: &Value) -> Result<Value, (i32, String)> {
        match method {
            "session/request_permission" => Ok(self.permission(params)),
            "fs/read_text_file" => self.read(params),
            "fs/write_text_file" => {
                Err((NO_PARAMS, "refused: an analysis must not write".to_owned()))
            }
            _ => Err((NO_METHOD, "Method not found".to_owned())),
        }
    }

    /// Returns what a refused request asked for, in the agent's own words; `None` if it is not
    /// refused.
    pub(super) fn refuses<'v>(&self, method: &str, params: &'v Value) -> Option<&'v str> {
        let words = match method {
            "session/request_permission" if !self.grants(params) => {
                let call = &params["toolCall"];
                call["title"].as_str().or(call["kind"].as_str())
            }
            "fs/write_text_file" => params["path"].as_str(),
            _ => return None,
        };
        Some(words.unwrap_or("a tool without a name"))
    }

    /// Whether a call only reads places within the tree.
    fn grants(&self, params: &Value) -> bool {
        let call = &params["toolCall"];
        let reads = matches!(call["kind"].as_str(), Some("read" | "search"));
        let locations = call["locations"].as_array();
        let is_within = |all: &Vec<Value>| {
            !all.is_empty()
                && all.iter().all(|location| {
                    let path = location["path"].as_str();
                    path.is_some_and(|path| self.resolve(path).is_some())
                })
        };
        reads && locations.is_some_and(is_within)
    }

    /// Grants an allowed request once; refuses any other once.
    fn permission(&self, params: &Value) -> Value {
        let kinds: &[&str] = if self.grants(params) {
            &["allow_once"]
        } else {
            &["reject_once", "reject_always"]
        };
        let options = params["options"].as_array();
        let chosen = kinds.iter().find_map(|kind| {
            let mut options = options.into_iter().flatten();
            options.find(|option| option["kind"] == **kind)
        });
        match chosen {
            Some(option) => {
                json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
            }
            None => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }

    fn read(&self, params: &Value) -> Result<Value, (i32, String)> {
        let path = params["path"].as_str().unwrap_or_default();
        let refused = |why: &str| (NO_PARAMS, format!("refused: {why}"));
        let file = self
            .resolve(path)
            .ok_or_else(|| refused("the file does not exist in the tree"))?;
        let stat = self.disk.stat(&file).ok().flatten();
        if !stat.is_some_and(|stat| stat.kind == EntryKind::File && stat.len <= LARGEST_FILE) {
            return Err(refused("not a regular file, or too large"));
        }
        let bytes = self
            .disk
            .read(&file)
            .map_err(|_| refused("the file cannot be read"))?;
        let text = String::from_utf8(bytes).map_err(|_| refused("the file is not text"))?;
        let first = params["line"].as_u64().unwrap_or(1).max(1) as usize - 1;
        let most = params["limit"]
            .as_u64()
            .map_or(usize::MAX, |most| most as usize);
        let lines = text.split_inclusive('\n').skip(first).take(most);
        Ok(json!({"content": lines.collect::<String>()}))
    }

    /// Resolves a path; `None` if it leads out of the tree.
    fn resolve(&self, path: &str) -> Option<std::path::PathBuf> {
        if path.is_empty() {
            return None;
        }
        let root = self.disk.canonicalize(self.root).ok()?;
        let file = self.disk.canonicalize(&root.join(path)).ok()?;
        file.starts_with(&root).then_some(file)
    }
}
