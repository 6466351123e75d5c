//! [`Circuits`]: the circuits of a project's executors, as this machine keeps them.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use callosum_host::{Clock, Disk, DiskError, FileLock, LockError};
use serde::{Deserialize, Serialize};

use super::breaker::{Admission, Circuit, Rules};

/// Timeout for the lock of another process that writes a circuit (Seed CAL §5.3).
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// The format that this version writes.
const FORMAT: u32 = 1;

/// The circuits of a project's executors (`docs/formats/circuits.md`).
#[derive(Clone, Debug)]
pub struct Circuits {
    /// The disk.
    pub disk: Disk,
    /// The file, in a folder of the machine's home.
    pub file: PathBuf,
    /// Tells the time of day.
    pub clock: Clock,
    /// When a circuit opens.
    pub rules: Rules,
}

/// The file's content.
#[derive(Debug, Default, Serialize, Deserialize)]
struct StoredCircuit {
    format: u32,
    circuits: BTreeMap<String, Circuit>,
}

/// Reason that a circuit is not known, or not stored.
#[derive(Debug, thiserror::Error)]
pub enum CircuitsError {
    /// The file is not one that this version reads.
    #[error("`{}` does not contain valid circuit states", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The parse error.
        source: serde_json::Error,
    },
    /// Another process holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The disk does not take it.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Circuits {
    /// Returns the present state of a circuit. Changes nothing.
    pub fn look(&self, executor: &str) -> Result<Admission, CircuitsError> {
        let kept = self.read()?;
        let circuit = kept.circuits.get(executor).copied().unwrap_or_default();
        Ok(circuit.admits(self.clock.now(), self.rules))
    }

    /// Asks whether a task may go to the executor. Of several that ask while it is half open, one
    /// is admitted.
    pub fn admit(&self, executor: &str) -> Result<Admission, CircuitsError> {
        let seen = self.look(executor)?;
        if seen != Admission::HalfOpen {
            return Ok(seen);
        }
        let mut admission = Admission::Closed;
        self.change(executor, |circuit| {
            let now = self.clock.now();
            admission = circuit.admits(now, self.rules);
            circuit.trying(now, self.rules)
        })?;
        Ok(admission)
    }

    /// Takes note of how a try went. Says whether the circuit is open now.
    pub fn tell(&self, executor: &str, succeeded: bool) -> Result<bool, CircuitsError> {
        if self.rules.failures == 0 {
            return Ok(false);
        }
        let known = self.read()?.circuits.contains_key(executor);
        if succeeded && !known {
            return Ok(false);
        }
        let mut is_open = false;
        self.change(executor, |circuit| {
            let after = circuit.after(succeeded, self.clock.now(), self.rules);
            is_open = after.opened.is_some();
            after
        })?;
        Ok(is_open)
    }

    fn change(
        &self,
        executor: &str,
        change: impl FnOnce(Circuit) -> Circuit,
    ) -> Result<(), CircuitsError> {
        if let Some(folder) = self.file.parent() {
            self.disk.create_private_dir(folder)?;
        }
        let lock = self.file.with_extension("lock");
        let _held = FileLock::acquire_private(&self.disk, &lock, LOCK_TIMEOUT)?;
        let mut kept = self.read()?;
        let before = kept.circuits.remove(executor).unwrap_or_default();
        let after = change(before);
        if after != Circuit::default() {
            kept.circuits.insert(executor.to_owned(), after);
        }
        if after != before {
            kept.format = FORMAT;
            let bytes = serde_json::to_vec(&kept).expect("numbers and texts are JSON");
            self.disk.replace(&self.file, &bytes, 0o600)?;
        }
        Ok(())
    }

    fn read(&self) -> Result<StoredCircuit, CircuitsError> {
        let Some(bytes) = self.disk.read_if_there(&self.file)? else {
            return Ok(StoredCircuit::default());
        };
        serde_json::from_slice(&bytes).map_err(|source| CircuitsError::Unreadable {
            path: self.file.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next process knows what one process learns.
    #[test]
    fn a_circuit_is_kept_from_one_run_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let run = |second: i64| Circuits {
            disk: Disk::real(),
            file: folder.path().join("circuits/p.json"),
            clock: Clock::fixed(
                jiff::Timestamp::from_second(1_000 + second).unwrap(),
                Duration::ZERO,
            ),
            rules: Rules {
                failures: 2,
                pause: Duration::from_mins(1),
            },
        };
        assert!(!run(0).tell("x", true).unwrap());
        assert!(!run(0).file.exists());
        assert!(!run(0).tell("x", false).unwrap());
        assert!(run(0).tell("x", false).unwrap());
        assert!(matches!(
            run(10).admit("x").unwrap(),
            Admission::Open { .. }
        ));
        assert_eq!(run(10).admit("y").unwrap(), Admission::Closed);
        assert_eq!(run(60).admit("x").unwrap(), Admission::HalfOpen);
        assert!(matches!(
            run(61).admit("x").unwrap(),
            Admission::Open { .. }
        ));
        assert!(!run(62).tell("x", true).unwrap());
        assert_eq!(run(62).admit("x").unwrap(), Admission::Closed);
    }
}
