//! [`Row`]: a decision of the guard as the page lists it, and what its agent did next.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{allow_once, ask_for_a_while};
use crate::listing::escaped;

/// Most decisions after a refusal that are shown.
const MOST_NEXT: usize = 3;

/// `guard log --json`, as far as it is shown.
#[derive(Deserialize)]
pub(super) struct Log {
    pub(super) decisions: Vec<Decision>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Decision {
    timestamp: String,
    client: Option<String>,
    verdict: String,
    rule: Option<String>,
    reason: Option<String>,
    command: Option<String>,
    alternative: Option<String>,
    rewritten_to: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    auto_allowed: bool,
    snapshot_id: Option<String>,
    session_id: Option<String>,
    agent_id: Option<String>,
}

impl Decision {
    /// The agent whose call it was; `None` if a person permitted something.
    fn agent(&self) -> Option<(&str, &str)> {
        let session = self.agent_id.as_deref().or(self.session_id.as_deref())?;
        Some((self.client.as_deref().unwrap_or_default(), session))
    }

    fn is_refusal(&self) -> bool {
        matches!(self.verdict.as_str(), "asked" | "blocked")
    }

    /// The command, or the files that were to be written.
    fn object(&self) -> String {
        match &self.command {
            Some(command) => command.clone(),
            None => self.paths.join(", "),
        }
    }

    fn word(&self) -> &str {
        match (&self.rewritten_to, self.auto_allowed) {
            (Some(_), _) => "rewritten",
            (None, true) => "auto-allowed",
            (None, false) => &self.verdict,
        }
    }
}

/// Returns the color of a verdict.
fn tone(verdict: &str) -> &'static str {
    match verdict {
        "allowed" | "auto-allowed" => "ok",
        "asked" | "rewritten" => "wait",
        "blocked" => "bad",
        "permitted" | "revoked" => "busy",
        _ => "idle",
    }
}

/// A decision after a refusal, of the same agent.
#[derive(Serialize)]
pub(super) struct Next {
    pub(super) at: String,
    pub(super) verdict: String,
    pub(super) command: String,
}

impl Next {
    pub(super) fn tone(&self) -> &'static str {
        tone(&self.verdict)
    }
}

/// A decision in the list.
#[derive(Serialize)]
pub(super) struct Row {
    /// Id in the page.
    #[serde(skip)]
    pub(super) id: String,
    pub(super) at: String,
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) verdict: String,
    pub(super) rule: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) command: String,
    pub(super) is_command: bool,
    pub(super) alternative: Option<String>,
    pub(super) rewritten_to: Option<String>,
    pub(super) snapshot: Option<String>,
    /// Whether one click permits it: a permission is of one plain command, and lifts no block.
    pub(super) can_allow: bool,
    /// The rule that blocked it, which a person may lower.
    pub(super) blocked_by: Option<String>,
    pub(super) next: Vec<Next>,
}

impl Row {
    pub(super) fn tone(&self) -> &'static str {
        tone(&self.verdict)
    }

    pub(super) fn key(&self) -> String {
        escaped(&self.command)
    }

    pub(super) fn line(&self) -> String {
        allow_once(&self.command).line()
    }

    /// The line that makes the rule ask.
    pub(super) fn ask_line(&self) -> String {
        ask_for_a_while(self.rule.as_deref().unwrap_or_default()).line()
    }

    /// The beginning of the session's id.
    pub(super) fn short_session(&self) -> &str {
        let end = self.session.char_indices().nth(8);
        &self.session[..end.map_or(self.session.len(), |(end, _)| end)]
    }

    /// Whether it is of a client or session whose name begins so.
    pub(super) fn is_of(&self, agent: &str) -> bool {
        self.agent.starts_with(agent) || self.session.starts_with(agent)
    }

    /// The words that a filter is matched with.
    pub(super) fn text(&self) -> String {
        let rule = self.rule.as_deref().unwrap_or_default();
        let reason = self.reason.as_deref().unwrap_or_default();
        format!(
            "{} {} {} {rule} {reason} {}",
            self.agent, self.session, self.verdict, self.command
        )
    }
}

/// Decisions and their times.
type Timed<'a> = (&'a [Decision], &'a [Option<Timestamp>]);

