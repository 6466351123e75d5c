//! Tools that read files: the paths that they take.

use serde_json::{Map, Value};

/// Tools of the clients that show the content of files.
const READERS: [&str; 9] = [
    "Read",
    "NotebookRead",
    "Grep",
    "read_file",
    "read_many_files",
    "search_file_content",
    "grep_search",
    "grep",
    "view_image",
];

/// Names of the argument that holds the file to read.
const PATHS: [&str; 9] = [
    "file_path",
    "absolute_path",
    "notebook_path",
    "path",
    "paths",
    "include",
    "glob",
    "files",
    "uri",
];

/// Returns the paths and patterns that a tool reads; none if it is no tool that reads.
pub(super) fn paths(tool: &str, input: &Map<String, Value>) -> Vec<String> {
    // `mcp__files__read_text_file`
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let is_reader = READERS.contains(&tool)
        || (name.starts_with("read_") || name.starts_with("get_file")) && name.contains("file");
    if !is_reader {
        return Vec::new();
    }
    let mut paths = Vec::new();
    for (_, value) in input
        .iter()
        .filter(|(name, _)| PATHS.contains(&name.as_str()))
    {
        match value {
            Value::String(path) => paths.push(without_scheme(path)),
            Value::Array(several) => {
                let several = several.iter().filter_map(Value::as_str);
                paths.extend(several.map(without_scheme));
            }
            _ => {}
        }
    }
    paths
}

fn without_scheme(path: &str) -> String {
    path.strip_prefix("file://").unwrap_or(path).to_owned()
}
