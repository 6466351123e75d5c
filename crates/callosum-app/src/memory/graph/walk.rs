//! [`Walk`]: nodes and edges of an answer's graph, each once and within bounds.

use std::collections::HashSet;

use callosum_redact::secrets;
use schemars::JsonSchema;
use serde::Serialize;

/// Most nodes.
const MOST_NODES: usize = 80;

/// Most edges.
const MOST_EDGES: usize = 200;

/// Most characters of a title.
const LONGEST_TITLE: usize = 120;

/// A node of the graph.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GraphNodeOutput {
    /// Its id in this answer: `KIND:NAME`, with `@FOLDER` if the name is one within a project.
    pub id: String,
    /// `session`, `file`, `decision`, `ledger`, `message`, `task`, `discovery`, `plan`, `bead` or `intent`.
    pub kind: String,
    /// Its name: a path, an id, or `AGENT:ID` of a session.
    pub name: String,
    /// The project's folder, if the name is one within it.
    pub folder: Option<String>,
    /// Its title, goal or task, shortened to a line. It is foreign text.
    pub title: Option<String>,
}

/// A connection of two nodes.
#[derive(Debug, JsonSchema, PartialEq, Eq, Hash, Clone, Serialize)]
pub struct GraphEdgeOutput {
    /// Id of the first node.
    pub from: String,
    /// `names` or `cites` a file, `touched` one by a tool call, `works_for` an intent, is `part_of` one, or `needs` a task.
    pub kind: String,
    /// Id of the second node.
    pub to: String,
}

/// A graph that grows.
#[derive(Debug, Default)]
pub(super) struct Walk {
    nodes: Vec<GraphNodeOutput>,
    known: HashSet<String>,
    edges: Vec<GraphEdgeOutput>,
    drawn: HashSet<GraphEdgeOutput>,
    truncated: bool,
}

impl Walk {
    /// Adds a node, unless it is there. Returns its id; `None` if there is no room.
    pub(super) fn node(
        &mut self,
        kind: &str,
        name: &str,
        folder: Option<&str>,
        title: Option<&str>,
    ) -> Option<String> {
        let id = match folder {
            Some(folder) => format!("{kind}:{name}@{folder}"),
            None => format!("{kind}:{name}"),
        };
        if self.known.contains(&id) {
            return Some(id);
        }
        if self.nodes.len() == MOST_NODES {
            self.truncated = true;
            return None;
        }
        self.known.insert(id.clone());
        self.nodes.push(GraphNodeOutput {
            id: id.clone(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            folder: folder.map(str::to_owned),
            title: title.map(short),
        });
        Some(id)
    }

    /// Adds an edge, unless it is there.
    pub(super) fn edge(&mut self, from: &str, kind: &str, to: &str) {
        let edge = GraphEdgeOutput {
            from: from.to_owned(),
            kind: kind.to_owned(),
            to: to.to_owned(),
        };
        if self.drawn.contains(&edge) {
            return;
        }
        if self.edges.len() == MOST_EDGES {
            self.truncated = true;
            return;
        }
        self.drawn.insert(edge.clone());
        self.edges.push(edge);
    }

    /// Returns nodes, edges, and whether some had no room.
    pub(super) fn end(self) -> (Vec<GraphNodeOutput>, Vec<GraphEdgeOutput>, bool) {
        (self.nodes, self.edges, self.truncated)
    }
}

/// Returns the beginning of a text on one line, without secrets.
fn short(text: &str) -> String {
    let masked = secrets::mask(text).text;
    let line = masked.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(LONGEST_TITLE).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-L5-1: a graph has each node and edge once, and never more than its bounds.
    #[test]
    fn a_graph_is_bounded_and_has_nothing_twice() {
        let mut walk = Walk::default();
        for at in 0..2 * MOST_NODES {
            let from = walk.node("file", &(at % 100).to_string(), None, None);
            for to in 0..5 {
                if let Some(from) = &from {
                    walk.edge(from, "names", &format!("file:{to}"));
                    walk.edge(from, "names", &format!("file:{to}"));
                }
            }
        }
        let (nodes, edges, truncated) = walk.end();
        assert_eq!((nodes.len(), edges.len()), (MOST_NODES, MOST_EDGES));
        assert!(truncated);
        let distinct: HashSet<_> = edges.iter().collect();
        assert_eq!(distinct.len(), edges.len());
    }

    #[test]
    fn a_title_is_a_short_line_without_secrets() {
        let key = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
        let title = short(&format!("use\n{key} {}", "word ".repeat(100)));
        assert!(
            !title.contains("A1b2C3") && !title.contains('\n'),
            "{title}"
        );
        assert_eq!(title.chars().count(), LONGEST_TITLE + 1);
    }
}
