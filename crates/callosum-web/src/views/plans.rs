//! The view *Plans*: runs, and one run as a tree with the calls that wait for a person.

use askama::Template;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::{Listing, escaped},
    rendered::Rendered,
    visit::Visit,
};

/// Most runs that are listed.
const MOST: &str = "500";

/// `plan list --json`, as far as it is shown.
#[derive(Deserialize)]
struct List {
    runs: Vec<Summary>,
}

/// A run in the list.
#[derive(Deserialize, Serialize)]
struct Summary {
    run: String,
    plan: Option<String>,
    begun: String,
    changed: String,
    standing: String,
    calls: u64,
    answered: u64,
    #[serde(default)]
    foreign_records: u64,
}

impl Summary {
    fn key(&self) -> String {
        escaped(&self.run)
    }

    fn tone(&self) -> &'static str {
        tone(&self.standing)
    }

    fn is_open(&self) -> bool {
        !matches!(self.standing.as_str(), "completed" | "failed" | "cancelled")
    }

    /// Whether the command line can go on with it.
    fn is_interrupted(&self) -> bool {
        self.standing == "interrupted"
    }
}

/// Returns the color of a state.
fn tone(standing: &str) -> &'static str {
    match standing {
        "completed" | "answered" | "passed" | "done" | "succeeded" | "success" => "ok",
        "running" | "begun" | "granted" => "busy",
        "waiting" | "asked" | "interrupted" | "retrying" => "wait",
        "failed" | "cancelled" | "denied" | "refused" | "rejected" | "error" => "bad",
        _ => "idle",
    }
}

/// `plan show --json`, as far as it is shown.
#[derive(Deserialize)]
struct Shown {
    #[serde(flatten)]
    summary: Summary,
    capabilities: Vec<String>,
    elapsed_ms: u64,
    tokens: u64,
    cost_usd: f64,
    max_tokens: Option<u64>,
    max_cost_usd: Option<f64>,
    max_elapsed_ms: Option<u64>,
    value: Option<String>,
    error: Option<Failure>,
    blocked_by: Vec<Waiting>,
    tree: Action,
}

/// Failure of a run.
#[derive(Deserialize, Serialize)]
struct Failure {
    kind: String,
    message: String,
    hint: Option<String>,
    line: Option<u64>,
    column: Option<u64>,
}

/// A call that waits for a person.
#[derive(Deserialize, Serialize)]
struct Waiting {
    key: String,
    position: String,
    capability: String,
    arguments: Option<String>,
    blocked_by: String,
    question: String,
    answer_type: Option<String>,
    /// The line that approves it.
    #[serde(default)]
    line: String,
}

impl Waiting {
    fn needs_approval(&self) -> bool {
        self.blocked_by == "approval"
    }
}

/// An action of the causal chain.
#[derive(Deserialize, Serialize)]
struct Action {
    kind: String,
    name: String,
    standing: String,
    detail: Option<String>,
    key: Option<String>,
    elapsed_ms: Option<u64>,
    #[serde(default)]
    children: Vec<Action>,
}

/// An action as an item of a list, with the list of what it caused.
#[derive(Template)]
#[template(path = "plan_action.html")]
struct Item<'a> {
    action: &'a Action,
    id: String,
    tone: &'static str,
    /// Address of the entry in the ledger, of a task.
    entry: Option<String>,
    took: Option<String>,
    children: Vec<Rendered>,
}

impl Action {
    /// Renders it and what it caused. `id` is unique on the page and stays the same while the run goes on.
    ///
    /// Recurs as deep as a program nests steps, which the reader of its JSON bounds at 128.
    fn rendered(&self, id: &str, ledger: &str) -> Result<Rendered, askama::Error> {
        let children = self.children.iter().enumerate();
        let children =
            children.map(|(number, child)| child.rendered(&format!("{id}-{number}"), ledger));
        let item = Item {
            action: self,
            id: id.to_owned(),
            tone: match (self.kind.as_str(), self.name.as_str()) {
                ("answer", "failure") => "bad",
                ("ruling", name) => tone(name),
                _ => tone(&self.standing),
            },
            entry: (self.kind == "task").then(|| format!("{ledger}?id={}", escaped(&self.name))),
            took: self.elapsed_ms.map(duration),
            children: children.collect::<Result<_, _>>()?,
        };
        item.render().map(Rendered)
    }
}

/// Returns a time span as people read it.
fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{} s", ms % 1000 / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[derive(Serialize, Template)]
#[template(path = "plans.html")]
struct PlansView {
    #[serde(skip)]
    base: String,
    /// Whether this program was built with plans.
    has_plans: bool,
    runs: Listing<Summary>,
}

