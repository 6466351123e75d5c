//! `:horizon.build`: what ledger, notes and board know about a matter, within a number of tokens.

use callosum_arbiter::horizon::{Fact, LEAST_TOKENS, Question, build};
use callosum_arbiter::kernel::{Answer, ApprovedCall, ProviderFailure};
use callosum_host::process::Cancel;
use callosum_ledger::{Query, Reader};
use callosum_plan::FailureKind;
use callosum_session::trajectory::Agent;
use serde::Deserialize;

use crate::context::Context;
use crate::plan::provider::{Surroundings, arguments, free, unfit};
use crate::session;

/// Most entries of the ledger that are looked at, the newest.
const MOST_ENTRIES: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The matter, in words.
    #[serde(alias = "about")]
    intent: String,
    #[serde(rename = "max-tokens", default = "usual")]
    max_tokens: u64,
    /// `ledger` and `decision`; both where none is named.
    #[serde(default)]
    sources: Vec<String>,
}

fn usual() -> u64 {
    4096
}

const SOURCES: [&str; 2] = ["decision", "ledger"];

pub(super) fn perform(
    surroundings: &Surroundings<'_>,
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
        let what = format!("`:sources` has `{other}` (allowed: :decision, :ledger)");
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
    let question = Question {
        about: wanted.intent,
        max_tokens: wanted.max_tokens,
    };
    Ok(free(build(&facts, &question)))
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
    });
    Ok(facts.collect())
}

fn decisions(context: &Context) -> Result<Vec<Fact>, ProviderFailure> {
    let zones = session::zones(context);
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
