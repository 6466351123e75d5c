//! Where bytes go that a repair takes out of a file: nothing is thrown away.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};

use crate::{checksum::Checksum, paths::LedgerPaths};

/// Keeps bytes that stood in `path`, durably, and says where.
///
/// The name is the file's own and the first digits of the bytes' SHA-256: the same bytes are kept
/// once. Only their owner may read them.
pub(crate) fn keep(
    disk: &Disk,
    paths: &LedgerPaths,
    path: &Path,
    bytes: &[u8],
) -> Result<PathBuf, DiskError> {
    disk.create_dir_all(&paths.quarantine)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hash = Checksum::of(bytes).to_string();
    let name = name.trim_start_matches('.');
    let kept = paths.quarantine.join(format!("{name}.{}", &hash[..16]));
    disk.create(&kept, bytes, 0o600)?;
    Ok(kept)
}
