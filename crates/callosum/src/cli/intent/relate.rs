//! Arguments and output of `callosum intent relate`.
//!
//! The use case is [`callosum_app::intent::relate`].

use callosum_app::intent::{IntentOutput, find, read, relate};
use callosum_app::{CommandError, Exit};
use callosum_intent::graph::{Edge, Relation, Weight};
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::cli::context::Context;

/// Relate two intents that exist, or change the weight of a relation
///
/// Reads from left to right: `A depends_on B`. Refuses a cycle through `depends_on` and `is_subgoal_of`, and names the
/// intents on it.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum intent relate 0f3a depends_on 3f2a91
  $ callosum intent relate 0f3a related_to 3f2a91 --weight 30")]
pub(crate) struct RelateArgs {
    /// Id of the first intent, or its beginning
    #[arg(value_name = "ID")]
    from: String,
    /// Kind of relation
    #[arg(value_name = "RELATION", value_parser = PossibleValuesParser::new(Relation::ALL.map(Relation::as_str)))]
    relation: String,
    /// Id of the second intent, or its beginning
    #[arg(value_name = "OTHER")]
    to: String,
    /// Strength of the relation, in percent
    #[arg(long, value_name = "PERCENT", default_value = "100", value_parser = clap::value_parser!(u8).range(1..=100))]
    weight: u8,
}

pub(super) fn run(context: &Context, args: &RelateArgs) -> Result<(), CommandError> {
    let misused =
        |error: &(dyn std::error::Error + 'static)| CommandError::from_error(Exit::Usage, error);
    let relation: Relation = args.relation.parse().map_err(|error| misused(&error))?;
    let weight = Weight::try_from(args.weight).map_err(|error| misused(&error))?;
    let graph = read(context)?;
    let edge = Edge {
        from: find(&graph, &args.from)?.id.clone(),
        relation,
        to: find(&graph, &args.to)?.id.clone(),
        weight,
    };
    relate(context, &edge)?;
    let graph = read(context)?;
    let output = IntentOutput::of(context, &graph, find(&graph, edge.from.as_str())?);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let line = format!("{} {relation} {}\n", edge.from, edge.to);
    context.ui.read_by_all(&line)
}
