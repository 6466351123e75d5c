//! What outlives an agent's context: the notes, the beads and the trajectory of a project, and
//! whether what they claim holds.
//!
//! Start with [`Zones`], which says where everything stands, and [`notes`]. [`evidence`] says of a
//! claim whether its quote still stands in the tree.
//!
//! What is deliberately not here: printing, the environment, the wire formats of clients' hooks, and
//! searching the tree. People and older scripts write these files too; nothing here takes their
//! bytes away.

#![forbid(unsafe_code)]

pub mod bead;
pub mod budget;
pub mod checkpoint;
mod cite;
mod config;
mod crossing;
mod decide;
mod delta;
mod design;
pub mod evidence;
mod fingerprints;
pub mod fork;
pub mod ghost;
pub mod grounding;
mod handoff;
pub mod heal;
pub mod merge;
pub mod notes;
mod opening;
mod pickup;
mod reached;
mod rebuild;
mod recorded;
pub mod recovery;
mod renames;
mod seen;
mod span;
mod statement;
mod step;
pub mod system;
pub mod trajectory;
mod unrecorded;
mod yaml;
mod zones;

pub use crate::{
    config::{Config, Enforcement, UnknownKey},
    crossing::{Crossing, quoted_from},
    decide::{DecideError, Decided, Ground, NewDecision},
    delta::{Delta, Synthesized},
    design::{Design, Designs},
    handoff::{HandedOff, HandoffError, NewHandoff},
    opening::{Opening, Told},
    pickup::Waiting,
    renames::{FileMove, RenameHistory},
    span::Whose,
    statement::{MOST_TITLE_WORDS, Redaction, is_short_title, one_line, title_of},
    step::{Held, Mended, Session, SessionError, Written},
    zones::{ZoneError, Zones},
};
