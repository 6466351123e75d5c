//! [`Repair`]: a file that was aligned with the journal, and the event that records it.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, OpenHow};

use crate::{
    event::{AuditEvent, Event},
    journal::Torn,
    open_error::OpenError,
    paths::LedgerPaths,
    quarantine,
};

/// Something that was brought in line with the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The file.
    pub path: PathBuf,
    /// Kind of the repair.
    pub what: RepairKind,
    /// Path to which the removed bytes were moved.
    pub kept: Option<PathBuf>,
}

/// Kind of a repair of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairKind {
    /// A torn end was cut off.
    Cut {
        /// Number of bytes.
        bytes: u64,
    },
    /// It stood at an earlier state and was brought up to date.
    Extended {
        /// Number of bytes added.
        bytes: u64,
    },
    /// It was missing, torn or laid out differently, and was rewritten.
    Rewritten,
    /// It had not got its place when a rotation was interrupted, and has it now.
    Archived,
    /// It was in an archive's place, next to the one that the journal lists, and was moved away.
    SetAside,
}

impl RepairKind {
    /// The word for it in the journal.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cut { .. } => "cut",
            Self::Extended { .. } => "extended",
            Self::Rewritten => "rewritten",
            Self::Archived => "archived",
            Self::SetAside => "set_aside",
        }
    }
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match self.what {
            RepairKind::Cut { bytes } => {
                write!(f, "cut {bytes} bytes of an incomplete record from `{path}`")?;
            }
            RepairKind::Extended { bytes } => {
                write!(f, "updated `{path}` ({bytes} bytes)")?;
            }
            RepairKind::Rewritten => write!(f, "rebuilt `{path}` from the audit journal")?,
            RepairKind::Archived => write!(f, "finished the rotation to `{path}`")?,
            RepairKind::SetAside => write!(
                f,
                "removed `{path}`: it was not the archive that the audit journal lists, which \
                 exists next to it"
            )?,
        }
        match &self.kept {
            Some(kept) => write!(f, "; the previous content is in `{}`", kept.display()),
            None => Ok(()),
        }
    }
}

pub(crate) fn cut_torn(
    disk: &Disk,
    paths: &LedgerPaths,
    torn: Option<&Torn>,
) -> Result<Vec<Repair>, OpenError> {
    let Some(Torn { path, offset }) = torn else {
        return Ok(Vec::new());
    };
    let file = disk
        .open(path, OpenHow::READ_WRITE)
        .map_err(OpenError::Unrecorded)?;
    let bytes = file.read_from(*offset)?;
    let kept = quarantine::keep(disk, paths, path, &bytes)?;
    file.set_len(*offset)
        .and_then(|()| file.sync_all().inspect_err(|_| drop(file.write_again())))
        .map_err(OpenError::Unrecorded)?;
    Ok(vec![Repair {
        path: path.clone(),
        what: RepairKind::Cut {
            bytes: bytes.len() as u64,
        },
        kept: Some(kept),
    }])
}

pub(crate) fn extended(path: &Path, bytes: usize) -> Repair {
    Repair {
        path: path.to_owned(),
        what: RepairKind::Extended {
            bytes: bytes as u64,
        },
        kept: None,
    }
}

/// Returns the event of a file that was aligned with the journal.
pub(crate) fn repair_event(paths: &LedgerPaths, repair: &Repair) -> AuditEvent {
    AuditEvent {
        event: Event::Repair,
        ..rollback_event(paths, repair)
    }
}

/// Returns the event of a file that was rebuilt from the journal.
pub(crate) fn rollback_event(paths: &LedgerPaths, repair: &Repair) -> AuditEvent {
    let mut event = AuditEvent::new(Event::Rollback).with(
        "file",
        paths.shown(&repair.path).to_string_lossy().into_owned(),
    );
    event.status = Some(repair.what.name().to_owned());
    match &repair.kept {
        Some(kept) => event.with("kept", paths.shown(kept).to_string_lossy().into_owned()),
        None => event,
    }
}