/// Returns decisions newest first. `all` are those among which the next ones are looked for, if `decisions` are only some.
pub(super) fn rows(decisions: &[Decision], all: Option<&[Decision]>) -> Vec<Row> {
    let all = all.unwrap_or(decisions);
    // As texts they do not compare, since a whole second has no point.
    let times = all.iter().map(|decision| decision.timestamp.parse().ok());
    let times: Vec<Option<Timestamp>> = times.collect();
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    let rows: Vec<Row> = decisions
        .iter()
        .map(|decision| {
            let number = seen.entry(&decision.timestamp).or_default();
            *number += 1;
            row(
                decision,
                &format!("decision-{}-{number}", decision.timestamp),
                (all, &times),
            )
        })
        .collect();
    rows.into_iter().rev().collect()
}

fn row(decision: &Decision, id: &str, all: Timed<'_>) -> Row {
    let next = if decision.is_refusal() {
        next(decision, all)
    } else {
        Vec::new()
    };
    let command = decision.object();
    let is_command = decision.command.is_some() && decision.agent().is_some();
    Row {
        id: id.to_owned(),
        at: decision.timestamp.clone(),
        agent: decision
            .client
            .clone()
            .unwrap_or_else(|| "person".to_owned()),
        session: decision
            .agent()
            .map_or(String::new(), |(_, session)| session.to_owned()),
        verdict: decision.word().to_owned(),
        rule: decision.rule.clone(),
        blocked_by: decision
            .rule
            .clone()
            .filter(|_| decision.verdict == "blocked"),
        reason: decision.reason.clone(),
        can_allow: is_command && decision.verdict == "asked" && is_plain(&command),
        command,
        is_command,
        alternative: decision.alternative.clone(),
        rewritten_to: decision.rewritten_to.clone(),
        snapshot: decision.snapshot_id.clone(),
        next,
    }
}

/// Returns the next decisions about calls of the same agent.
fn next(decision: &Decision, (all, times): Timed<'_>) -> Vec<Next> {
    let Some(agent) = decision.agent() else {
        return Vec::new();
    };
    // The log is in the order of time.
    let at: Option<Timestamp> = decision.timestamp.parse().ok();
    let start = times.partition_point(|other| *other <= at);
    let later = all[start..]
        .iter()
        .filter(|other| other.agent() == Some(agent));
    let later = later.take(MOST_NEXT).map(|other| Next {
        at: other.timestamp.clone(),
        verdict: other.word().to_owned(),
        command: other.object(),
    });
    later.collect()
}

/// Whether a line is one command whose words a permission can have as they are: nothing in it is special to a shell.
///
/// The guard decides what a pattern covers. Here a line is only kept from becoming a wider pattern than its command.
pub(super) fn is_plain(line: &str) -> bool {
    let is_word =
        |letter: char| !"|&;<>()$`\\\"'*?[]{}~#!\n\r…".contains(letter) && !letter.is_control();
    let first = line.split_whitespace().next();
    first.is_some_and(|first| !first.contains('=')) && line.chars().all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_of_one_second_are_in_the_order_of_their_fractions() {
        let decided = |second: &str| -> Decision {
            serde_json::from_value(serde_json::json!({
                "timestamp": format!("2026-01-02T09:00:{second}Z"), "client": "claude", "verdict": "blocked",
                "command": second, "session_id": "one",
            }))
            .unwrap()
        };
        let decisions = ["00.9", "01", "01.28", "01.281", "01.3"].map(decided);
        let rows = rows(&decisions, None);
        let next = |row: &Row| -> Vec<String> {
            row.next.iter().map(|next| next.command.clone()).collect()
        };
        assert_eq!(next(&rows[0]), Vec::<String>::new());
        assert_eq!(next(&rows[2]), ["01.281", "01.3"]);
        assert_eq!(next(&rows[4]), ["01", "01.28", "01.281"]);
    }

    #[test]
    fn only_lines_without_shell_syntax_are_plain() {
        for line in ["git push --force", "npm publish", "docker compose down -v"] {
            assert!(is_plain(line), "{line}");
        }
        for line in [
            "",
            " ",
            "a && b",
            "rm *",
            "X=1 a",
            "echo $HOME",
            "a\nb",
            "cat 'x'",
            "a > b",
            "rm …",
        ] {
            assert!(!is_plain(line), "{line}");
        }
    }
}
