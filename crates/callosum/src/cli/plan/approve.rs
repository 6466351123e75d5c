//! `callosum plan approve`: a person's word on calls that wait for it, and the run gone on with.

use callosum_app::plan::history::call_of;
use callosum_app::plan::local_run::LocalRun;
use callosum_app::{CommandError, Exit};
use callosum_plan_run::run::{CallKey, CallStanding, CallState, Decided, DecisionWord, RunRecord};
use clap::Args;

use super::drive;
use super::drive::carry_on;
use crate::cli::context::Context;

/// Approve the calls that a run waits for, and resume it
///
/// `callosum plan show ID` prints these calls with all their arguments. A refused call fails in the plan with
/// `SecurityViolation`, which the plan may catch.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan approve 0f3a
  $ callosum plan approve 0f3a 9c1d --refuse
  $ callosum plan approve 0f3a --detach")]
pub(crate) struct ApproveArgs {
    /// Id of the run, or its beginning
    #[arg(value_name = "ID")]
    run: String,
    /// Key of the call, or its beginning [default: all that wait for approval]
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Refuse the calls instead
    #[arg(long)]
    refuse: bool,
    /// Resume the run in the background, and return at once
    #[arg(long)]
    detach: bool,
}

pub(super) fn run(context: &Context, args: &ApproveArgs) -> Result<(), CommandError> {
    let mut taken = drive::take(context, &args.run)?;
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
        LocalRun::of(context, state.run()).approve(keys.iter().copied())?;
    }
    let records = keys.into_iter().map(|key| {
        RunRecord::Decided(Decided {
            key,
            decision,
            value: None,
        })
    });
    let records = records.collect();
    callosum_app::plan::drive::tell(context, &mut taken, records)?;
    if args.detach {
        return drive::detach(context, taken);
    }
    carry_on(context, taken)
}
