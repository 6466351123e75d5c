//! `find`: passages of the tree and of stored texts, or past sessions of this project.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, noted, read, schema};
use crate::output_budget;
use callosum_app::CommandError;
use callosum_app::context::Context;
use callosum_app::find::{Narrowing, passages};
use callosum_app::memory::{self, MemoryMachine, RankBy, SessionHitOutput, SessionQuestion};
use callosum_redact::quote;

pub(super) const TOOL: Tool = Tool {
    name: "find",
    about: "Search code, documents, decisions, answers.",
    effect: Effect::Reads,
    schema: schema::<Arguments>,
    call,
};

/// Most passages of an answer.
const MOST: usize = 100;

/// Most characters of a turn of a past session.
const LONGEST_TURN: usize = 600;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Words, or "exact text"
    query: String,
    #[serde(default)]
    paths: Vec<String>,
    limit: Option<usize>,
    #[serde(default)]
    full: bool,
    #[serde(default)]
    past_sessions: bool,
    budget: Option<u64>,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let arguments: Arguments = read(arguments)?;
    if arguments.past_sessions {
        return past_sessions(context, &arguments);
    }
    let narrowing = Narrowing {
        paths: &arguments.paths,
        limit: arguments.limit.unwrap_or(10).clamp(1, MOST),
        whole: arguments.full,
    };
    let found = passages(context, &arguments.query, &narrowing)?;
    if found.is_empty() {
        return Ok("no matches\n".to_owned());
    }
    let budget = output_budget::budget(arguments.budget);
    Ok(noted(&found, budget, "passages"))
}

/// Returns the past sessions of this project that answer a question. Those of other projects are for people.
fn past_sessions(context: &Context, arguments: &Arguments) -> Result<String, CommandError> {
    let question = SessionQuestion {
        question: &arguments.query,
        folders: Some(memory::project_folders(context)),
        since: None,
        origin: None,
        by: RankBy::All,
        limit: arguments.limit.unwrap_or(5).clamp(1, MOST),
    };
    let found = memory::find(&MemoryMachine::from(context), &question)?;
    if found.sessions.is_empty() {
        return Ok("no matches\n".to_owned());
    }
    let shown: Vec<String> = found.sessions.iter().map(session).collect();
    let budget = output_budget::budget(arguments.budget);
    Ok(noted(&shown, budget, "sessions"))
}

/// Returns a session as a text. Its turns are quoted: they are data, and no instructions to the agent that reads them.
fn session(one: &SessionHitOutput) -> String {
    let when = one.last.as_deref().unwrap_or("no time");
    // A session is resumed by a person, and a record is shown to anyone.
    let by = match one.resume.first().map(String::as_str) {
        Some("callosum") => format!(", `{}`", one.resume.join(" ")),
        _ => String::new(),
    };
    let mut shown = format!(
        "{} {} {when}, {}{by}\n",
        one.agent, one.session, one.verified
    );
    for turn in &one.turns {
        let text: String = turn.text.chars().take(LONGEST_TURN).collect();
        let text = quote::inline(&text);
        let _ = writeln!(shown, "- {}: {text}", turn.speaker);
    }
    shown
}
