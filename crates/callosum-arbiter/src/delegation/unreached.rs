//! [`UnreachedPlaces`]: selects which unreached places of executors are reported, one line each, and no more per task than a
//! person reads.
//!
//! Each is in the journal, no matter how often an executor asks for it. Deliberately not here:
//! which places go unreported because a client does without them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::task::TaskIndex;

/// Most places of a task that are reported by name.
const MOST: usize = 8;

/// Places that were reported for the tasks of a run.
#[derive(Debug, Default)]
pub(super) struct UnreachedPlaces(Mutex<BTreeMap<TaskIndex, Places>>);

/// The places of one task, over all its tries.
#[derive(Debug, Default)]
struct Places {
    named: BTreeSet<String>,
    more: BTreeSet<String>,
    /// Number of those that were reported.
    counted: usize,
}

impl UnreachedPlaces {
    /// Whether a place is to be reported by its name now: it was not before, and there are few of
    /// them.
    pub(super) fn is_news(&self, task: TaskIndex, place: &str) -> bool {
        let mut all = self.all();
        let places = all.entry(task).or_default();
        if places.named.contains(place) {
            return false;
        }
        if places.named.len() < MOST {
            places.named.insert(place.to_owned());
            return true;
        }
        places.more.insert(place.to_owned());
        false
    }

    /// Returns the number of further places, if there are more of them than was reported.
    pub(super) fn more(&self, task: TaskIndex) -> Option<usize> {
        let mut all = self.all();
        let places = all.get_mut(&task)?;
        let count = places.more.len();
        let is_news = count > std::mem::replace(&mut places.counted, count);
        is_news.then_some(count)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<TaskIndex, Places>> {
        // Its sets are whole even if another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_reported_once_a_task_and_many_are_counted() {
        let unreached = UnreachedPlaces::default();
        let (one, other) = (TaskIndex(0), TaskIndex(1));
        assert!(unreached.is_news(one, "a:1") && unreached.is_news(other, "a:1"));
        assert!(!unreached.is_news(one, "a:1"));
        assert_eq!(unreached.more(one), None);
        let is_named = |number: &usize| unreached.is_news(one, &format!("h{number}:1"));
        assert_eq!((0..3000).filter(is_named).count(), MOST - 1);
        assert_eq!(unreached.more(one), Some(3000 + 1 - MOST));
        assert_eq!(unreached.more(one), None);
        assert_eq!(unreached.more(other), None);
    }
}
