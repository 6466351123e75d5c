//! [`RecoveryPolicy`]: consequence of a failure for the task that met it (Seed CAL §7.1, §7.3).
//!
//! Decides only. The driver discards an answer with a wrong checksum before its task runs again.
//! That is all that a rollback takes when nothing unchecked is ever written.

use std::time::Duration;

use callosum_ledger::ErrorCode;

/// The longest pause before another try, even if the arithmetic gives more (Seed CAL §7.3,
/// `MAX_BACKOFF`, which it leaves open).
pub const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// The base that the others are stated against (Seed CAL §14.2, `CAL_BACKOFF_BASE_MS`).
pub const DEFAULT_BACKOFF_BASE: Duration = Duration::from_millis(500);

/// Tries after the first, for all codes but E007 (REQ-ERR-002).
pub const DEFAULT_RETRY_MAX: u32 = 3;

/// Tries after the first for E007, if no number is configured (REQ-ERR-002, REQ-MSP-003).
const LOCK_RETRIES: u32 = 5;

/// The largest share of a pause that chance adds to it (Seed CAL §7.3).
const JITTER: f64 = 0.2;

/// Consequence of a failure for the task that met it, and the pause before trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryPolicy {
    /// Tries after the first; 0 turns retrying off. At the default of 3, E007 has 5; any other
    /// number is the user's own, and holds for E007 as well.
    pub retry_max: u32,
    /// The first pause after a crash. The other pauses keep their proportion to it: with twice
    /// the default, all are twice as long.
    pub backoff_base: Duration,
    /// Seed of the random numbers, so that the same run makes the same pauses.
    pub seed: u64,
}

impl Default for RecoveryPolicy {
    fn default() -> Self {
        Self {
            retry_max: DEFAULT_RETRY_MAX,
            backoff_base: DEFAULT_BACKOFF_BASE,
            seed: 0,
        }
    }
}

/// Reaction to a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Run the task again after a pause.
    Retry {
        /// Time to wait.
        delay: Duration,
    },
    /// The task has failed; others go on.
    GiveUp,
    /// The task has failed, and nothing else may start: what was to be stored can't be
    /// (REQ-ERR-003).
    Halt,
}

impl RecoveryPolicy {
    /// Says what to do after a failure with `code`, the task having been retried `retries` times.
    ///
    /// `who` tells tasks apart, so that those that fail together do not try again together.
    pub fn after(&self, code: ErrorCode, retries: u32, who: u64) -> Remedy {
        let allowed = match code {
            // The journal is what every other promise rests on; without it nothing is tried.
            ErrorCode::AuditFailure => 0,
            ErrorCode::LockTimeout if self.retry_max == DEFAULT_RETRY_MAX => LOCK_RETRIES,
            _ => self.retry_max,
        };
        if retries < allowed {
            return Remedy::Retry {
                delay: self.delay(code, retries, who),
            };
        }
        match code {
            ErrorCode::DiskFailure | ErrorCode::AuditFailure => Remedy::Halt,
            _ => Remedy::GiveUp,
        }
    }

    /// Decides what to do if an answer exists and only the ledger did not take it, after so many
    /// tries.
    ///
    /// The executor is not asked again then: to wait for E007's lock costs nothing but time, and
    /// has its five tries however few tries the user wants of those that are paid for.
    pub fn after_commit(&self, code: ErrorCode, tries: u32, who: u64) -> Remedy {
        let retry_max = match code {
            ErrorCode::LockTimeout => self.retry_max.max(LOCK_RETRIES),
            _ => self.retry_max,
        };
        Self { retry_max, ..*self }.after(code, tries, who)
    }

    fn delay(&self, code: ErrorCode, retries: u32, who: u64) -> Duration {
        // Milliseconds, at the default base: the first pause, and the longest.
        let (first, longest) = match code {
            ErrorCode::ExecutorCrash => (500.0, 1500.0),
            ErrorCode::DiskFailure => (250.0, 1000.0),
            ErrorCode::LockTimeout => (500.0, f64::INFINITY),
            ErrorCode::MalformedAnswer => (2000.0, 2000.0),
            ErrorCode::ChecksumMismatch => return Duration::ZERO,
            ErrorCode::Timeout | ErrorCode::MemoryOverflow | ErrorCode::AuditFailure => {
                (1000.0, f64::INFINITY)
            }
        };
        let scale = self.backoff_base.as_secs_f64() / DEFAULT_BACKOFF_BASE.as_secs_f64();
        let grown = first * 2_f64.powi(retries.min(63).cast_signed());
        let jitter = if code == ErrorCode::MalformedAnswer {
            0.0
        } else {
            JITTER * self.chance(retries, who)
        };
        let millis = (grown * (1.0 + jitter)).min(longest) * scale;
        Duration::from_secs_f64((millis / 1000.0).min(MAX_BACKOFF.as_secs_f64()))
    }

