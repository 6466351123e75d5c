//! `decide`: a decision, kept where it outlives the context.

use callosum_redact::quote::{self, NOTICE};
use callosum_session::{EvidenceKind, NewDecision};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, prepared, read, schema};
use callosum_app::context::Context;
use callosum_app::session::{bead_id, decide, place};
use callosum_app::{CommandError, Exit};

pub(super) const TOOL: Tool = Tool {
    name: "decide",
    about: "Record a decision with its evidence, or as an assumption.",
    effect: Effect::Adds,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    decision: String,
    reason: Option<String>,
    /// Places, as src/a.rs:12-15
    #[serde(default)]
    cite: Vec<String>,
    source: Option<Source>,
    #[serde(default)]
    acceptance: Vec<String>,
    /// If not the current task
    bead: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Source {
    User,
    Assumption,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let arguments: Arguments = read(arguments)?;
    prepared(context)?;
    if arguments.source.is_some() && !arguments.cite.is_empty() {
        let what = "use either `cite` or `source`, not both";
        return Err(CommandError::new(Exit::Usage, what));
    }
    let asker = context.asker();
    let places = arguments.cite.iter().map(|text| place(context, text));
    let new = NewDecision {
        decision: arguments.decision,
        title: None,
        rationale: arguments.reason,
        places: places.collect::<Result<_, _>>()?,
        scenarios: arguments.acceptance,
        bead: arguments.bead.as_deref().map(bead_id).transpose()?,
        ground: match arguments.source {
            Some(Source::User) => EvidenceKind::UserInput,
            Some(Source::Assumption) => EvidenceKind::Assumption,
            None => EvidenceKind::Nothing,
        },
        session_id: asker.session,
        call: None,
    };
    let is_shown = !new.places.is_empty() || new.ground != EvidenceKind::Nothing;
    let output = decide(context, asker.agent, &new)?;
    let mut text = format!("{}\n", quote::one_line(&output.name()));
    if !output.evidence.is_empty() {
        // The cited lines are text of the tree.
        let evidence = quote::lines(&output.evidence.join("\n"));
        text = format!("{text}{NOTICE}{evidence}");
    }
    if let Some(bead) = &output.bead {
        text = format!("{text}[stored in {}]\n", quote::one_line(bead));
    }
    if !output.redacted.is_empty() {
        let kinds = output.redacted.join(", ");
        text = format!("{text}[removed secrets before writing: {kinds}]\n");
    }
    if !is_shown {
        let ts = &output.ts;
        text =
            format!("{text}[no evidence yet; in a shell: callosum session cite {ts} PATH:LINE]\n");
    }
    Ok(text)
}
