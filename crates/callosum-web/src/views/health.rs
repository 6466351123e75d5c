//! The view *Health*: the daemon, its sinks, and the checks of `doctor`, disk space included.

use askama::Template;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::Listing,
    visit::Visit,
};

/// `doctor --json`, as far as it is shown.
#[derive(Deserialize)]
struct Doctor {
    checks: Vec<Check>,
}

/// A check of `doctor`.
#[derive(Deserialize, Serialize)]
struct Check {
    name: String,
    outcome: String,
    found: String,
    hint: Option<String>,
}

impl Check {
    fn tone(&self) -> &'static str {
        match self.outcome.as_str() {
            "ok" => "ok",
            "warning" | "note" => "wait",
            _ => "bad",
        }
    }
}

/// `serve status --json`, as far as it is shown.
#[derive(Deserialize)]
struct Status {
    serving: Option<Serving>,
    sinks: Vec<Value>,
}

#[derive(Deserialize, Serialize)]
struct Serving {
    pid: u32,
    version: String,
    started: String,
    origin: String,
    events: Option<String>,
    bus: Option<String>,
    metrics: Option<String>,
}

/// A recipient of events.
#[derive(Serialize)]
struct Sink {
    name: String,
    words: String,
}

impl Sink {
    fn of(status: &Value) -> Self {
        let fields = status.as_object().into_iter().flatten();
        let fields = fields.filter(|(key, value)| *key != "name" && !value.is_null());
        let words: Vec<_> = fields
            .map(|(key, value)| format!("{}: {value}", key.replace('_', " ")))
            .collect();
        Self {
            name: status["name"].as_str().unwrap_or_default().to_owned(),
            words: words.join(", "),
        }
    }
}

#[derive(Serialize, Template)]
#[template(path = "health.html")]
struct HealthView {
    serving: Option<Serving>,
    sinks: Vec<Sink>,
    checks: Listing<Check>,
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    let status: Option<Status> = visit.ask_or_report(&Command::new(&["serve", "status"]));
    let doctor: Doctor = visit.ask(&Command::new(&["doctor"]))?;
    let (serving, sinks) =
        status.map_or((None, Vec::new()), |status| (status.serving, status.sinks));
    let mut checks = doctor.checks;
    // Checks that need attention come first.
    checks.sort_by_key(|check| check.tone() == "ok");
    Answer::of(&HealthView {
        serving,
        sinks: sinks.iter().map(Sink::of).collect(),
        checks: Listing::new(visit, checks, |check| {
            format!("{} {} {}", check.name, check.outcome, check.found)
        }),
    })
}

/// Returns the command that a form means: this view has none.
pub(crate) fn act(action: &str, _form: &Form) -> Result<Command, BadForm> {
    Err(BadForm::Action(action.to_owned()))
}
