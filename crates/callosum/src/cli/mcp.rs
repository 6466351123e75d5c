//! `callosum mcp`: the tools of this program for coding agents, on standard input and output.

use clap::Args;

/// Serve tools to a coding agent over the Model Context Protocol (MCP), on standard input and output
///
/// A client starts this server itself once `callosum init` has registered it. The tools are `recover`, `find`,
/// `decide`, `delegate`, `runs`, `ledger_query`, `task`, `message`, `discovery` and `lease`. They work like the
/// commands of these names, for the project that the client is in. The project's session files are resources, which
/// `callosum session sync` of another project reads.
///
/// The server ends when standard input closes, and cancels its running work.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mcp
  $ callosum mcp -C .")]
pub(crate) struct McpArgs {}
