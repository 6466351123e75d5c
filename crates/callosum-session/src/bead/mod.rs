//! Beads: tasks with their decisions and hand-offs, a YAML file each, which people and other tools
//! write too.
//!
//! Start with [`Bead`], the parsed content of one file, and [`Beads`], the folder. `document`
//! changes a file line by line, so that comments, unknown keys and the order of things stay; each
//! change is read back before it is kept. [`ready`] lists the beads that can be worked on.

mod beads;
mod change;
mod document;
mod id;
mod index;
mod lint;
mod merge;
mod ready;
mod view;

pub(crate) use self::{
    beads::ReadError,
    index::Mark,
    merge::merged,
    view::{ASSUMPTION, GROUNDING, REPLACES, USER_INPUT, evidence_of, evidence_value, needed},
};
pub use self::{
    beads::{Beads, Listing, Oddity, Unread},
    change::{BeadUpdate, CreateBeadError, NewBead, UpdateBeadError},
    document::{Sheet, SheetError, Step},
    id::BeadId,
    index::Row,
    lint::{LAST_PRIORITY, STATUSES, circles},
    ready::{is_closed, ready},
    view::{Bead, BeadDecision},
};
