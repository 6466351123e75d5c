//! Events: [`Draft`], before it is in the log, and [`Event`], as it is stored.
//!
//! Start with [`Draft::read`], which checks submitted events against the seed's schema.
//!
//! Deliberately not here: which events change a task or a message.

mod draft;
mod fault;
mod masking;
mod read;
mod recorded;
mod value;

pub(crate) use self::draft::Stamp;
pub use self::{
    draft::Draft,
    fault::{Faults, InvalidEvent},
    masking::masked,
    read::{DEEPEST, LONGEST},
    recorded::{Event, Foreign},
    value::{UnreadValue, read_value},
};
