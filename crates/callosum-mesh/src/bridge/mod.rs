//! The bridge: a JSON file of the seed's form (Seed CALC §4, layer 3) that shows the board, and
//! that people, agents and old scripts may edit by hand.
//!
//! Start with [`Bridge::sync`]. The log is the truth and the file a projection of it. Edits of the
//! file are compared with the projection that their author began with, [`merge`]d item by item, and
//! become events. Edits that cannot be applied are reported, and their text is kept.
//!
//! Deliberately not here: noticing at once that the file has changed. Every verb looks at it. The
//! daemon watches it by comparing one [`FileStamp`] with the next, and separates concurrent authors
//! with a [`StandbyFile`].

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
