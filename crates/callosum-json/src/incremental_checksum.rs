//! [`GrowingChecksum`]: the SHA-256 of a file that grows at its end, computed again and again.
//!
//! Deliberately not here: noticing that earlier bytes have changed. A caller that wants to know
//! takes the checksum of the whole file.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use callosum_host::{Disk, DiskError, OpenHow, disk::FileId};

use crate::checksum::{Checksum, Hashing};

/// Number of bytes at the end that are read each time: an append overwrites the brackets that end a
/// ledger.
const TAIL: u64 = 4096;

/// A file whose checksum costs only what was appended to it since the last time.
///
/// All of it is read only the first time, and when another file has its name or it has become
/// shorter.
#[derive(Debug)]
pub struct GrowingChecksum {
    path: PathBuf,
    largest: u64,
    begun: Mutex<Option<Begun>>,
}

/// The hash of a file's first bytes.
#[derive(Clone, Debug)]
struct Begun {
    file: FileId,
    len: u64,
    hashing: Hashing,
}

impl GrowingChecksum {
    /// Of the file under this name, as long as it has no more than `largest` bytes.
    pub fn new(path: &Path, largest: u64) -> Self {
        Self {
            path: path.to_owned(),
            largest,
            begun: Mutex::new(None),
        }
    }

    /// Returns the checksum of the file as it is, if the bytes read before are still in it; `None`
    /// if there is no file, or it is too large.
    pub fn now(&self, disk: &Disk) -> Result<Option<Checksum>, DiskError> {
        let Some(file) = disk.open_if_there(&self.path, OpenHow::READ)? else {
            return Ok(None);
        };
        let len = file.size()?;
        if len > self.largest {
            return Ok(None);
        }
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let id = file.id()?;
        let is_same = |known: &Begun| Some(known.file) == id && known.len <= len;
        let mut known = begun.take().filter(is_same);
        let (from, mut hashing) = match known.take() {
            Some(known) => (known.len, known.hashing),
            None => (0, Hashing::default()),
        };
        let new = file.read_range(from, (len - from) as usize)?;
        let (lasting, tail) = new.split_at(new.len().saturating_sub(TAIL as usize));
        hashing.push(lasting);
        if let Some(file) = id {
            *begun = Some(Begun {
                file,
                len: from + lasting.len() as u64,
                hashing: hashing.clone(),
            });
        }
        hashing.push(tail);
        Ok(Some(hashing.end()))
    }

    /// Returns the checksum of the whole file; `None` if there is no file, or it is too large.
    pub fn recompute(&self, disk: &Disk) -> Result<Option<Checksum>, DiskError> {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.now(disk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene {
        folder: tempfile::TempDir,
        disk: Disk,
    }

    impl Scene {
        fn path(&self) -> PathBuf {
            self.folder.path().join("file")
        }

        /// Appends as the ledger does, over the last bytes.
        fn append(&self, over: u64, bytes: &[u8]) {
            let file = self.disk.open(&self.path(), OpenHow::READ_WRITE).unwrap();
            file.write_at(bytes, file.size().unwrap() - over).unwrap();
        }
    }

    fn scene() -> Scene {
        let scene = Scene {
            folder: tempfile::tempdir().unwrap(),
            disk: Disk::real(),
        };
        scene
            .disk
            .replace(&scene.path(), &[b'x'; 10_000], 0o644)
            .unwrap();
        scene
    }

    #[test]
    fn it_is_that_of_the_whole_file_as_it_grows() {
        let scene = scene();
        let growing = GrowingChecksum::new(&scene.path(), 1 << 20);
        for round in 0..5_u8 {
            let whole = scene.disk.read(&scene.path()).unwrap();
            let now = growing.now(&scene.disk).unwrap();
            assert_eq!(now, Some(Checksum::of(&whole)), "{round}");
            scene.append(2, &vec![round; 3_000 * usize::from(round)]);
        }
    }

    #[test]
    fn another_file_and_a_shorter_one_are_read_whole() {
        let scene = scene();
        let growing = GrowingChecksum::new(&scene.path(), 1 << 20);
        growing.now(&scene.disk).unwrap();
        for content in [vec![b'y'; 12_000], vec![b'z'; 5_000], Vec::new()] {
            scene.disk.replace(&scene.path(), &content, 0o644).unwrap();
            let now = growing.now(&scene.disk).unwrap();
            assert_eq!(now, Some(Checksum::of(&content)));
        }
    }

    /// REQ-GOV-005: a reader that starts from scratch sees a change to earlier bytes.
    #[test]
    fn a_reader_from_scratch_sees_a_change_at_the_beginning() {
        let scene = scene();
        let growing = GrowingChecksum::new(&scene.path(), 1 << 20);
        let before = growing.now(&scene.disk).unwrap();
        scene.append(10_000, b"edited");
        assert_eq!(growing.now(&scene.disk).unwrap(), before);
        let whole = scene.disk.read(&scene.path()).unwrap();
        assert_eq!(
            growing.recompute(&scene.disk).unwrap(),
            Some(Checksum::of(&whole))
        );
    }

    #[test]
    fn a_large_file_and_a_missing_one_have_none() {
        let scene = scene();
        let small = GrowingChecksum::new(&scene.path(), 9_999);
        assert_eq!(small.now(&scene.disk).unwrap(), None);
        let missing = GrowingChecksum::new(&scene.folder.path().join("none"), 1);
        assert_eq!(missing.now(&scene.disk).unwrap(), None);
    }
}
