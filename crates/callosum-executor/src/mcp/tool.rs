//! Tools: what a server lists, which argument of one a prompt goes to, and what its result says.

use std::collections::{HashMap, hash_map::Entry};

use callosum_redact::secrets;
use rmcp::model::{CallToolResult, Tool};
use serde_json::{Map, Value};

use crate::server_tool::ServerTool;

/// Names of an argument that takes a prompt, the likeliest first.
const USUAL: [&str; 6] = ["prompt", "question", "query", "task", "message", "input"];

/// Reason why no prompt can go to a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    /// The entry names one that is not there.
    #[error("the tool `{tool}` has no text argument `{argument}`")]
    Missing {
        /// The tool.
        tool: String,
        /// The argument that the entry names.
        argument: String,
    },
    /// None of its arguments is surely the one.
    #[error(
        "it is unclear which argument of the tool `{tool}` takes the prompt; name it: --argument"
    )]
    Unclear {
        /// The tool.
        tool: String,
    },
    /// It wants more than a prompt.
    #[error("the tool `{tool}` requires `{other}` besides the prompt")]
    More {
        /// The tool.
        tool: String,
        /// The other argument.
        other: String,
    },
}

/// The argument of a tool that a prompt goes to: the one that the entry names, or else one with a
/// usual name, or the only one that takes a text and is required.
pub(super) fn argument(tool: &Tool, named: Option<&str>) -> Result<String, ArgumentError> {
    let name = || tool.name.to_string();
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    let takes_text = |argument: &str| {
        properties
            .and_then(|properties| properties.get(argument))
            .is_some_and(takes_text)
    };
    let required: Vec<&str> = tool
        .input_schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let chosen = match named {
        Some(named) if takes_text(named) => named,
        Some(named) => {
            return Err(ArgumentError::Missing {
                tool: name(),
                argument: named.to_owned(),
            });
        }
        None => match USUAL.into_iter().find(|usual| takes_text(usual)) {
            Some(usual) => usual,
            None => match required.as_slice() {
                [only] if takes_text(only) => only,
                _ => return Err(ArgumentError::Unclear { tool: name() }),
            },
        },
    };
    match required.iter().find(|other| **other != chosen) {
        Some(other) => Err(ArgumentError::More {
            tool: name(),
            other: (*other).to_owned(),
        }),
        None => Ok(chosen.to_owned()),
    }
}

fn takes_text(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        // What says nothing takes anything.
        None => true,
        _ => false,
    }
}

/// Returns the text of a result: its `summary` if it is an object with one, or else its texts.
pub(super) fn text_of(result: &CallToolResult) -> String {
    let structured = result.structured_content.as_ref();
    if let Some(summary) = structured.and_then(|value| value.get("summary")?.as_str()) {
        return summary.to_owned();
    }
    let texts = texts(result);
    match (texts.is_empty(), structured) {
        (true, Some(Value::String(text))) => text.clone(),
        (true, Some(value)) if !value.is_null() => value.to_string(),
        _ => texts,
    }
}

/// The texts of a result.
pub(super) fn texts(result: &CallToolResult) -> String {
    let texts: Vec<&str> = result
        .content
        .iter()
        .filter_map(|block| Some(block.as_text()?.text.as_str()))
        .collect();
    texts.join("\n\n")
}

/// Converts a server's description of a tool.
fn describe(tool: &Tool) -> ServerTool {
    let annotations = tool.annotations.as_ref();
    ServerTool {
        name: tool.name.to_string(),
        description: tool.description.as_deref().unwrap_or_default().to_owned(),
        input_schema: (*tool.input_schema).clone(),
        output_schema: tool.output_schema.as_deref().cloned().unwrap_or_default(),
        only_reads: annotations.and_then(|notes| notes.read_only_hint) == Some(true),
        unfit: None,
    }
}

/// A tool as a server lists it.
pub(super) struct Listed {
    /// The server's description of it.
    pub(super) info: ServerTool,
    /// The tool, if it is a valid one.
    pub(super) tool: Option<Tool>,
}

impl Listed {
    pub(super) fn of(tool: Tool) -> Self {
        Self {
            info: describe(&tool),
            tool: Some(tool),
        }
    }

    /// Has it count as no tool. Of one that is none the first reason stays.
    fn refuse(&mut self, why: &str) {
        self.tool = None;
        self.info.unfit.get_or_insert_with(|| why.to_owned());
    }

    /// Reads one entry by itself, so that a bad one does not affect the others. `number`, from 1,
    /// names one without a name.
    pub(super) fn of_json(entry: Value, number: usize) -> Self {
        let name = match entry.get("name").and_then(Value::as_str) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => format!("#{number}"),
        };
        let why = match entry.get("inputSchema") {
            _ if !entry.is_object() => Some("it is not an object".to_owned()),
            None => Some("it has no `inputSchema`".to_owned()),
            Some(schema) if !schema.is_object() => {
                Some("its `inputSchema` is not an object".to_owned())
            }
            Some(_) => None,
        };
        let fault = match (why, serde_json::from_value(entry)) {
            (None, Ok(tool)) => return Self::of(tool),
            (None, Err(error)) => error.to_string(),
            (Some(why), _) => why,
        };
        Self {
            info: ServerTool {
                name,
                unfit: Some(fault),
                ..ServerTool::default()
            },
            tool: None,
        }
    }
}

