//! Making a proof from the journal and the last checkpoint.

use std::path::PathBuf;

use callosum_host::{Disk, DiskError, LockError};

use super::format::Proof;
use crate::{
    checkpoint::{JournalWalk, KeyError, LastSigned, TrustStore, days_at_rest, last_signed},
    journal::Record,
    merkle::{hash_leaf, prove_inclusion, root_of_inclusion},
    paths::LedgerPaths,
    task_id::TaskId,
};

/// Error of making a proof.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process kept the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The keys cannot be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The journal has no entry of this task.
    #[error("the audit journal contains no entry of task `{task_id}`")]
    NoEntry {
        /// The task.
        task_id: TaskId,
    },
    /// Nothing was signed, or nothing that covers the record.
    #[error("no checkpoint covers record {seq}")]
    NotSigned {
        /// The record's number.
        seq: u64,
    },
    /// The last checkpoint is not one of this machine's.
    #[error("the last checkpoint in `{}` was not made on this machine", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The journal differs from what was signed, so that nothing in it can be proved.
    #[error("the audit journal differs from the checkpoint of its {size} records")]
    Inconsistent {
        /// The size of the last checkpoint.
        size: u64,
    },
}

/// Proves that the journal has the record that stored a task's entry, against the last checkpoint.
///
/// Reads the journal up to that checkpoint, and holds 32 bytes in memory for each record of it.
pub fn prove(
    disk: &Disk,
    paths: &LedgerPaths,
    witness: &TrustStore,
    task_id: &TaskId,
) -> Result<Proof, ProveError> {
    let days = days_at_rest(disk, paths)?;
    let last = last_signed(disk, witness)?;
    let size = last.as_ref().map_or(0, |last| last.checkpoint.size);
    let (mut leaves, mut found, mut seq) = (Vec::new(), None, 0);
    JournalWalk::new(disk, &days).each(|_, line| {
        seq += 1;
        if seq <= size {
            leaves.push(hash_leaf(line.bytes));
        }
        // One record of many is looked at twice: first whether the id is in it at all.
        if memchr::memmem::find(line.bytes, task_id.as_str().as_bytes()).is_some()
            && let Ok(record) = Record::read(line.bytes)
            && record.stores()
            && record.head.task_id.as_deref() == Some(task_id.as_str())
        {
            found = Some((seq, line.bytes.to_vec()));
        }
        true
    })?;
    let (seq, record) = found.ok_or_else(|| ProveError::NoEntry {
        task_id: task_id.clone(),
    })?;
    let LastSigned {
        note,
        checkpoint,
        key,
    } = last.ok_or(ProveError::NotSigned { seq })?;
    let key = key.ok_or_else(|| ProveError::Foreign {
        path: witness.path(),
    })?;
    if seq > checkpoint.size {
        return Err(ProveError::NotSigned { seq });
    }
    let index = seq - 1;
    let path = prove_inclusion(&leaves, index as usize).filter(|path| {
        let leaf = leaves[index as usize];
        leaves.len() as u64 == checkpoint.size
            && root_of_inclusion(leaf, index, checkpoint.size, path) == Some(checkpoint.root)
    });
    match path {
        Some(path) => Ok(Proof {
            key,
            record,
            index,
            path,
            checkpoint,
            note,
        }),
        None => Err(ProveError::Inconsistent {
            size: checkpoint.size,
        }),
    }
}
