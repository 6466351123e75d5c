//! `callosum hook`: its manual. What it does is `crate::hook`'s, which answers before any of this.

use std::ffi::OsString;

use clap::Args;

use crate::hook;

/// Decide on a call of a coding agent's tool (agents run this, people do not)
///
/// Reads one event as JSON from standard input and answers in the form that the client obeys.
/// `callosum init` registers it. Before a tool runs, its command or the files it writes are decided;
/// where a session begins, where things stand is told; where a turn or a session ends, or a context is
/// compacted, what happened is written down; of every other event nothing is said. A call that cannot
/// be read or decided is asked about, and denied where nobody can be asked. Exit codes are orders to the client: 0 reads the answer, 2 denies.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | callosum hook codex PreToolUse
  $ echo '{\"hook_event_name\":\"AfterTool\"}' | callosum hook gemini")]
pub(crate) struct HookArgs {
    /// Who asks: claude, codex, gemini or qwen
    client: OsString,
    /// What happens, such as pre-tool-use; the event's own name where it is left out
    event: Option<OsString>,
}

/// Answers, and gives the exit code that says so to the client.
pub(super) fn run(args: &HookArgs) -> u8 {
    hook::answered(&args.client, args.event.as_deref().unwrap_or_default())
}
