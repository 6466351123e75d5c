//! Trees in temporary folders, for tests.

use std::path::Path;

use callosum_host::{Disk, OpenHow};
use callosum_source::walk::Scope;

use super::survey::Survey;

/// Writes a tree of files below a new temporary folder.
pub(super) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text.as_bytes());
    }
    folder
}

pub(super) fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    let disk = Disk::real();
    disk.create_dir_all(path.parent().unwrap()).unwrap();
    // Not synced: a test may write thousands, and none outlives it.
    let file = disk.open(&path, OpenHow::READ_WRITE_CREATE).unwrap();
    file.write_at(bytes, 0).unwrap();
}

pub(super) fn survey(root: &Path) -> Survey {
    Survey::read(&Disk::real(), root, &Scope::WHOLE, &mut |_| {}).unwrap()
}
