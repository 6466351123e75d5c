//! The bridge: a JSON file of the seed's form (Seed CALC §4, layer 3) that shows the board, and that people,
//! agents and old scripts may edit by hand.
//!
//! Start with [`Bridge::sync`]. The log is the truth and the file a projection of it; what somebody
//! wrote into the file is held against the projection that they began with, [`merge`]d item by
//! item, and becomes events. What is not taken over is told of, and what was written kept.
//!
//! Deliberately not here: noticing at once that the file has changed. Whoever runs a verb looks, and the daemon
//! watches, by comparing one [`FileStamp`] with the next, and parts those who write with a [`StandbyFile`].

mod apply;
mod document;
mod drop_ins;
mod edit;
mod file_stamp;
mod file_version;
mod item;
mod merge;
mod merge_base;
mod standby_file;
mod store;
mod sync;
mod tasks;
mod write_delay;

pub use self::{
    document::{Document, NoDocument},
    drop_ins::Stray,
    edit::{Conflict, Edit, Merged, Wrote},
    file_stamp::FileStamp,
    merge::merge,
    standby_file::StandbyFile,
    store::NEXT,
    sync::{Bridge, DROP_INS, FILE, KEPT, Rejected, Synced},
    write_delay::WriteDelay,
};
