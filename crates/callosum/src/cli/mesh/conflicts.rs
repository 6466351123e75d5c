//! Arguments and output of `callosum mesh conflicts`.
//!
//! The use case is [`callosum_app::mesh::conflicts`].

use std::fmt::Write as _;

use callosum_app::CommandError;
use callosum_app::mesh::conflicts::{
    ConflictOutput, ShownConflictOutput, SideOutput, Want, listed, resolve, shown, version,
};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use super::author_args::SpeakerArgs;
use crate::cli::context::Context;
use crate::ui::Table;

/// Show and resolve files that two agents edit at the same time
#[derive(Debug, Subcommand)]
pub(crate) enum ConflictsCommand {
    List(ListArgs),
    Show(ShowArgs),
    Resolve(ResolveArgs),
}

/// List open conflicts
///
/// A conflict opens when an agent edits a file on which another session holds a lease. Hooks report edits and take leases.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh conflicts list
  $ callosum mesh conflicts list --all --json")]
pub(crate) struct ListArgs {
    /// Also list conflicts that were resolved in the last seven days
    #[arg(long)]
    all: bool,
}

/// Show the changes of both agents to a file
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh conflicts show 5a1c0f3e-9b1d
  $ callosum mesh conflicts show 5a1c0f3e-9b1d --version codex > theirs.rs
  $ callosum mesh conflicts show 5a1c0f3e-9b1d --version base")]
pub(crate) struct ShowArgs {
    /// Id of the conflict, or its beginning
    #[arg(value_name = "ID")]
    id: String,
    /// Print one version of the file: that of an agent, `first`, `second`, or `base` for the one before both edits
    #[arg(long, value_name = "AGENT|base")]
    version: Option<String>,
}

/// Resolve a conflict
///
/// Without an option, the file becomes the merge of both changes. If it has both already, it stays as it is. If both agents
/// changed the same lines, nothing is written and the command exits with 1: edit the file and use `--keep`, or use `--take`.
///
/// The file is replaced in one step, and its old content is kept for seven days. No other file in the work tree changes.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh conflicts resolve 5a1c0f3e-9b1d
  $ callosum mesh conflicts resolve 5a1c0f3e-9b1d --keep --reason \"merged by hand\"
  $ callosum mesh conflicts resolve 5a1c0f3e-9b1d --take codex")]
pub(crate) struct ResolveArgs {
    /// Id of the conflict, or its beginning
    #[arg(value_name = "ID")]
    id: String,
    /// Leave the file as it is
    #[arg(long, conflicts_with = "take")]
    keep: bool,
    /// Replace the file by the version of this agent, or of `first` or `second`
    #[arg(long, value_name = "AGENT")]
    take: Option<String>,
    /// Reason, which is recorded
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

pub(super) fn run(context: &Context, command: &ConflictsCommand) -> Result<(), CommandError> {
    match command {
        ConflictsCommand::List(args) => list(context, args),
        ConflictsCommand::Show(args) => show(context, args),
        ConflictsCommand::Resolve(args) => {
            let want = match &args.take {
                Some(side) => Want::Take(side.clone()),
                None if args.keep => Want::Keep,
                None => Want::Merge,
            };
            let voice = args.speaker.voice(context);
            let done = resolve(context, &voice, &args.id, &want, args.reason.as_deref())?;
            if context.ui.json {
                return context.ui.json_data(&done);
            }
            context.ui.data(&resolved_text(&done))
        }
    }
}

fn list(context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    let found = listed(context, args.all)?;
    if context.ui.json {
        return context.ui.json_data(&found);
    }
    if found.conflicts.is_empty() {
        context.report.say("no conflicts");
        return Ok(());
    }
    let mut table = Table::new(&["id", "agents", "owner", "change missing", "state", "file"]);
    for conflict in &found.conflicts {
        table.row([
            conflict.id.clone(),
            format!("{}, {}", conflict.first.agent, conflict.second.agent),
            owner(conflict).agent.clone(),
            missing(conflict).to_owned(),
            state(conflict),
            on_one_line(&conflict.path),
        ]);
    }
    context.ui.data(&table.render())
}

fn show(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    if let Some(side) = &args.version {
        let side = Some(side.as_str()).filter(|side| *side != "base");
        let bytes = version(context, &args.id, side)?;
        return context.ui.foreign_bytes(&bytes);
    }
    let found = shown(context, &args.id)?;
    if context.ui.json {
        return context.ui.json_data(&found);
    }
    context.ui.data(&shown_text(&found))
}

fn owner(conflict: &ConflictOutput) -> &SideOutput {
    if conflict.owner == "first" {
        &conflict.first
    } else {
        &conflict.second
    }
}

fn missing(conflict: &ConflictOutput) -> &'static str {
    match conflict.is_change_missing {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    }
}

fn state(conflict: &ConflictOutput) -> String {
    match &conflict.resolution {
        Some(resolution) => resolution.how.clone(),
        None => "open".to_owned(),
    }
}

fn shown_text(found: &ShownConflictOutput) -> String {
    let conflict = &found.conflict;
    let mut text = format!(
        "{} {} ({})\n",
        conflict.id,
        on_one_line(&conflict.path),
        state(conflict)
    );
    if let Some(path) = &conflict.first_path {
        let _ = writeln!(text, "in another work tree: {}", on_one_line(path));
    }
    let _ = writeln!(
        text,
        "proposed owner: {} ({})",
        owner(conflict).agent,
        conflict.owner_reason
    );
    if conflict.is_change_missing == Some(true) {
        text.push_str("a change is missing from the file\n");
    }
    if let Some(task) = &conflict.task {
        let _ = writeln!(text, "task: {}", on_one_line(task));
    }
    for (side, change) in [
        (&conflict.first, &found.first_change),
        (&conflict.second, &found.second_change),
    ] {
        let session = side.session_id.as_deref().map(on_one_line);
        let session = session.map(|session| format!(" (session {session})"));
        let _ = writeln!(
            text,
            "\n{}{}, last edit {}:",
            side.agent,
            session.unwrap_or_default(),
            side.edited_at
        );
        match change {
            Some(change) if change.is_empty() => text.push_str("  no change\n"),
            Some(change) => text.push_str(change),
            None => text.push_str("  not recorded\n"),
        }
    }
    text
}

fn resolved_text(done: &ConflictOutput) -> String {
    let path = on_one_line(&done.path);
    let Some(resolution) = &done.resolution else {
        return String::new();
    };
    let mut text = match (resolution.how.as_str(), &resolution.from) {
        ("merged", _) => format!("merged both changes into {path}\n"),
        ("taken", Some(from)) => format!("replaced {path} by the version of {from}\n"),
        _ => format!("kept {path} as it is\n"),
    };
    if let Some(replaced) = &resolution.replaced {
        let _ = writeln!(text, "the old content is in {}", on_one_line(replaced));
    }
    text
}
