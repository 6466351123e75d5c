//! Random ids, from the system or in sequence for a test.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use uuid::{Builder, Uuid};

/// Makes ids that nobody else makes; cheap to clone, and clones share a sequence.
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
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that makes ids"
    )]
    pub fn uuid_v4(&self) -> String {
        let id = match &self.0 {
            None => Uuid::new_v4(),
            Some(next) => {
                let count = u128::from(next.fetch_add(1, Ordering::Relaxed));
                Builder::from_random_bytes(count.to_be_bytes()).into_uuid()
            }
        };
        id.hyphenated().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_sequence_are_valid_version_4() {
        let ids = Ids::sequence();
        assert_eq!(ids.uuid_v4(), "00000000-0000-4000-8000-000000000001");
        assert_eq!(ids.uuid_v4(), "00000000-0000-4000-8000-000000000002");
    }
}
