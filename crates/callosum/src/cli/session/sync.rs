//! Arguments and output of `callosum session sync`.
//!
//! The use case is [`callosum_app::session::sync`].

use std::ffi::OsString;
use std::fmt::Write as _;
use std::time::Duration;

use callosum_app::session::sync::{
    SyncDecisionOutput, SyncNoteOutput, SyncOptions, SyncOutput, SyncSource, USUAL_QUIET, sync,
};
use callosum_app::time_span::time_span;
use callosum_app::{CommandError, Exit};
use callosum_redact::secrets::mask;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

/// Take decisions, beads and records from another checkout or machine
///
/// Reads the session files of the other project through its MCP server (`callosum mcp`), and merges them into this
/// project's like `session merge`. Writes nothing there: for both directions, run it on both sides. A second run changes
/// nothing.
///
/// If both sides changed the same value in different ways, keeps ours, names it, and exits with 1.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session sync ../app-review
  $ callosum session sync ../app-review --dry-run
  $ callosum session sync --json -- ssh build callosum mcp -C src/app")]
pub(crate) struct SyncArgs {
    /// Another checkout or project on this machine
    #[arg(value_name = "PATH", required_unless_present = "command")]
    path: Option<String>,
    /// Show what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Longest silence of the other side [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = time_span)]
    timeout: Option<Duration>,
    /// Command that starts `callosum mcp` for the other project, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "path")]
    command: Vec<OsString>,
}

pub(super) fn run(context: &Context, args: &SyncArgs) -> Result<(), CommandError> {
    let source = match &args.path {
        Some(path) => SyncSource::Path(path),
        None => SyncSource::Command(&args.command),
    };
    let options = SyncOptions {
        source,
        dry_run: args.dry_run,
        quiet: args.timeout.unwrap_or(USUAL_QUIET),
    };
    let output = sync(context, &options)?;
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.read_by_all(&lines(&output))?;
    }
    let asks = match (output.conflicts.len(), output.left_out.len()) {
        (0, 0) => return Ok(()),
        (0, 1) => "1 file was not taken".to_owned(),
        (0, many) => format!("{many} files were not taken"),
        (1, _) => "1 conflict: our value was kept".to_owned(),
        (many, _) => format!("{many} conflicts: our values were kept"),
    };
    let hint = if output.conflicts.is_empty() {
        "everything else was taken"
    } else {
        "change one side to agree with the other; everything else was merged"
    };
    Err(CommandError::new(Exit::No, asks).hint(hint))
}

/// Returns what is printed about a sync, a line for each thing.
fn lines(output: &SyncOutput) -> String {
    let mut text = String::new();
    let mut line = |what: &str, rest: &str| {
        let rest = on_one_line(&mask(rest).text);
        let _ = writeln!(text, "{what}: {rest}");
    };
    let decision = |one: &SyncDecisionOutput| format!("{} {}", one.ts, one.title);
    for one in &output.decisions {
        line("decision added", &decision(one));
    }
    for one in &output.removed {
        line("decision removed", &decision(one));
    }
    if output.notes_changed && output.decisions.is_empty() && output.removed.is_empty() {
        line("notes changed", "loa-grimoire/NOTES.md");
    }
    for bead in &output.beads {
        let keys = match bead.keys.as_slice() {
            [] => String::new(),
            keys => format!(" ({})", keys.join(", ")),
        };
        line(
            &format!("bead {}", bead.change),
            &format!("{}{keys}", bead.id),
        );
    }
    for new in &output.records {
        let records = format!("{} of {}, {}", new.count, new.agent, new.day);
        line("records added", &records);
    }
    let about = |one: &SyncNoteOutput| format!("{}: {}", one.file, one.what);
    for (what, all) in [
        ("conflict, kept ours", &output.conflicts),
        ("differs there", &output.differing),
        ("notice", &output.notices),
        ("not taken", &output.left_out),
    ] {
        for one in all {
            line(what, &about(one));
        }
    }
    match (output.changed, output.dry_run) {
        (true, true) => text.push_str("dry run: nothing was written\n"),
        (true, false) => {}
        (false, _) => text.push_str("nothing to take\n"),
    }
    text
}
