//! `callosum plan resume`: a run gone on with, from where its records stand.

use std::collections::BTreeSet;

use callosum_plan_run::run::{
    CallKey, CallStanding, CallState, Decided, DecisionWord, KeptText, RunRecord, RunState,
};

use crate::plan::history::call_of;
use crate::{CommandError, Exit};

/// Units of work that holding a value against a type may take.
pub const SCHEMA_WORK: u64 = 1 << 20;

/// Calls that were settled, each once: two decisions about one call would be two outcomes.
#[derive(Default)]
pub struct SaidOf(BTreeSet<CallKey>);

impl SaidOf {
    /// Returns the call with this key, or with a key that begins so. Fails if its outcome is known,
    /// or if it was settled already.
    pub fn call<'s>(
        &mut self,
        state: &'s RunState,
        key: &str,
    ) -> Result<&'s CallState, CommandError> {
        let call = call_of(state, key)?;
        let show = format!("callosum plan show {}", state.run());
        let refuse = |what: String| CommandError::new(Exit::Usage, what);
        if call.standing != CallStanding::Begun {
            let what = format!("it is already known whether the call `{key}` was made");
            return Err(refuse(what).hint(show));
        }
        if !self.0.insert(call.intended.key) {
            let what = format!("the call `{key}` is named twice: settle it once");
            return Err(refuse(what).hint(show));
        }
        Ok(call)
    }
}

/// Returns the record of a person's decision about a call.
pub fn decided(call: &CallState, decision: DecisionWord, value: Option<KeptText>) -> RunRecord {
    RunRecord::Decided(Decided {
        key: call.intended.key,
        decision,
        value,
    })
}
