//! `callosum session decide`: a decision, kept in notes, bead and trajectory.

use callosum_redact::terminal_escape::harmless;
use callosum_session::bead::BeadId;
use callosum_session::trajectory::Agent;
use callosum_session::{Decided, EvidenceKind, NewDecision};
use schemars::JsonSchema;
use serde::Serialize;

use crate::bead::mirror;
use crate::context::Context;
use crate::session::{heal, session, tell_mended, tell_redacted, undecided};
use crate::{CommandError, Exit};

/// `callosum session decide --json` and `callosum session cite --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DecideOutput {
    /// The time of the decision, which is its name.
    pub ts: String,
    /// Its title.
    pub title: String,
    /// The bead that has it.
    pub bead: Option<String>,
    /// The current bead, where it could not be written to.
    pub passed_over: Option<String>,
    /// Its citations, as they are written in NOTES.md.
    pub evidence: Vec<String>,
    /// The places of the citations, without the quotes.
    #[serde(skip)]
    pub cited: Vec<String>,
    /// Places that it leans on no more, since they did not hold any more.
    pub replaced: Vec<String>,
    /// Its place in the trajectory: `file:line`.
    pub trajectory: String,
    /// Kinds of secrets that were taken out.
    pub redacted: Vec<String>,
}

impl DecideOutput {
    /// Returns what is printed about a decision.
    pub fn of(decided: &Decided) -> Self {
        let evidence = decided.decision.evidence.iter();
        Self {
            ts: decided.decision.ts.clone(),
            title: decided.decision.title.clone(),
            bead: decided.bead.as_ref().map(ToString::to_string),
            passed_over: decided.passed_over.as_ref().map(|(id, _)| id.clone()),
            evidence: evidence
                .filter_map(callosum_session::evidence::Evidence::written)
                .collect(),
            cited: decided
                .decision
                .evidence
                .iter()
                .map(callosum_session::evidence::Evidence::identifier)
                .collect(),
            replaced: decided
                .replaced
                .iter()
                .map(|(gone, _)| gone.identifier())
                .collect(),
            trajectory: decided.written.trajectory.clone(),
            redacted: decided
                .redacted
                .iter()
                .map(|kind| kind.name().to_owned())
                .collect(),
        }
    }

    /// The decision's name and title, and a line for each place that it cites.
    pub fn as_text(&self) -> String {
        let mut text = format!("{}\n", self.name());
        for cited in &self.evidence {
            text.push_str("- ");
            text.push_str(cited);
            text.push('\n');
        }
        text
    }

    /// Returns the decision's name with its title.
    pub fn name(&self) -> String {
        // Of two decisions of one time, the name has the title.
        if self.ts.ends_with(&format!(" - {}", self.title)) {
            self.ts.clone()
        } else {
            format!("{} - {}", self.ts, self.title)
        }
    }
}

/// The id of a bead as a person types it.
pub fn bead_id(text: &str) -> Result<BeadId, CommandError> {
    BeadId::new(text).ok_or_else(|| {
        CommandError::new(Exit::Usage, format!("`{text}` is not a bead id"))
            .hint("an id is letters, then `-`, then letters, digits or dots: bd-x7y8")
    })
}

/// Tells `bd` of a decision.
pub fn tell_bd_decided(context: &Context, decided: &Decided) {
    if let Some(id) = &decided.bead {
        let made = &decided.decision;
        let words = format!("Decision of {}: {}", made.ts, made.decision);
        mirror::tell(context, id, &words);
    }
}

/// The decision that a call of a plan made, by its key, once what a killed process had begun is done.
pub fn decided_by(
    context: &Context,
    agent: Agent,
    call: &str,
) -> Result<Option<DecideOutput>, CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, agent);
    let held = session
        .hold()
        .map_err(|error| crate::session::explain(&error))?;
    tell_mended(context, &held);
    let made = held
        .decided_by(call)
        .map_err(|error| crate::session::explain(&error))?;
    Ok(made.as_ref().map(DecideOutput::of))
}

/// Stores a decision of this agent, and reports repairs, redactions and missing evidence.
pub fn decide(
    context: &Context,
    agent: Agent,
    new: &NewDecision,
) -> Result<DecideOutput, CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, agent);
    let held = session
        .hold()
        .map_err(|error| crate::session::explain(&error))?;
    tell_mended(context, &held);
    heal::heal_torn_notes(context, &held)?;
    match &new.bead {
        None => heal::heal_current_bead(context, &held)?,
        Some(id) => mirror::adopt(context, &held, id)?,
    }
    let decided = held.decide(new).map_err(|error| undecided(&error))?;
    tell_redacted(context, &decided.redacted);
    drop(held);
    if let Some((id, why)) = &decided.passed_over {
        let what = format!("the decision is not part of the current bead `{id}`: {why}");
        context
            .report
            .warn(&harmless(&what), Some("callosum bead update ID --current"));
    }
    tell_bd_decided(context, &decided);
    if new.places.is_empty() && new.ground == EvidenceKind::Nothing {
        let hint = format!("callosum session cite {} src/a.rs:12", decided.decision.ts);
        context
            .report
            .warn("this decision has no evidence yet", Some(&hint));
    }
    Ok(DecideOutput::of(&decided))
}