    /// A number from 0 to 1 that depends on nothing but the seed, the task and the try.
    fn chance(&self, retries: u32, who: u64) -> f64 {
        let place = who.wrapping_mul(64).wrapping_add(u64::from(retries));
        fastrand::Rng::with_seed(self.seed ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15)).f64()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pauses in milliseconds until the policy stops trying, and what it says then.
    fn course(policy: RecoveryPolicy, code: ErrorCode) -> (Vec<u128>, Remedy) {
        let mut pauses = Vec::new();
        loop {
            match policy.after(code, pauses.len() as u32, 0) {
                Remedy::Retry { delay } => pauses.push(delay.as_millis()),
                last => return (pauses, last),
            }
        }
    }

    #[track_caller]
    fn check(code: ErrorCode, bare: &[u128], last: Remedy) {
        let (pauses, end) = course(RecoveryPolicy::default(), code);
        assert_eq!(end, last, "{code:?}");
        assert_eq!(pauses.len(), bare.len(), "{code:?}: {pauses:?}");
        for (pause, bare) in pauses.iter().zip(bare) {
            assert!(
                (*bare..=bare * 6 / 5).contains(pause),
                "{code:?}: {pauses:?}"
            );
        }
    }

    /// CAL-ERR-1…8, REQ-ERR-002, REQ-ERR-003, REQ-ERR-005, REQ-MSP-003: the table of §7.1.
    #[test]
    fn each_code_has_the_seeds_pauses_and_end() {
        check(ErrorCode::ExecutorCrash, &[500, 1000, 1500], Remedy::GiveUp);
        check(ErrorCode::Timeout, &[1000, 2000, 4000], Remedy::GiveUp);
        check(
            ErrorCode::MalformedAnswer,
            &[2000, 2000, 2000],
            Remedy::GiveUp,
        );
        check(ErrorCode::ChecksumMismatch, &[0, 0, 0], Remedy::GiveUp);
        check(ErrorCode::DiskFailure, &[250, 500, 1000], Remedy::Halt);
        check(
            ErrorCode::MemoryOverflow,
            &[1000, 2000, 4000],
            Remedy::GiveUp,
        );
        check(
            ErrorCode::LockTimeout,
            &[500, 1000, 2000, 4000, 8000],
            Remedy::GiveUp,
        );
        check(ErrorCode::AuditFailure, &[], Remedy::Halt);
    }

    /// CAL-ERR-3: "fixed", so without chance.
    #[test]
    fn the_pause_after_a_malformed_answer_is_exact() {
        let (pauses, _) = course(RecoveryPolicy::default(), ErrorCode::MalformedAnswer);
        assert_eq!(pauses, [2000, 2000, 2000]);
    }

    /// REQ-ERR-002: a user who wants fewer tries does not wait 15 s on a lock that is stuck.
    #[test]
    fn a_number_of_ones_own_holds_for_a_busy_lock_too() {
        for (retry_max, tries) in [(0, 0), (1, 1), (2, 2), (3, 5), (4, 4), (5, 5)] {
            let policy = RecoveryPolicy {
                retry_max,
                ..RecoveryPolicy::default()
            };
            assert_eq!(course(policy, ErrorCode::LockTimeout).0.len(), tries);
        }
    }

    /// REQ-ERR-002, REQ-MSP-003: an answer that was paid for waits for a busy lock, even if no
    /// executor is to be asked again.
    #[test]
    fn an_answer_that_is_there_waits_for_the_lock_however_few_the_retries() {
        for (retry_max, tries) in [(0, 5), (1, 5), (3, 5), (7, 7)] {
            let policy = RecoveryPolicy {
                retry_max,
                ..RecoveryPolicy::default()
            };
            let retries = |code| {
                let is_retried =
                    |tries: &u32| policy.after_commit(code, *tries, 0) != Remedy::GiveUp;
                (0..20).take_while(is_retried).count()
            };
            assert_eq!(retries(ErrorCode::LockTimeout), tries, "{retry_max}");
            assert_eq!(
                policy.after_commit(ErrorCode::DiskFailure, retry_max, 0),
                Remedy::Halt
            );
        }
    }

    #[test]
    fn no_retries_means_none_for_any_code() {
        let policy = RecoveryPolicy {
            retry_max: 0,
            ..RecoveryPolicy::default()
        };
        for code in ErrorCode::ALL {
            assert_eq!(course(policy, code).0, [], "{code:?}");
        }
    }

    proptest! {
        /// REQ-GOV-004: the same seed makes the same pauses; none is longer than the bound.
        #[test]
        fn pauses_are_repeatable_and_bounded(
            code in prop::sample::select(&ErrorCode::ALL[..]),
            retries in any::<u32>(),
            who in any::<u64>(),
            seed in any::<u64>(),
            base_ms in 0_u64..1_000_000,
        ) {
            let policy = RecoveryPolicy {
                retry_max: u32::MAX,
                backoff_base: Duration::from_millis(base_ms),
                seed,
            };
            let remedy = policy.after(code, retries, who);
            prop_assert_eq!(remedy, policy.after(code, retries, who));
            if let Remedy::Retry { delay } = remedy {
                prop_assert!(delay <= MAX_BACKOFF);
            }
        }
    }
}
