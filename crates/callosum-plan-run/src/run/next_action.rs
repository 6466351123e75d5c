//! [`next`]: the next action of a run, by the outcome of its machine.
//!
//! Decided from the records and the machine's outcome alone. An answer that is on record is given
//! again, in the order in which answers were given before, so that a machine that begins from
//! scratch comes to the very same place; only then is there anything to do that has an effect.

use std::collections::BTreeSet;

use callosum_plan::{Outcome, Position, Yield};

use super::{
    ids::{CallKey, KeyBase, arguments_text},
    record::Answer,
    state::{CallStanding, CallState, RunState},
};

/// Next action of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<'a> {
    /// Give the machine this answer, which is on record, and let it run.
    Give {
        /// The call.
        position: &'a Position,
        /// The answer.
        answer: &'a Answer,
    },
    /// Nothing that is on record is left to give: see to these calls. Those that are being made are
    /// not among them.
    Attend(Vec<Attention>),
    /// The machine came to its end.
    End,
}

/// A call that waits, and what it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The call.
    pub call: Yield,
    /// Its key.
    pub key: CallKey,
    /// Number of the try, from 1.
    pub attempt: u32,
    /// Need of the call.
    pub need: Need,
}

/// Need of a call that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// To be put on record, ruled about and made.
    Begin,
    /// The same, and it is on record already: a process ended in between, or a person approved it.
    GoOn,
    /// To be asked for by its key: it may have been made, and its answer is not known.
    Inquire,
    /// A person's word whether it may be made.
    Approval,
}

/// Difference between a replay and the records: another program, another version of the evaluator,
/// or records that were changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the run diverges at call {position}: the records have {recorded}, but the plan now has \
    {computed}"
)]
pub struct Divergence {
    /// The call.
    pub position: String,
    /// Content of the records there.
    pub recorded: String,
    /// Result of the machine there.
    pub computed: String,
}

/// Says what is to be done, after `given` answers were given.
///
/// `in_flight` are the calls that this process is making. Costs a hash of the arguments of each call
/// that waits, or of the one whose answer is given.
pub fn next<'a>(
    state: &'a RunState,
    outcome: &Outcome,
    given: usize,
    in_flight: &BTreeSet<CallKey>,
) -> Result<Action<'a>, Divergence> {
    let base = state.key_base();
    if let Some((call, answered)) = state.answer_number(given) {
        check_waits(&base, call, outcome)?;
        return Ok(Action::Give {
            position: &call.position,
            answer: &answered.answer,
        });
    }
    for call in state.open_calls() {
        check_waits(&base, call, outcome)?;
    }
    let Outcome::Yield(waiting) = outcome else {
        return Ok(Action::End);
    };
    let mut attentions = Vec::new();
    for call in waiting {
        let recorded = state.call_at(&call.position);
        let (attempt, need) = match recorded.map(|own| (own.intended.attempt, &own.standing)) {
            None => (1, Need::Begin),
            Some((attempt, CallStanding::Intended | CallStanding::Granted)) => {
                (attempt, Need::GoOn)
            }
            Some((attempt, CallStanding::Asked)) => (attempt, Need::Approval),
            Some((attempt, CallStanding::Begun)) => (attempt, Need::Inquire),
            Some((attempt, CallStanding::NotDone)) => (attempt + 1, Need::Begin),
            // All that were answered have been given, so it does not wait any more.
            Some((_, CallStanding::Answered(_))) => {
                return Err(Divergence {
                    position: call.position.to_string(),
                    recorded: "a call that was already answered".to_owned(),
                    computed: shown(call),
                });
            }
        };
        let key = base.key(call, attempt);
        if !in_flight.contains(&key) {
            attentions.push(Attention {
                call: call.clone(),
                key,
                attempt,
                need,
            });
        }
    }
    Ok(Action::Attend(attentions))
}

/// Whether a call that is on record is one that the machine waits for.
fn check_waits(base: &KeyBase, call: &CallState, outcome: &Outcome) -> Result<(), Divergence> {
    let computed = match outcome {
        Outcome::Yield(waiting) => match waiting.iter().find(|one| one.position == call.position) {
            Some(waiting) => {
                let key = base.key(waiting, call.intended.attempt);
                if key == call.intended.key {
                    return Ok(());
                }
                format!("{} under the key {key}", shown(waiting))
            }
            None => "no call there".to_owned(),
        },
        Outcome::Complete(_) => "its value".to_owned(),
        Outcome::Failed(failure) => format!("the failure {}", failure.kind),
    };
    let arguments = call.intended.arguments.text.as_deref();
    Err(Divergence {
        position: call.position.to_string(),
        recorded: format!(
            "`:{} {}` with the arguments' hash {} under the key {}",
            call.intended.capability,
            arguments.map_or("…", |text| excerpt(text)),
            call.intended.arguments_sha256,
            call.intended.key,
        ),
        computed,
    })
}

/// A call as an error shows it; the secrets in its arguments masked.
fn shown(call: &Yield) -> String {
    let arguments = arguments_text(&call.arguments);
    let hash = callosum_json::Checksum::of(arguments.as_bytes());
    let masked = callosum_redact::secrets::mask(&arguments).text;
    format!(
        "`:{} {}` with the arguments' hash {hash}",
        call.capability,
        excerpt(&masked)
    )
}

fn excerpt(text: &str) -> &str {
    &text[..text.floor_char_boundary(200)]
}
