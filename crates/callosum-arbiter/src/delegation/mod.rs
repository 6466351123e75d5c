//! The delegation engine: a submission goes in, committed entries come out (CAL-FLOW-1).
//!
//! Start with [`run`]. It asks the [`Schedule`](crate::Schedule) what to start, lets workers make
//! one attempt at a time (admission, asking, and handling the result), and reports to the schedule
//! how each went. The `validate` module decides what an answer must be like, without touching
//! anything; the `record` module words the journal's records.
//!
//! Deliberately not here: choosing modes and pauses (decided by the schedule), speaking to
//! executors (agents), durability (ledger), and what a person sees: a [`Watch`] gets the notices.

mod admission;
mod attempt;
mod attempt_error;
mod context;
mod denied_writes;
mod driver;
mod entry;
mod invoke;
mod record;
mod report;
mod request;
mod reuse;
mod side_effects;
mod start_record;
mod time_zone;
mod unreached;
mod validate;

pub use self::{
    context::{DelegationContext, Provenance, Rules},
    driver::{RunError, run},
    record::{MAY_CHANGE, PLAN_CALL},
    report::{Failure, Report, TaskReport, TaskStatus},
    reuse::Reuse,
    side_effects::may_change,
    start_record::StartMark,
    time_zone::time_zone,
};
pub use observer::{Notice, RetryNotice, Watch};

mod observer;
