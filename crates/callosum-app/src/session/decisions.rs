//! `callosum session decisions`: the decisions of a project with the status of each citation, and the last hand-offs.

use callosum_redact::secrets::mask;
use callosum_session::PendingHandoff;
use callosum_session::evidence::{Evidence, EvidenceStatus, Tree};
use callosum_session::recovery::{Recollected, Recollection, Trust};
use callosum_session::trajectory::Agent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;
use crate::context::Context;
use crate::session::{explain, mend, session};

/// Most hand-offs in the result.
const MOST_HANDOFFS: usize = 50;

/// `callosum session decisions --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DecisionsOutput {
    /// The decisions, newest first.
    pub decisions: Vec<LoggedDecisionOutput>,
    /// Number of older decisions.
    pub older: usize,
    /// Questions without an answer.
    pub questions: Vec<String>,
    /// Hand-offs of the last days, newest first, at most 50.
    pub handoffs: Vec<RecentHandoffOutput>,
}

/// A decision of NOTES.md.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LoggedDecisionOutput {
    /// When it was made, as written.
    pub ts: String,
    /// Title.
    pub title: String,
    /// Text.
    pub decision: String,
    /// Reason; null if none was given.
    pub rationale: Option<String>,
    /// `quote found`, `quote found in a comment`, `assumption`, `the user's word`, `no evidence` or `stale`.
    pub status: String,
    /// Whether every citation holds. False if there is none.
    pub holds: bool,
    /// The citations.
    pub citations: Vec<CitedPlaceOutput>,
    /// Number of lines of evidence that name no place.
    pub unread: usize,
    /// Scenarios to try before it counts as done.
    pub scenarios: Vec<String>,
    /// Line of its heading in NOTES.md.
    pub line: usize,
}

/// A cited place and its status now.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CitedPlaceOutput {
    /// Path from the root.
    pub path: String,
    /// First line, as cited.
    pub first_line: u32,
    /// Last line, as cited.
    pub last_line: u32,
    /// Line at which the quote begins now; null if it is not in the file.
    pub line_now: Option<u32>,
    /// The quote.
    pub quote: Option<String>,
    /// Status, such as `VERIFIED`, `MOVED` or `CHANGED`.
    pub status: String,
    /// The status in words.
    pub meaning: String,
    /// Whether the decision may rely on it.
    pub holds: bool,
}

/// A hand-off of the last days.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecentHandoffOutput {
    /// When.
    pub ts: String,
    /// Agent that made it.
    pub from: String,
    /// Session of that agent.
    pub session_id: String,
    /// Agent that it is for; null if it is for any.
    pub to: Option<String>,
    /// Root of the other project that it came from; null if it is of this one.
    pub repo: Option<String>,
    /// Bead that was current.
    pub bead: Option<String>,
    /// Reasoning in progress.
    pub reasoning: Option<String>,
    /// Claims without evidence at that time.
    pub ungrounded: Vec<String>,
}

/// Returns the newest decisions, at most `limit`. Secrets are masked.
///
/// Looks up each citation in its file; a file is read once.
///
/// # Errors
/// If NOTES.md or a trajectory cannot be read.
pub fn decisions(context: &Context, limit: usize) -> Result<DecisionsOutput, CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, Agent::default());
    mend(context, &session);
    let recollection = Recollection::gather(&session, limit).map_err(|error| explain(&error))?;
    let handoffs = session.hand_offs().map_err(|error| explain(&error))?;
    let tree = Tree::new(&context.disk, &zones.tree);
    let made = recollection.decisions.iter();
    Ok(DecisionsOutput {
        decisions: made
            .map(|made| LoggedDecisionOutput::of(made, &tree))
            .collect(),
        older: recollection.older,
        questions: recollection
            .questions
            .iter()
            .map(|text| masked(text))
            .collect(),
        handoffs: handoffs
            .into_iter()
            .take(MOST_HANDOFFS)
            .map(RecentHandoffOutput::of)
            .collect(),
    })
}

fn masked(text: &str) -> String {
    mask(text).text
}

impl LoggedDecisionOutput {
    fn of(made: &Recollected, tree: &Tree<'_>) -> Self {
        let decision = &made.decision;
        let cited = decision.evidence.iter();
        Self {
            ts: decision.ts.clone(),
            title: masked(&decision.title),
            decision: masked(decision.words()),
            rationale: decision.rationale.as_deref().map(masked),
            status: made.trust.name().to_owned(),
            holds: made.trust == Trust::QuoteFound,
            citations: cited
                .map(|cited| CitedPlaceOutput::of(cited, &tree.stand(cited)))
                .collect(),
            unread: decision.unread,
            scenarios: decision.scenarios.iter().map(|text| masked(text)).collect(),
            line: decision.line,
        }
    }
}

impl CitedPlaceOutput {
    fn of(cited: &Evidence, status: &EvidenceStatus) -> Self {
        let line_now = match status {
            EvidenceStatus::Verified => Some(cited.first),
            EvidenceStatus::Moved { line } | EvidenceStatus::Inert { line } => Some(*line),
            _ => None,
        };
        Self {
            path: cited.path.clone(),
            first_line: cited.first,
            last_line: cited.last,
            line_now,
            quote: cited.quote.as_deref().map(masked),
            status: status.name().to_owned(),
            meaning: status.meaning().to_owned(),
            holds: status.holds(),
        }
    }
}

impl RecentHandoffOutput {
    fn of(made: PendingHandoff) -> Self {
        let all_masked = |texts: Vec<String>| texts.iter().map(|text| masked(text)).collect();
        Self {
            ts: made.ts,
            from: made.from,
            session_id: made.session_id,
            to: made.to,
            repo: made.repository,
            bead: made.bead,
            reasoning: made.reasoning.as_deref().map(masked),
            ungrounded: all_masked(made.ungrounded),
        }
    }
}
