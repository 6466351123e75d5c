//! Full text of executor answers, stored by hash next to the summary in the ledger.
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

use crate::{error_code::ErrorCode, paths::LedgerPaths};
use callosum_json::Checksum;

/// The store of a project's whole answers.
#[derive(Clone, Debug)]
pub struct Answers {
    disk: Disk,
    folder: PathBuf,
    /// Fallback folder for answers that the project cannot store, next to the machine's audit
    /// buffer.
    refuge: Option<PathBuf>,
}

/// Error of a lookup of a stored answer.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// Its file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The content of its file has changed.
    #[error("the answer in `{}` has the hash {actual}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Checksum of the stored bytes.
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
            refuge: paths
                .audit_buffer
                .as_ref()
                .map(|buffer| buffer.with_extension("answers")),
        }
    }

    /// Stores an answer and returns its hash, which is the key for [`get`](Self::get).
    ///
    /// The answer is on disk when this returns: in the project, or in the machine's home if the
    /// project is not writable. An existing one is not written again, unless its file was damaged.
    /// Only its owner may read it. Fails if its folder is a link.
    pub fn put(&self, answer: &[u8]) -> Result<Checksum, DiskError> {
        let checksum = Checksum::of(answer);
        let refused = match self.put_in(&self.folder, &checksum, answer) {
            Ok(()) => return Ok(checksum),
            Err(error) => error,
        };
        let is_unwritable = refused.is_full() || refused.is_read_only() || refused.is_denied();
        match self.refuge.as_ref().filter(|_| is_unwritable) {
            Some(refuge) if self.put_in(refuge, &checksum, answer).is_ok() => Ok(checksum),
            _ => Err(refused),
        }
    }

    fn put_in(&self, folder: &Path, checksum: &Checksum, answer: &[u8]) -> Result<(), DiskError> {
        let path = path_in(folder, checksum);
        if self.disk.read_if_there(&path)?.as_deref() == Some(answer) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            self.disk.create_dir_all(folder)?;
            refuse_link(&self.disk, folder)?;
        }
        self.disk.replace(&path, answer, 0o600).map(drop)
    }

    /// Returns the file of an answer, if there is one.
    pub fn file(&self, checksum: &Checksum) -> Option<PathBuf> {
        let folders = [Some(&self.folder), self.refuge.as_ref()];
        let mut files = folders
            .into_iter()
            .flatten()
            .map(|folder| path_in(folder, checksum));
        files.find(|file| self.disk.exists(file).unwrap_or_default())
    }

    /// Returns an answer, checked against its hash; `None` if it was never stored.
    pub fn get(&self, checksum: &Checksum) -> Result<Option<Vec<u8>>, AnswerError> {
        for folder in [Some(&self.folder), self.refuge.as_ref()]
            .into_iter()
            .flatten()
        {
            let path = path_in(folder, checksum);
            let Some(answer) = self.disk.read_if_there(&path)? else {
                continue;
            };
            let actual = Checksum::of(&answer);
            return if actual == *checksum {
                Ok(Some(answer))
            } else {
                Err(AnswerError::Damaged { path, actual })
            };
        }
        Ok(None)
    }
}

fn path_in(folder: &Path, checksum: &Checksum) -> PathBuf {
    let hex = checksum.to_string();
    let (part, name) = hex.split_at(2);
    folder.join(part).join(name)
}

/// Rejects a folder that is a symbolic link: the author of the repository may have put it there.
fn refuse_link(disk: &Disk, folder: &Path) -> Result<(), DiskError> {
    match disk.stat(folder)? {
        Some(found) if found.kind == EntryKind::Link => Err(DiskError {
            operation: Operation::Write,
            path: folder.to_owned(),
            source: io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is a symbolic link, and Callosum does not write through links",
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

    /// CAL-ERR-5: a paid answer outlives a project that cannot be written.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_answer_that_the_project_cannot_take_is_kept_in_the_machines_home() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let paths = LedgerPaths {
            audit_buffer: Some(home.join("p.jsonl")),
            // No user can create a file here, not even root.
            answers: PathBuf::from("/sys/.cal_answers"),
            ..LedgerPaths::in_root(folder.path())
        };
        let answers = Answers::new(Disk::real(), &paths);
        let checksum = answers.put(b"abc").unwrap();
        assert_eq!(
            answers.get(&checksum).unwrap().as_deref(),
            Some(&b"abc"[..])
        );
        assert!(home.join("p.answers/ba").is_dir());
        let nowhere = LedgerPaths {
            audit_buffer: None,
            ..paths
        };
        assert!(Answers::new(Disk::real(), &nowhere).put(b"abc").is_err());
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
    fn a_damaged_answer_is_distinguished_from_a_whole_one_and_mended_by_the_next_put() {
        let (_folder, answers) = store();
        let checksum = answers.put(b"abc").unwrap();
        let path = path_in(&answers.folder, &checksum);
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
        let file = answers
            .disk
            .open(&path_in(&answers.folder, &checksum), OpenHow::READ);
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
