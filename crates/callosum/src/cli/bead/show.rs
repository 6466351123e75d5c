//! `callosum bead show`: what a bead says.

use callosum_evidence::terminal::on_one_line;
use callosum_session::{
    SessionError,
    bead::{Bead, Sheet},
};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{mirror, nobody};
use crate::{
    bd::Issue,
    cli::{
        context::Context,
        session::{bead_id, explain, mend, session, zones},
    },
    ui::CommandError,
};

/// Print a bead as stored in its file
///
/// If `bd` is in use, a bead without a file is printed as `bd` has it.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum bead show bd-x7y8")]
pub(crate) struct ShowArgs {
    /// Id of the bead
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

    fn of_issue(issue: Issue) -> Self {
        Self {
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
    let id = bead_id(&args.id)?;
    let sheet = match session.bead(&id) {
        Ok(sheet) => sheet,
        Err(error) => {
            let is_missing = matches!(error, SessionError::NoBead { .. });
            let known = if is_missing {
                mirror::known(context, &id)
            } else {
                None
            };
            let issue = known.ok_or_else(|| explain(&error))?;
            return show_foreign(context, issue);
        }
    };
    if context.ui.json {
        return context.ui.json_data(&BeadOutput::of(&sheet));
    }
    context.ui.read_by_all(sheet.text())
}

/// Shows a bead that `bd` alone has, in the form of ours.
fn show_foreign(context: &Context, issue: Issue) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&BeadOutput::of_issue(issue));
    }
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    context.ui.read_by_all(&format!(
        "# stored in bd; the first change to it creates a file here\nid: {}\ntitle: {}\nstatus: \
         {}\npriority: {}\n",
        issue.id,
        quoted(&issue.title),
        quoted(&issue.status),
        issue.priority
    ))
}
