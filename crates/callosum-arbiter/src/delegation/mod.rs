//! The delegation engine: a submission goes in, committed entries come out (CAL-FLOW-1).
//!
//! Start with [`run`]. It asks the [`Schedule`](crate::Schedule) what to start, lets workers make
//! one attempt at a time (admission, asking, and handling the result), and reports to the schedule
//! how each went. The `judge` module decides what an answer must be like, without touching
//! anything; the `record` module words the journal's records.
//!
//! Deliberately not here: choosing modes and pauses (decided by the schedule), speaking to
//! executors (agents), durability (ledger), and what a person sees: a [`Watch`] gets the notices.

mod admission;
mod asking;
mod attempt;
mod change;
mod denial;
mod driver;
mod entry;
mod judge;
mod means;
mod record;
mod report;
mod request;
mod reuse;
mod start_mark;
mod stop;
mod time_zone;
mod unreached;

pub use self::{
    change::may_change,
    driver::{RunError, run},
    means::{Means, Provenance, Rules},
    record::{MAY_CHANGE, PLAN_CALL},
    report::{Failure, Report, TaskReport, TaskStatus},
    reuse::Reuse,
    start_mark::StartMark,
    time_zone::time_zone,
};
pub use watch::{Again, Notice, Watch};

mod watch;
