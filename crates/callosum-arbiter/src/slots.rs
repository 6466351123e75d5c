//! [`Slots`]: limit on an executor's tasks at once over all runs on this machine.
//!
//! A slot is a locked file: a killed process frees it. Within one run the schedule keeps to the
//! same number, so that a run never waits for itself. A run that an executor began takes no slot:
//! it would wait for the one that waits for it.

use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use callosum_host::{Disk, DiskError, FileLock, LockFile, process::Cancel};

/// Interval between looks for a free slot while all are taken.
const EACH: Duration = Duration::from_millis(50);

/// Interval between looks whether it is this run's turn to look for a slot.
const EACH_TURN: Duration = Duration::from_millis(10);

/// Number of failures before it is called waiting: others only pass by.
const PASSING: u32 = 100;

/// Longest wait for a turn; then it goes on without, since the holder may have been stopped.
const PATIENCE: Duration = Duration::from_secs(30);

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
    /// Takes one of the `count` slots of `name`, which has letters and digits, and waits for one if
    /// all are taken; `None` if the run was cancelled.
    ///
    /// Calls `waits` once, when it is clear that it has to wait. A waiting run has the next slot: a
    /// run that frees one and wants another comes after it. The order among several waiting runs is
    /// not specified.
    pub fn take(
        &self,
        name: &str,
        count: usize,
        cancel: &Cancel,
        waits: &mut dyn FnMut(),
    ) -> Result<Option<Slot>, DiskError> {
        let folder = self.folder.join(name);
        self.disk.create_dir_all(&folder)?;
        let mut is_reported = false;
        let mut looked = 0;
        // Who looks at fewer slots must not keep those from the others that it does not look at.
        let turn_of = folder.join(format!("turn-{count}"));
        let until = Instant::now() + PATIENCE;
        let _turn = loop {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            let turn = LockFile::private().try_acquire(&self.disk, &turn_of)?;
            if turn.is_some() || Instant::now() > until {
                break turn;
            }
            looked += 1;
            if looked > PASSING && !std::mem::replace(&mut is_reported, true) {
                waits();
            }
            thread::sleep(EACH_TURN);
        };
        while !cancel.is_cancelled() {
            for number in 0..count {
                let file = folder.join(number.to_string());
                if let Some(lock) = LockFile::private().try_acquire(&self.disk, &file)? {
                    return Ok(Some(Slot { _lock: lock }));
                }
            }
            if !std::mem::replace(&mut is_reported, true) {
                waits();
            }
            thread::sleep(EACH);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// CAL-ARB-2: a run that gives a slot back and wants another does not pass those that wait.
    #[test]
    fn a_waiting_run_has_the_next_slot() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots {
            disk: Disk::real(),
            folder: folder.path().join("slots"),
        };
        let cancel = Cancel::new().unwrap();
        let take = |waits: &mut dyn FnMut()| slots.take("a1", 1, &cancel, waits).unwrap().unwrap();
        let first = take(&mut || panic!("there is a slot"));
        let (waiting, waits) = channel();
        let (had, order) = channel();
        thread::scope(|scope| {
            let had_second = had.clone();
            scope.spawn(move || {
                let second = take(&mut || waiting.send(()).unwrap());
                had_second.send("second").unwrap();
                drop(second);
            });
            waits.recv().unwrap();
            drop(first);
            drop(take(&mut || {}));
            had.send("first again").unwrap();
        });
        assert_eq!(
            order.try_iter().collect::<Vec<_>>(),
            ["second", "first again"]
        );
    }

    /// CAL-ARB-2: a run that waits with a smaller cap does not block others.
    #[test]
    fn a_smaller_cap_keeps_no_slot_from_a_larger_one() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots {
            disk: Disk::real(),
            folder: folder.path().join("slots"),
        };
        let cancel = Cancel::new().unwrap();
        let first = slots.take("a1", 1, &cancel, &mut || {}).unwrap();
        let (waiting, waits) = channel();
        thread::scope(|scope| {
            scope.spawn(|| slots.take("a1", 1, &cancel, &mut || waiting.send(()).unwrap()));
            waits.recv().unwrap();
            let mut no_wait = || panic!("the second slot is free");
            assert!(
                slots
                    .take("a1", 2, &cancel, &mut no_wait)
                    .unwrap()
                    .is_some()
            );
            cancel.cancel();
        });
        drop(first);
    }

    /// CAL-ARB-2: as many as there are slots, and the next one waits until one is free.
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
