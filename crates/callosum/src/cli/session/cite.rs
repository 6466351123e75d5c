//! `callosum session cite`: evidence for a decision that was made before.

use clap::Args;

use super::{AgentArgs, decide::DecideOutput, place, session, tell_mended, undecided, zones};
use crate::{cli::context::Context, ui::CommandError};

/// Add evidence to a decision, by the time that names it
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session cite 2026-01-02T03:04:05Z src/a.rs:12")]
pub(crate) struct CiteArgs {
    /// The time of the decision, as NOTES.md has it
    #[arg(value_name = "TIME")]
    ts: String,
    /// Places that show it, such as `src/a.rs:12`
    #[arg(value_name = "PLACE", required = true)]
    places: Vec<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

pub(super) fn run(context: &Context, args: &CiteArgs) -> Result<(), CommandError> {
    let places: Vec<_> = args
        .places
        .iter()
        .map(|text| place(context, text))
        .collect::<Result<_, _>>()?;
    let zones = zones(context);
    let session = session(context, &zones, args.agent.agent()?);
    let held = session.hold().map_err(|error| super::explain(&error))?;
    tell_mended(context, &held);
    let cited = held
        .cite(&args.ts, &places)
        .map_err(|error| undecided(&error))?;
    DecideOutput::of(&cited).tell(context)
}