/// One run.
#[derive(Serialize, Template)]
#[template(path = "plan_run.html")]
struct RunView {
    #[serde(skip)]
    base: String,
    run: Summary,
    capabilities: String,
    spent: String,
    value: Option<String>,
    error: Option<Failure>,
    waiting: Vec<Waiting>,
    show: String,
    show_tree: String,
    #[serde(skip)]
    rendered: Rendered,
    tree: Action,
}

/// Whether a failure is that of a program without the command.
fn is_unknown_command(failure: &CommandFailure) -> bool {
    failure.exit == Some(2) && failure.message.contains("subcommand")
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    if let Some(run) = visit.param("run") {
        return one(visit, run);
    }
    let found: Result<List, _> = visit.ask(&Command::new(&["plan", "list", "-n", MOST]));
    let (has_plans, runs) = match found {
        Ok(list) => (true, list.runs),
        Err(failure) if is_unknown_command(&failure) => (false, Vec::new()),
        Err(failure) => {
            visit.report(failure);
            (true, Vec::new())
        }
    };
    Answer::of(&PlansView {
        base: visit.href("plans"),
        has_plans,
        runs: Listing::new(visit, runs, |run| {
            let plan = run.plan.as_deref().unwrap_or_default();
            format!("{} {plan} {}", run.run, run.standing)
        }),
    })
}

fn one(visit: &Visit, run: &str) -> Result<Answer, CommandFailure> {
    let mut shown: Shown = visit.ask(&Command::new(&["plan", "show"]).values([run]))?;
    let of = |limit: Option<String>| limit.map_or(String::new(), |limit| format!(" of {limit}"));
    let spent = format!(
        "{}{} tokens, ${:.4}{}, {}{}",
        shown.tokens,
        of(shown.max_tokens.map(|most| most.to_string())),
        shown.cost_usd,
        of(shown.max_cost_usd.map(|most| format!("${most}"))),
        duration(shown.elapsed_ms),
        of(shown.max_elapsed_ms.map(duration)),
    );
    let rendered = shown.tree.rendered("action", &visit.href("ledger"));
    let rendered =
        rendered.map_err(|error| CommandFailure::new(format!("cannot show the run: {error}")))?;
    for call in &mut shown.blocked_by {
        let command = Command::new(&["plan", "approve"]);
        call.line = command
            .values([shown.summary.run.as_str(), call.key.as_str()])
            .line();
    }
    let line = |words: &[&str]| {
        Command::new(words)
            .values([shown.summary.run.as_str()])
            .line()
    };
    Answer::of(&RunView {
        base: visit.href("plans"),
        show: line(&["plan", "show"]),
        show_tree: line(&["plan", "show", "--tree"]),
        run: shown.summary,
        capabilities: shown.capabilities.join(", "),
        spent,
        value: shown.value,
        error: shown.error,
        waiting: shown.blocked_by,
        rendered,
        tree: shown.tree,
    })
}

