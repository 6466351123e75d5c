//! Trajectories: the actions of an agent, one JSON object per line, one file per day.
//!
//! Start with [`Trajectory`], the files of one agent. `handoff_scope` computes the claims that its
//! hand-offs cover. `record` reads any content: torn lines, pretty-printed records, phases of
//! others. A prefix of a file is as readable as the file. Nothing in them is ever changed; records
//! are added at the end. Old files are compressed, and still read.

mod agent;
mod day_file;
mod ends;
mod file_read;
mod files;
mod handoff_scope;
mod lean;
mod lines;
mod record;
mod retention;

#[cfg(test)]
pub(crate) use self::record::kept;
pub use self::{
    agent::{Agent, AgentError, DEFAULT_AGENT},
    files::{Read, Trajectory, UnreadLines},
    record::{Bad, Record, Records, records},
    retention::{Pruned, Retention},
};
pub(crate) use self::{
    day_file::{DayFile, content_of, day_files},
    file_read::each_record,
    handoff_scope::{COVERS, covers},
    lean::AnyRecord,
    record::{RecordForm, name_of_claim},
};
