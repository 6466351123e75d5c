//! The view *Interventions*: errors that agents hit, their fixes, and the messages that agents were sent.

use std::thread;

use askama::Template;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::{Listing, escaped},
    visit::Visit,
};

/// Most errors that are listed.
const MOST: &str = "2000";

/// Lowest similarity of an error that is called similar. Lower than that of fixes that are offered: a person looks.
const SIMILAR: &str = "0.6";

/// `recall list --json`, as far as it is shown.
#[derive(Deserialize)]
struct List {
    errors: Vec<KnownError>,
}

/// An error.
#[derive(Deserialize, Serialize)]
struct KnownError {
    error_signature: String,
    error_type: String,
    file_path: Option<String>,
    message: String,
    first_seen: String,
    last_seen: String,
    occurrence_count: u64,
    intervention_count: u64,
    success_count: u64,
    last_client: String,
    last_command: String,
    expires_at: String,
}

impl KnownError {
    fn key(&self) -> String {
        escaped(&self.error_signature)
    }

    fn tone(&self) -> &'static str {
        if self.success_count > 0 { "ok" } else { "wait" }
    }

    fn state(&self) -> String {
        match self.success_count {
            0 => "not fixed yet".to_owned(),
            1 => "fixed once".to_owned(),
            count => format!("fixed {count} times"),
        }
    }

    fn seen(&self) -> String {
        match self.occurrence_count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        }
    }

    fn show(&self) -> Command {
        Command::new(&["recall", "show"]).values([self.error_signature.as_str()])
    }

    fn forget(&self) -> Command {
        forget(&self.error_signature)
    }
}

/// `recall show --json`, as far as it is shown.
#[derive(Deserialize)]
struct Shown {
    error: KnownError,
    fixes: Vec<Fix>,
    interventions: Vec<Message>,
    #[serde(default)]
    history: History,
}

/// A fix of an error.
#[derive(Deserialize, Serialize)]
struct Fix {
    id: i64,
    commands: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
    note: Option<String>,
    client: String,
    learned_at: String,
    worked: u64,
    failed: u64,
    mean_seconds: u64,
    confirmed: bool,
    offered: bool,
}

/// A message that an agent was sent.
#[derive(Deserialize, Serialize)]
struct Message {
    id: String,
    client: String,
    level: u64,
    text: String,
    at: String,
    success: Option<bool>,
}

impl Message {
    fn tone(&self) -> &'static str {
        match self.success {
            Some(true) => "ok",
            Some(false) => "bad",
            None => "idle",
        }
    }

    fn state(&self) -> &'static str {
        match self.success {
            Some(true) => "helped",
            Some(false) => "did not help",
            None => "open",
        }
    }
}

/// Outcomes of messages about errors of a type.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct History {
    successful_fixes: Vec<String>,
    failed_attempts: Vec<String>,
    avg_resolution_time: Option<f64>,
}

/// `recall similar --json`, as far as it is shown.
#[derive(Deserialize)]
struct SimilarList {
    similar: Vec<Similar>,
}

/// An error that reads like another.
#[derive(Deserialize, Serialize)]
struct Similar {
    score: f64,
    error: KnownError,
}

impl Similar {
    fn percent(&self) -> String {
        format!("{:.0} %", self.score * 100.0)
    }
}

#[derive(Serialize, Template)]
#[template(path = "interventions.html")]
struct InterventionsView {
    #[serde(skip)]
    base: String,
    errors: Listing<KnownError>,
    like: String,
    similar: Vec<Similar>,
}

/// One error.
#[derive(Serialize, Template)]
#[template(path = "intervention.html")]
struct ErrorView {
    #[serde(skip)]
    base: String,
    #[serde(skip)]
    snapshots: String,
    error: KnownError,
    fixes: Vec<Fix>,
    messages: Vec<Message>,
    history: History,
    similar: Vec<Similar>,
    similar_line: String,
}

impl ErrorView {
    fn mean_time(&self) -> Option<String> {
        let seconds = self.history.avg_resolution_time?;
        Some(format!("{seconds:.0} s"))
    }
}

fn similar(text: &str) -> Command {
    Command::new(&["recall", "similar"])
        .option("--threshold", SIMILAR)
        .values([text])
}

fn forget(signature: &str) -> Command {
    Command::new(&["recall", "forget"]).values([signature])
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    if let Some(signature) = visit.param("id") {
        return one(visit, signature);
    }
    let like = visit.param("like").unwrap_or_default().to_owned();
    let (list, found) = thread::scope(|scope| {
        let found = scope.spawn(|| {
            let is_asked = !like.trim().is_empty();
            is_asked.then(|| visit.ask_or_report::<SimilarList>(&similar(&like)))
        });
        let list = visit.ask_or_report::<List>(&Command::new(&["recall", "list", "-n", MOST]));
        (list, found.join().ok().flatten().flatten())
    });
    let errors = list.map_or(Vec::new(), |list| list.errors);
    Answer::of(&InterventionsView {
        base: visit.href("interventions"),
        errors: Listing::new(visit, errors, |error| {
            let file = error.file_path.as_deref().unwrap_or_default();
            format!(
                "{} {} {file} {} {}",
                error.error_type, error.message, error.last_client, error.last_command
            )
        }),
        like,
        similar: found.map_or(Vec::new(), |found| found.similar),
    })
}

