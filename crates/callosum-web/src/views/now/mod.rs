//! The view *Now*: what waits for a person, what each agent does, unfinished tasks and the last refusals.

mod button;
#[cfg(test)]
mod tests;

use askama::Template;
use serde::{Deserialize, Serialize};

use self::button::{Button, Offered};
use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::{element_id, escaped},
    visit::Visit,
};

/// Tasks that are shown; the view *Tasks* has all.
const MOST_TASKS: usize = 10;

/// Decisions of the guard that are shown; the view *Guard* has all.
const MOST_DECISIONS: usize = 10;

/// `top --json`, as far as it is shown.
#[derive(Deserialize)]
struct Overview {
    agents: Vec<AgentRow>,
    waiting: Vec<WaitingRow>,
    waiting_total: u64,
    task_counts: TaskCounts,
    tasks: Vec<TaskRow>,
    tasks_total: u64,
    guard: Vec<GuardRow>,
    #[serde(default)]
    faults: Vec<String>,
}

#[derive(Default, Deserialize, Serialize)]
struct TaskCounts {
    pending: u64,
    in_progress: u64,
    complete: u64,
    cancelled: u64,
}

#[derive(Deserialize, Serialize)]
struct AgentRow {
    name: String,
    client: String,
    pane: Option<String>,
    state: String,
    detail: Option<String>,
    #[serde(default)]
    evidence: Vec<Evidence>,
    since: Option<String>,
    project: Option<String>,
    folder: Option<String>,
    last_prompt: Option<String>,
    resets_at: Option<String>,
    task: Option<AgentTask>,
    budget: Option<Budget>,
    #[serde(default, skip_serializing)]
    commands: Vec<Offered>,
}

#[derive(Deserialize, Serialize)]
struct Evidence {
    signal: String,
    rule: String,
    text: String,
}

#[derive(Deserialize, Serialize)]
struct AgentTask {
    id: String,
    prompt: String,
}

#[derive(Deserialize, Serialize)]
struct Budget {
    used: u64,
    window: Option<u64>,
    percent: Option<u64>,
    zone: String,
}

impl AgentTask {
    fn query(&self) -> String {
        format!("?id={}", escaped(&self.id))
    }
}

impl AgentRow {
    fn tone(&self) -> &'static str {
        match self.state.as_str() {
            "WORKING" => "busy",
            "BLOCKED_ON_APPROVAL" => "wait",
            "TASK_COMPLETE" => "ok",
            "STUCK_ON_ERROR" | "USAGE_LIMITED" | "CONTEXT_EXHAUSTED" => "bad",
            _ => "idle",
        }
    }

    fn words(&self) -> String {
        self.state.to_lowercase().replace('_', " ")
    }

    fn element(&self) -> String {
        element_id(
            "agent",
            &format!("{}-{}", self.name, self.pane.as_deref().unwrap_or_default()),
        )
    }

    fn recipient(&self) -> Option<&str> {
        self.commands.iter().find_map(Button::recipient)
    }

    fn lines(&self) -> Vec<String> {
        self.commands.iter().filter_map(Button::shows).collect()
    }
}

impl Budget {
    fn words(&self) -> String {
        match (self.percent, self.window) {
            (Some(percent), Some(window)) => {
                format!(
                    "{percent} % of {window} tokens in use, zone {zone}",
                    zone = self.zone
                )
            }
            _ => format!("{} tokens in use, zone {}", self.used, self.zone),
        }
    }

    /// Share of the window, from 0 to 100.
    fn share(&self) -> Option<u64> {
        self.percent.map(|percent| percent.min(100))
    }
}

#[derive(Deserialize, Serialize)]
struct WaitingRow {
    kind: String,
    id: String,
    title: String,
    detail: Option<String>,
    agent: Option<String>,
    since: String,
    #[serde(default, skip_serializing)]
    commands: Vec<Offered>,
}

impl WaitingRow {
    fn words(&self) -> &str {
        match self.kind.as_str() {
            "plan_call" => "call of a plan",
            "agent_blocked" => "agent asks",
            "dead_letter" => "message not delivered",
            "mesh_conflict" => "two agents, one file",
            "guard_asked" => "guard asks",
            other => other,
        }
    }

