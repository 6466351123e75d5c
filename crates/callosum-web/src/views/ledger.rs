//! The view *Ledger*: entries newest first, one entry with its digest, and the diff of two.

use std::fmt::Write as _;

use askama::Template;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    diff::Diff,
    form::{BadForm, Form},
    listing::escaped,
    rendered::Rendered,
    visit::Visit,
};

/// Entries of a page.
const ROWS: usize = 50;

/// Last page, so that no address makes a command print the whole ledger.
const LAST_PAGE: usize = 200;

/// Facts that a person looks for first.
const FIRST: [&str; 5] = ["prompt", "kind", "mode", "repo", "branch"];

/// Characters of a digest that the list shows.
const SHOWN: usize = 160;

/// `ledger query --json`, as far as it is shown.
#[derive(Deserialize)]
struct Query {
    entries: Vec<Entry>,
}

/// An entry as it is stored.
#[derive(Deserialize, Serialize)]
struct Entry {
    task_id: String,
    executor: String,
    summary: String,
    tokens_used: u64,
    checksum: String,
    #[serde(default)]
    linked_tasks: Vec<String>,
    timestamp: String,
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// State of the citations of an entry.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Citations {
    total: u64,
    verified: u64,
    missing_places: Vec<Missing>,
    moved_places: Vec<Moved>,
}

/// A citation that was not valid.
#[derive(Deserialize, Serialize)]
struct Missing {
    place: String,
    #[serde(default)]
    why: String,
}

/// A citation whose text was found at another line.
#[derive(Deserialize, Serialize)]
struct Moved {
    place: String,
    #[serde(default)]
    line: u64,
}

impl Missing {
    fn key(&self) -> String {
        escaped(&self.place)
    }
}

impl Moved {
    fn key(&self) -> String {
        escaped(&self.place)
    }
}

impl Citations {
    fn of(entry: &Entry) -> Option<Self> {
        let tally = entry.metadata.get("citations")?;
        serde_json::from_value(tally.clone()).ok()
    }

    fn tone(&self) -> &'static str {
        if self.verified == self.total {
            "ok"
        } else {
            "wait"
        }
    }

    fn words(&self) -> String {
        format!("{} of {} valid", self.verified, self.total)
    }
}

impl Entry {
    fn show(&self) -> Command {
        Command::new(&["ledger", "show"]).values([self.task_id.as_str()])
    }

    fn save(&self) -> Command {
        Command::new(&["ledger", "prove", "--output", "entry.tlog-proof"])
            .values([self.task_id.as_str()])
    }

    /// The entries that it builds on, each with its query.
    fn links(&self) -> Vec<(String, &str)> {
        let tasks = self.linked_tasks.iter();
        tasks.map(|task| (escaped(task), task.as_str())).collect()
    }

    fn metadata_text(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).and_then(Value::as_str)
    }
}

/// A row of the list.
#[derive(Serialize)]
struct Row {
    task: String,
    #[serde(skip)]
    key: String,
    executor: String,
    at: String,
    tokens: u64,
    prompt: Option<String>,
    digest: String,
    citations: Option<Citations>,
}

