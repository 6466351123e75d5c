//! `:horizon.build`: facts of intents, ledger and notes about a matter, within a number of tokens.
//!
//! `:intent` is words, or the id of an intent: then that intent comes first, then its parent, then
//! its parts, and its goal is what the rest is ranked by.

use std::cmp::Reverse;
use std::fmt::Write as _;

use callosum_host::process::Cancel;
use callosum_intent::graph::{Graph, Intent, IntentId, Status};
use callosum_ledger::{Query, Reader};
use callosum_plan::FailureKind;
use callosum_plan_run::horizon::{Fact, LEAST_TOKENS, Question, build};
use callosum_plan_run::kernel::{Answer, ApprovedCall, ProviderFailure};
use callosum_session::trajectory::Agent;
use serde::Deserialize;

use crate::context::Context;
use crate::plan::provider::{PlanEnvironment, arguments, failed, free, unfit};
use crate::{intent, session};

/// Most entries of the ledger that are looked at, the newest.
const MOST_ENTRIES: usize = 200;

/// Most intents that are looked at, the newest.
const MOST_INTENTS: usize = 200;

/// Changes of an intent's state that are given, the newest.
const LAST_CHANGES: usize = 5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The matter, in words.
    #[serde(alias = "about")]
    intent: String,
    #[serde(rename = "max-tokens", default = "usual")]
    max_tokens: u64,
    /// `ledger`, `decision` and `intent`; all where none is named.
    #[serde(default)]
    sources: Vec<String>,
}

fn usual() -> u64 {
    4096
}

const SOURCES: [&str; 3] = ["decision", "intent", "ledger"];

pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    _: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    if wanted.max_tokens < LEAST_TOKENS {
        let what = format!(
            "`:max-tokens` is {} (minimum: {LEAST_TOKENS})",
            wanted.max_tokens
        );
        return Err(unfit(call, &what));
    }
    if let Some(other) = wanted
        .sources
        .iter()
        .find(|name| !SOURCES.contains(&name.as_str()))
    {
        let what = format!("`:sources` has `{other}` (allowed: :decision, :intent, :ledger)");
        return Err(unfit(call, &what));
    }
    let is_wanted = |name: &str| {
        wanted.sources.is_empty() || wanted.sources.iter().any(|source| source == name)
    };
    let context = surroundings.context;
    let mut facts = Vec::new();
    if is_wanted("ledger") {
        facts.extend(entries(context)?);
    }
    if is_wanted("decision") {
        facts.extend(decisions(context)?);
    }
    let mut about = wanted.intent;
    if is_wanted("intent") {
        let graph = intent::read(context).map_err(|error| failed(&error))?;
        let asked = asked_for(&graph, &about);
        facts.extend(intents(&graph, asked));
        if let Some(asked) = asked {
            about.clone_from(&asked.goal);
        }
    }
    let question = Question {
        about,
        max_tokens: wanted.max_tokens,
    };
    Ok(free(build(&facts, &question)))
}

/// Returns the intent that a text names by its id, or by a beginning of it with its prefix: other words are words.
fn asked_for<'g>(graph: &'g Graph, text: &str) -> Option<&'g Intent> {
    let found = match text.parse::<IntentId>() {
        Ok(id) => graph.get(&id),
        Err(_) => None,
    };
    found.or_else(|| {
        let is_beginning = text.starts_with(IntentId::PREFIX) && text != IntentId::PREFIX;
        is_beginning.then(|| graph.find(text).ok()).flatten()
    })
}

/// Returns the intents that are not archived, the newest [`MOST_INTENTS`]. The one that is asked
/// for, its parent and its parts have places in any status.
fn intents(graph: &Graph, asked: Option<&Intent>) -> Vec<Fact> {
    let mut places: Vec<&IntentId> = Vec::new();
    if let Some(asked) = asked {
        places.push(&asked.id);
        places.extend(&asked.parent);
        places.extend(graph.children(&asked.id).into_iter().map(|child| &child.id));
    }
    let place_of = |intent: &Intent| places.iter().position(|id| **id == intent.id);
    let mut intents = graph.intents();
    intents.retain(|intent| intent.status != Status::Archived || place_of(intent).is_some());
    intents.sort_by_key(|intent| (place_of(intent).is_none(), Reverse(intent.updated)));
    intents.truncate(MOST_INTENTS.max(places.len()));
    let facts = intents.into_iter().map(|intent| Fact {
        source: "intent",
        id: intent.id.to_string(),
        at: intent.updated.to_string(),
        text: described(graph, intent),
        place: place_of(intent).and_then(|place| u32::try_from(place).ok()),
    });
    facts.collect()
}

/// Describes an intent in lines, the most important first: the end may be cut.
fn described(graph: &Graph, intent: &Intent) -> String {
    let mut text = format!(
        "{}\nstatus: {}, priority {}\n",
        intent.goal,
        intent.status,
        intent.priority.number()
    );
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name}: {value}");
        }
    };
    for (key, values) in &intent.constraints {
        for value in values {
            line(key, value);
        }
    }
    line("reached if", &intent.success_criteria.join("; "));
    for (key, values) in &intent.preferences {
        for value in values {
            line(key, value);
        }
    }
    let waits_for: Vec<&str> = graph
        .waits_for(&intent.id)
        .iter()
        .map(|needed| needed.id.as_str())
        .collect();
    line("waits for", &waits_for.join(" "));
    // What became of earlier attempts is what the next plan has to know.
    for change in graph.history(&intent.id).iter().rev().take(LAST_CHANGES) {
        let reason = format!("{} -> {} {}", change.from, change.to, change.reason);
        line("before", reason.trim_end());
    }
    text
}

fn entries(context: &Context) -> Result<Vec<Fact>, ProviderFailure> {
    let query = Query {
        limit: Some(MOST_ENTRIES),
        ..Query::default()
    };
    let reader = Reader::open(context.disk.clone(), context.ledger_paths());
    let entries = reader.and_then(|reader| reader.query(&query));
    let entries = entries.map_err(|error| unread(&error))?;
    let facts = entries.into_iter().map(|entry| Fact {
        source: "ledger",
        id: entry.task_id.to_string(),
        at: entry.timestamp.to_string(),
        text: entry.summary,
        place: None,
    });
    Ok(facts.collect())
}

fn decisions(context: &Context) -> Result<Vec<Fact>, ProviderFailure> {
    let zones = context.zones();
    let session = session::session(context, &zones, Agent::default());
    let notes = session.notes().map_err(|error| unread(&error))?;
    let decisions = notes.map(|notes| notes.decisions()).unwrap_or_default();
    let facts = decisions.into_iter().map(|decision| {
        let words = decision.words();
        // A short decision is its own title.
        let mut text = if words.starts_with(&decision.title) {
            format!("{words}\n")
        } else {
            format!("{}\n{words}\n", decision.title)
        };
        if let Some(rationale) = &decision.rationale {
            text.push_str(rationale);
            text.push('\n');
        }
        Fact {
            source: "decision",
            id: decision.ts.clone(),
            at: decision.ts,
            text,
            place: None,
        }
    });
    Ok(facts.collect())
}

fn unread(error: &dyn std::fmt::Display) -> ProviderFailure {
    ProviderFailure::before(
        FailureKind::CapabilityError,
        format!(":horizon.build: {error}"),
    )
}
