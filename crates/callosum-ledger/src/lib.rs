//! The ledger and the audit journal: results that can be trusted, and the record of how they came
//! about.
//!
//! Start with [`Ledger`], which writes, and [`Reader`], which answers questions without a lock.
//! The audit journal is the truth: a commit is a record in it, carrying the entry whole. The
//! ledger file and the hashlog are views of the journal, extended at their tails and brought in
//! line on opening. [`verify()`] and [`replay()`] hold the three
//! against one another.
//!
//! What is deliberately not here: what a task means, when it runs, which executor is known, what
//! must be masked before it is stored; async; anything that prints or reads the environment.
//!
//! Formats and compatibility rules: `docs/formats/`.

#![forbid(unsafe_code)]

mod adoption;
mod align;
pub mod answers;
mod archive_name;
mod archives;
mod audit;
mod audit_buffer;
mod audit_search;
mod backup;
pub mod canonical;
mod chain;
pub mod checkpoint;
mod checksum;
mod clock_skew;
mod compression;
mod creation;
mod entry;
mod error_code;
mod event;
mod group;
mod growing;
mod hashlog;
mod journal;
mod ledger;
mod ledger_file;
mod leftovers;
mod lines;
pub mod locks;
pub mod merkle;
mod notice;
mod open_files;
mod open_ledger;
mod past;
mod paths;
mod position;
pub mod proof;
mod quarantine;
mod reader;
mod recovery;
mod replay;
mod rotation;
pub mod signed_note;
mod stock;
mod taken;
mod task_id;
mod twins;
pub mod verify;
mod views;
mod watermark;

pub use crate::{
    align::{OpenError, Repair, RepairKind},
    answers::Answers,
    archive_name::ArchiveName,
    audit::{AuditPlace, AuditQuery, AuditReadError, AuditReader, UnreadableLine},
    audit_search::{SearchPlace, Searched},
    backup::{Backup, BackupError},
    checksum::{Checksum, InvalidChecksum},
    clock_skew::{DayAhead, day_ahead},
    creation::{Adoption, CreateError, Creation},
    entry::{Entry, EntryError, NewEntry},
    error_code::{ErrorCode, UnknownErrorCode},
    event::{AuditEvent, AuditRecord, Event, Spawn, UnknownEvent},
    growing::GrowingChecksum,
    journal::JournalError,
    ledger::{Ledger, LedgerOptions, WriteError},
    ledger_file::{LedgerFileError, LedgerVersion},
    notice::{Journal, Noticed, notice, waiting},
    past::{Past, PastError, past},
    paths::LedgerPaths,
    reader::{
        ExecutorStats, Found, GoneArchive, LedgerState, Place, Query, ReadError, Reader,
        StateStats, Stats,
    },
    recovery::{RecoverError, RecoverFrom, RecoverOptions, Recovered},
    replay::{Difference, Replay, ReplayError, replay},
    rotation::Rotated,
    task_id::{InvalidTaskId, TaskId},
    verify::{Verification, verify, verify_within},
};
