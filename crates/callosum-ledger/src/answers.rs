//! Whole answers by their hash: what an executor said, kept beside the summary that was stored.
//!
//! The format: `docs/formats/answers.md`.

use std::{
    io,
    path::{Path, PathBuf},
};

use callosum_host::{
    Disk, DiskError,
    disk::{EntryKind, Operation},
};

use crate::{checksum::Checksum, error_code::ErrorCode, paths::LedgerPaths};

/// The store of a project's whole answers.
#[derive(Clone, Debug)]
pub struct Answers {
    disk: Disk,
    folder: PathBuf,
}

/// Why an answer was not given back.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// Its file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Its file is not what was stored.
    #[error("the answer in `{}` hashes to {actual}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it hashes to.
        actual: Checksum,
    },
}

impl AnswerError {
    /// The seed's code for it.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Disk(_) => ErrorCode::DiskFailure,
            Self::Damaged { .. } => ErrorCode::ChecksumMismatch,
        }
    }
}

impl Answers {
    /// The store of the project; its folder is created with the first answer.
    pub fn new(disk: Disk, paths: &LedgerPaths) -> Self {
        Self {
            disk,
            folder: paths.answers.clone(),
        }
    }

    /// Stores an answer and gives the hash to ask for it by.
    ///
    /// The answer is on disk when this returns. One that is there already is not written again,
    /// unless its file was damaged. Only its owner may read it. Fails where the folder that it
    /// belongs in is a link.
    pub fn put(&self, answer: &[u8]) -> Result<Checksum, DiskError> {
        let checksum = Checksum::of(answer);
        let path = self.path(&checksum);
        if self.disk.read_if_there(&path)?.as_deref() == Some(answer) {
            return Ok(checksum);
        }
        if let Some(folder) = path.parent() {
            self.disk.create_dir_all(folder)?;
            refuse_link(&self.disk, folder)?;
        }
        self.disk.replace(&path, answer, 0o600)?;
        Ok(checksum)
    }

    /// Gives an answer back, checked against its hash; `None` where it was never stored.
    pub fn get(&self, checksum: &Checksum) -> Result<Option<Vec<u8>>, AnswerError> {
        let path = self.path(checksum);
        let Some(answer) = self.disk.read_if_there(&path)? else {
            return Ok(None);
        };
        let actual = Checksum::of(&answer);
        if actual == *checksum {
            Ok(Some(answer))
        } else {
            Err(AnswerError::Damaged { path, actual })
        }
    }

    fn path(&self, checksum: &Checksum) -> PathBuf {
        let hex = checksum.to_string();
        let (folder, name) = hex.split_at(2);
        self.folder.join(folder).join(name)
    }
}

/// Refuses a folder that is a link: whoever wrote the repository may have put it there.
fn refuse_link(disk: &Disk, folder: &Path) -> Result<(), DiskError> {
    match disk.stat(folder)? {
        Some(found) if found.kind == EntryKind::Link => Err(DiskError {
            operation: Operation::Write,
            path: folder.to_owned(),
            source: io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is a symbolic link, and nothing is written through one",
            ),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use callosum_host::OpenHow;

    use super::*;

    fn store() -> (tempfile::TempDir, Answers) {
        let folder = tempfile::tempdir().unwrap();
        let paths = LedgerPaths::in_root(folder.path());
        (folder, Answers::new(Disk::real(), &paths))
    }

    #[test]
    fn an_answer_is_given_back_by_its_hash_and_stored_once() {
        let (folder, answers) = store();
        let checksum = answers.put(b"abc").unwrap();
        assert_eq!(answers.put(b"abc").unwrap(), checksum);
        assert_eq!(
            answers.get(&checksum).unwrap().as_deref(),
            Some(&b"abc"[..])
        );
        assert_eq!(answers.get(&Checksum::of(b"other")).unwrap(), None);
        let path = folder
            .path()
            .join(".cal_answers/ba/7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Disk::real().read(&path).unwrap(), b"abc");
    }

    /// CAL-ERR-4: a changed byte is E004, and storing the answer again mends it.
    #[test]
    fn a_damaged_answer_is_told_from_a_whole_one_and_mended_by_the_next_put() {
        let (_folder, answers) = store();
        let checksum = answers.put(b"abc").unwrap();
        let path = answers.path(&checksum);
        answers.disk.replace(&path, b"abd", 0o644).unwrap();
        let error = answers.get(&checksum).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ChecksumMismatch);
        answers.put(b"abc").unwrap();
        assert!(answers.get(&checksum).unwrap().is_some());
    }

    /// CAL-SEC-1: a whole answer is its owner's alone.
    #[test]
    fn only_its_owner_may_read_an_answer() {
        let (_folder, answers) = store();
        let checksum = answers.put(b"abc").unwrap();
        let file = answers.disk.open(&answers.path(&checksum), OpenHow::READ);
        assert_eq!(file.unwrap().mode().unwrap(), Some(0o600));
    }

    /// CAL-SEC-1: nothing is written where a link in the store leads.
    #[test]
    fn a_linked_folder_of_answers_is_refused_by_name() {
        let (folder, answers) = store();
        let outside = folder.path().join("outside");
        answers.disk.create_dir_all(&outside).unwrap();
        answers.disk.create_dir_all(&answers.folder).unwrap();
        symlink(&outside, answers.folder.join("ba")).unwrap();
        let error = answers.put(b"abc").unwrap_err();
        assert!(error.to_string().contains(".cal_answers/ba"), "{error}");
        assert_eq!(answers.disk.list_dir(&outside).unwrap(), []);
    }
}
