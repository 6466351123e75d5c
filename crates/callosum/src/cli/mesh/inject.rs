//! Arguments and output of `callosum mesh inject`.
//!
//! The use case is [`callosum_app::mesh::inject`].

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use callosum_app::mesh::inject::{InjectOutput, Request, RouteChoice, inject};
use callosum_app::time_span::any_span;
use callosum_app::{CommandError, Exit, disk_errors};
use callosum_panes::inject::Options;
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, ValueEnum};

use super::author_args::SpeakerArgs;
use super::text_arg::words;
use crate::cli::context::Context;

/// Send a prompt to an agent, and check that the agent took it
///
/// Uses the first route that works: the client's own mailbox (the socket of a Claude Code session, or `codex queue`), a
/// message that a hook delivers at the next tool call of an agent that works, or keys that tmux sends.
///
/// Nothing goes to a client with an open dialog, another page, a half-written draft or a changed program. Exits with 0
/// only with evidence that the prompt was submitted or the message delivered. A text that may have arrived is
/// `unconfirmed` and is not sent again. The receipt is an event in the log (`callosum mesh tail --topic pane.inject`);
/// the text is not in it.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh inject %3 \"Stop: the schema changed. Read docs/schema.md first\"
  $ callosum mesh inject codex --file task.md --while-working
  $ callosum mesh inject gemini \"The branch was rebased\" --route hook --wait 2m
  $ callosum mesh inject claude-code \"Run the tests\" --dry-run --json")]
pub(crate) struct InjectArgs {
    /// Pane, process id, terminal, agent, project or session: see `callosum mesh panes`
    #[arg(value_name = "AGENT|PANE")]
    to: String,
    /// Text to send, or `-` to read it from standard input
    #[arg(value_name = "TEXT", required_unless_present = "file")]
    text: Option<String>,
    /// Read the text from FILE
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// Send also while the agent works: its client queues the text
    #[arg(long, visible_alias = "urgent")]
    while_working: bool,
    /// Allow a text that begins with `/` or `!`, which the client runs as a command
    #[arg(long)]
    allow_command: bool,
    /// Use only this route [default: the first that works]
    #[arg(long, value_name = "ROUTE")]
    route: Option<RouteArg>,
    /// Time to wait until a hook delivers the message, such as 30s [default: do not wait]
    #[arg(long, value_name = "DURATION", value_parser = any_span)]
    wait: Option<Duration>,
    /// Check everything and send nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// A route, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RouteArg {
    /// The client's own mailbox
    Native,
    /// A message that a hook of the client delivers
    Hook,
    /// Keys that tmux sends
    Tmux,
}

pub(super) fn run(context: &Context, args: &InjectArgs) -> Result<(), CommandError> {
    let text = match (&args.file, &args.text) {
        (Some(file), _) => {
            let path = context.folder.join(file);
            let bytes = context
                .disk
                .read(&path)
                .map_err(|error| disk_errors::disk_failed(&error))?;
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
    let request = Request {
        to: &args.to,
        text: text.trim_end(),
        options,
        route: args.route.map(|route| match route {
            RouteArg::Native => RouteChoice::Native,
            RouteArg::Hook => RouteChoice::Hook,
            RouteArg::Tmux => RouteChoice::Tmux,
        }),
        wait: args.wait.unwrap_or_default(),
    };
    let output = inject(context, &args.speaker.voice(context), &request)?;
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&text_of(&output))?;
    }
    if output.is_success() {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

fn text_of(output: &InjectOutput) -> String {
    let mut text = format!(
        "{} in {} ({}) by {}",
        output.outcome, output.pane, output.runtime, output.route
    );
    if let Some(reason) = &output.reason {
        let _ = write!(text, ": {}", on_one_line(reason));
    }
    if output.text_left {
        text.push_str("; the text is still in the composer");
    }
    if output.outcome == "queued" {
        text.push_str("; not delivered yet: see `callosum mesh message list`");
    }
    text.push('\n');
    for skipped in &output.skipped {
        let line = format!("skipped {}: {}", skipped.route, skipped.reason);
        let _ = writeln!(text, "  {}", on_one_line(&line));
    }
    for step in &output.steps {
        let line = format!(
            "{} after {} ms: {}",
            step.phase, step.after_ms, step.evidence
        );
        let _ = writeln!(text, "  {}", on_one_line(&line));
    }
    text
}
