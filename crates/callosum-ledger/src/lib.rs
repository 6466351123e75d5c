//! The ledger and the audit journal: results that can be trusted, and the record of how they came
//! about.
//!
//! Start with [`Ledger`], which writes, and [`Reader`], which answers questions without a lock. The
//! audit journal is the truth: a commit is a record in it, carrying the entry whole. The ledger
//! file and the hashlog are views of the journal, extended at their tails and brought in line on
//! opening. [`verify()`] and [`replay()`] compare the three.
//!
//! Deliberately not here: the meaning of a task, its schedule, the list of executors, and masking
//! before storage; async; anything that prints or reads the environment.
//!
//! Formats and compatibility rules: `docs/formats/`.

#![forbid(unsafe_code)]

pub mod answers;
mod archive_files;
mod archive_import;
mod archive_name;
mod audit;
mod audit_buffer;
mod audit_search;
mod backup;
mod chain;
pub mod checkpoint;
mod cleanup;
mod clock_skew;
mod compression;
mod create_error;
mod derived_files;
mod duplicate_archive;
mod entry;
mod error_code;
mod event;
mod group_commit;
mod hashlog;
mod import_source;
mod init;
mod inventory;
mod journal;
mod ledger;
mod ledger_file;
mod lines;
pub mod locks;
pub mod merkle;
mod open_error;
mod open_files;
mod open_ledger;
mod paths;
mod point_in_time;
mod position;
pub mod proof;
mod quarantine;
mod reader;
mod reconcile;
mod recovery;
mod repair;
mod replay;
mod rotation;
pub mod signed_note;
mod task_id;
mod try_append;
pub mod verify;
mod watermark;
mod write_error;

pub use crate::{
    answers::Answers,
    archive_name::ArchiveName,
    audit::{AuditPlace, AuditQuery, AuditReadError, AuditReader, UnreadableLine},
    audit_search::{SearchPlace, Searched},
    backup::{Backup, BackupError},
    clock_skew::{DayAhead, day_ahead},
    create_error::CreateError,
    entry::{Entry, EntryError, NewEntry},
    error_code::{ErrorCode, UnknownErrorCode},
    event::{AuditEvent, AuditRecord, Event, Spawn, UnknownEvent},
    init::{Adoption, Creation},
    journal::JournalError,
    ledger::{Ledger, LedgerOptions},
    ledger_file::{LedgerFileError, LedgerVersion},
    open_error::OpenError,
    paths::LedgerPaths,
    point_in_time::{Past, PastError, past},
    reader::{
        EntryLocation, ExecutorStats, GoneArchive, LedgerState, LocatedEntry, Query, ReadError,
        Reader, StateStats, Stats,
    },
    recovery::{RecoverError, RecoverFrom, RecoverOptions, Recovered},
    repair::{Repair, RepairKind},
    replay::{Difference, Replay, ReplayError, replay},
    rotation::Rotated,
    task_id::{InvalidTaskId, TaskId},
    try_append::{Journal, Noticed, notice, waiting},
    verify::{Verification, verify, verify_within},
    write_error::WriteError,
};
