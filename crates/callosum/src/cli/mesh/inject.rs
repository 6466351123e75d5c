//! Arguments and output of `callosum mesh inject`.
//!
//! The use case is [`callosum_app::mesh::inject`].

use std::fmt::Write as _;
use std::path::PathBuf;

use callosum_app::mesh::inject::{InjectOutput, into_pane};
use callosum_app::{CommandError, Exit, store};
use callosum_evidence::terminal::on_one_line;
use callosum_panes::inject::Options;
use clap::Args;

use super::speaker::SpeakerArgs;
use super::words::words;
use crate::cli::context::Context;

/// Type a prompt into an agent's tmux pane, and check that the agent took it
///
/// Looks at the pane before every step. Nothing is typed into a dialog, another page, a shell, a half-written draft, or a
/// pane whose program changed. Exits with 0 only if the screen shows that the prompt was submitted. The receipt is an
/// event in the log (`callosum mesh tail --topic pane.inject`); the text is not in it.
///
/// A message (`callosum mesh message send`) reaches an agent without tmux, at its next tool call.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh inject %3 \"Stop: the schema changed. Read docs/schema.md first\"
  $ callosum mesh inject codex --file task.md --while-working
  $ callosum mesh inject claude-code \"Run the tests\" --dry-run --json")]
pub(crate) struct InjectArgs {
    /// Pane, process id, terminal, agent, project or session: see `callosum mesh panes`
    #[arg(value_name = "AGENT|PANE")]
    to: String,
    /// Text to type, or `-` to read it from standard input
    #[arg(value_name = "TEXT", required_unless_present = "file")]
    text: Option<String>,
    /// Read the text from FILE
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// Type also while the agent works: its client queues the text
    #[arg(long, visible_alias = "urgent")]
    while_working: bool,
    /// Allow a text that begins with `/` or `!`, which the client runs as a command
    #[arg(long)]
    allow_command: bool,
    /// Check everything and type nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

pub(super) fn run(context: &Context, args: &InjectArgs) -> Result<(), CommandError> {
    let text = match (&args.file, &args.text) {
        (Some(file), _) => {
            let path = context.folder.join(file);
            let bytes = context
                .disk
                .read(&path)
                .map_err(|error| store::disk_failed(&error))?;
            String::from_utf8(bytes).map_err(|_| {
                CommandError::new(Exit::Usage, format!("{} is not UTF-8", path.display()))
            })?
        }
        (None, Some(text)) => words(text)?,
        (None, None) => String::new(),
    };
    let options = Options {
        while_working: args.while_working,
        commands: args.allow_command,
        dry_run: args.dry_run,
        ..Options::default()
    };
    let output = into_pane(
        context,
        &args.speaker.voice(context),
        &args.to,
        text.trim_end(),
        options,
    )?;
    let is_done = matches!(output.outcome.as_str(), "submitted" | "possible");
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&text_of(&output))?;
    }
    if is_done {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

fn text_of(output: &InjectOutput) -> String {
    let mut text = format!("{} in {} ({})", output.outcome, output.pane, output.runtime);
    if let Some(reason) = &output.reason {
        let _ = write!(text, ": {}", on_one_line(reason));
    }
    if output.text_left {
        text.push_str("; the text is still in the composer");
    }
    text.push('\n');
    for step in &output.steps {
        let line = format!(
            "{} after {} ms: {}",
            step.phase, step.after_ms, step.evidence
        );
        let _ = writeln!(text, "  {}", on_one_line(&line));
    }
    text
}
