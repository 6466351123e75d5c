//! The text that an agent is sent: the operator's message, and what is known about the fix.

use callosum_intervention::{
    classify::suggest,
    knowledge::Fix,
    operator::{self, Context, KnownFix, Operator},
    recall::Recorded,
    voice::GateFacts,
};
use callosum_redact::terminal_escape::on_one_line;
use jiff::Timestamp;

use super::{Seen, Watcher, project_facts::ProjectFacts};

/// Most characters of a command or file in the line about a fix.
const LONGEST: usize = 120;

/// Most commands and files in that line.
const MOST_PARTS: usize = 3;

impl Watcher {
    /// Calls `judge` with what a message may refer to in this project, and no error.
    pub fn with_surroundings<T>(&self, judge: impl FnOnce(GateFacts<'_>) -> T) -> T {
        let facts = ProjectFacts::gather(self);
        judge(GateFacts {
            allows: &|command| facts.allows(command),
            exists: &|path| facts.has_file(path),
            declares: &|program| facts.declares(program),
            event: None,
        })
    }

    /// Returns the text about an error with its similarity to the corpus, or `None` if no message passes the voice gate.
    pub(super) fn text(
        &self,
        seen: &Seen,
        recorded: &Recorded,
        level: u8,
        now: Timestamp,
    ) -> Option<(String, f64)> {
        let facts = ProjectFacts::gather(self);
        let allows = |command: &str| facts.allows(command);
        let suggested = suggest(
            &seen.event,
            &facts.project(self.environment.get("PATH")),
            &allows,
        );
        let mut context = Context::of_event(&seen.event);
        context.escalation_level = level;
        context.suggested_fix = suggested.map(|fix| fix.command);
        context.error_signature.clone_from(&recorded.signature);
        context.project_root = Some(facts.root().to_string_lossy().into_owned());
        context.known_fix = seen.fix.as_ref().and_then(known_fix);
        let surroundings = GateFacts {
            allows: &allows,
            exists: &|path| facts.has_file(path),
            declares: &|program| facts.declares(program),
            event: None,
        };
        // Broken templates are a defect that a test rules out; the agent goes on without a message.
        let built = Operator::built_in()
            .and_then(|operator| operator.build_message(&context, &surroundings))
            .ok()?;
        let message = built.message?;
        let line = seen.fix.as_ref().map(|fix| known_line(fix, now));
        let text = match line {
            Some(line) => format!("{message}\n{line}"),
            None => message,
        };
        Some((text, built.verdict.score))
    }
}

/// Returns a fix as the operator names it: its first command, else its first file.
fn known_fix(fix: &Fix) -> Option<KnownFix> {
    let part = fix.commands.first().cloned().map(operator::Fix::Command);
    let part = part.or_else(|| fix.files.first().cloned().map(operator::Fix::Edit))?;
    Some(KnownFix {
        fix: part,
        confirmed: fix.confirmed,
        by: fix.client.clone(),
        when: fix.learned_at.clone(),
    })
}

/// Returns what is known about a fix on one line.
fn known_line(fix: &Fix, now: Timestamp) -> String {
    let short = |text: &String| {
        let line = on_one_line(text);
        line.chars().take(LONGEST).collect::<String>()
    };
    let mut parts: Vec<String> = fix
        .commands
        .iter()
        .take(MOST_PARTS)
        .map(|command| format!("ran `{}`", short(command)))
        .collect();
    let files: Vec<String> = fix.files.iter().take(MOST_PARTS).map(short).collect();
    if !files.is_empty() {
        parts.push(format!("changed {}", files.join(", ")));
    }
    if let Some(note) = &fix.note {
        parts.push(short(note));
    }
    let by = if fix.confirmed {
        "confirmed by a person".to_owned()
    } else {
        format!(
            "by {}, {}",
            on_one_line(&fix.client),
            ago(&fix.learned_at, now)
        )
    };
    let times = match fix.worked {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    format!("Fixed here {times} before ({by}): {}.", parts.join("; "))
}

/// Returns how long ago something was, in the largest unit.
fn ago(at: &str, now: Timestamp) -> String {
    let Ok(at) = at.parse::<Timestamp>() else {
        return "earlier".to_owned();
    };
    let minutes = now.duration_since(at).as_mins();
    match minutes {
        ..=0 => "just now".to_owned(),
        1..=59 => format!("{minutes} min ago"),
        60..=2_879 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1_440),
    }
}
