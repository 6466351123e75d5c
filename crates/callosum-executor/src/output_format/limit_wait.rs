//! [`LimitWait`]: time that a client has waited for a rate limit, and the wait that it announces.
//!
//! Qwen Code 0.24.4 asks a server that always answers 429 for 385 s, in 84 requests, although it
//! prints early on `Retrying in 240s (attempt 3/10)`. Each line is a sign of life, so no quiet time
//! ends it. Pure: times are arguments.

use std::time::{Duration, Instant};

use super::{classify_error::ErrorText, client_error::ClientError, reset_time::length};

/// The longest time that a client may wait for limits in one run, unless the caller waits longer itself.
pub const LONGEST_CLIENT_WAIT: Duration = Duration::from_secs(90);

/// Phrases before the time that a client is going to wait by itself.
const ANNOUNCED: [&str; 8] = [
    "retrying in ",
    "retrying after ",
    "retry in ",
    "retry after ",
    "waiting ",
    "backing off for ",
    "sleeping for ",
    "trying again in ",
];

/// The time that a client has waited for limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitWait {
    bound: Duration,
    /// Waits that are over.
    past: Duration,
    /// When the server refused first, if the client has done nothing else since.
    since: Option<Instant>,
    /// Whether the line before named a limit: the wait may be announced on a line of its own.
    is_refused: bool,
}

impl LimitWait {
    /// A client that has not waited, and may do so for this long.
    pub(super) fn new(bound: Duration) -> Self {
        Self {
            bound,
            past: Duration::ZERO,
            since: None,
            is_refused: false,
        }
    }

    /// Processes a line of standard error. Returns the complaint once its waits exceed the bound.
    pub(super) fn hear(&mut self, line: &str, now: Instant) -> Option<ErrorText> {
        let line = line.trim();
        let announced = announced(line);
        let names_limit = is_limit(line);
        if !(names_limit || self.is_refused && announced.is_some()) {
            return None;
        }
        self.refuse(line, announced.unwrap_or_default(), now)
    }

    /// Records that the server refused because of a limit, and the wait that the client announces.
    pub(super) fn refuse(
        &mut self,
        words: &str,
        announced: Duration,
        now: Instant,
    ) -> Option<ErrorText> {
        self.is_refused = true;
        let since = *self.since.get_or_insert(now);
        let waited = self.past + now.saturating_duration_since(since) + announced;
        let is_over = waited > self.bound;
        is_over.then(|| {
            let bound = self.bound.as_secs();
            let words = format!("{words} (it may wait for {bound} s in all)");
            ErrorText::of_kind("rate_limit_error", &words)
        })
    }

    /// Records that the client continues its work.
    pub(super) fn goes_on(&mut self, now: Instant) {
        self.is_refused = false;
        if let Some(since) = self.since.take() {
            self.past += now.saturating_duration_since(since);
        }
    }
}

/// Returns the wait that a line announces.
fn announced(line: &str) -> Option<Duration> {
    let lower = line.to_ascii_lowercase();
    ANNOUNCED.iter().find_map(|phrase| {
        let (_, behind) = lower.split_once(phrase)?;
        length(behind)
    })
}

fn is_limit(line: &str) -> bool {
    matches!(
        ErrorText::words(line).classify(),
        ClientError::RateLimited { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of the first line at which a client is ended, each line so many seconds after the first.
    fn ended_at(lines: &[(u64, &str)]) -> Option<usize> {
        let begin = Instant::now();
        let mut wait = LimitWait::new(Duration::from_mins(1));
        lines.iter().position(|(second, line)| {
            match begin.checked_add(Duration::from_secs(*second)) {
                Some(now) if *line == "works" => {
                    wait.goes_on(now);
                    false
                }
                Some(now) => wait.hear(line, now).is_some(),
                None => false,
            }
        })
    }

    /// CAL-ERR-2: a client that announces a longer wait than is allowed is ended at once, and one that asks again and
    /// again once its waits are too long together.
    #[test]
    fn waits_for_a_limit_have_one_bound() {
        assert_eq!(
            ended_at(&[
                (0, "Retrying in 2s (attempt 1/10): Error: 429 status code"),
                (2, "Retrying in 20s (attempt 2/10): Error: 429 status code"),
                (
                    22,
                    "Retrying in 240s (attempt 3/10): Error: 429 status code"
                ),
            ]),
            Some(2)
        );
        assert_eq!(
            ended_at(&[
                (0, "Attempt 3 failed with status 429."),
                (0, "Retrying in 4 min"),
            ]),
            Some(1)
        );
        let again = "Attempt failed with status 429. Retrying with backoff...";
        assert_eq!(
            ended_at(&[(0, again), (30, again), (59, again), (61, again)]),
            Some(3)
        );
        assert_eq!(
            ended_at(&[
                (0, again),
                (40, "works"),
                (500, again),
                (519, again),
                (521, again)
            ]),
            Some(4),
            "the bound holds for all waits of a run together"
        );
    }

    /// Work between refusals is no wait, and other waits are no limit.
    #[test]
    fn work_and_other_waits_do_not_count() {
        let again = "status 429, retrying in 1s";
        assert_eq!(
            ended_at(&[
                (0, again),
                (1, "works"),
                (300, again),
                (301, "works"),
                (700, again)
            ]),
            None
        );
        assert_eq!(ended_at(&[(0, "Waiting 300s for the test suite")]), None);
        assert_eq!(ended_at(&[(0, "Retrying in 300s: ECONNREFUSED")]), None);
    }

    /// CAL-ERR-2: the end of such a client is a limit.
    #[test]
    fn the_end_of_a_client_that_waits_too_long_is_a_limit() {
        let mut wait = LimitWait::new(Duration::from_mins(1));
        let complaint = wait.refuse("rate_limit 429", Duration::from_mins(4), Instant::now());
        let fault = complaint.unwrap().classify();
        assert!(matches!(fault, ClientError::RateLimited { .. }), "{fault}");
    }
}
