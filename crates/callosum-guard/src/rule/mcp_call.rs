//! Tools of MCP servers, called from a shell. A call that a client makes by itself has the same
//! form if nothing else is known of it.

use super::{Rule, Severity, Tool};
use crate::tool_name::deletes_all;

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: &["mcp", "mcpt", "mcptools"],
    takes: "-p --params -f --format --auth-header --auth-user",
    one_dash: false,
    tests: &[("deletes-all", |s| {
        s.operand(0) == "call" && deletes_all(s.operand(1))
    })],
    rules: &[Rule {
        id: "tool.deletes-all",
        when: &["&deletes-all"],
        severity: Severity::Ask,
        reason: "judging by its name, the tool deletes everything in a store",
        alternatives: &["mcp tools"],
        #[cfg(test)]
        catches: &[
            "mcp call delete_collection --params '{\"name\": \"docs\"}' npx x",
            "mcptools call flushAll npx cache-server",
            "mcp call drop_database",
        ],
        #[cfg(test)]
        spares: &[
            "mcp call create_collection npx x",
            "mcp tools npx delete_collection",
            "mcp call delete_comment npx x",
        ],
    }],
}];
