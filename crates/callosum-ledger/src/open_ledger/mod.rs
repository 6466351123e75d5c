//! [`OpenLedger`]: a ledger file that is open for reading, compressed or not.
//!
//! Offsets are those of the ledger as it was written, regardless of compression. [`members`] is the
//! form in which archives are compressed here, which can be read in part; a ledger that another
//! program compressed is inflated as a whole.

mod members;

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError, DiskFile, OpenHow, disk::Operation};
use flate2::read::MultiGzDecoder;

use self::members::Members;
pub(crate) use self::members::compress;
use crate::{archive_name::ArchiveName, hashlog::ReadRange, paths::LedgerPaths};

/// Maximum number of bytes to inflate if the size is unknown: the largest threshold at which a
/// ledger is archived, and an entry beyond.
const MOST: u64 = 4_200_000_000;

/// A ledger file that is open to be read.
#[derive(Debug)]
pub(crate) enum OpenLedger {
    /// As it was written.
    Plain(DiskFile),
    /// Compressed by us.
    Members(Members),
    /// Compressed by another program.
    Inflated { path: PathBuf, bytes: Vec<u8> },
}

impl OpenLedger {
    /// Opens the ledger at `path`, or the compressed one next to it if that is gone.
    pub(crate) fn open(disk: &Disk, path: &Path) -> Result<Self, DiskError> {
        if is_compressed(path) {
            return Self::open_compressed(disk.open(path, OpenHow::READ)?);
        }
        match disk.open(path, OpenHow::READ) {
            Err(gone) if gone.is_absent() => {
                match disk.open_if_there(&compressed_path(path), OpenHow::READ)? {
                    Some(file) => Self::open_compressed(file),
                    None => Err(gone),
                }
            }
            opened => opened.map(Self::Plain),
        }
    }

    fn open_compressed(file: DiskFile) -> Result<Self, DiskError> {
        let file = match Members::open(file)? {
            Ok(members) => return Ok(Self::Members(members)),
            Err(file) => file,
        };
        let stored = file.read_all()?;
        let mut bytes = Vec::new();
        let inflated = MultiGzDecoder::new(&stored[..])
            .take(MOST + 1)
            .read_to_end(&mut bytes);
        match inflated {
            Ok(_) if bytes.len() as u64 <= MOST => Ok(Self::Inflated {
                path: file.path().to_owned(),
                bytes,
            }),
            Ok(_) => Err(corrupt(file.path(), "it is larger than a ledger can be")),
            Err(_) => Err(corrupt(file.path(), "it is not gzip output")),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Plain(file) => file.path(),
            Self::Members(members) => members.path(),
            Self::Inflated { path, .. } => path,
        }
    }

    /// The whole ledger.
    pub(crate) fn read_all(&self) -> Result<Vec<u8>, DiskError> {
        match self {
            Self::Plain(file) => file.read_all(),
            Self::Members(members) => members.read_range(0, members.size() as usize),
            Self::Inflated { bytes, .. } => Ok(bytes.clone()),
        }
    }
}

impl ReadRange for OpenLedger {
    fn size(&self) -> Result<u64, DiskError> {
        match self {
            Self::Plain(file) => file.size(),
            Self::Members(members) => Ok(members.size()),
            Self::Inflated { bytes, .. } => Ok(bytes.len() as u64),
        }
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        match self {
            Self::Plain(file) => file.read_range(offset, len),
            Self::Members(members) => members.read_range(offset, len),
            Self::Inflated { bytes, .. } => {
                let from = usize::try_from(offset).map_or(bytes.len(), |at| at.min(bytes.len()));
                let until = from.saturating_add(len).min(bytes.len());
                Ok(bytes[from..until].to_vec())
            }
        }
    }
}

/// Returns an archive's original bytes, compressed or not; `None` if it is missing.
pub(crate) fn read_archive(
    disk: &Disk,
    paths: &LedgerPaths,
    name: &ArchiveName,
) -> Result<Option<Vec<u8>>, DiskError> {
    match OpenLedger::open(disk, &paths.archive(name)) {
        Ok(ledger) => ledger.read_all().map(Some),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a file was read and its contents are corrupt.
pub(crate) fn is_corrupt(error: &DiskError) -> bool {
    error.source.kind() == std::io::ErrorKind::InvalidData
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// Returns the path of a ledger's compressed form, in the same folder.
pub(crate) fn compressed_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".gz");
    path.with_file_name(name)
}

fn corrupt(path: &Path, what: &str) -> DiskError {
    DiskError {
        operation: Operation::Read,
        path: path.to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned()),
    }
}
