//! `callosum session recover`: what a new context is told of the old one.

use callosum_evidence::{terminal::harmless, tokens};
use callosum_session::{
    Config, quoted_from,
    recovery::{Found, Recollection, level_1, level_2},
    trajectory::Agent,
};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{explain, mend, repos, session, tell_faults, zones};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit},
};

/// Decisions that level 1 looks at.
const LAST: usize = 3;

/// The smallest and the largest budget, in tokens, that are tried where nothing fits in the one that was asked for.
const LEAST: u64 = 16;
const MOST: u64 = 1024;

/// Print what a new context needs to continue
///
/// Level 1 is the current state, in at most 100 tokens unless .loa.config.yaml sets another limit: bead, checkpoint,
/// next step, open questions, and the last three decisions with the state of their evidence. Level 2 is all decisions
/// about QUERY, in at most 500 tokens. Without QUERY, it is the last handoff and the newest decisions. Level 3 is all
/// of NOTES.md.
///
/// Records are printed whole or not at all, and the same state prints the same bytes. With --repo, reads another
/// project without writing to it, and checks its decisions in its own tree.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session recover
  $ callosum session recover --level 2 --json
  $ callosum session recover --repo ../server --level 2 pool")]
pub(crate) struct RecoverArgs {
    /// Level of detail: 1, 2 or 3
    #[arg(long, value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    level: u8,
    /// Print at most about TOKENS tokens, estimated
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Topic of the decisions of level 2
    #[arg(value_name = "QUERY")]
    query: Option<String>,
    /// Read another project that this machine knows, and quote its text
    #[arg(long, value_name = "PATH")]
    repo: Option<String>,
}

/// What a new context asks for.
#[derive(Debug)]
pub(crate) struct RecoverOptions {
    /// How much: 1, 2 or 3.
    pub(crate) level: u8,
    /// The most tokens, estimated; none takes the level's own budget.
    pub(crate) budget: Option<u64>,
    /// The topic of the decisions of level 2.
    pub(crate) query: Option<String>,
    /// Another project to read.
    pub(crate) repo: Option<String>,
    /// Whether the text is quoted, since an agent reads it beside instructions.
    pub(crate) quoted: bool,
}

/// `callosum session recover --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RecoverOutput {
    /// How much was asked for: 1, 2 or 3.
    pub(crate) level: u8,
    /// The text.
    pub(crate) text: String,
    /// How many tokens it is, estimated.
    pub(crate) tokens: u64,
    /// The root of the other project that was asked for; null where it is this one.
    pub(crate) repo: Option<String>,
}

pub(super) fn run(context: &Context, args: &RecoverArgs) -> Result<(), CommandError> {
    let options = RecoverOptions {
        level: args.level,
        budget: args.budget,
        query: args.query.clone(),
        repo: args.repo.clone(),
        quoted: false,
    };
    let output = recover(context, &options)?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.read_by_all(&output.text)
}

/// What a new context is told.
pub(crate) fn recover(
    context: &Context,
    options: &RecoverOptions,
) -> Result<RecoverOutput, CommandError> {
    if options.query.is_some() && options.level != 2 {
        let what = "only level 2 takes a query: --level 2";
        return Err(CommandError::new(Exit::Usage, what));
    }
    let own = zones(context);
    let other = options.repo.as_deref();
    let other = other.map(|path| repos::other(context, path)).transpose()?;
    let session = session(context, other.as_ref().unwrap_or(&own), Agent::default());
    let settings = super::session(context, &own, Agent::default());
    if other.is_none() {
        mend(context, &session);
    }
    let config = Config::load(&settings).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let root = other.as_ref().map(|other| other.root.display().to_string());
    let told = |budget: u64, tell: &dyn Fn(u64) -> String| match &root {
        Some(root) => quoted_from(root, budget, tell),
        None if options.quoted => quoted_from("this project", budget, tell),
        None => tell(budget),
    };
    let within = |budget: u64, tell: &dyn Fn(u64) -> String| {
        let text = told(budget, tell);
        if text.is_empty() {
            let larger = std::iter::successors(Some(budget.max(LEAST)), |budget| {
                budget.checked_mul(2).filter(|larger| *larger <= MOST)
            });
            let mut larger = larger.filter(|larger| !told(*larger, tell).is_empty());
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
            within(budget, &|budget| level_1(&recollection, budget))
        }
        2 => {
            let budget = options.budget.unwrap_or(config.level_2_tokens);
            if let Some(query) = options.query.as_deref() {
                let found = Found::gather(&session, query, budget);
                let found = found.map_err(|error| explain(&error))?;
                if found.is_empty() {
                    let what = format!("no decision matches `{query}`");
                    context.report.say(&harmless(&what));
                }
                within(budget, &|budget| found.told(budget))
            } else {
                // No decision is told in fewer than four tokens.
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
