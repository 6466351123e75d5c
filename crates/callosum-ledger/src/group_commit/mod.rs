//! A group of requests that are written together.
//!
//! Start with [`Writer::write`], which one thread runs for all that wait, under the locks.
//! [`request`] is what they ask for and are told, [`known_tasks`] which ids are taken, [`mark`] when the
//! watermark is set.

mod known_tasks;
mod request;
mod watermark_policy;
mod writer;

pub(crate) use self::{
    request::{Done, Request, Written},
    writer::Writer,
};
