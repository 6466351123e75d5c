//! The ledger as its callers see it.
//!
//! - `project`: a project in a temporary folder, with a fixed clock and ids in sequence
//! - `recovery`: backups, and the ways back
//! - `rotation`: archiving, interrupted archiving, replay over many archives
//! - `archives`: files that are archives, those of older programs among them
//! - `writing`: creating, reserving, committing, many threads, two processes' worth of handles
//! - `crashes`: damage by a crash is repaired, a person's changes are not touched
//! - `enumerated_crashes`: every state that a crash may leave, at every step of every way to write
//! - `interrupted_recoveries`: backups, recoveries and checkpoints that a crash or a failing call
//!   interrupts
//! - `failing_calls`: the N-th call fails, for every N and every way to fail
//! - `syncs`: number of writes and syncs of the disk
//! - `checkpoints`: signing on a disk whose calls fail
//! - `clock_skew`: a clock that was ahead and was set right
//! - `keys`: changing the key that signs, interrupted at every call
//! - `odd_files`: ledgers of other versions, and files that a person removed
//! - `audit_buffer`: events that wait while the journal cannot be written
//! - `faults`: full and failing disks, at every single call
//! - `formats`: written files match the pages and schemas

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests fail as the tests themselves do"
)]

mod archives;
mod audit_buffer;
mod checkpoints;
mod clock_skew;
mod crashes;
mod enumerated_crashes;
mod failing_calls;
mod faults;
mod formats;
mod interrupted_recoveries;
mod keys;
mod odd_files;
mod project;
mod recovery;
mod rotation;
mod syncs;
mod writing;
