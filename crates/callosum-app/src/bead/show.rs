//! `callosum bead show`: prints the content of a bead.

use callosum_intent::graph::Link;
use callosum_redact::terminal_escape::on_one_line;
use callosum_session::bead::{Bead, BeadId, Sheet};
use schemars::JsonSchema;
use serde::Serialize;

use crate::beads_cli::Issue;
use crate::context::Context;
use crate::intent::link::{WorkingForOutput, working_for};

/// `callosum bead show --json`, and the same of `create`, `update` and `close`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BeadOutput {
    /// Its id.
    pub id: String,
    /// Title of the task.
    pub title: String,
    /// Kind of the task.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its status.
    pub status: String,
    /// Priority: 0 comes first.
    pub priority: i64,
    /// When it was made.
    pub created: String,
    /// Agent that works on it.
    pub assignee: Option<String>,
    /// Beads that must be closed first.
    pub needs: Vec<String>,
    /// Other reasons that block it.
    pub blockers: Vec<String>,
    /// Decisions, by time.
    pub decisions: Vec<BeadDecisionOutput>,
    /// The tests that it must pass.
    pub test_scenarios: Vec<String>,
    /// When it was handed off.
    pub handoffs: Vec<String>,
    /// Next steps.
    pub next_steps: Vec<String>,
    /// Questions that are open.
    pub questions: Vec<String>,
    /// The intents that it works for.
    pub intents: Vec<WorkingForOutput>,
}

/// A decision of a bead.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BeadDecisionOutput {
    /// When it was made.
    pub ts: String,
    /// The decision.
    pub decision: String,
    /// The places that it cites.
    pub evidence: Vec<String>,
}

/// Returns the intents that a bead works for.
pub fn intents_of_bead(context: &Context, id: &str) -> Vec<WorkingForOutput> {
    working_for(context, &Link::bead(id))
}

impl BeadOutput {
    /// Returns what is printed about a bead, with the intents that it works for.
    pub fn of(context: &Context, id: &BeadId, sheet: &Sheet) -> Self {
        let bead = Bead::of(sheet.members());
        let decisions = bead.decisions.into_iter().map(|made| BeadDecisionOutput {
            ts: made.ts,
            decision: made.decision,
            evidence: made
                .evidence
                .iter()
                .map(callosum_session::evidence::Evidence::identifier)
                .collect(),
        });
        Self {
            decisions: decisions.collect(),
            intents: intents_of_bead(context, id.as_str()),
            id: bead.id,
            title: bead.title,
            kind: bead.kind,
            status: bead.status,
            priority: bead.priority,
            created: bead.created,
            assignee: bead.assignee,
            needs: bead.needs,
            blockers: bead.blockers,
            test_scenarios: bead.scenarios,
            handoffs: bead.handoffs,
            next_steps: bead.next_steps,
            questions: bead.questions,
        }
    }

    /// Converts an issue of `bd`.
    pub fn of_issue(context: &Context, issue: Issue) -> Self {
        Self {
            intents: intents_of_bead(context, &issue.id),
            id: issue.id,
            title: issue.title,
            kind: String::new(),
            status: issue.status,
            priority: issue.priority,
            created: String::new(),
            assignee: None,
            needs: Vec::new(),
            blockers: Vec::new(),
            decisions: Vec::new(),
            test_scenarios: Vec::new(),
            handoffs: Vec::new(),
            next_steps: Vec::new(),
            questions: Vec::new(),
        }
    }

    /// It on one line.
    pub fn line(&self) -> String {
        format!(
            "{} P{} {} {}\n",
            on_one_line(&self.id),
            self.priority,
            on_one_line(&self.status),
            on_one_line(&self.title)
        )
    }
}
