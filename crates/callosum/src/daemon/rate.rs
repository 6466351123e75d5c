//! [`Rates`]: how many events a source may hand in.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

/// Most sources that are told apart at once.
const MOST_SOURCES: usize = 1024;

/// So many seconds' worth may come at once.
const BURST_SECONDS: f64 = 2.0;

/// A bucket for each source, which fills at an even pace.
#[derive(Debug)]
pub(super) struct Rates {
    per_second: f64,
    buckets: HashMap<String, Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Events that may still be handed in; below zero where a list was longer than what was left.
    left: f64,
    at: Instant,
}

impl Rates {
    /// Lets each source hand in `per_second` events, and two seconds' worth at once.
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            per_second: f64::from(per_second),
            buckets: HashMap::new(),
        }
    }

    /// Takes `count` events of `source`, or says how long to wait until one may be handed in.
    ///
    /// Who has anything left may overdraw it with a list, and waits the longer.
    pub(super) fn take(
        &mut self,
        source: &str,
        count: usize,
        now: Instant,
    ) -> Result<(), Duration> {
        let full = self.per_second * BURST_SECONDS;
        let fill = |bucket: &Bucket| {
            let since = now.duration_since(bucket.at).as_secs_f64();
            (bucket.left + since * self.per_second).min(full)
        };
        if !self.buckets.contains_key(source) && self.buckets.len() >= MOST_SOURCES {
            self.buckets.retain(|_, bucket| fill(bucket) < full);
            if self.buckets.len() >= MOST_SOURCES {
                return Err(Duration::from_secs(1));
            }
        }
        let left = self.buckets.get(source).map_or(full, fill);
        if left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - left) / self.per_second));
        }
        let left = left - count as f64;
        self.buckets
            .insert(source.to_owned(), Bucket { left, at: now });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-SEC-1: rates are bounded, for each source by itself.
    #[test]
    fn a_source_that_hands_in_too_many_waits_and_the_others_do_not() {
        let mut rates = Rates::new(10);
        let start = Instant::now();
        for _ in 0..20 {
            assert_eq!(rates.take("codex", 1, start), Ok(()));
        }
        let wait = rates.take("codex", 1, start).unwrap_err();
        assert!(wait <= Duration::from_millis(100), "{wait:?}");
        assert_eq!(
            rates.take("gemini-cli", 30, start),
            Ok(()),
            "a list overdraws"
        );
        assert!(rates.take("gemini-cli", 1, start).unwrap_err() > Duration::from_secs(1));
        assert_eq!(rates.take("codex", 1, start + wait), Ok(()));
    }

    /// CALC-SEC-1: names that are made up on the way take no memory without end.
    #[test]
    fn sources_are_bounded_and_idle_ones_make_room() {
        let mut rates = Rates::new(10);
        let start = Instant::now();
        for number in 0..MOST_SOURCES {
            assert!(rates.take(&number.to_string(), 1, start).is_ok());
        }
        assert!(rates.take("one-more", 1, start).is_err());
        assert!(rates.take("7", 1, start).is_ok());
        let later = start + Duration::from_secs(1);
        assert!(rates.take("one-more", 1, later).is_ok());
        assert!(rates.buckets.len() < 10);
    }
}
