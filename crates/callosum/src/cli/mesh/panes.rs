//! Arguments and output of `callosum mesh panes`.
//!
//! The use case is [`callosum_app::mesh::panes`].

use std::time::Duration;

use callosum_app::mesh::panes::{PaneOutput, PanesOutput, Watcher, look, named, unknown};
use callosum_app::{CommandError, Exit, many};
use callosum_panes::{Pane, Registry};
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;
use jiff::Timestamp;

use crate::cli::context::Context;
use crate::ui::Table;

/// Pause between looks while an agent works or waits for a person.
const BUSY: Duration = Duration::from_millis(250);

/// Pause between looks while none does.
const IDLE: Duration = Duration::from_secs(1);

/// Letters of a prompt or detail in the table.
const LONGEST_CELL: usize = 40;

/// Moves the cursor to the corner and clears the screen.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// Show every coding agent on this machine and what it is doing
///
/// Finds Claude Code, Codex CLI and Gemini CLI in tmux panes and other terminals. In tmux, the state is read from the
/// screen as well; elsewhere, only hooks and the client's own files tell it. States: WORKING, BLOCKED_ON_APPROVAL (a
/// dialog waits for a person), TASK_COMPLETE (a turn ended within the last minute), TRULY_IDLE, STUCK_ON_ERROR,
/// USAGE_LIMITED, CONTEXT_EXHAUSTED, SESSION_ENDED and UNKNOWN.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh panes
  $ callosum mesh panes --watch
  $ callosum mesh panes --watch --resume-after-limit
  $ callosum mesh panes codex --json
  $ callosum mesh panes --explain %3")]
pub(crate) struct PanesArgs {
    /// Pane, process id, terminal, agent, project or session to show [default: all]
    #[arg(value_name = "PANE")]
    pane: Option<String>,
    /// Look again until Ctrl-C, and print what changed
    #[arg(short, long)]
    watch: bool,
    /// Send "continue" to each agent whose usage limit has ended, once per limit
    ///
    /// Needs `--watch`. `mesh.resume_after_limit` in the configuration does the same, also in the daemon.
    #[arg(long, requires = "watch")]
    resume_after_limit: bool,
    /// Show every signal and rule that was considered for PANE
    #[arg(long, value_name = "PANE", conflicts_with_all = ["pane", "watch"])]
    explain: Option<String>,
}

pub(super) fn run(context: &Context, args: &PanesArgs) -> Result<(), CommandError> {
    if let Some(name) = &args.explain {
        return explain(context, name);
    }
    if args.watch {
        return watch(context, args);
    }
    let registry = look(context, false)?;
    let panes = wanted(&registry, args.pane.as_deref())?;
    if context.ui.json {
        return context.ui.json_data(&output(&registry, &panes, false));
    }
    context.ui.data(&table(&panes, context.clock.now()))?;
    if panes.is_empty() {
        context
            .report
            .say("no coding agent runs in a terminal of this machine");
    }
    for note in &registry.notes {
        context.report.note(note, None);
    }
    Ok(())
}

/// Returns the panes that are meant; all of them without a name.
fn wanted<'r>(registry: &'r Registry, name: Option<&str>) -> Result<Vec<&'r Pane>, CommandError> {
    let Some(name) = name else {
        return Ok(registry.panes.iter().collect());
    };
    let found = named(&registry.panes, name);
    if found.is_empty() {
        return Err(unknown(name, &registry.panes));
    }
    Ok(found)
}

/// Shows everything that was considered for one pane.
fn explain(context: &Context, name: &str) -> Result<(), CommandError> {
    let registry = look(context, true)?;
    let panes = wanted(&registry, Some(name))?;
    let [pane] = &*panes else {
        let names: Vec<&str> = panes.iter().map(|pane| pane.pane.as_str()).collect();
        let what = format!(
            "`{name}` means {}: {}",
            many(names.len() as u64, "pane"),
            names.join(", ")
        );
        return Err(CommandError::new(Exit::Usage, what).hint("callosum mesh panes"));
    };
    if context.ui.json {
        return context.ui.json_data(&output(&registry, &panes, true));
    }
    let now = context.clock.now();
    let mut text = format!(
        "{} {} {} for {}{}\n",
        pane.pane,
        pane.runtime,
        pane.state,
        age(pane.since, now),
        pane.detail
            .as_ref()
            .map(|detail| format!(": {detail}"))
            .unwrap_or_default(),
    );
    for evidence in &pane.evidence {
        let line = format!(
            "because {} {}: {}",
            evidence.signal.name(),
            evidence.rule,
            evidence.text
        );
        text.push_str(&on_one_line(&line));
        text.push('\n');
    }
    context.ui.data(&text)?;
    let mut table = Table::new(&["signal", "rule", "state", "because"]);
    for considered in &pane.considered {
        table.row([
            considered.signal.name().to_owned(),
            on_one_line(&considered.rule),
            considered
                .state
                .map_or("-", |state| state.name())
                .to_owned(),
            on_one_line(&considered.because),
        ]);
    }
    context.ui.data(&table.render())
}

