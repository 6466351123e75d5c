//! `callosum hook`: its manual. What it does is `crate::hook`'s, which answers before any of this.

use std::ffi::OsString;

use callosum_app::{intent, memory};
use callosum_client::hook::{self, StartSources};
use clap::Args;

/// Answer a hook of a client (clients run this, people do not)
///
/// Reads one event as JSON from standard input and answers in the format that the client expects. `callosum init`
/// registers it.
///
/// Before a tool runs, the hook decides on its command or on the files that it writes. After a tool runs, it looks
/// for errors in the output. When a session begins, it prints a digest of the project's state. When a turn or a
/// session ends, or a context is compacted, it records what happened.
///
/// If a call cannot be read or decided, the hook asks the user, and denies the call if no one can be asked. The
/// client interprets the exit code: 0 means that the answer is on standard output, 2 denies the call.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | callosum hook codex PreToolUse
  $ echo '{\"hook_event_name\":\"AfterTool\"}' | callosum hook gemini")]
pub(crate) struct HookArgs {
    /// Client that runs the hook: claude, codex, gemini or qwen
    client: OsString,
    /// Event, such as pre-tool-use [default: the event named in the input]
    event: Option<OsString>,
}

/// Sources of the text that a session starts with, beyond what hooks read themselves.
pub(super) const SOURCES: StartSources = StartSources {
    intent: intent::at_start,
    related: memory::related_at_start,
};

/// Answers, and gives the exit code that says so to the client.
pub(super) fn run(args: &HookArgs) -> u8 {
    let event = args.event.as_deref().unwrap_or_default();
    hook::answered(&args.client, event, SOURCES)
}
