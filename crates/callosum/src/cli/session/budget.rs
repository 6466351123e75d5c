//! Arguments and output of `callosum session budget`.
//!
//! The use case is [`callosum_app::session::budget`].

use std::fmt::Write as _;
use std::io;
use std::io::Read as _;
use std::path::PathBuf;

use callosum_app::session::budget::{BudgetOutput, BudgetUse, LONGEST_STATUS, read};
use callosum_app::session::{explain, session, tell_faults};
use callosum_app::{CommandError, Exit};
use callosum_client::transcript::{StatusLine, usage};
use callosum_redact::terminal_escape::harmless;
use callosum_session::budget::{Budget, Usage, Zone};
use callosum_session::evidence::Tree;
use callosum_session::grounding::{Grounding, Threshold};
use callosum_session::{ClaimScope, Config, Enforcement, Session};
use clap::Args;
use owo_colors::{OwoColorize as _, Style};

use super::AgentArgs;
use crate::cli::context::Context;

/// Show how full the context is, as a green, yellow, orange or red zone
///
/// Uses the client's own token count, from its transcript. Without --transcript, reads the newest transcript of this
/// project. The zones begin at 50, 65 and 80 % of the model's window. attention_budget in .loa.config.yaml can set
/// other limits: a share ("40%"), or tokens above the session's first request. The zones are advice and block nothing.
/// Exits with 0 in every zone, and with 1 if no token counts are found.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ echo '{\"context_window\": {\"total_input_tokens\": 9000}}' | callosum session budget --statusline")]
pub(crate) struct BudgetArgs {
    /// Transcript of Claude Code, Codex, Gemini or Qwen to read
    #[arg(long, value_name = "FILE", conflicts_with = "statusline")]
    transcript: Option<PathBuf>,
    /// Read the status line input of Claude Code from stdin, and print one line
    #[arg(long)]
    statusline: bool,
    /// Size of the model's window, if the client does not report it
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,
    #[command(flatten)]
    agent: AgentArgs,
}

pub(super) fn run(context: &Context, args: &BudgetArgs) -> Result<(), CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, args.agent.agent()?);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let found = if args.statusline {
        from_status_line(context)?
    } else {
        read(context, args.transcript.as_deref())?
    };
    let mut usage = found.usage;
    usage.window = args.window.or(usage.window);
    let budget = Budget::of(&usage, &config.limits);
    let output = BudgetOutput::of(&budget, &usage, &found);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if args.statusline {
        let is_plain = context
            .environment
            .get("NO_COLOR")
            .is_some_and(|value| !value.is_empty());
        let line = status_line(&session, &budget, config.enforcement)?;
        return context.ui.shown_elsewhere(&line, is_plain);
    }
    context.ui.data(&shown(&output, budget.zone))
}

/// The numbers of a status line, and those of the first request from its transcript.
fn from_status_line(context: &Context) -> Result<BudgetUse, CommandError> {
    let mut text = String::new();
    io::stdin()
        .lock()
        .take(LONGEST_STATUS)
        .read_to_string(&mut text)
        .map_err(|error| {
            CommandError::because(Exit::Usage, "cannot read standard input", &error)
        })?;
    let status: StatusLine = serde_json::from_str(&text).map_err(|error| {
        let what = "standard input is not the status line input of Claude Code";
        CommandError::because(Exit::Usage, what, &error)
    })?;
    let path = status.transcript_path.as_deref();
    // It is not there before the first answer.
    let reading = path.and_then(|path| usage(&context.disk, path).ok().flatten());
    let of_file = reading.map(|reading| reading.usage);
    let own = status.usage().map(|own| Usage {
        // Before the first answer, what is in use is what the first request begins with.
        first: match (path, of_file) {
            (Some(_), None) => Some(own.in_use),
            _ => of_file.and_then(|usage| usage.first),
        },
        ..own
    });
    Ok(BudgetUse {
        client: "claude",
        usage: own.or(of_file).unwrap_or_default(),
        transcript: status.transcript_path.filter(|_| reading.is_some()),
    })
}

fn style(zone: Zone) -> Style {
    let style = Style::new();
    match zone {
        Zone::Green => style.green(),
        Zone::Yellow => style.yellow(),
        // The eight colors of every terminal have no orange.
        Zone::Orange => style.color(owo_colors::XtermColors::from(208)),
        Zone::Red => style.red().bold(),
    }
}

fn shown(output: &BudgetOutput, zone: Zone) -> String {
    let mut text = format!(
        "{}: {} tokens above the first request, {} in use",
        output.zone.style(style(zone)),
        output.tokens,
        output.in_use
    );
    if let (Some(window), Some(percent)) = (output.window, output.percent) {
        let _ = write!(text, " ({percent} % of {window})");
    }
    if output.window.is_none() {
        text.push_str(", window unknown: assuming 200,000 tokens (set it with --window)");
    }
    text.push('\n');
    if let Some(advice) = &output.advice {
        text.push_str(advice);
        text.push('\n');
    }
    text
}

/// Zone, share of the window, bead and grounding on one line.
fn status_line(
    session: &Session<'_>,
    budget: &Budget,
    enforcement: Enforcement,
) -> Result<String, CommandError> {
    let mut parts = vec![format!("{}", budget.zone.style(style(budget.zone)))];
    parts.push(match budget.percent {
        Some(percent) => format!("{percent} %"),
        None => format!("{} tokens", budget.tokens),
    });
    let notes = session.notes().map_err(|error| explain(&error))?;
    parts.extend(
        notes
            .and_then(|notes| notes.active().bead)
            .map(|id| harmless(&id)),
    );
    let read = session.since_handoff(ClaimScope::Everyone);
    let read = read.map_err(|error| explain(&error))?;
    if read.recorded.is_there || !read.unrecorded.is_empty() {
        let tree = Tree::new(session.disk, &session.zones.tree);
        let grounding = Grounding::of(&read, &tree);
        let ratio = format!("grounding {}", grounding.ratio());
        parts.push(
            if grounding.passes_under(&Threshold::default(), enforcement) {
                ratio
            } else {
                format!("{}", ratio.style(style(Zone::Red)))
            },
        );
    }
    Ok(parts.join(" · "))
}
