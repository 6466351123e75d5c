//! [`ServerTool`]: a tool of a server of the Model Context Protocol, as the server itself tells of it.
//!
//! A server may tell anything, so what is kept of it is bounded by [`bounded`]. That a tool only reads is
//! the server's word; what it is worth is decided elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::sanitize::fit_line;

/// Most tools of one server that are kept.
pub const MOST_TOOLS: usize = 256;

/// Longest name of a tool that is kept, in bytes.
const LONGEST_NAME: usize = 100;

/// Bytes of a tool's description that are kept.
const LONGEST_DESCRIPTION: usize = 1000;

/// Bytes that are kept of the reason why a tool can't be called.
const LONGEST_REASON: usize = 200;

/// Largest schema of a tool's arguments, or of its answers, that is kept, in bytes of JSON.
const LARGEST_SCHEMA: usize = 16 * 1024;

/// Most that is kept of all tools of one server, in bytes of JSON.
const LARGEST_LIST: usize = 512 * 1024;

/// One tool of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerTool {
    /// Its name on the server.
    pub name: String,
    /// The server's description of it, on one line.
    pub description: String,
    /// The JSON Schema of its arguments; empty if there is none that can be kept.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema of its structured content; empty if the server has none, or none that can be
    /// kept.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub output_schema: Map<String, Value>,
    /// Whether the server claims that it changes nothing.
    pub only_reads: bool,
    /// The reason why it can't be called, if the server's description is no tool of the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
}

/// Limits the tools of a server: to the first [`MOST_TOOLS`] of them, as far as they take half a
/// megabyte. A tool without a name, or with one of more than 100 bytes, is left out. So is a schema
/// of more than 16 KiB; then the tool takes any arguments, or answers with anything.
pub fn bounded(tools: impl IntoIterator<Item = ServerTool>) -> Vec<ServerTool> {
    let mut left = LARGEST_LIST;
    let is_named = |tool: &ServerTool| (1..=LONGEST_NAME).contains(&tool.name.len());
    let kept = tools.into_iter().filter(is_named).take(MOST_TOOLS);
    let mut bounded = Vec::new();
    for mut tool in kept {
        tool.description = fit_line(&tool.description, LONGEST_DESCRIPTION);
        tool.unfit = tool.unfit.map(|why| fit_line(&why, LONGEST_REASON));
        let schemas = [&mut tool.input_schema, &mut tool.output_schema];
        let schema_bytes = schemas.map(|schema| {
            let bytes = written(schema);
            if bytes > LARGEST_SCHEMA {
                schema.clear();
                return 0;
            }
            bytes
        });
        let schema_bytes: usize = schema_bytes.iter().sum();
        let bytes = tool.name.len() + tool.description.len() + schema_bytes;
        let Some(rest) = left.checked_sub(bytes) else {
            break;
        };
        left = rest;
        bounded.push(tool);
    }
    bounded
}

fn written(schema: &Map<String, Value>) -> usize {
    serde_json::to_vec(schema).map_or(usize::MAX, |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, schema: &Value) -> ServerTool {
        ServerTool {
            name: name.to_owned(),
            input_schema: schema.as_object().cloned().unwrap_or_default(),
            output_schema: schema.as_object().cloned().unwrap_or_default(),
            ..ServerTool::default()
        }
    }

    /// CCOS-CAP-1: the stored descriptions are bounded for any list of tools.
    #[test]
    fn what_is_kept_of_a_servers_tools_is_bounded() {
        let small = json!({"type": "object"});
        let many = (0..1000).map(|number| tool(&format!("t{number}"), &small));
        assert_eq!(bounded(many).len(), MOST_TOOLS);
        let large = json!({"description": "x".repeat(LARGEST_SCHEMA)});
        let odd = [
            tool("", &small),
            tool(&"n".repeat(101), &small),
            tool("a", &large),
        ];
        let kept = bounded(odd);
        assert_eq!(kept.len(), 1);
        assert!(kept[0].input_schema.is_empty() && kept[0].output_schema.is_empty());
        let heavy = json!({"description": "x".repeat(LARGEST_SCHEMA - 100)});
        let heavy = (0..200).map(|number| tool(&format!("t{number}"), &heavy));
        assert!(bounded(heavy).len() < 20);
    }
}
