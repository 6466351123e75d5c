//! The view *Memory*: decisions with their citations, beads, hand-offs, cited lines, and a search.

mod cited_file;
mod past_sessions;
#[cfg(test)]
mod tests;

use std::thread;

use askama::Template;
use serde::{Deserialize, Serialize};

use self::{cited_file::CitedLines, past_sessions::PastSession};
use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::{Listing, element_id, escaped},
    visit::Visit,
};

/// Statuses that the page offers for a bead.
const STATUSES: [&str; 5] = ["open", "in_progress", "blocked", "deferred", "closed"];

/// Most beads that are shown.
const MOST_BEADS: usize = 200;

/// `session decisions --json`, as far as it is shown.
#[derive(Default, Deserialize)]
struct Decisions {
    #[serde(rename = "decisions")]
    newest: Vec<Decision>,
    #[serde(default)]
    older: usize,
    #[serde(default)]
    questions: Vec<String>,
    #[serde(default)]
    handoffs: Vec<Handoff>,
}

/// A decision.
#[derive(Deserialize, Serialize)]
struct Decision {
    ts: String,
    title: String,
    #[serde(rename = "decision")]
    words: String,
    rationale: Option<String>,
    status: String,
    holds: bool,
    #[serde(default)]
    citations: Vec<Citation>,
    #[serde(default)]
    unread: usize,
    #[serde(default)]
    scenarios: Vec<String>,
    line: usize,
}

impl Decision {
    fn element(&self) -> String {
        element_id("decision", &format!("{}-{}", self.ts, self.line))
    }

    fn tone(&self) -> &'static str {
        match self.status.as_str() {
            "quote found" => "ok",
            "the user's word" => "busy",
            "stale" => "bad",
            _ => "wait",
        }
    }

    /// Text of the decision, if it has more than its title.
    fn more_words(&self) -> Option<&str> {
        (self.words != self.title).then_some(self.words.as_str())
    }

    /// Line that adds evidence.
    fn cite_line(&self) -> String {
        Command::new(&["session", "cite"])
            .values([self.ts.as_str(), "src/a.rs:12"])
            .line()
    }

    fn text(&self) -> String {
        let places = self.citations.iter().map(|cited| cited.path.as_str());
        let places: Vec<&str> = places.collect();
        format!(
            "{} {} {} {} {} {}",
            self.ts,
            self.title,
            self.words,
            self.rationale.as_deref().unwrap_or_default(),
            self.status,
            places.join(" ")
        )
    }
}

/// A cited place.
#[derive(Deserialize, Serialize)]
struct Citation {
    path: String,
    first_line: u32,
    last_line: u32,
    line_now: Option<u32>,
    quote: Option<String>,
    status: String,
    meaning: String,
    holds: bool,
}

impl Citation {
    /// The place, such as `src/a.rs:12-15`.
    fn place(&self) -> String {
        place(&self.path, self.first_line, self.last_line)
    }

    /// Query that shows the lines as they are now.
    fn query(&self) -> String {
        let first = self.line_now.unwrap_or(self.first_line);
        let last = first.saturating_add(self.last_line.saturating_sub(self.first_line));
        format!("?cite={}", escaped(&place(&self.path, first, last)))
    }

    fn tone(&self) -> &'static str {
        if self.holds { "ok" } else { "bad" }
    }

    fn words(&self) -> String {
        self.status.to_lowercase().replace('_', " ")
    }
}

fn place(path: &str, first: u32, last: u32) -> String {
    if first == last {
        format!("{path}:{first}")
    } else {
        format!("{path}:{first}-{last}")
    }
}

/// A hand-off.
#[derive(Deserialize, Serialize)]
struct Handoff {
    ts: String,
    from: String,
    to: Option<String>,
    repo: Option<String>,
    bead: Option<String>,
    reasoning: Option<String>,
    #[serde(default)]
    ungrounded: Vec<String>,
}

/// `bead list --json`, as far as it is shown.
#[derive(Default, Deserialize)]
struct Beads {
    beads: Vec<Bead>,
    #[serde(default)]
    unread: Vec<String>,
}

/// A bead.
#[derive(Deserialize, Serialize)]
struct Bead {
    id: String,
    priority: i64,
    status: String,
    title: String,
    #[serde(default)]
    blocked_by: Vec<String>,
}

impl Bead {
    fn is_closed(&self) -> bool {
        matches!(
            self.status.as_str(),
            "closed" | "done" | "completed" | "cancelled" | "tombstone"
        )
    }

    fn tone(&self) -> &'static str {
        match self.status.as_str() {
            "in_progress" => "busy",
            "blocked" => "wait",
            _ if self.is_closed() => "ok",
            _ if !self.blocked_by.is_empty() => "wait",
            _ => "idle",
        }
    }

    fn element(&self) -> String {
        element_id("bead", &self.id)
    }

    fn line(&self) -> String {
        Command::new(&["bead", "show"])
            .values([self.id.as_str()])
            .line()
    }
}

/// `session grounding --json`, as far as it is shown.
#[derive(Deserialize, Serialize)]
struct Grounding {
    total_claims: u64,
    grounded_claims: u64,
    #[serde(rename = "grounding_ratio")]
    ratio: String,
    threshold: String,
    status: String,
}

