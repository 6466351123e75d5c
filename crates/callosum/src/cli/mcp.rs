//! `callosum mcp`: the tools of this program for coding agents, on standard input and output.

use clap::Args;

/// Serve tools to a coding agent by the Model Context Protocol, on standard input and output
///
/// A client starts this by itself once `callosum init` has registered it. Its tools are `recover`,
/// `find`, `decide`, `delegate`, `runs`, `ledger_query`, `task`, `message`, `discovery` and `lease`, and work as the
/// commands of these names do, for the project that the client is in. It ends with standard input; what runs then is cancelled.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mcp
  $ callosum mcp -C .")]
pub(crate) struct McpArgs {}