fn one(visit: &Visit, signature: &str) -> Result<Answer, CommandFailure> {
    let command = similar(signature);
    let (shown, found) = thread::scope(|scope| {
        let found = scope.spawn(|| visit.ask_or_report::<SimilarList>(&command));
        let shown = visit.ask::<Shown>(&Command::new(&["recall", "show"]).values([signature]));
        (shown, found.join().ok().flatten())
    });
    let shown = shown?;
    let mut similar = found.map_or(Vec::new(), |found| found.similar);
    similar.retain(|one| one.error.error_signature != shown.error.error_signature);
    Answer::of(&ErrorView {
        base: visit.href("interventions"),
        snapshots: visit.href("snapshots"),
        error: shown.error,
        fixes: shown.fixes,
        messages: shown.interventions,
        history: shown.history,
        similar,
        similar_line: command.line(),
    })
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    match action {
        "worked" => {
            Ok(Command::new(&["recall", "outcome", "--worked"]).values([form.required("id")?]))
        }
        "failed" => {
            Ok(Command::new(&["recall", "outcome", "--failed"]).values([form.required("id")?]))
        }
        "forget" => Ok(forget(form.required("signature")?)),
        "fix" => {
            let mut command = Command::new(&["recall", "fix"]);
            let lines = form.required("commands")?.lines().map(str::trim);
            for line in lines.filter(|line| !line.is_empty()) {
                command = command.option("--run", line);
            }
            if let Some(note) = form.optional("note")? {
                command = command.option("--note", note);
            }
            Ok(command.values([form.required("signature")?]))
        }
        _ => Err(BadForm::Action(action.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::test_site::{HOSTILE, TestSite, arguments, assert_harmless};

    fn error(signature: &str, fixed: u64) -> Value {
        json!({
            "error_signature": signature, "project": "/p", "error_type": "KeyError", "file_path": "a.py", "message": HOSTILE,
            "first_seen": "2026-01-02T09:00:00Z", "last_seen": "2026-01-02T09:30:00Z", "occurrence_count": 4,
            "intervention_count": 1, "success_count": fixed, "last_intervention": null, "last_client": "claude",
            "last_command": "pytest", "expires_at": "2026-01-03T09:30:00Z",
        })
    }

    #[test]
    fn errors_are_listed_and_a_text_finds_similar_ones() {
        let site = TestSite::new(&[
            (
                "recall list",
                json!({"errors": [error("sha256:aa", 2), error("sha256:bb", 0)]}),
            ),
            (
                "recall similar",
                json!({"similar": [{"score": 0.914, "error": error("sha256:bb", 0)}]}),
            ),
        ]);
        let html = site.html("interventions", &[("like", "--limit=9")]);
        assert_harmless(&html);
        for part in [
            "fixed 2 times",
            "not fixed yet",
            "interventions?id=sha256%3Aaa",
            "91 %",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let lines = site.lines();
        assert!(
            lines.contains(&"recall similar --threshold=0.6 -- --limit=9".to_owned()),
            "{lines:?}"
        );
        let (json, _) = site.json("interventions", &[]);
        assert_eq!(json["errors"]["of"], 2);
    }

    #[test]
    fn an_error_shows_its_fixes_messages_and_similar_errors() {
        let shown = json!({
            "error": error("sha256:aa", 1),
            "fixes": [{"id": 12, "commands": ["uv add requests"], "files": ["pyproject.toml"], "note": HOSTILE, "client": "person",
                       "learned_at": "2026-01-02T09:00:00Z", "worked": 3, "failed": 1, "mean_seconds": 40, "confirmed": true, "offered": true}],
            "interventions": [{"id": "m-1", "client": "claude", "level": 2, "text": HOSTILE, "at": "2026-01-02T09:10:00Z", "success": null}],
            "history": {"successful_fixes": [HOSTILE], "failed_attempts": [], "avg_resolution_time": 12.4,
                        "escalation_patterns": {"after_attempts": 2}},
        });
        let similar = json!({"similar": [
            {"score": 1.0, "error": error("sha256:aa", 1)}, {"score": 0.7, "error": error("sha256:bb", 0)},
        ]});
        let site = TestSite::new(&[("recall show", shown), ("recall similar", similar)]);
        let html = site.html("interventions", &[("id", "sha256:aa")]);
        assert_harmless(&html);
        for part in [
            "uv add requests",
            "worked 3, failed 1",
            "confirmed by a person",
            "interventions/worked",
            "value=\"12\"",
            "value=\"m-1\"",
            "12 s",
            "interventions?id=sha256%3Abb",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let (json, _) = site.json("interventions", &[("id", "sha256:aa")]);
        assert_eq!(
            json["similar"].as_array().unwrap().len(),
            1,
            "an error is not similar to itself"
        );
    }

    #[test]
    fn forms_of_interventions_run_fixed_commands() {
        let id = [("id", "--failed")];
        assert_eq!(
            arguments("interventions", "worked", &id).unwrap(),
            ["recall", "outcome", "--worked", "--", "--failed"]
        );
        assert_eq!(
            arguments("interventions", "failed", &id).unwrap(),
            ["recall", "outcome", "--failed", "--", "--failed"]
        );
        assert_eq!(
            arguments("interventions", "forget", &[("signature", "--all")]).unwrap(),
            ["recall", "forget", "--", "--all"]
        );
        let fix = [
            ("signature", "sha256:aa"),
            ("commands", "uv sync\r\n\n --yes \n"),
            ("note", "--all"),
        ];
        assert_eq!(
            arguments("interventions", "fix", &fix).unwrap(),
            [
                "recall",
                "fix",
                "--run=uv sync",
                "--run=--yes",
                "--note=--all",
                "--",
                "sha256:aa"
            ]
        );
        assert!(arguments("interventions", "fix", &[("signature", "a")]).is_err());
        assert!(arguments("interventions", "export", &id).is_err());
    }
}
