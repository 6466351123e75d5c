//! Arguments and output of `callosum session recover`.
//!
//! The use case is [`mod@callosum_app::session::recover`].

use callosum_app::CommandError;
use callosum_app::session::recover::{RecoverOptions, recover};
use clap::Args;

use crate::cli::context::Context;

/// Print what a new context needs to continue
///
/// Level 1 is the current state, in at most 100 tokens unless .loa.config.yaml sets another limit: intent at work,
/// bead, checkpoint, next step, open questions, and the last three decisions with the state of their evidence. Level 2
/// is all decisions about QUERY, in at most 500 tokens. Without QUERY, it is the last handoff and the newest decisions.
/// Level 3 is all of NOTES.md.
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
