//! `callosum session recover`: what a new context is told of the old one.

use callosum_evidence::{terminal::harmless, tokens};
use callosum_session::{
    Config,
    recovery::{Recollection, level_1, level_2},
    trajectory::Agent,
};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{explain, mend, session, tell_faults, zones};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit},
};

/// Decisions that level 1 looks at.
const LAST: usize = 3;

/// Decisions that level 2 looks at, newest first.
const MANY: usize = 2000;

/// Print what a new context needs to go on
///
/// Level 1 is where things stand: bead, checkpoint, next step, the last three decisions and whether
/// they hold, open questions; at most 100 tokens unless .loa.config.yaml says otherwise. Level 2 is
/// what was decided about QUERY, at most 500 tokens, or the last hand-off and the newest decisions. Level 3 is the whole of NOTES.md. Records are
/// printed whole or not at all, and the same state prints the same bytes.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session recover
  $ callosum session recover --level 2 --json")]
pub(crate) struct RecoverArgs {
    /// How much: 1, 2 or 3
    #[arg(long, value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    level: u8,
    /// At most so many tokens, estimated
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// What the decisions of level 2 are to be about
    #[arg(value_name = "QUERY")]
    query: Option<String>,
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
}

pub(super) fn run(context: &Context, args: &RecoverArgs) -> Result<(), CommandError> {
    if args.query.is_some() && args.level != 2 {
        let what = "only level 2 is about something: --level 2";
        return Err(CommandError::new(Exit::Usage, what));
    }
    let zones = zones(context);
    let session = session(context, &zones, Agent::default());
    mend(context, &session);
    let config = Config::load(&session).map_err(|error| explain(&error))?;
    tell_faults(context, &config);
    let gather =
        |looked_up| Recollection::gather(&session, looked_up).map_err(|error| explain(&error));
    let text = match args.level {
        1 => level_1(&gather(LAST)?, args.budget.unwrap_or(config.level_1_tokens)),
        2 => {
            let budget = args.budget.unwrap_or(config.level_2_tokens);
            let recollection = Recollection {
                handoffs: session.hand_offs().map_err(|error| explain(&error))?,
                ..gather(MANY)?
            };
            let query = args.query.as_deref();
            let text = level_2(&recollection, query, budget);
            if let Some(query) = query.filter(|_| text.is_empty()) {
                let what = format!("nothing that was decided is about `{query}`");
                context.ui.say(&harmless(&what));
            }
            text
        }
        _ => {
            let notes = session.notes().map_err(|error| explain(&error))?;
            let bytes = notes
                .map(|notes| notes.bytes().to_vec())
                .unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    if context.ui.json {
        return context.ui.json_data(&RecoverOutput {
            level: args.level,
            tokens: tokens::estimate(&text),
            text,
        });
    }
    context.ui.read_by_all(&text)
}
