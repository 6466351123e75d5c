//! `callosum plan`: programs in the language of plans, checked, evaluated and carried out.
//!
//! To check and evaluate a program needs no project: its source and its input decide. In a project
//! a check also lists the calls without a provider. A [`run`] is on record in the project's
//! journal: [`drive`] is the shared part of all commands that go on with one, [`provider`] performs
//! its calls.

pub mod answers;
pub mod call_check;
pub mod cancel;
pub mod check;
pub mod cleanup;
pub mod delegated_tasks;
pub mod detached;
pub mod drive;
pub mod dry_run;
pub mod eval;
pub mod history;
pub mod list;
pub mod local_run;
pub mod lock;
pub mod parameters;
pub mod progress;
pub mod proposal;
pub mod provider;
pub mod render;
pub mod resume;
pub mod run;
pub mod show;
pub mod source;

pub use self::check::PlanCheckOutput;
pub use self::eval::PlanEvalOutput;
pub use self::list::PlanListOutput;
pub use self::render::PlanRunOutput;
pub use self::show::PlanShowOutput;

use crate::CommandError;
use crate::context::Context;

/// Returns the ids of all runs, the one that was begun last first.
pub fn run_ids(context: &Context) -> Result<Vec<String>, CommandError> {
    let runs = history::read_all(context)?.runs;
    Ok(runs.iter().map(|run| run.state.run().to_string()).collect())
}