    /// View with more about it, and its query.
    fn place(&self) -> Option<(&'static str, String)> {
        Some(match self.kind.as_str() {
            "plan_call" => {
                let run = self.id.split(' ').next().unwrap_or_default();
                ("plans", format!("?run={}", escaped(run)))
            }
            "dead_letter" => (
                "conversation",
                format!("#{}", element_id("message", &self.id)),
            ),
            "guard_asked" => ("guard", String::new()),
            _ => return None,
        })
    }

    fn element(&self) -> String {
        element_id("waiting", &self.id)
    }

    fn buttons(&self) -> Vec<Button> {
        self.commands.iter().filter_map(Button::of).collect()
    }

    fn recipient(&self) -> Option<&str> {
        self.commands.iter().find_map(Button::recipient)
    }

    fn lines(&self) -> Vec<String> {
        self.commands.iter().filter_map(Button::shows).collect()
    }
}

#[derive(Deserialize, Serialize)]
struct TaskRow {
    id: String,
    status: String,
    priority: i64,
    prompt: String,
    assigned_to: Option<String>,
    claimed_by: Option<String>,
    created_by: String,
    created_at: String,
    #[serde(default)]
    blocked_by: Vec<String>,
}

impl TaskRow {
    fn tone(&self) -> &'static str {
        match self.status.as_str() {
            "in_progress" => "busy",
            _ if !self.blocked_by.is_empty() => "wait",
            _ => "idle",
        }
    }

    fn words(&self) -> String {
        match (&self.claimed_by, &self.assigned_to) {
            (Some(by), _) => format!("claimed by {by}"),
            (None, Some(to)) => format!("pending, for {to}"),
            (None, None) => "pending, for any agent".to_owned(),
        }
    }

    fn query(&self) -> String {
        format!("?id={}", escaped(&self.id))
    }
}

#[derive(Deserialize, Serialize)]
struct GuardRow {
    id: String,
    at: String,
    agent: Option<String>,
    verdict: String,
    command: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    rule: Option<String>,
    reason: Option<String>,
    alternative: Option<String>,
    #[serde(default, skip_serializing)]
    commands: Vec<Offered>,
}

impl GuardRow {
    fn tone(&self) -> &'static str {
        match self.verdict.as_str() {
            "blocked" | "denied" | "refused" => "bad",
            "asked" => "wait",
            _ => "idle",
        }
    }

    fn subject(&self) -> String {
        self.command
            .clone()
            .unwrap_or_else(|| self.paths.join(", "))
    }

    fn buttons(&self) -> Vec<Button> {
        self.commands.iter().filter_map(Button::of).collect()
    }
}

#[derive(Serialize, Template)]
#[template(path = "now.html")]
struct NowView {
    /// Address of this view.
    base: String,
    tasks_href: String,
    guard_href: String,
    project_href: String,
    agents: Vec<AgentRow>,
    waiting: Vec<WaitingRow>,
    waiting_total: u64,
    task_counts: TaskCounts,
    tasks: Vec<TaskRow>,
    tasks_total: u64,
    guard: Vec<GuardRow>,
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    let mut overview: Overview = visit.ask(&Command::new(&["top"]))?;
    for fault in overview.faults {
        visit.report(CommandFailure::new(fault));
    }
    overview.tasks.truncate(MOST_TASKS);
    overview.guard.truncate(MOST_DECISIONS);
    let base = visit.href(visit.view);
    let project_href = base.strip_suffix(visit.view).unwrap_or(&base).to_owned();
    Answer::of(&NowView {
        tasks_href: visit.href("tasks"),
        guard_href: visit.href("guard"),
        project_href,
        base,
        agents: overview.agents,
        waiting: overview.waiting,
        waiting_total: overview.waiting_total,
        task_counts: overview.task_counts,
        tasks: overview.tasks,
        tasks_total: overview.tasks_total,
        guard: overview.guard,
    })
}

/// Returns the line that sends an agent a text from standard input.
pub(crate) fn message_line(to: &str) -> String {
    Command::new(&["mesh", "message", "send"])
        .values([to, "-"])
        .line()
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    button::command(action, form)
}
