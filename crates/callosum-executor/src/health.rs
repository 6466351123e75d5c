//! [`Health`]: whether an executor still answers, asked once in a run of the program.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    handshake::{HandshakeFault, ping},
    registry::Executor,
    runner::ExecutionEnvironment,
};

/// Remembers which executors answered; shared by threads.
#[derive(Debug, Default)]
pub struct Health {
    known: Mutex<BTreeMap<String, Arc<Mutex<HealthState>>>>,
}

/// Health of one executor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HealthState {
    /// It was not asked yet.
    #[default]
    Unknown,
    /// It answered.
    Well,
    /// It did not answer when it was asked last.
    Unwell,
}

impl Health {
    /// Returns a record in which no executor was asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Pings an executor, unless it has answered before (seed CAL §11.3).
    ///
    /// A failure is not remembered: an executor that failed may be asked again, and the caller
    /// decides about retries. Two threads that ask about one executor wait for one ping; others do
    /// not wait.
    pub fn check(
        &self,
        executor: &Executor,
        surroundings: &ExecutionEnvironment,
    ) -> Result<(), HandshakeFault> {
        let slot = Arc::clone(guard(&self.known).entry(executor.id.clone()).or_default());
        let mut standing = guard(&slot);
        if *standing == HealthState::Well {
            return Ok(());
        }
        *standing = HealthState::Unwell;
        ping(executor, surroundings)?;
        *standing = HealthState::Well;
        Ok(())
    }

    /// The ids of those that did not answer when they were asked last, sorted.
    pub fn unwell(&self) -> Vec<String> {
        guard(&self.known)
            .iter()
            .filter(|(_, slot)| *guard(slot) == HealthState::Unwell)
            .map(|(id, _)| id.clone())
            .collect()
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
