//! `callosum session status`: state of the session, unreadable parts, and differences between its
//! files.

use std::fmt::Write as _;

use callosum_redact::terminal_escape::on_one_line;
use callosum_session::notes::Notes;
use callosum_session::{Session, SessionError, Zones};
use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;
use crate::bead::ForkOutput;
use crate::context::Context;
use crate::intent;
use crate::session::explain;

/// `callosum session status --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SessionStatusOutput {
    /// The intent at work: of those that are active or executing, the one that changed last.
    pub intent: Option<CurrentIntentOutput>,
    /// The current bead.
    pub bead: Option<String>,
    /// When the last checkpoint was.
    pub checkpoint: Option<String>,
    /// Decisions in NOTES.md.
    pub decisions: usize,
    /// Claims since the last hand-off.
    pub claims: usize,
    /// Those of them that are grounded.
    pub grounded: usize,
    /// Parts that could not be read, each with its file and line.
    pub faults: Vec<String>,
    /// Differences between two sources.
    pub forks: Vec<ForkOutput>,
}

/// The intent at work.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CurrentIntentOutput {
    /// Its id.
    pub id: String,
    /// `active` or `executing`.
    pub status: String,
    /// A short name.
    pub name: String,
}

/// Returns the intent at work, or a problem if the journal cannot be read.
pub fn current_intent(context: &Context) -> (Option<CurrentIntentOutput>, Option<String>) {
    match intent::read(context) {
        Ok(graph) => {
            let current = graph.current().map(|intent| CurrentIntentOutput {
                id: intent.id.to_string(),
                status: intent.status.to_string(),
                name: intent.name.clone(),
            });
            (current, None)
        }
        Err(error) => (None, Some(error.one_line())),
    }
}

/// The notes, where they could be read, and what of them was not understood.
pub fn notes(
    session: &Session<'_>,
    zones: &Zones,
) -> Result<(Option<Notes>, Vec<String>), CommandError> {
    let file = zones.named(&zones.notes());
    match session.notes() {
        Ok(Some(notes)) => {
            let faults = notes.faults().into_iter();
            let faults = faults.map(|fault| format!("{file}:{}: {}", fault.line, fault.what));
            let faults = faults.collect();
            Ok((Some(notes), faults))
        }
        Ok(None) => Ok((Some(Notes::read(Vec::new())), Vec::new())),
        Err(
            error @ (SessionError::TooLarge { .. }
            | SessionError::NotFile { .. }
            | SessionError::Foreign { .. }),
        ) => Ok((None, vec![error.to_string()])),
        Err(error) => Err(explain(&error)),
    }
}

/// Returns the status as text.
pub fn shown(output: &SessionStatusOutput) -> String {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let mut text = String::new();
    if let Some(intent) = &output.intent {
        let name = on_one_line(&intent.name);
        let _ = writeln!(text, "intent: {} {} {name}", intent.id, intent.status);
    }
    let _ = write!(
        text,
        "bead: {}\ncheckpoint: {}\ndecisions: {}\nclaims: {} of {} grounded\n",
        or_none(&output.bead),
        or_none(&output.checkpoint),
        output.decisions,
        output.grounded,
        output.claims
    );
    for fault in &output.faults {
        let _ = writeln!(text, "problem: {fault}");
    }
    for fork in &output.forks {
        text.push_str(&fork.line());
    }
    text
}
