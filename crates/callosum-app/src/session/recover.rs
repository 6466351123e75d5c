//! `callosum session recover`: the text that a new context gets about the old one.

use callosum_citation::tokens;
use callosum_redact::quote;
use callosum_redact::terminal_escape::harmless;
use callosum_session::recovery::{DecisionHit, Recollection, level_1, level_2};
use callosum_session::trajectory::Agent;
use callosum_session::{Config, quoted_from};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::session::status::current_intent;
use crate::session::{explain, mend, repos, session, tell_faults};
use crate::{CommandError, Exit};

/// Decisions that level 1 looks at.
const LAST: usize = 3;

/// The most characters of the name of an intent in level 1.
const LONGEST_INTENT: usize = 40;

/// The smallest and the largest budget, in tokens, that are tried where nothing fits in the one that was asked for.
const LEAST: u64 = 16;

const MOST: u64 = 1024;

/// Request of a new context.
#[derive(Debug)]
pub struct RecoverOptions {
    /// Level of detail: 1, 2 or 3.
    pub level: u8,
    /// The most tokens, estimated; none takes the level's own budget.
    pub budget: Option<u64>,
    /// The topic of the decisions of level 2.
    pub query: Option<String>,
    /// Another project to read.
    pub repo: Option<String>,
    /// Whether the text is quoted, since an agent reads it together with instructions.
    pub quoted: bool,
}

/// `callosum session recover --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecoverOutput {
    /// Level that was asked for: 1, 2 or 3.
    pub level: u8,
    /// The text.
    pub text: String,
    /// Number of tokens, estimated.
    pub tokens: u64,
    /// The root of the other project that was asked for; null where it is this one.
    pub repo: Option<String>,
}

/// Returns the text for a new context.
pub fn recover(context: &Context, options: &RecoverOptions) -> Result<RecoverOutput, CommandError> {
    if options.query.is_some() && options.level != 2 {
        let what = "only level 2 takes a query: --level 2";
        return Err(CommandError::new(Exit::Usage, what));
    }
    let own = context.zones();
    let other = options.repo.as_deref();
    let other = other.map(|path| repos::other(context, path)).transpose()?;
    let session = session(context, other.as_ref().unwrap_or(&own), Agent::default());
    let settings = crate::session::session(context, &own, Agent::default());
    if other.is_none() {
        mend(context, &session);
    }
    let config = Config::load(&settings).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let root = other.as_ref().map(|other| other.root.display().to_string());
    let quoted = |budget: u64, tell: &dyn Fn(u64) -> String| match &root {
        Some(root) => quoted_from(root, budget, tell),
        None if options.quoted => quoted_from("this project", budget, tell),
        None => tell(budget),
    };
    let within = |budget: u64, tell: &dyn Fn(u64) -> String| {
        let text = quoted(budget, tell);
        if text.is_empty() {
            let larger = std::iter::successors(Some(budget.max(LEAST)), |budget| {
                budget.checked_mul(2).filter(|larger| *larger <= MOST)
            });
            let mut larger = larger.filter(|larger| !quoted(*larger, tell).is_empty());
            if let Some(enough) = larger.next() {
                let what = format!("nothing fits in {budget} tokens: --budget {enough}");
                context.report.say(&what);
            } else if options.query.is_none() {
                let what = "nothing to recover yet: there is no current bead, decision or hand-off";
                context.report.say(what);
            }
        }
        text
    };
    let gather =
        |looked_up| Recollection::gather(&session, looked_up).map_err(|error| explain(&error));
    let text = match options.level {
        1 => {
            let recollection = gather(LAST)?;
            let budget = options.budget.unwrap_or(config.level_1_tokens);
            let intent = other.is_none().then(|| intent_line(context)).flatten();
            let intent = intent.unwrap_or_default();
            within(budget, &|budget| {
                after(&intent, budget, &|budget| level_1(&recollection, budget))
            })
        }
        2 => {
            let budget = options.budget.unwrap_or(config.level_2_tokens);
            if let Some(query) = options.query.as_deref() {
                let found = DecisionHit::gather(&session, query, budget);
                let found = found.map_err(|error| explain(&error))?;
                if found.is_empty() {
                    let what = format!("no decision matches `{query}`");
                    context.report.say(&harmless(&what));
                }
                within(budget, &|budget| found.told(budget))
            } else {
                // No decision takes fewer than four tokens.
                let could_fit = (budget / 4) as usize + 1;
                let recollection = Recollection {
                    handoffs: session.hand_offs().map_err(|error| explain(&error))?,
                    ..gather(could_fit)?
                };
                within(budget, &|budget| level_2(&recollection, budget))
            }
        }
        _ => {
            let notes = session.notes().map_err(|error| explain(&error))?;
            let bytes = notes
                .map(|notes| notes.bytes().to_vec())
                .unwrap_or_default();
            within(u64::MAX, &|_| String::from_utf8_lossy(&bytes).into_owned())
        }
    };
    Ok(RecoverOutput {
        level: options.level,
        tokens: tokens::estimate(&text),
        text,
        repo: root,
    })
}

/// Returns a line about the intent at work; `None` without one, or if the journal cannot be read.
fn intent_line(context: &Context) -> Option<String> {
    let (current, _) = current_intent(context);
    let intent = current?;
    // Anyone may have written the name, and a model reads it.
    let name = quote::one_line(&intent.name);
    let name = match name.char_indices().nth(LONGEST_INTENT) {
        Some((end, _)) => format!("{}\u{2026}", name[..end].trim_end()),
        None => name,
    };
    Some(format!("Intent: {} {}: {name}\n", intent.id, intent.status))
}

/// Puts a line before a text that gets the rest of a budget; leaves it out if it took more than a third.
fn after(line: &str, budget: u64, text: &dyn Fn(u64) -> String) -> String {
    let cost = tokens::estimate(line);
    if line.is_empty() || cost > budget / 3 {
        return text(budget);
    }
    format!("{line}{}", text(budget - cost))
}
