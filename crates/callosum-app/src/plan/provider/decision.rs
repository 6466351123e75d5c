//! `:session.decide`: a decision, kept in the project's notes.
//!
//! The call's key goes with it into the trajectory. So a call that an earlier process made is found
//! by it, once the step of that process is finished.
//!
//! Quotes of files go to the notes only. The plan gets their places, and cites nothing that
//! `:fs.read` would deny it.

use callosum_host::process::Cancel;
use callosum_plan_run::kernel::{Answer, ApprovedCall, KnownOutcome, ProviderFailure};
use callosum_session::{EvidenceKind, NewDecision};
use serde::Deserialize;
use serde_json::json;

use crate::plan::provider::file::admitted;
use crate::plan::provider::{PlanEnvironment, arguments, failed, free, keyed};
use crate::session::{DecideOutput, decide, decided_by, place};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    decision: String,
    because: Option<String>,
    /// Places, as src/a.rs:12.
    #[serde(default)]
    cite: Vec<String>,
    /// That it is an assumption.
    #[serde(default)]
    assume: bool,
}

pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    cancel: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    let context = surroundings.context;
    let mut places = Vec::new();
    for text in &wanted.cite {
        let cited = place(context, text).map_err(|error| failed(&error))?;
        admitted(
            &context.disk,
            context.tree(),
            &cited.path,
            call.capability(),
        )?;
        places.push(cited);
    }
    let new = NewDecision {
        decision: wanted.decision,
        title: None,
        rationale: wanted.because,
        places,
        scenarios: Vec::new(),
        bead: None,
        ground: if wanted.assume {
            EvidenceKind::Assumption
        } else {
            EvidenceKind::Nothing
        },
        session_id: None,
        call: Some(call.key().to_owned()),
    };
    let context = context.for_call(cancel).map_err(|error| failed(&error))?;
    let asker = context.asker();
    let decided = decide(&context, asker.agent, &new).map_err(|error| failed(&error))?;
    Ok(answer(&decided))
}

pub(super) fn outcome(
    surroundings: &PlanEnvironment<'_>,
    key: &str,
) -> Result<KnownOutcome, ProviderFailure> {
    let context = surroundings.context;
    let decided = decided_by(context, context.asker().agent, key);
    let decided = decided.map_err(|error| failed(&error))?;
    Ok(decided.map_or(KnownOutcome::NotBegun, |decided| {
        KnownOutcome::Answered(answer(&decided))
    }))
}

fn answer(decided: &DecideOutput) -> Answer {
    free(keyed(&json!({
        "ts": decided.ts,
        "title": decided.title,
        "bead": decided.bead,
        "evidence": decided.cited,
    })))
}