/// Returns the command that a form means.
///
/// What goes on with a run does so in the background, since its calls may take longer than a browser waits.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    let run = form.required("run")?;
    let resume = || Command::new(&["plan", "resume", "--detach"]);
    match action {
        "approve" => {
            Ok(Command::new(&["plan", "approve", "--detach"]).values([run, form.required("key")?]))
        }
        "refuse" => Ok(Command::new(&["plan", "approve", "--refuse", "--detach"])
            .values([run, form.required("key")?])),
        "settle" => {
            let pair = format!("{}={}", form.required("key")?, form.required("value")?);
            Ok(resume().option("--set-result", &pair).values([run]))
        }
        "retry" => Ok(resume()
            .option("--retry-call", form.required("key")?)
            .values([run])),
        "resume" => Ok(resume().values([run])),
        "cancel" => Ok(Command::new(&["plan", "cancel"]).values([run])),
        _ => Err(BadForm::Action(action.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::test_site::{HOSTILE, TestSite, arguments, assert_harmless};

    fn summary(standing: &str) -> Value {
        json!({
            "run": "0f3a", "plan": HOSTILE, "begun": "2026-01-02T09:00:00Z", "changed": "2026-01-02T09:01:00Z",
            "standing": standing, "calls": 3, "answered": 1, "foreign_records": 0,
        })
    }

    #[test]
    fn runs_are_listed_with_their_states() {
        let site = TestSite::new(&[("plan list", json!({ "runs": [summary("waiting")] }))]);
        let html = site.html("plans", &[]);
        assert_harmless(&html);
        assert!(
            html.contains("<span class=\"pill wait\">waiting</span>"),
            "{html}"
        );
        assert!(html.contains("plans?run=0f3a"), "{html}");
        let html = site.html("plans", &[("q", "completed")]);
        assert!(html.contains("0 of 1 runs"), "{html}");
    }

    #[test]
    fn a_program_without_plans_says_so() {
        let failure = CommandFailure {
            exit: Some(2),
            ..CommandFailure::new("unrecognized subcommand 'plan'")
        };
        let site = TestSite::with(vec![("plan list".to_owned(), Err(failure))]);
        let (json, faults) = site.json("plans", &[]);
        assert_eq!(
            (json["has_plans"].as_bool(), faults.len()),
            (Some(false), 0)
        );
        assert!(site.html("plans", &[]).contains("without plans"));
    }

    #[test]
    fn a_run_is_a_tree_whose_waiting_calls_can_be_approved() {
        let mut run = summary("waiting");
        let more = json!({
            "plan_sha256": "", "capabilities": ["agent.codex"], "constitution": "", "elapsed_ms": 61_000, "tokens": 10,
            "cost_usd": 0.5, "max_tokens": 100, "value": null, "error": null,
            "blocked_by": [
                {"key": "9c1d", "position": "1", "capability": "agent.codex", "arguments": format!("{{:prompt {HOSTILE}}}"),
                 "blocked_by": "approval", "question": HOSTILE},
                {"key": "7e", "position": "2", "capability": "agent.codex", "arguments": null, "blocked_by": "outcome",
                 "question": "It may have been made", "answer_type": "{:summary String}"},
            ],
            "tree": {"kind": "plan", "name": "nightly", "standing": "waiting", "children": [
                {"kind": "step", "name": "review", "standing": "running", "children": [
                    {"kind": "call", "name": ":agent.codex", "standing": "answered", "detail": HOSTILE, "key": "11aa", "children": [
                        {"kind": "ruling", "name": "approved", "standing": "own", "detail": "read only", "children": []},
                        {"kind": "task", "name": "cal_2026_01_02_0001", "standing": "done", "detail": "by codex", "children": []},
                        {"kind": "answer", "name": "value", "standing": "made", "detail": "\"ok\"", "elapsed_ms": 2345, "children": []},
                    ]},
                ]},
            ]},
        });
        run.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let site = TestSite::new(&[("plan show", run)]);
        let html = site.html("plans", &[("run", "-x")]);
        assert_harmless(&html);
        for part in [
            "class=\"tree\"",
            "2.3 s",
            "ledger?id=cal_2026_01_02_0001",
            "plans/approve",
            "plans/refuse",
            "plans/settle",
            "1 min 1 s",
            "10 of 100 tokens",
            "id=\"action-0-0-2\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(site.lines(), ["plan show -- -x"]);
        let (json, _) = site.json("plans", &[("run", "0f3a")]);
        assert_eq!(json["tree"]["children"][0]["name"], "review");
    }

    #[test]
    fn forms_of_plans_run_fixed_commands() {
        let run = ("run", "--x");
        let both = [run, ("key", "--refuse")];
        assert_eq!(
            arguments("plans", "approve", &both).unwrap(),
            ["plan", "approve", "--detach", "--", "--x", "--refuse"]
        );
        assert_eq!(
            arguments("plans", "refuse", &both).unwrap(),
            [
                "plan", "approve", "--refuse", "--detach", "--", "--x", "--refuse"
            ]
        );
        assert_eq!(
            arguments(
                "plans",
                "settle",
                &[run, ("key", "9c"), ("value", "-1\n\"a\"")]
            )
            .unwrap(),
            [
                "plan",
                "resume",
                "--detach",
                "--set-result=9c=-1\n\"a\"",
                "--",
                "--x"
            ]
        );
        assert_eq!(
            arguments("plans", "retry", &[run, ("key", "-9")]).unwrap(),
            ["plan", "resume", "--detach", "--retry-call=-9", "--", "--x"]
        );
        assert_eq!(
            arguments("plans", "resume", &[run]).unwrap(),
            ["plan", "resume", "--detach", "--", "--x"]
        );
        assert_eq!(
            arguments("plans", "cancel", &[run]).unwrap(),
            ["plan", "cancel", "--", "--x"]
        );
        assert_eq!(
            arguments("plans", "approve", &[run]),
            Err(BadForm::Missing("key"))
        );
        assert!(arguments("plans", "run", &[run]).is_err());
    }

    #[test]
    fn durations_are_read_by_people() {
        let spans = [
            (0, "0 ms"),
            (59_999, "59.9 s"),
            (60_000, "1 min 0 s"),
            (7_260_000, "2 h 1 min"),
        ];
        for (ms, words) in spans {
            assert_eq!(duration(ms), words);
        }
    }
}