impl Grounding {
    fn tone(&self) -> &'static str {
        if self.status == "pass" { "ok" } else { "bad" }
    }
}

/// `find --json`, as far as it is shown.
#[derive(Deserialize)]
struct FindResult {
    found: Vec<Passage>,
}

/// A passage that a search found.
#[derive(Deserialize, Serialize)]
struct Passage {
    collection: String,
    path: String,
    first_line: u32,
    last_line: u32,
    kind: String,
    name: String,
    text: String,
}

impl Passage {
    /// Query that shows the lines, if it is in a file of the project.
    fn query(&self) -> Option<String> {
        let is_file = self.collection == "tree";
        is_file.then(|| {
            let place = place(&self.path, self.first_line, self.last_line);
            format!("?cite={}", escaped(&place))
        })
    }

    fn place(&self) -> String {
        place(&self.path, self.first_line, self.last_line)
    }
}

#[derive(Serialize, Template)]
#[template(path = "memory.html")]
struct MemoryView {
    /// Address of this view.
    base: String,
    cited: Option<CitedLines>,
    grounding: Option<Grounding>,
    decisions: Listing<Decision>,
    older: usize,
    questions: Vec<String>,
    handoffs: Vec<Handoff>,
    beads: Vec<Bead>,
    beads_total: usize,
    unread: Vec<String>,
    /// Words of the search.
    find: String,
    passages: Option<Vec<Passage>>,
    /// `None` if the memory is off.
    past_sessions: Option<Vec<PastSession>>,
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    let find = visit.param("find").unwrap_or_default().to_owned();
    let ask_decisions = Command::new(&["session", "decisions", "--limit", "500"]);
    let ask_beads = Command::new(&["bead", "list"]);
    let ask_grounding = Command::new(&["session", "grounding"]);
    let (decisions, beads, grounding, passages, past_sessions) = thread::scope(|scope| {
        let beads = scope.spawn(|| visit.ask_or_report::<Beads>(&ask_beads));
        let grounding = scope.spawn(|| visit.ask_or_report::<Grounding>(&ask_grounding));
        let passages = scope.spawn(|| {
            let command = Command::new(&["find", "--limit", "20"]).values([find.as_str()]);
            let wanted = !find.trim().is_empty();
            wanted
                .then(|| visit.ask_or_report::<FindResult>(&command))
                .flatten()
        });
        let past_sessions = scope.spawn(|| {
            let wanted = !find.trim().is_empty();
            wanted.then(|| past_sessions::find(visit, &find)).flatten()
        });
        let decisions = visit.ask_or_report::<Decisions>(&ask_decisions);
        (
            decisions.unwrap_or_default(),
            beads.join().ok().flatten().unwrap_or_default(),
            grounding.join().ok().flatten(),
            passages.join().ok().flatten(),
            past_sessions.join().ok().flatten(),
        )
    });
    let cited = visit
        .param("cite")
        .map(|place| CitedLines::read(&visit.shared.setting.disk, &visit.project.root, place));
    let mut of_beads = beads.beads;
    of_beads.sort_by_key(|bead| (bead.is_closed(), bead.priority));
    let beads_total = of_beads.len();
    of_beads.truncate(MOST_BEADS);
    Answer::of(&MemoryView {
        base: visit.href(visit.view),
        cited,
        grounding,
        decisions: Listing::new(visit, decisions.newest, Decision::text),
        older: decisions.older,
        questions: decisions.questions,
        handoffs: decisions.handoffs,
        beads: of_beads,
        beads_total,
        unread: beads.unread,
        find,
        passages: passages.map(|result| result.found),
        past_sessions,
    })
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    match action {
        "decide" => {
            let mut command = Command::new(&["session", "decide"]);
            if let Some(reason) = form.optional("reason")? {
                command = command.option("--reason", reason);
            }
            let places = places(form)?;
            for place in &places {
                command = command.option("--cite", place);
            }
            if places.is_empty() {
                let source = match form.optional("source")? {
                    None => "user",
                    Some(_) => {
                        form.one_of("source", &["user", "assumption"], "user, assumption")?
                    }
                };
                command = command.option("--source", source);
            }
            Ok(command.values([form.required("decision")?]))
        }
        "cite" => {
            let places = places(form)?;
            if places.is_empty() {
                return Err(BadForm::Missing("places"));
            }
            let words = [form.required("ts")?].into_iter();
            Ok(Command::new(&["session", "cite"]).values(words.chain(places.iter().copied())))
        }
        "bead-add" => Ok(Command::new(&["bead", "create"]).values([form.required("title")?])),
        "bead-status" => {
            let status = form.one_of(
                "status",
                &STATUSES,
                "open, in_progress, blocked, deferred, closed",
            )?;
            let id = form.required("id")?;
            Ok(match status {
                "closed" => Command::new(&["bead", "close"]).values([id]),
                status => Command::new(&["bead", "update"])
                    .option("--status", status)
                    .values([id]),
            })
        }
        other => Err(BadForm::Action(other.to_owned())),
    }
}

/// Returns the places of a form, one on each line.
fn places(form: &Form) -> Result<Vec<&str>, BadForm> {
    let lines = form.optional("places")?.unwrap_or_default().lines();
    Ok(lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect())
}
