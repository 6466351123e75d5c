//! Random ids, from the system or in sequence for a test.

use std::{
    cell::RefCell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use uuid::Builder;

/// Bytes that the system is asked for at once: of sixteen ids one waits for it.
const READY: usize = 256;

/// Makes unique ids; cheap to clone, and clones share a sequence.
#[derive(Clone, Debug)]
pub struct Ids(Option<Arc<AtomicU64>>);

impl Ids {
    /// Ids from the system's randomness.
    pub fn random() -> Self {
        Self(None)
    }

    /// Ids that count up from 1, for a test that compares output.
    pub fn sequence() -> Self {
        Self(Some(Arc::new(AtomicU64::new(1))))
    }

    /// A UUID of version 4, in its hyphenated lower-case form.
    pub fn uuid_v4(&self) -> String {
        let bytes = match &self.0 {
            None => RANDOM.with_borrow_mut(Random::next),
            Some(next) => {
                let count = u128::from(next.fetch_add(1, Ordering::Relaxed));
                count.to_be_bytes()
            }
        };
        let id = Builder::from_random_bytes(bytes).into_uuid();
        id.hyphenated().to_string()
    }
}

thread_local! {
    static RANDOM: RefCell<Random> = const { RefCell::new(Random { bytes: [0; READY], used: READY }) };
}

/// Random bytes of a thread, each used once.
struct Random {
    bytes: [u8; READY],
    used: usize,
}

impl Random {
    fn next(&mut self) -> [u8; 16] {
        if self.used == READY {
            getrandom::fill(&mut self.bytes).expect("the system has random bytes");
            self.used = 0;
        }
        let (taken, _) = self.bytes[self.used..].split_at_mut(16);
        self.used += 16;
        let mut bytes = [0; 16];
        bytes.swap_with_slice(taken);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_differ_also_when_the_system_is_asked_again() {
        let ids = Ids::random();
        let all: std::collections::BTreeSet<String> = (0..100).map(|_| ids.uuid_v4()).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|id| id.len() == 36 && &id[14..15] == "4"));
    }

    #[test]
    fn ids_in_sequence_are_valid_version_4() {
        let ids = Ids::sequence();
        assert_eq!(ids.uuid_v4(), "00000000-0000-4000-8000-000000000001");
        assert_eq!(ids.uuid_v4(), "00000000-0000-4000-8000-000000000002");
    }
}
