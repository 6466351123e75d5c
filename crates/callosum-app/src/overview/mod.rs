//! [`OverviewOutput`]: who is doing what, what waits for a person, the open tasks, and what the guard decided.
//!
//! `callosum top` draws it, `callosum top --json` prints it. Start with [`gather`], or with [`Gatherer`] to gather again
//! and again: it keeps what was read, so that a second look reads only what is new.
//!
//! A part that cannot be read leaves its list empty and a text in [`OverviewOutput::faults`]. Every list is bounded. Nothing
//! is changed, except that a look at the terminals writes the pane registry, as `callosum mesh panes` does.

mod agents;
mod argv;
mod context_use;
mod guard;
mod output;
#[cfg(feature = "plans")]
mod plans;
mod tasks;
mod waiting;

pub use self::output::{
    AgentOutput, AgentTaskOutput, BudgetShareOutput, DecisionOutput, OverviewCommandOutput,
    OverviewOutput, TaskCountsOutput, TaskSummaryOutput, WaitingItemOutput,
};

use callosum_mesh::{Mesh, MeshError, mesh_store};
use jiff::Timestamp;

use self::context_use::Transcripts;
use crate::context::Context;
use crate::mesh::panes::Watcher;
use crate::{CommandError, Exit};

/// Gathers an overview once.
///
/// # Errors
/// None at present: what cannot be read is among the faults of the overview.
pub fn gather(context: &Context) -> Result<OverviewOutput, CommandError> {
    Gatherer::default().gather(context)
}

/// Gathers overviews, and keeps the open mesh, the terminals and the transcripts between two of them.
#[derive(Default)]
pub struct Gatherer {
    mesh: Option<Mesh>,
    watcher: Option<Watcher>,
    transcripts: Transcripts,
}

impl Gatherer {
    /// Gathers an overview.
    ///
    /// # Errors
    /// None at present: what cannot be read is among the faults of the overview.
    pub fn gather(&mut self, context: &Context) -> Result<OverviewOutput, CommandError> {
        let now = context.clock.now();
        let mut faults = Vec::new();
        let mut output = OverviewOutput::empty(context, now);
        let panes = agents::panes(context, &mut self.watcher, now).unwrap_or_else(|error| {
            faults.push(format!("agents: {}", error.one_line()));
            Vec::new()
        });
        let mut waiting = Vec::new();
        match self.mesh(context) {
            Ok(None) => output.agents = agents::listed(context, &panes, None, now),
            Ok(Some(mesh)) => match mesh.board() {
                Ok(board) => {
                    output.agents = agents::listed(context, &panes, Some(board), now);
                    waiting.extend(waiting::dead_letters(board, now));
                    (output.task_counts, output.tasks) = tasks::listed(board, now);
                    output.tasks_total = tasks::open_count(board);
                }
                Err(error) => {
                    faults.push(mesh_fault(&error));
                    self.mesh = None;
                    output.agents = agents::listed(context, &panes, None, now);
                }
            },
            Err(error) => {
                faults.push(mesh_fault(&error));
                output.agents = agents::listed(context, &panes, None, now);
            }
        }
        let limits = context_use::limits(context);
        for agent in &mut output.agents {
            agent.budget = self.transcripts.budget(context, agent, &limits, now);
        }
        waiting.extend(waiting::blocked_agents(&output.agents));
        match waiting::conflicts(context, now) {
            Ok(conflicts) => waiting.extend(conflicts),
            Err(error) => faults.push(format!("conflicts: {}", error.one_line())),
        }
        match guard::decisions(context, now) {
            Ok(decisions) => {
                waiting.extend(waiting::asked_lately(&decisions, now));
                output.guard = decisions;
            }
            Err(error) => faults.push(format!("guard: {}", error.one_line())),
        }
        #[cfg(feature = "plans")]
        match plans::waiting_calls(context, now) {
            Ok(calls) => waiting.extend(calls),
            Err(error) => faults.push(format!("plans: {}", error.one_line())),
        }
        output.waiting_total = waiting.len() as u64;
        output.waiting = waiting::oldest_first(waiting);
        output.faults = faults;
        Ok(output)
    }

    /// Returns the mesh of this machine; `None` if there is none yet. Creates nothing.
    fn mesh(&mut self, context: &Context) -> Result<Option<&mut Mesh>, MeshError> {
        let folder = context.project.homes.mesh();
        if !mesh_store::is_begun(&context.disk, &folder)? {
            self.mesh = None;
            return Ok(None);
        }
        // A log that was removed and begun again is another one.
        let is_gone = self
            .mesh
            .as_ref()
            .is_some_and(|mesh| !mesh.is_in_place().unwrap_or(false));
        if is_gone {
            self.mesh = None;
        }
        if self.mesh.is_none() {
            let (clock, ids) = (&context.clock, &context.ids);
            self.mesh = Some(mesh_store::open(&context.disk, clock, ids, &folder)?);
        }
        Ok(self.mesh.as_mut())
    }
}

fn mesh_fault(error: &MeshError) -> String {
    let error = CommandError::because(Exit::Environment, "cannot read the mesh", error);
    format!("mesh: {}", error.one_line())
}

/// Returns the seconds since `then`; 0 if it is in the future, as after a clock was set back.
fn age(then: Timestamp, now: Timestamp) -> u64 {
    now.duration_since(then).as_secs().max(0).unsigned_abs()
}

/// Most letters of a text from elsewhere in an overview.
const MOST_LETTERS: usize = 400;

/// Returns the beginning of a text, so that the size of an overview is bounded.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(MOST_LETTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_letters() {
        assert_eq!(beginning("short"), "short");
        let long = "ä".repeat(MOST_LETTERS + 1);
        let cut = beginning(&long);
        assert_eq!(cut.chars().count(), MOST_LETTERS + 1);
        assert!(cut.ends_with('…'));
    }

    #[test]
    fn an_age_is_never_negative() {
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(age(at(5), at(9)), 4);
        assert_eq!(age(at(9), at(5)), 0);
    }
}
