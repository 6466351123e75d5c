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
mod ids;
mod journal;
mod next_action;
mod outcome;
mod payload_store;
mod record;
mod record_count;
mod record_mac;
mod rules;
mod standing;
mod state;
#[cfg(test)]
mod tests;
mod tree;
mod watch;

pub use self::{
    begin::{BeginError, NewRun, begin},
    driver::{Providers, RunEnd, RunError, RunMeans, drive},
    ids::{CallKey, InvalidRunId, KeyBase, RunId, arguments_text},
    journal::{
        PassedOver, ReadRun, ReadRunError, RunJournal, Runs, SealedJournal, read_run, read_runs,
    },
    next_action::{Action, Attention, Divergence, Need, next},
    outcome::call_outcome,
    payload_store::{KeepingError, keep, result_of, text_of},
    record::{
        Answer, Answered, ConstitutionPrint, Decided, DecisionWord, Ended, Intended, KeptFailure,
        KeptText, OutcomeWord, Paused, RUN_FORMAT, RecordError, Resumed, Ruled, RulingWord,
        RunLimits, RunRecord, Spent, Started, StepRecord, StoredRecord,
    },
    record_count::RunTally,
    record_mac::{ForeignRecords, MissingRecords, RunSeals, RunSecret},
    rules::{RulesStamp, RunRules},
    standing::{Grant, standing},
    state::{CallStanding, CallState, RunState, UnfittingRecord},
    tree::{ActionKind, ActionNode, DelegatedTask, tree_of},
    watch::{RunNotice, RunWatch},
};
