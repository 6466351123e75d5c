//! [`Entry`]: a row of a view, made from an overview. Every text in it is fit for a terminal.

use super::View;
use super::text::{age, safe};
use crate::overview::{Agent, Command, Decision, Overview, Task, WaitingItem};

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A heading, which cannot be selected.
    Heading(String),
    /// An item.
    Item(Item),
}

/// An item of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Identity: the same in every overview.
    pub(crate) id: String,
    /// The row.
    pub(crate) spans: Vec<Span>,
    /// Everything about it: labels with texts.
    pub(crate) details: Vec<(&'static str, String)>,
    /// Commands that act on it.
    pub(crate) commands: Vec<Command>,
}

/// A piece of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its text.
    pub(crate) text: String,
    /// Its meaning.
    pub(crate) tone: Tone,
}

/// Meaning of a piece of text, which decides its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Ordinary text.
    Plain,
    /// Less important.
    Dim,
    /// All is well.
    Good,
    /// Needs attention.
    Warn,
    /// Failed or refused.
    Bad,
}

impl Entry {
    /// Returns the identity of an item; `None` for a heading.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Heading(_) => None,
            Self::Item(item) => Some(&item.id),
        }
    }
}

impl Item {
    /// Returns the first command with one of these names.
    pub(crate) fn command(&self, names: &[&str]) -> Option<&Command> {
        let mut commands = self.commands.iter();
        commands.find(|command| names.contains(&command.name.as_str()))
    }

    /// Returns whether all words of a filter are in it, in any case.
    fn has_words(&self, filter: &str) -> bool {
        let spans = self.spans.iter().map(|span| span.text.as_str());
        let details = self.details.iter().map(|(_, text)| text.as_str());
        let text = spans.chain(details).collect::<Vec<_>>().join("\n");
        let text = text.to_lowercase();
        let mut words = filter.split_whitespace().map(str::to_lowercase);
        words.all(|word| text.contains(&word))
    }
}

/// Returns the rows of a view that have all words of a filter.
pub(crate) fn entries(view: View, overview: &Overview, filter: &str) -> Vec<Entry> {
    let Overview {
        waiting,
        agents,
        tasks,
        guard,
        counts,
        ..
    } = overview;
    let mut entries = Vec::new();
    let mut section = |heading: String, items: Vec<Item>| {
        entries.push(Entry::Heading(heading));
        let items = items.into_iter().filter(|item| item.has_words(filter));
        entries.extend(items.map(Entry::Item));
    };
    match view {
        View::Now => {
            let heading = format!("Waiting for you ({})", overview.waiting_total);
            section(heading, waiting.iter().map(of_waiting).collect());
            let heading = format!("Agents ({})", agents.len());
            let items = agents.iter().enumerate();
            section(
                heading,
                items.map(|(n, agent)| of_agent(n, agent)).collect(),
            );
        }
        View::Tasks => {
            let heading = format!(
                "{} pending, {} in progress, {} complete, {} canceled; {} of {} open tasks",
                counts.pending,
                counts.in_progress,
                counts.complete,
                counts.canceled,
                tasks.len(),
                overview.tasks_total
            );
            section(heading, tasks.iter().map(of_task).collect());
        }
        View::Guard => {
            let heading = format!("Last decisions other than \"allowed\" ({})", guard.len());
            section(heading, guard.iter().map(of_decision).collect());
        }
    }
    entries
}

fn span(tone: Tone, text: &str) -> Span {
    Span {
        text: safe(text),
        tone,
    }
}

/// Fills a cell up to a width in letters.
fn cell(tone: Tone, text: &str, width: usize) -> Span {
    let text = safe(text);
    Span {
        text: format!("{text:<width$}"),
        tone,
    }
}

