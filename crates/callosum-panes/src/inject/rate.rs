//! [`Bucket`]: the rate limit of a pane. Pure; the caller stores it.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Injections that may follow each other at once. Two agents that answer each other's messages would otherwise fill
/// each other's context without end; five leave room for a task, a correction and a few answers.
pub const CAPACITY: u32 = 5;

/// Time after which one more injection is allowed: six in a minute, about as fast as a person types prompts.
pub const REFILL: Duration = Duration::from_secs(10);

/// A token bucket. Starts full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Tokens it holds at most.
    capacity: u32,
    /// Milliseconds that one token takes.
    refill_ms: u64,
    /// Milliseconds of refill that are used up. 0 is full, `capacity * refill_ms` is empty.
    used_ms: u64,
    /// When `used_ms` was right.
    at: Timestamp,
}

impl Bucket {
    /// Returns a full bucket of [`CAPACITY`] and [`REFILL`].
    pub fn new(now: Timestamp) -> Self {
        Self::with(CAPACITY, REFILL, now)
    }

    /// Returns a full bucket. A capacity or time of 0 counts as the smallest possible.
    pub fn with(capacity: u32, refill: Duration, now: Timestamp) -> Self {
        let refill_ms = u64::try_from(refill.as_millis()).unwrap_or(u64::MAX);
        Self {
            capacity: capacity.max(1),
            refill_ms: refill_ms.max(1),
            used_ms: 0,
            at: now,
        }
    }

    /// Takes a token, or returns the time until there is one.
    ///
    /// A clock that was set back refills nothing and takes nothing away.
    pub fn take(&mut self, now: Timestamp) -> Result<(), Duration> {
        let passed = now.duration_since(self.at).as_millis();
        let passed = u64::try_from(passed).unwrap_or(0);
        // A bucket from a file may hold anything.
        let refill_ms = self.refill_ms.max(1);
        let full = u64::from(self.capacity.max(1)).saturating_mul(refill_ms);
        self.used_ms = self.used_ms.min(full).saturating_sub(passed);
        self.at = now;
        let after = self.used_ms.saturating_add(refill_ms);
        if after > full {
            return Err(Duration::from_millis(after - full));
        }
        self.used_ms = after;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_000_000_000 + millis).unwrap()
    }

    #[test]
    fn five_go_at_once_and_then_one_every_ten_seconds() {
        let mut bucket = Bucket::new(at(0));
        for _ in 0..CAPACITY {
            assert_eq!(bucket.take(at(0)), Ok(()));
        }
        assert_eq!(bucket.take(at(0)), Err(REFILL));
        assert_eq!(bucket.take(at(9_999)), Err(Duration::from_millis(1)));
        assert_eq!(bucket.take(at(10_000)), Ok(()));
        assert_eq!(bucket.take(at(10_000)), Err(REFILL));
        assert_eq!(bucket.take(at(1_000_000)), Ok(()));
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let mut bucket = Bucket::with(1, REFILL, at(60_000));
        assert_eq!(bucket.take(at(60_000)), Ok(()));
        assert_eq!(bucket.take(at(0)), Err(REFILL));
        assert_eq!(bucket.take(at(10_000)), Ok(()));
    }

    #[test]
    fn a_bucket_from_a_file_is_bounded() {
        let text = r#"{"capacity":0,"refill_ms":0,"used_ms":18446744073709551615,"at":"2026-01-01T00:00:00Z"}"#;
        let mut bucket: Bucket = serde_json::from_str(text).unwrap();
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        assert!(bucket.take(start).is_err());
        let later: Timestamp = "2026-01-01T00:00:01Z".parse().unwrap();
        assert_eq!(bucket.take(later), Ok(()));
    }

    proptest::proptest! {
        #[test]
        fn no_order_of_moments_allows_more_than_the_rate(mut moments: Vec<u32>) {
            moments.sort_unstable();
            let mut bucket = Bucket::new(at(0));
            let taken = moments.iter().filter(|moment| bucket.take(at(i64::from(**moment))).is_ok());
            let taken = taken.count() as u64;
            let last = moments.last().copied().unwrap_or_default();
            proptest::prop_assert!(taken <= u64::from(CAPACITY) + u64::from(last) / 10_000);
        }
    }
}
