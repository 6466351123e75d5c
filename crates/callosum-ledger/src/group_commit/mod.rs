//! A group of requests that are written together.
//!
//! Start with [`Writer::write`], which one thread runs for all that wait, under the locks.
//! [`request`] holds the requests and their results, [`known_tasks`] the ids that are taken,
//! [`watermark_policy`] the schedule of the watermark.

mod known_tasks;
mod request;
mod watermark_policy;
mod writer;

pub(crate) use self::{
    request::{Done, Request, Written},
    writer::Writer,
};