/// Looks again and again. A terminal redraws the table; elsewhere each change is a line.
fn watch(context: &Context, args: &PanesArgs) -> Result<(), CommandError> {
    let mut watcher = Watcher::open_to_watch(context, args.resume_after_limit)?;
    let mut last: Vec<(String, String)> = Vec::new();
    loop {
        let now = context.clock.now();
        let (registry, look) = watcher.look(now)?;
        let panes: Vec<&Pane> = match args.pane.as_deref() {
            Some(name) => named(&registry.panes, name),
            None => registry.panes.iter().collect(),
        };
        if context.ui.is_watched() && !context.ui.json {
            let notes: Vec<String> = registry
                .notes
                .iter()
                .map(|note| on_one_line(note))
                .collect();
            let text = format!("{CLEAR}{}{}\n", table(&panes, now), notes.join("\n"));
            context.ui.data(&text)?;
        } else {
            let states: Vec<_> = panes
                .iter()
                .map(|pane| (pane.pane.clone(), pane.state.name().to_owned()))
                .collect();
            let changed: Vec<&Pane> = panes
                .iter()
                .zip(&states)
                .filter(|(_, state)| !last.contains(state))
                .map(|(pane, _)| *pane)
                .collect();
            for pane in changed {
                if context.ui.json {
                    let line = serde_json::to_string(&PaneOutput::of(pane, false));
                    let line = line.map_err(CommandError::internal)?;
                    context.ui.data(&format!("{line}\n"))?;
                } else {
                    context
                        .ui
                        .data(&format!("{}\n", on_one_line(&line_of(pane))))?;
                }
            }
            last = states;
        }
        let notices = watcher.terminal_notices();
        if context.ui.is_watched() && !notices.is_empty() {
            context.ui.data(&String::from_utf8_lossy(&notices))?;
        }
        let pause = if look.is_busy() || look.is_unsettled {
            BUSY
        } else {
            IDLE
        };
        if context.cancel.wait_for(pause).unwrap_or(true) {
            return Ok(());
        }
    }
}

/// Returns a change as a line of a log.
fn line_of(pane: &Pane) -> String {
    let detail = pane.detail.as_ref().map(|detail| format!(" ({detail})"));
    format!(
        "{} {} {} {}{}",
        pane.since,
        pane.pane,
        pane.runtime,
        pane.state,
        detail.unwrap_or_default()
    )
}

fn output(registry: &Registry, panes: &[&Pane], is_explained: bool) -> PanesOutput {
    PanesOutput {
        updated_at: registry.updated_at.to_string(),
        writer: registry.writer,
        panes: panes
            .iter()
            .map(|pane| PaneOutput::of(pane, is_explained))
            .collect(),
        notes: registry.notes.clone(),
    }
}

fn table(panes: &[&Pane], now: Timestamp) -> String {
    if panes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["pane", "agent", "state", "for", "project", "what"]);
    for pane in panes {
        table.row([
            on_one_line(&pane.pane),
            pane.runtime.clone(),
            pane.state.name().to_owned(),
            age(pane.since, now),
            pane.project.as_deref().map(on_one_line).unwrap_or_default(),
            what(pane),
        ]);
    }
    table.render()
}

/// Returns details for a person in addition to the state: the dialog, the end of a limit, the last
/// prompt.
fn what(pane: &Pane) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(pane.detail.clone());
    if let Some(resets) = &pane.resets {
        parts.push(format!("resets {resets}"));
    }
    if pane.has_draft {
        parts.push("a draft waits".to_owned());
    }
    if let Some(prompt) = &pane.last_prompt {
        parts.push(format!("\"{prompt}\""));
    }
    let text = on_one_line(&parts.join("; "));
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(LONGEST_CELL).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

/// Returns how long something has lasted: `12s`, `5m`, `2h`.
fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit_and_a_clock_that_was_set_back_gives_zero() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let ago = |seconds: i64| age(now - jiff::SignedDuration::from_secs(seconds), now);
        assert_eq!(
            [ago(0), ago(59), ago(60), ago(7_300), ago(200_000)],
            ["0s", "59s", "1m", "2h", "2d"]
        );
        assert_eq!(ago(-500), "0s");
    }
}