impl Row {
    fn of(entry: &Entry) -> Self {
        let digest: Vec<&str> = entry.summary.split_whitespace().collect();
        Self {
            task: entry.task_id.clone(),
            key: escaped(&entry.task_id),
            executor: entry.executor.clone(),
            at: entry.timestamp.clone(),
            tokens: entry.tokens_used,
            prompt: entry.metadata_text("prompt").map(cut),
            digest: cut(&digest.join(" ")),
            citations: Citations::of(entry),
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[derive(Serialize, Template)]
#[template(path = "ledger.html")]
struct LedgerView {
    #[serde(skip)]
    base: String,
    rows: Vec<Row>,
    page: usize,
    previous: Option<String>,
    next: Option<String>,
    executor: String,
    since: String,
    text: String,
    line: String,
    is_short_of_two: bool,
}

/// One entry.
#[derive(Serialize, Template)]
#[template(path = "ledger_entry.html")]
struct EntryView {
    #[serde(skip)]
    base: String,
    #[serde(skip)]
    memory: String,
    entry: Entry,
    /// Facts of the metadata that a person looks for first.
    facts: Vec<(String, String)>,
    /// The others.
    more: Vec<(String, String)>,
    citations: Option<Citations>,
    #[serde(skip)]
    digest: Rendered,
}

/// Two entries.
#[derive(Serialize, Template)]
#[template(path = "ledger_diff.html")]
struct DiffView {
    #[serde(skip)]
    base: String,
    older: String,
    newer: String,
    #[serde(skip)]
    older_key: String,
    #[serde(skip)]
    newer_key: String,
    fields: Vec<Field>,
    summary: Diff,
    line: String,
}

/// `ledger diff --json`, as far as it is shown.
#[derive(Deserialize)]
struct Differences {
    fields: Vec<RawField>,
    summary: String,
}

#[derive(Deserialize)]
struct RawField {
    name: String,
    older: Option<Value>,
    newer: Option<Value>,
}

/// A field that differs.
#[derive(Serialize)]
struct Field {
    name: String,
    older: String,
    newer: String,
}

/// Returns a value as people read it.
fn words(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    let checked = visit.query.iter().filter(|(key, _)| key == "compare");
    let checked: Vec<&str> = checked.map(|(_, task)| task.as_str()).collect();
    // The list is newest first, so the first one checked is the newer one.
    let pair = match (visit.param("a"), visit.param("b"), checked.as_slice()) {
        (Some(a), Some(b), _) => Some((a, b)),
        (_, _, [newer, older]) => Some((*older, *newer)),
        _ => None,
    };
    if let Some((older, newer)) = pair {
        return differences(visit, older, newer);
    }
    match visit.param("id") {
        Some(task) => entry(visit, task),
        None => list(visit, !checked.is_empty()),
    }
}

fn list(visit: &Visit, is_short_of_two: bool) -> Result<Answer, CommandFailure> {
    let page = visit.param("page").and_then(|page| page.parse().ok());
    let page = usize::clamp(page.unwrap_or(1), 1, LAST_PAGE);
    let filter = |key: &str| visit.param(key).unwrap_or_default().to_owned();
    let (executor, since, text) = (filter("executor"), filter("since"), filter("text"));
    // One more than is shown tells whether there is another page.
    let most = (page * ROWS + 1).to_string();
    let mut command = Command::new(&["ledger", "query", "-n", &most]);
    let mut keys = String::new();
    for (key, value) in [("executor", &executor), ("since", &since), ("text", &text)] {
        if !value.is_empty() {
            command = command.option(&format!("--{key}"), value);
            let _ = write!(keys, "{key}={}&", escaped(value));
        }
    }
    let entries = visit
        .ask_or_report(&command)
        .map_or(Vec::new(), |found: Query| found.entries);
    let base = visit.href("ledger");
    let other = |page: usize| format!("{base}?{keys}page={page}");
    let has_next = entries.len() > page * ROWS && page < LAST_PAGE;
    let rows = entries.iter().skip((page - 1) * ROWS).take(ROWS);
    Answer::of(&LedgerView {
        rows: rows.map(Row::of).collect(),
        page,
        previous: (page > 1).then(|| other(page - 1)),
        next: has_next.then(|| other(page + 1)),
        executor,
        since,
        text,
        line: command.line(),
        is_short_of_two,
        base,
    })
}

fn entry(visit: &Visit, task: &str) -> Result<Answer, CommandFailure> {
    let entry: Entry = visit.ask(&Command::new(&["ledger", "show"]).values([task]))?;
    let fact = |(key, value): (&str, &Value)| (key.replace('_', " "), words(Some(value)));
    let facts = FIRST.into_iter();
    let facts = facts.filter_map(|key| Some((key, entry.metadata.get(key)?)));
    let facts: Vec<_> = facts.map(fact).collect();
    let more = entry
        .metadata
        .iter()
        .map(|(key, value)| (key.as_str(), value));
    let more = more.filter(|(key, _)| *key != "citations" && !FIRST.contains(key));
    let more: Vec<_> = more.map(fact).collect();
    Answer::of(&EntryView {
        base: visit.href("ledger"),
        memory: visit.href("memory"),
        facts,
        more,
        citations: Citations::of(&entry),
        digest: Rendered::markdown(&entry.summary),
        entry,
    })
}

fn differences(visit: &Visit, older: &str, newer: &str) -> Result<Answer, CommandFailure> {
    let command = Command::new(&["ledger", "diff"]).values([older, newer]);
    let found: Differences = visit.ask(&command)?;
    let fields = found.fields.into_iter();
    // The lines of the digest are shown below.
    let fields = fields.filter(|field| field.name != "summary" || found.summary.is_empty());
    let fields = fields.map(|field| Field {
        older: words(field.older.as_ref()),
        newer: words(field.newer.as_ref()),
        name: field.name,
    });
    Answer::of(&DiffView {
        base: visit.href("ledger"),
        older: older.to_owned(),
        newer: newer.to_owned(),
        older_key: escaped(older),
        newer_key: escaped(newer),
        fields: fields.collect(),
        summary: Diff::new(&found.summary),
        line: command.line(),
    })
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    match action {
        "verify" => Ok(Command::new(&["ledger", "verify"])),
        "prove" => Ok(Command::new(&["ledger", "prove"]).values([form.required("task")?])),
        _ => Err(BadForm::Action(action.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_site::{HOSTILE, TestSite, arguments, assert_harmless};

    fn stored(task: &str, summary: &str) -> Value {
        json!({
            "task_id": task, "executor": "codex", "summary": summary, "tokens_used": 1234, "checksum": "ab".repeat(32),
            "timestamp": "2026-01-02T09:00:00Z", "linked_tasks": ["cal_2026_01_01_0001"],
            "metadata": {"prompt": format!("Map {HOSTILE}"), "kind": "map", "citations": {
                "total": 3, "verified": 1, "missing_places": [{"place": "src/a.rs:9", "why": "the line is blank"}],
                "moved_places": [{"place": "src/b.rs:1", "line": 4}],
            }},
        })
    }

    #[test]
    fn the_list_asks_for_one_page_and_passes_the_filters_to_the_command() {
        let entries: Vec<_> = (0..=ROWS)
            .map(|n| stored(&format!("cal_2026_01_02_{n:04}"), HOSTILE))
            .collect();
        let site = TestSite::new(&[("ledger query", json!({ "entries": entries }))]);
        let html = site.html(
            "ledger",
            &[("executor", "codex"), ("since", "7d"), ("text", "--x")],
        );
        assert_harmless(&html);
        assert!(html.contains("1 of 3 valid"), "{html}");
        assert!(html.contains("page=2"), "{html}");
        assert!(
            !html.contains("cal_2026_01_02_0050"),
            "the last entry is of the next page"
        );
        assert_eq!(
            site.lines(),
            ["ledger query -n 51 --executor=codex --since=7d --text=--x"]
        );
        let (json, faults) = site.json("ledger", &[("page", "2")]);
        assert_eq!(json["rows"].as_array().unwrap().len(), 1);
        assert!(faults.is_empty());
        site.json("ledger", &[("page", "99999999")]);
        assert_eq!(site.lines().last().unwrap(), "ledger query -n 10001");
    }

    #[test]
    fn an_entry_shows_its_digest_as_markdown_with_the_state_of_its_citations() {
        let summary = format!("# Found\n\n- `a`\n\n{HOSTILE}");
        let site = TestSite::new(&[("ledger show", stored("cal_2026_01_02_0001", &summary))]);
        let html = site.html("ledger", &[("id", "cal_2026_01_02_0001")]);
        assert_harmless(&html);
        for part in [
            "<code>a</code>",
            "the line is blank",
            "moved to line 4",
            "memory?cite=src%2Fa.rs%3A9",
            "ledger?id=cal_2026_01_01_0001",
            "callosum ledger prove",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(site.lines(), ["ledger show -- cal_2026_01_02_0001"]);
    }

    #[test]
    fn two_checked_entries_are_compared_the_older_one_first() {
        let found = json!({
            "fields": [
                {"name": "metadata.branch", "older": "main", "newer": null}, {"name": "summary", "older": "a", "newer": "b"},
            ],
            "summary": format!("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+{HOSTILE}\n"),
        });
        let site = TestSite::new(&[("ledger diff", found)]);
        let html = site.html("ledger", &[("compare", "new"), ("compare", "--old")]);
        assert_harmless(&html);
        assert!(html.contains("class=\"add\""), "{html}");
        assert!(html.contains("metadata.branch"), "{html}");
        assert_eq!(site.lines(), ["ledger diff -- --old new"]);
    }

    #[test]
    fn one_checked_entry_is_too_few_to_compare() {
        let site = TestSite::new(&[("ledger query", json!({ "entries": [] }))]);
        let html = site.html("ledger", &[("compare", "a")]);
        assert!(html.contains("Check two entries"), "{html}");
    }

    #[test]
    fn forms_of_the_ledger_run_fixed_commands() {
        assert_eq!(
            arguments("ledger", "verify", &[]).unwrap(),
            ["ledger", "verify"]
        );
        assert_eq!(
            arguments("ledger", "prove", &[("task", "--output=/etc/x\ny")]).unwrap(),
            ["ledger", "prove", "--", "--output=/etc/x\ny"]
        );
        assert_eq!(
            arguments("ledger", "prove", &[]),
            Err(BadForm::Missing("task"))
        );
        assert!(arguments("ledger", "rotate", &[]).is_err());
    }
}
