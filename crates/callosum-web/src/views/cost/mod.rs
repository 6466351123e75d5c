//! The view *Cost*: tokens, money and time by day, executor, agent and task, tokens of hooks, and context budgets.

mod chart;
#[cfg(test)]
mod tests;

use std::thread;

use askama::Template;
use serde::{Deserialize, Serialize};

use self::chart::Chart;
use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::escaped,
    visit::Visit,
};

/// Ages that the view offers, with their words. The second one is the default.
const AGES: [(&str, &str); 5] = [
    ("1d", "the last day"),
    ("7d", "the last 7 days"),
    ("30d", "the last 30 days"),
    ("90d", "the last 90 days"),
    ("all", "all time"),
];

/// `ledger cost --json`.
#[derive(Default, Deserialize, Serialize)]
struct Cost {
    total: Spending,
    days: Vec<Spending>,
    executors: Vec<Spending>,
    agents: Vec<Spending>,
    tasks: Vec<TaskCost>,
}

/// Tokens, money and time of some entries.
#[derive(Clone, Default, Deserialize, Serialize)]
struct Spending {
    name: String,
    entries: u64,
    tokens_used: u64,
    cost_usd: f64,
    priced: u64,
    seconds: f64,
    timed: u64,
}

impl Spending {
    fn tokens(&self) -> String {
        grouped(self.tokens_used)
    }

    fn money(&self) -> String {
        money((self.priced > 0).then_some(self.cost_usd))
    }

    fn time(&self) -> String {
        time((self.timed > 0).then_some(self.seconds))
    }
}

/// Tokens, money and time of a task.
#[derive(Deserialize, Serialize)]
struct TaskCost {
    task_id: String,
    timestamp: String,
    executor: String,
    agent: Option<String>,
    prompt: Option<String>,
    tokens_used: u64,
    cost_usd: Option<f64>,
    seconds: Option<f64>,
}

impl TaskCost {
    fn tokens(&self) -> String {
        grouped(self.tokens_used)
    }

    fn money(&self) -> String {
        money(self.cost_usd)
    }

    fn time(&self) -> String {
        time(self.seconds)
    }

    fn query(&self) -> String {
        format!("?id={}", escaped(&self.task_id))
    }
}

/// Returns a number with separators, such as `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn money(dollars: Option<f64>) -> String {
    match dollars {
        Some(dollars) if dollars > 0.0 && dollars < 0.01 => "less than $0.01".to_owned(),
        Some(dollars) => format!("${dollars:.2}"),
        None => "not reported".to_owned(),
    }
}

fn time(seconds: Option<f64>) -> String {
    match seconds {
        None => "not known".to_owned(),
        Some(seconds) if seconds < 60.0 => format!("{seconds:.1} s"),
        Some(seconds) if seconds < 3600.0 => format!("{:.1} min", seconds / 60.0),
        Some(seconds) => format!("{:.1} h", seconds / 3600.0),
    }
}

/// `status --json`, as far as it is shown.
#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    hook_tokens: Vec<HookTokens>,
}

/// Tokens that hooks added to the contexts of a client.
#[derive(Deserialize, Serialize)]
struct HookTokens {
    client: String,
    session_id: String,
    session_tokens: u64,
    today_tokens: u64,
}

/// `top --json`, as far as it is shown.
#[derive(Deserialize)]
struct Overview {
    agents: Vec<Agent>,
}

/// An agent with its context.
#[derive(Deserialize, Serialize)]
struct Agent {
    name: String,
    budget: Option<Budget>,
}

/// Fill level of a context.
#[derive(Deserialize, Serialize)]
struct Budget {
    used: u64,
    window: Option<u64>,
    percent: Option<u64>,
    zone: String,
}

impl Budget {
    fn share(&self) -> Option<u64> {
        self.percent.map(|percent| percent.min(100))
    }
}

#[derive(Serialize, Template)]
#[template(path = "cost.html")]
struct CostView {
    ledger_href: String,
    since: &'static str,
    words: &'static str,
    cost: Option<Cost>,
    /// Tokens per day, and money if an executor reports any.
    #[serde(skip)]
    charts: Vec<Chart>,
    hook_tokens: Vec<HookTokens>,
    budgets: Vec<Agent>,
    line: String,
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    let asked = visit.param("since").unwrap_or_default();
    let age = AGES.into_iter().find(|(age, _)| *age == asked);
    let (since, words) = age.unwrap_or(AGES[1]);
    let mut command = Command::new(&["ledger", "cost"]);
    if since != "all" {
        command = command.option("--since", since);
    }
    let (cost, status, overview) = thread::scope(|scope| {
        let status = scope.spawn(|| visit.ask_or_report::<Status>(&Command::new(&["status"])));
        let overview = scope.spawn(|| visit.ask_or_report::<Overview>(&Command::new(&["top"])));
        let cost: Option<Cost> = visit.ask_or_report(&command);
        (
            cost,
            status.join().ok().flatten(),
            overview.join().ok().flatten(),
        )
    });
    let today = visit.now();
    let charts = cost.as_ref().map_or_else(Vec::new, |cost| {
        let tokens = Chart::new("Tokens per day", &cost.days, today, |day| {
            (day.tokens_used as f64, day.tokens())
        });
        let dollars = Chart::new("US dollars per day", &cost.days, today, |day| {
            (day.cost_usd, day.money())
        });
        let charts = [tokens, dollars.filter(|_| cost.total.priced > 0)];
        charts.into_iter().flatten().collect()
    });
    let mut budgets = overview.map_or_else(Vec::new, |overview| overview.agents);
    budgets.retain(|agent| agent.budget.is_some());
    Answer::of(&CostView {
        ledger_href: visit.href("ledger"),
        since,
        words,
        cost,
        charts,
        hook_tokens: status.map_or_else(Vec::new, |status| status.hook_tokens),
        budgets,
        line: command.line(),
    })
}

/// Returns the command that a form means: this view has none.
pub(crate) fn act(action: &str, _form: &Form) -> Result<Command, BadForm> {
    Err(BadForm::Action(action.to_owned()))
}
