//! `callosum intent`: goals as a graph, with every change on record in the audit journal.
//!
//! [`create`], [`set_status`], [`relate`], [`link()`] and [`unlink`] change the graph; [`read`] replays the journal; [`formulate`]
//! reads an intent from a sentence by rules, and [`formulate_with`] by a model. The rules are those of [`callosum_intent::graph`]. [`journal`] has the records,
//! [`at_start`] what a session's hook needs of them.

mod change;
mod current;
mod formulation;
pub mod journal;
pub mod link;
pub mod output;

use callosum_intent::graph::{FindError, Graph, Intent, NewIntent, formulate as by_rules};

pub use self::change::{create, relate, set_status};
pub use self::current::at_start;
pub use self::formulation::{formulate_by, formulate_with};
pub use self::link::{LinkStates, link, unlink};
pub use self::output::{IntentListOutput, IntentOutput, IntentTreeOutput};
use crate::context::Context;
use crate::{CommandError, Exit};

/// Reads the graph of the project's intents. Creates nothing; a project without a journal has no intents.
///
/// Warns of records that do not fit those before them, which count for nothing. Costs one search through the journal.
pub fn read(context: &Context) -> Result<Graph, CommandError> {
    let read = journal::read(context)?;
    if let Some(first) = read.passed_over.first() {
        let count = crate::many(read.passed_over.len() as u64, "record");
        let what = format!(
            "ignoring {count} of intents that do not fit those before: the first is audit record {}: {}",
            first.seq, first.why
        );
        let hint = "callosum audit query --event intent";
        context.report.warn(&what, Some(hint));
    }
    Ok(read.graph)
}

/// Returns the intent whose id is `text` or alone begins with it.
pub fn find<'g>(graph: &'g Graph, text: &str) -> Result<&'g Intent, CommandError> {
    graph.find(text).map_err(|error| {
        let exit = match error {
            FindError::None(_) => Exit::No,
            FindError::Several { .. } => Exit::Usage,
        };
        CommandError::from_error(exit, &error).hint("callosum intent list --all")
    })
}

/// Returns the ids of all intents, the newest first.
pub fn ids(context: &Context) -> Result<Vec<String>, CommandError> {
    let graph = journal::read(context)?.graph;
    let ids = graph.intents().into_iter().rev();
    Ok(ids.map(|intent| intent.id.to_string()).collect())
}

/// Reads an intent from a sentence, by rules and without a model. Records nothing.
///
/// A word of the text is a path if the project's tree has it.
pub fn formulate(context: &Context, text: &str) -> NewIntent {
    by_rules(text, |path| is_in_tree(context, path))
}

/// Returns true for a relative path that exists in the tree and does not lead out of it by its own text.
fn is_in_tree(context: &Context, path: &str) -> bool {
    let is_inside =
        !path.starts_with(['/', '~']) && !path.split('/').any(|segment| segment == "..");
    let is_plain = !path.contains(['\0', '\\']) && !path.trim_matches(['.', '/']).is_empty();
    is_inside
        && is_plain
        && context
            .disk
            .exists(&context.tree().join(path))
            .unwrap_or(false)
}
