//! [`Slots`]: how many tasks an executor has at once over all runs on this machine.
//!
//! A slot is a locked file: whoever is killed gives it back. Within one run the schedule keeps to the
//! same number, so that a run never waits for itself. A run that an executor began takes no slot: it
//! would wait for the one that waits for it.

use std::{path::PathBuf, thread, time::Duration};

use callosum_host::{Disk, DiskError, FileLock, LockFile, process::Cancel};

/// How often a slot is looked for while all are taken.
const EACH: Duration = Duration::from_millis(50);

/// The slots of the executors of a machine (`docs/formats/slots.md`).
#[derive(Clone, Debug)]
pub struct Slots {
    /// The disk.
    pub disk: Disk,
    /// The folder of the machine's home in which the files are.
    pub folder: PathBuf,
}

/// A slot, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    _lock: FileLock,
}

impl Slots {
    /// Takes one of `count` slots of what `name` names, in letters and digits, and waits for one where
    /// all are taken; `None` where somebody cancelled.
    ///
    /// `waits` is called once before the first wait. Which of several that wait comes first is
    /// not said.
    pub fn take(
        &self,
        name: &str,
        count: usize,
        cancel: &Cancel,
        waits: &mut dyn FnMut(),
    ) -> Result<Option<Slot>, DiskError> {
        let folder = self.folder.join(name);
        self.disk.create_dir_all(&folder)?;
        let mut told = false;
        while !cancel.is_cancelled() {
            for number in 0..count {
                let file = folder.join(number.to_string());
                if let Some(lock) = LockFile::private().try_acquire(&self.disk, &file)? {
                    return Ok(Some(Slot { _lock: lock }));
                }
            }
            if !std::mem::replace(&mut told, true) {
                waits();
            }
            thread::sleep(EACH);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-ARB-2: as many as there are slots, and whoever comes after waits until one is given back.
    #[test]
    fn a_slot_is_had_by_one_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots {
            disk: Disk::real(),
            folder: folder.path().join("slots"),
        };
        let cancel = Cancel::new().unwrap();
        let mut no_wait = || panic!("there is a slot");
        let take = |waits: &mut dyn FnMut()| slots.take("a1", 2, &cancel, waits).unwrap();
        let first = take(&mut no_wait).unwrap();
        let _second = take(&mut no_wait).unwrap();
        let other = slots.take("b2", 1, &cancel, &mut no_wait).unwrap();
        assert!(other.is_some());
        let mut given_back = Some(first);
        let third = take(&mut || drop(given_back.take()));
        assert!(third.is_some());
        let mut waited = 0;
        let nothing = take(&mut || {
            waited += 1;
            cancel.cancel();
        });
        assert!(nothing.is_none());
        assert_eq!(waited, 1);
    }
}
