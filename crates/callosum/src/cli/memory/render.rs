//! Sessions that were found, and the state of the memory, as people read them.

use std::fmt::Write as _;

use callosum_app::memory::{MemoryStatusOutput, SessionHitOutput, SessionsFoundOutput};
use callosum_app::{CommandError, many, thousands};
use callosum_redact::terminal_escape::{on_one_line, visible};
use callosum_search::Query;
use owo_colors::OwoColorize as _;

use crate::cli::context::Context;
use crate::cli::local_time::LocalTime;
use crate::ui::Table;

/// Characters of a turn that are shown around the first word that matches.
const SHOWN: usize = 160;

/// Prints the sessions that were found.
pub(crate) fn sessions(
    context: &Context,
    question: &str,
    found: &SessionsFoundOutput,
) -> Result<(), CommandError> {
    if found.sessions.is_empty() {
        context.report.say("no matches");
    }
    let question = Query::read(question);
    let zone = LocalTime::find(context);
    let mut shown = String::new();
    for one in &found.sessions {
        shown.push_str(&session(context, one, &question, &zone));
    }
    context.ui.page(&shown)
}

fn session(
    context: &Context,
    one: &SessionHitOutput,
    question: &Query,
    zone: &LocalTime,
) -> String {
    let mut shown = String::new();
    let when = one
        .last
        .as_deref()
        .map_or_else(|| "no time".to_owned(), |at| zone.show_utc(at));
    let folder = one.folder.as_deref().unwrap_or("folder unknown");
    let title = one.title.as_deref().unwrap_or_default();
    let head = format!(
        "{}  {when}  {}  {:.2}",
        one.agent.bold(),
        on_one_line(folder),
        one.score
    );
    let _ = writeln!(shown, "{head}");
    if !title.is_empty() {
        let _ = writeln!(shown, "  {}", on_one_line(title).bold());
    }
    for turn in &one.turns {
        let text = around(&turn.text, question);
        let _ = writeln!(shown, "  {}: {}", turn.speaker.dimmed(), visible(&text));
    }
    let resume: Vec<String> = one
        .resume
        .iter()
        .map(|word| callosum_app::shell_word(word))
        .collect();
    let citations = match one.citations {
        0 => String::new(),
        all => format!(" ({} of {})", one.citations_held, many(all, "citation")),
    };
    let into = match one.folder.as_deref() {
        Some(folder) if std::path::Path::new(folder) != context.tree() => {
            format!("cd {} && ", callosum_app::shell_word(folder))
        }
        _ => String::new(),
    };
    let _ = writeln!(
        shown,
        "  {}{citations}; {into}{}\n",
        one.verified,
        resume.join(" ")
    );
    shown
}

/// Returns a part of a text on one line, around the first word of the question in it.
fn around(text: &str, question: &Query) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = line.to_lowercase();
    let first = question
        .words()
        .iter()
        .filter_map(|word| lower.find(word))
        .min()
        .map_or(0, |at| lower[..at].chars().count());
    let all = line.chars().count();
    if all <= SHOWN {
        return line;
    }
    let begin = first.saturating_sub(SHOWN / 4).min(all - SHOWN);
    let part: String = line.chars().skip(begin).take(SHOWN).collect();
    let (before, after) = (begin > 0, begin + SHOWN < all);
    format!(
        "{}{part}{}",
        if before { "…" } else { "" },
        if after { "…" } else { "" }
    )
}

/// Prints the state of the memory.
pub(super) fn status(context: &Context, status: &MemoryStatusOutput) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(status);
    }
    let state = if status.on {
        "on"
    } else {
        "off (turn it on: callosum memory on)"
    };
    let mut shown = format!("the memory of past sessions is {state}\n");
    let model = if status.model {
        "words and meaning"
    } else {
        "words"
    };
    let _ = writeln!(
        shown,
        "{} in {}, {} MB; searched by {model}",
        many(status.turns, "turn"),
        many(status.sessions, "session"),
        thousands(status.bytes.div_ceil(1_000_000)),
    );
    let mut table = Table::new(&["agent", "sessions", "turns", "folder"]);
    for agent in &status.agents {
        let folder = on_one_line(&agent.folder);
        let folder = if agent.installed {
            folder
        } else {
            format!("{folder} (not there)")
        };
        table.row([
            agent.agent.clone(),
            thousands(agent.sessions),
            thousands(agent.turns),
            folder,
        ]);
    }
    shown.push_str(&table.render());
    let records = status.records.iter().filter(|kind| kind.records > 0);
    let records: Vec<String> = records
        .map(|kind| format!("{} {}", kind.kind, thousands(kind.records)))
        .collect();
    if !records.is_empty() {
        let _ = writeln!(shown, "records: {}", records.join(", "));
    }
    for folder in &status.excluded {
        let _ = writeln!(shown, "excluded: {}", on_one_line(folder));
    }
    if status.forgotten > 0 {
        let _ = writeln!(shown, "forgotten: {}", many(status.forgotten, "session"));
    }
    context.ui.data(&shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shown_around_the_first_match() {
        let question = Query::read("needle");
        assert_eq!(around("a\n  needle  b", &question), "a needle b");
        let long = format!("{}needle{}", "é ".repeat(200), " x".repeat(200));
        let shown = around(&long, &question);
        assert!(
            shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"),
            "{shown}"
        );
        assert_eq!(shown.chars().count(), SHOWN + 2);
    }
}