/// Refuses tools without a reliable name: all of several different ones with the same name, and
/// those with a secret for a name, which would appear in each mention of the tool.
pub(super) fn without_unnameable(listed: Vec<Listed>) -> Vec<Listed> {
    let mut kept: Vec<Listed> = Vec::with_capacity(listed.len());
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for mut one in listed {
        let masked = secrets::mask(&one.info.name);
        if !masked.found.is_empty() {
            one.info.name = masked.text;
            one.refuse("its name contains what looks like a secret");
            kept.push(one);
            continue;
        }
        match by_name.entry(one.info.name.clone()) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(one);
            }
            Entry::Occupied(first) if kept[*first.get()].info == one.info => {}
            Entry::Occupied(first) => {
                kept[*first.get()].refuse("its server lists several tools with this name");
            }
        }
    }
    kept
}

/// The arguments of a call.
pub(super) fn arguments(argument: String, prompt: String) -> Map<String, Value> {
    Map::from_iter([(argument, Value::String(prompt))])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(schema: &Value) -> Tool {
        serde_json::from_value(json!({"name": "ask", "inputSchema": schema})).unwrap()
    }

    /// CCOS-CAP-1: one entry of a list that is no tool is named, with what is wrong; the others are what they are.
    #[test]
    fn what_is_no_tool_is_named_by_itself() {
        let schema = json!({"type": "object"});
        for (entry, name, why) in [
            (json!({"name": "a", "inputSchema": schema}), "a", None),
            (json!({"name": "a"}), "a", Some("it has no `inputSchema`")),
            (
                json!({"name": "a", "inputSchema": null}),
                "a",
                Some("its `inputSchema` is not an object"),
            ),
            (
                json!({"inputSchema": schema}),
                "#3",
                Some("missing field `name`"),
            ),
            (json!("a"), "#3", Some("it is not an object")),
            (
                json!({"name": "a", "inputSchema": schema, "title": 5}),
                "a",
                Some("invalid type: integer `5`, expected a string"),
            ),
        ] {
            let listed = Listed::of_json(entry.clone(), 3);
            assert_eq!(listed.info.name, name, "{entry}");
            assert_eq!(listed.info.unfit.as_deref(), why, "{entry}");
            assert_eq!(listed.tool.is_none(), why.is_some(), "{entry}");
        }
    }

    /// CCOS-CAP-1: a name that two tools share does not identify one, and a secret is no name.
    #[test]
    fn what_cannot_be_named_is_refused() {
        let entry = |name: &str, title: &str| json!({"name": name, "description": title, "inputSchema": {"type": "object"}});
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let listed = [
            entry("a", "Reads."),
            entry("b", "Reads."),
            entry("a", "Removes all."),
            entry("b", "Reads."),
            entry(&secret, ""),
        ];
        let listed = listed.map(|entry| Listed::of_json(entry, 1));
        let kept = without_unnameable(listed.into());
        let info = kept
            .iter()
            .map(|one| (one.info.name.as_str(), one.info.unfit.as_deref()));
        let info: Vec<_> = info.collect();
        assert_eq!(
            info[0],
            ("a", Some("its server lists several tools with this name"))
        );
        assert_eq!(info[1], ("b", None));
        assert_eq!(
            info[2].1,
            Some("its name contains what looks like a secret")
        );
        assert!(!info[2].0.contains("a1B2a1B2"), "{}", info[2].0);
        assert_eq!(info.len(), 3);
        assert!(kept[0].tool.is_none() && kept[1].tool.is_some());
    }

    /// CAL-EXE-2: the prompt goes where the entry or the tool's own form says, and nowhere by guess.
    #[test]
    fn the_argument_is_named_usual_or_the_only_one() {
        let text = json!({"type": "string"});
        for (schema, named, expected) in [
            (
                json!({"properties": {"prompt": text, "cwd": text}, "required": ["prompt"]}),
                None,
                Ok("prompt"),
            ),
            (
                json!({"properties": {"x": text, "prompt": text}}),
                Some("x"),
                Ok("x"),
            ),
            (
                json!({"properties": {"symbol": text, "n": {"type": "integer"}}, "required": ["symbol"]}),
                None,
                Ok("symbol"),
            ),
            (
                json!({"properties": {"q": {"type": ["string", "null"]}}, "required": ["q"]}),
                None,
                Ok("q"),
            ),
            (json!({"properties": {"prompt": {}}}), None, Ok("prompt")),
            (
                json!({"properties": {"n": {"type": "integer"}}}),
                Some("n"),
                Err("has no text argument `n`"),
            ),
            (
                json!({"properties": {"a": text, "b": text}}),
                None,
                Err("it is unclear which argument"),
            ),
            (json!({}), None, Err("it is unclear which argument")),
            (
                json!({"properties": {"prompt": text, "repo": text}, "required": ["prompt", "repo"]}),
                None,
                Err("requires `repo` besides"),
            ),
        ] {
            let chosen = argument(&tool(&schema), named);
            match expected {
                Ok(expected) => assert_eq!(chosen.as_deref(), Ok(expected), "{schema}"),
                Err(words) => assert!(chosen.unwrap_err().to_string().contains(words), "{schema}"),
            }
        }
    }

    #[test]
    fn a_result_is_its_summary_or_its_texts() {
        for (result, expected) in [
            (
                json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
                "a\n\nb",
            ),
            (
                json!({"content": [{"type": "text", "text": "{}"}], "structuredContent": {"summary": "s"}}),
                "s",
            ),
            (
                json!({"content": [], "structuredContent": {"answer": 1}}),
                "{\"answer\":1}",
            ),
            (
                json!({"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}),
                "",
            ),
            (json!({"content": []}), ""),
        ] {
            let result: CallToolResult = serde_json::from_value(result).unwrap();
            assert_eq!(text_of(&result), expected);
        }
    }
}
