//! State that outlives an agent's context: the notes, the beads and the trajectory of a project,
//! and whether their claims hold.
//!
//! Start with [`Zones`], the location of every file, and [`notes`]. [`evidence`] checks whether the
//! quotes of a claim are still in the tree.
//!
//! Deliberately not here: printing, the environment, the wire formats of clients' hooks, and
//! searching the tree. People and older scripts write these files too; nothing here takes their
//! bytes away.

#![forbid(unsafe_code)]

mod attribution;
pub mod bead;
pub mod budget;
pub mod checkpoint;
mod claim_scope;
mod config;
mod context_zone;
mod cross_repo;
mod decide;
mod decision_history;
mod design_docs;
pub mod divergence;
pub mod evidence;
mod evidence_edit;
mod fingerprints;
pub mod ghost;
pub mod grounding;
mod handoff;
pub mod heal;
mod incremental;
pub mod merge;
pub mod notes;
mod pending_handoffs;
mod quotes;
mod rebuild;
pub mod recovery;
mod rename_history;
mod renames;
mod sanitize;
mod session_start;
mod source;
pub mod sync;
pub mod system;
mod timestamp;
pub mod trajectory;
mod transaction;
mod untracked_decisions;
mod yaml;
mod zones;

pub use crate::{
    claim_scope::ClaimScope,
    config::{Config, Enforcement, UnknownKey},
    cross_repo::{Crossing, quoted_from},
    decide::{DecideError, Decided, EvidenceKind, NewDecision},
    design_docs::{Design, Designs},
    handoff::{HandedOff, HandoffError, NewHandoff},
    incremental::{Delta, Synthesized},
    pending_handoffs::PendingHandoff,
    rename_history::RenameHistory,
    renames::FileMove,
    sanitize::{MOST_TITLE_WORDS, Redaction, is_short_title, one_line, title_of},
    session_start::{RenderedStart, SessionStart},
    transaction::{LockedSession, ResumedStep, Session, SessionError, Written},
    zones::{ZoneError, Zones},
};