/// Collects details, and leaves out what is unknown.
#[derive(Default)]
struct Details(Vec<(&'static str, String)>);

impl Details {
    fn with(mut self, label: &'static str, text: &str) -> Self {
        self.0.push((label, safe(text)));
        self
    }

    fn maybe(self, label: &'static str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.with(label, text),
            None => self,
        }
    }
}

fn of_waiting(item: &WaitingItem) -> Item {
    let WaitingItem {
        kind,
        id,
        title,
        detail,
        agent,
        since,
        age_seconds,
        commands,
    } = item;
    let name = kind.replace('_', " ");
    Item {
        id: format!("{kind}/{id}"),
        spans: vec![
            cell(Tone::Dim, &age(*age_seconds), 4),
            cell(Tone::Warn, &name, 14),
            span(Tone::Plain, title),
        ],
        details: Details::default()
            .with("kind", &name)
            .with("id", id)
            .with("summary", title)
            .maybe("detail", detail.as_deref())
            .maybe("agent", agent.as_deref())
            .with("since", since)
            .0,
        commands: commands.clone(),
    }
}

fn of_agent(number: usize, agent: &Agent) -> Item {
    let Agent {
        name,
        pane,
        state,
        detail,
        evidence,
        age_seconds,
        session_id,
        project,
        folder,
        last_prompt,
        resets_at,
        task,
        budget,
        zone,
        commands,
    } = agent;
    let tone = match state.as_str() {
        "WORKING" | "TASK_COMPLETE" => Tone::Good,
        "BLOCKED_ON_APPROVAL" | "USAGE_LIMITED" | "CONTEXT_EXHAUSTED" => Tone::Warn,
        "STUCK_ON_ERROR" => Tone::Bad,
        _ => Tone::Dim,
    };
    let is_full = matches!(zone.as_deref(), Some("orange" | "red"));
    let budget_tone = if is_full { Tone::Warn } else { Tone::Dim };
    let agent_name = name.split('@').next().unwrap_or(name);
    let state_word = state.to_lowercase().replace('_', " ");
    let since = age_seconds.map(age).unwrap_or_default();
    let mut spans = vec![
        cell(Tone::Dim, &since, 4),
        cell(tone, &state_word, 20),
        cell(Tone::Plain, agent_name, 12),
        cell(Tone::Dim, pane.as_deref().unwrap_or("-"), 9),
        cell(Tone::Plain, project.as_deref().unwrap_or("-"), 12),
    ];
    spans.extend(budget.iter().map(|budget| cell(budget_tone, budget, 6)));
    spans.extend(
        task.iter()
            .map(|(id, _)| span(Tone::Dim, &format!("task {id}"))),
    );
    let task = task.as_ref().map(|(id, prompt)| format!("{id}: {prompt}"));
    let place = pane.clone().unwrap_or_else(|| number.to_string());
    Item {
        // Two panes may have one session, after a client was started again.
        id: format!("agent/{name}/{place}"),
        spans,
        details: Details::default()
            .with("agent", name)
            .with("state", state)
            .maybe("detail", detail.as_deref())
            .maybe(
                "evidence",
                (!evidence.is_empty())
                    .then(|| evidence.join("; "))
                    .as_deref(),
            )
            .maybe("pane", pane.as_deref())
            .maybe("session", session_id.as_deref())
            .maybe("folder", folder.as_deref())
            .maybe("task", task.as_deref())
            .maybe("context", budget.as_deref())
            .maybe("limit ends", resets_at.as_deref())
            .maybe("last prompt", last_prompt.as_deref())
            .0,
        commands: commands.clone(),
    }
}

fn of_task(task: &Task) -> Item {
    let Task {
        id,
        status,
        priority,
        prompt,
        assigned_to,
        claimed_by,
        claimed_until,
        created_by,
        created_at,
        age_seconds,
        folder,
        blocked_by,
        commands,
    } = task;
    let is_claimed = claimed_by.is_some();
    let agent = match (claimed_by, assigned_to) {
        (Some(by), _) => by.as_str(),
        (None, Some(to)) => to,
        (None, None) => "any agent",
    };
    let tone = if is_claimed { Tone::Good } else { Tone::Dim };
    let mut spans = vec![
        cell(Tone::Dim, &age(*age_seconds), 4),
        cell(tone, &status.replace('_', " "), 12),
        cell(Tone::Dim, &format!("P{priority}"), 4),
        cell(Tone::Plain, agent, 12),
        span(Tone::Plain, prompt),
    ];
    let needs = blocked_by.join(", ");
    if !blocked_by.is_empty() {
        spans.push(span(Tone::Warn, &format!("waits for {needs}")));
    }
    Item {
        id: format!("task/{id}"),
        spans,
        details: Details::default()
            .with("task", id)
            .with("status", status)
            .with("priority", &priority.to_string())
            .with("prompt", prompt)
            .maybe("assigned to", assigned_to.as_deref())
            .maybe("claimed by", claimed_by.as_deref())
            .maybe("claim ends", claimed_until.as_deref())
            .with("author", created_by)
            .with("created", created_at)
            .maybe("folder", folder.as_deref())
            .maybe("waits for", (!needs.is_empty()).then_some(&*needs))
            .0,
        commands: commands.clone(),
    }
}

fn of_decision(decision: &Decision) -> Item {
    let Decision {
        id,
        at,
        age_seconds,
        agent,
        verdict,
        command,
        paths,
        rule,
        reason,
        alternative,
        commands,
    } = decision;
    let tone = match verdict.as_str() {
        "blocked" => Tone::Bad,
        "asked" => Tone::Warn,
        _ => Tone::Dim,
    };
    let files = paths.join(" ");
    let about = command.as_deref().unwrap_or(&files);
    Item {
        id: format!("decision/{id}"),
        spans: vec![
            cell(Tone::Dim, &age(*age_seconds), 4),
            cell(tone, verdict, 9),
            cell(Tone::Plain, agent.as_deref().unwrap_or("-"), 9),
            cell(Tone::Dim, rule.as_deref().unwrap_or("-"), 18),
            span(Tone::Plain, about),
        ],
        details: Details::default()
            .with("decision", id)
            .with("verdict", verdict)
            .maybe("command", command.as_deref())
            .maybe("files", (!files.is_empty()).then_some(&*files))
            .maybe("rule", rule.as_deref())
            .maybe("reason", reason.as_deref())
            .maybe("instead", alternative.as_deref())
            .maybe("agent", agent.as_deref())
            .with("time", at)
            .0,
        commands: commands.clone(),
    }
}
