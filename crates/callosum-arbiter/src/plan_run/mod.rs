//! Durable runs of plans: every effect is on record before it happens, and its answer before it is
//! used.
//!
//! Start with [`RunState`], the sum of the [records](RunRecord) of a run, and [`next`], which
//! returns from it and from the machine's outcome what is to be done. [`drive`] does it.
//!
//! What is deliberately not here: the language (`callosum-plan`), what may be done (the kernel),
//! and anything that a person sees. A continuation is never written down: the machine begins from
//! scratch and gets the same answers (`docs/design/replay-log.md`).

mod begin;
mod driver;
mod journal;
mod keeping;
mod key;
mod next;
mod outcome;
mod record;
mod rules;
mod seal;
mod standing;
mod state;
mod tally;
#[cfg(test)]
mod tests;
mod tree;
mod watch;

pub use self::{
    begin::{BeginError, NewRun, begin},
    driver::{Providers, RunEnd, RunError, RunMeans, drive},
    journal::{
        PassedOver, ReadRun, ReadRunError, RunJournal, Runs, SealedJournal, read_run, read_runs,
    },
    keeping::{KeepingError, keep, result_of, text_of},
    key::{CallKey, InvalidRunId, KeyBase, RunId, arguments_text},
    next::{Action, Attention, Divergence, Need, next},
    outcome::call_outcome,
    record::{
        Answer, Answered, ConstitutionPrint, Decided, DecisionWord, Ended, Intended, Kept,
        KeptFailure, KeptText, OutcomeWord, Paused, RUN_FORMAT, RecordError, Resumed, Ruled,
        RulingWord, RunLimits, RunRecord, Spent, Started, StepRecord,
    },
    rules::{RulesStamp, RunRules},
    seal::{ForeignRecords, MissingRecords, RunSeals, RunSecret},
    standing::{Grant, standing},
    state::{CallStanding, CallState, RunState, UnfittingRecord},
    tally::RunTally,
    tree::{ActionKind, ActionNode, DelegatedTask, tree_of},
    watch::{RunNotice, RunWatch},
};
