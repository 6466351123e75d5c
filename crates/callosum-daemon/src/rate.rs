//! [`Rates`]: rate limits of connections.
//!
//! Connections are counted, since an event's source can be anything that its author writes. New
//! connections share one allowance, so that closing one and opening the next gains nothing.

use std::{cell::Cell, rc::Rc, time::Duration};

use tokio::time::Instant;

/// So many seconds' worth may come at once.
const BURST_SECONDS: f64 = 2.0;

/// Most that connections that were closed leave to be waited for, in seconds' worth and in events.
const LONGEST_DEBT: (f64, f64) = (2.0, 1000.0);

/// The allowances of all connections.
#[derive(Debug)]
pub(super) struct Rates {
    per_second: f64,
    /// Burst allowance of the next new connection.
    newcomers: Cell<Bucket>,
}

/// Allowance of a connection; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Meter {
    rates: Rc<Rates>,
    own: Cell<Bucket>,
    /// Allowance that it got beyond that of new connections.
    granted: f64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Events that may still be published; below zero if a list was longer than what was left.
    left: f64,
    at: Instant,
}

impl Rates {
    /// Allows each connection `per_second` events, and two seconds' worth at once.
    pub(super) fn new(per_second: u32, now: Instant) -> Self {
        let per_second = f64::from(per_second);
        let left = per_second * BURST_SECONDS;
        Self {
            per_second,
            newcomers: Cell::new(Bucket { left, at: now }),
        }
    }

    /// Returns the allowance of a connection that is made now. It has room for one event at least,
    /// unless those that were closed have published too many.
    pub(super) fn enter(self: &Rc<Self>, now: Instant) -> Meter {
        let pool = self.left(self.newcomers.get(), now);
        let left = if pool < 0.0 { pool } else { pool.max(1.0) };
        self.newcomers.set(Bucket {
            left: pool.min(0.0),
            at: now,
        });
        Meter {
            rates: Rc::clone(self),
            own: Cell::new(Bucket { left, at: now }),
            granted: left - pool,
        }
    }

    fn left(&self, bucket: Bucket, now: Instant) -> f64 {
        let since = now.duration_since(bucket.at).as_secs_f64();
        (bucket.left + since * self.per_second).min(self.per_second * BURST_SECONDS)
    }

    fn leave(&self, left: f64, now: Instant) {
        let (seconds, events) = LONGEST_DEBT;
        let least = -(self.per_second * seconds + events);
        let most = self.per_second * BURST_SECONDS;
        let pool = self.left(self.newcomers.get(), now) + left;
        self.newcomers.set(Bucket {
            left: pool.clamp(least, most),
            at: now,
        });
    }
}

impl Meter {
    /// Takes `count` events from the allowance, or returns the time to wait until one may be
    /// published.
    ///
    /// A connection with anything left may overdraw it with a list, and waits the longer.
    pub(super) fn take(&self, count: usize, now: Instant) -> Result<(), Duration> {
        let left = self.rates.left(self.own.get(), now);
        if left < 1.0 {
            let wait = (1.0 - left) / self.rates.per_second;
            return Err(Duration::from_secs_f64(wait));
        }
        self.own.set(Bucket {
            left: left - count as f64,
            at: now,
        });
        Ok(())
    }

    fn give_back(&self, now: Instant) {
        let left = self.rates.left(self.own.get(), now);
        self.rates.leave(left - self.granted, now);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.give_back(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(per_second: u32) -> (Rc<Rates>, Instant) {
        let start = Instant::now();
        (Rc::new(Rates::new(per_second, start)), start)
    }

    /// CALC-SEC-1: rates are bounded, for each connection by itself, no matter what sources its
    /// events name.
    #[test]
    fn a_connection_that_hands_in_too_many_waits_and_the_others_do_not() {
        let (rates, start) = rates(10);
        let one = rates.enter(start);
        let other = rates.enter(start);
        for _ in 0..20 {
            assert_eq!(one.take(1, start), Ok(()));
        }
        let wait = one.take(1, start).unwrap_err();
        assert!(wait <= Duration::from_millis(100), "{wait:?}");
        assert_eq!(other.take(30, start), Ok(()), "a list overdraws");
        assert!(other.take(1, start).unwrap_err() > Duration::from_secs(1));
        assert_eq!(one.take(1, start + wait), Ok(()));
        std::mem::forget((one, other));
    }

    /// CALC-SEC-1: a connection that follows one that was closed does not begin with more.
    #[test]
    fn closing_a_connection_gains_nothing() {
        let (rates, start) = rates(10);
        let first = rates.enter(start);
        assert_eq!(first.take(50, start), Ok(()));
        first.give_back(start);
        let next = rates.enter(start);
        assert!(next.take(1, start).unwrap_err() > Duration::from_secs(3));
        let later = start + Duration::from_secs(4);
        assert_eq!(next.take(1, later), Ok(()));
        std::mem::forget((first, next));
    }

    /// CALC-SEC-1: connections that publish one event each share the allowance of one, and none is
    /// kept out for good.
    #[test]
    fn connections_of_one_event_share_what_one_has() {
        let (rates, start) = rates(10);
        for _ in 0..20 {
            let meter = rates.enter(start);
            assert_eq!(meter.take(1, start), Ok(()));
            meter.give_back(start);
            std::mem::forget(meter);
        }
        for _ in 0..5 {
            let meter = rates.enter(start);
            let _ = meter.take(1000, start);
            meter.give_back(start);
            std::mem::forget(meter);
        }
        let much_later = start + Duration::from_secs(103);
        assert_eq!(rates.enter(much_later).take(1, much_later), Ok(()));
    }
}
