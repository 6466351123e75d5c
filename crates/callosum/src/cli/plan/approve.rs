//! `callosum plan approve`: a person's word on calls that wait for it, and the run gone on with.

use callosum_arbiter::plan_run::{
    CallKey, CallStanding, CallState, Decided, DecisionWord, RunRecord,
};
use clap::Args;

use super::{
    carry::{self, carry_on},
    history::call_of,
    own::OwnRun,
};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit},
};

/// Approve calls that a run waits with, and go on with it
///
/// `callosum plan show ID` tells what it is that is asked for, with all of its arguments. A call that is refused fails in the plan,
/// as `SecurityViolation`, which the plan may catch.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan approve 0f3a
  $ callosum plan approve 0f3a 9c1d --refuse")]
pub(crate) struct ApproveArgs {
    /// The run's id, or the beginning of it
    #[arg(value_name = "ID")]
    run: String,
    /// The call's key, or the beginning of it; all that wait for approval where none is named
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Refuse instead
    #[arg(long)]
    refuse: bool,
}

pub(super) fn run(context: &Context, args: &ApproveArgs) -> Result<(), CommandError> {
    let mut taken = carry::take(context, &args.run)?;
    let state = &taken.state;
    let asked = |call: &&CallState| call.standing == CallStanding::Asked;
    let calls: Vec<&CallState> = match &args.key {
        Some(key) => vec![call_of(state, key)?],
        None => state.open_calls().filter(asked).collect(),
    };
    if calls.is_empty() || !calls.iter().all(asked) {
        let what = format!("no such call of the run {} waits for approval", state.run());
        return Err(
            CommandError::new(Exit::No, what).hint(format!("callosum plan show {}", state.run()))
        );
    }
    let decision = if args.refuse {
        DecisionWord::Refused
    } else {
        DecisionWord::Approved
    };
    let keys: Vec<CallKey> = calls.iter().map(|call| call.intended.key).collect();
    if decision == DecisionWord::Approved {
        OwnRun::of(context, state.run()).approve(keys.iter().copied())?;
    }
    let records = keys.into_iter().map(|key| {
        RunRecord::Decided(Decided {
            key,
            decision,
            value: None,
        })
    });
    let records = records.collect();
    carry::tell(context, &mut taken, records)?;
    carry_on(context, taken)
}
