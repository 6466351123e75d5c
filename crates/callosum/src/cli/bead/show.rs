//! `callosum bead show`: what a bead says.

use callosum_evidence::terminal::on_one_line;
use callosum_session::bead::{Bead, Sheet};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::nobody;
use crate::{
    cli::{
        context::Context,
        session::{bead_id, explain, mend, session, zones},
    },
    ui::CommandError,
};

/// Print a bead, as its file has it
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum bead show bd-x7y8")]
pub(crate) struct ShowArgs {
    /// The bead
    #[arg(value_name = "ID")]
    id: String,
}

/// `callosum bead show --json`, and the same of `create`, `update` and `close`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct BeadOutput {
    /// Its id.
    pub(crate) id: String,
    /// What is to be done.
    pub(crate) title: String,
    /// What kind of task it is.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Its status.
    pub(crate) status: String,
    /// How urgent it is: 0 comes first.
    pub(crate) priority: i64,
    /// When it was made.
    pub(crate) created: String,
    /// Who does it.
    pub(crate) assignee: Option<String>,
    /// Beads that must be closed first.
    pub(crate) needs: Vec<String>,
    /// What else keeps it back.
    pub(crate) blockers: Vec<String>,
    /// What was decided, by time.
    pub(crate) decisions: Vec<BeadDecisionOutput>,
    /// The tests that it must pass.
    pub(crate) test_scenarios: Vec<String>,
    /// When it was handed off.
    pub(crate) handoffs: Vec<String>,
    /// What comes next.
    pub(crate) next_steps: Vec<String>,
    /// What nobody has answered.
    pub(crate) questions: Vec<String>,
}

/// A decision of a bead.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct BeadDecisionOutput {
    /// When it was made.
    pub(crate) ts: String,
    /// What was decided.
    pub(crate) decision: String,
    /// The places that it cites.
    pub(crate) evidence: Vec<String>,
}

impl BeadOutput {
    pub(super) fn of(sheet: &Sheet) -> Self {
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

    /// It on one line.
    pub(super) fn line(&self) -> String {
        format!(
            "{} P{} {} {}\n",
            on_one_line(&self.id),
            self.priority,
            on_one_line(&self.status),
            on_one_line(&self.title)
        )
    }
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let zones = zones(context);
    let session = session(context, &zones, nobody());
    mend(context, &session);
    let sheet = session
        .bead(&bead_id(&args.id)?)
        .map_err(|error| explain(&error))?;
    if context.ui.json {
        return context.ui.json_data(&BeadOutput::of(&sheet));
    }
    context.ui.read_by_all(sheet.text())
}
