//! [`Reset`] as servers tell it, and whether waiting for it is worth it.
//!
//! A time of day is read against the server's own clock, in the same answer: whether ours goes right
//! does not matter.

use std::{
    ops::ControlFlow,
    thread,
    time::{Duration, Instant},
};

use jiff::fmt::{friendly::SpanParser, rfc2822};
use ureq::http::HeaderMap;

use super::{client::header, worker::Answering};
use crate::{
    output_format::{ErrorText, Reset},
    transport::{Event, Limits},
};

/// Shortest wait, for servers that name none at all.
const SHORTEST: Duration = Duration::from_secs(1);

/// Longest interval between two reports of a wait.
const EACH: Duration = Duration::from_secs(1);

/// Returns the time of the next try that a server asks for in the headers of its refusal.
pub(super) fn reset(headers: &HeaderMap) -> Option<Reset> {
    if let Some(wait) = header(headers, "retry-after") {
        if let Ok(seconds) = wait.parse() {
            return Some(Reset {
                words: format!("in {}", spoken(seconds)),
                after: Some(Duration::from_secs(seconds)),
            });
        }
        let after = header(headers, "date").and_then(|now| between(&now, &wait));
        let words = format!("at {wait}");
        return Some(Reset { words, after });
    }
    // Either may be what is used up: the later one lifts both.
    let resets = ["requests", "tokens"].into_iter().filter_map(|what| {
        let length = header(headers, &format!("x-ratelimit-reset-{what}"))?;
        Some((span(&length), length))
    });
    let (after, length) = resets.max()?;
    let words = format!("in {length}");
    Some(Reset { words, after })
}

/// Seconds as a person counts them.
fn spoken(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Returns the time from one HTTP date to another, zero if it has passed; `None` if one is invalid.
fn between(now: &str, then: &str) -> Option<Duration> {
    let at = |text| rfc2822::parse(text).ok().map(|time| time.timestamp());
    let after = at(then)?.duration_since(at(now)?);
    Some(Duration::try_from(after).unwrap_or_default())
}

/// Reads a length of time as OpenAI writes it: `1s`, `6m0s`, `20ms`, `1h2m3.5s`.
fn span(text: &str) -> Option<Duration> {
    SpanParser::new().parse_unsigned_duration(text).ok()
}

/// Counts how often one answer was waited for.
pub(super) struct Waits {
    limits: Limits,
    started: Instant,
    count: u32,
}

impl Waits {
    /// None yet, of a job that has just begun.
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            started: Instant::now(),
            count: 0,
        }
    }

    /// Returns the time to wait before a server that refused is asked again, if a retry makes
    /// sense.
    pub(super) fn before_again(&mut self, complaint: &ErrorText) -> Option<Duration> {
        let refuses_for_now = matches!(complaint.status, Some(429 | 503 | 529));
        let after = complaint.resets.as_ref()?.after?.max(SHORTEST);
        let left = self
            .limits
            .total()
            .map(|total| total.saturating_sub(self.started.elapsed()));
        self.count += 1;
        // A server that names another time again and again has none.
        let may_wait = self.count <= self.limits.waits;
        (refuses_for_now && may_wait && is_worth(after, left)).then_some(after)
    }

    /// Waits, and reports it at intervals; breaks once no one listens any more.
    pub(super) fn wait(
        &self,
        refusal: &ErrorText,
        length: Duration,
        answering: &mut Answering<'_>,
    ) -> ControlFlow<()> {
        let until = Instant::now() + length;
        let seconds = length.as_secs_f64().ceil();
        answering.tell(Event::Waiting {
            what: format!("waits {seconds} s: {}", refusal.words),
        })?;
        let each = EACH.min(self.limits.quiet() / 3);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return ControlFlow::Continue(());
            }
            let seconds = left.as_secs_f64().ceil();
            answering.tell(Event::Doing {
                what: format!("waits {seconds} s until its server accepts requests again"),
            })?;
            thread::sleep(left.min(each));
        }
    }
}

/// Whether a wait leaves at least as much time for the answer as it takes itself.
fn is_worth(wait: Duration, left: Option<Duration>) -> bool {
    left.is_none_or(|left| wait <= left / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reset_in(headers: &[(&'static str, &str)]) -> Option<(String, Option<u64>)> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let reset = reset(&map)?;
        let seconds = reset.after.map(|after| after.as_secs());
        Some((reset.words, seconds))
    }

    /// CAL-ERR-2: the time at which a limit is lifted, in each form in which servers say it.
    #[test]
    fn a_reset_is_read_however_a_server_says_it() {
        let expected_reset = |words: &str, seconds| Some((words.to_owned(), seconds));
        let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
        for (headers, expected) in [
            (
                &[("retry-after", "20")][..],
                expected_reset("in 20 s", Some(20)),
            ),
            (
                &[("retry-after", "200")],
                expected_reset("in 3 min 20 s", Some(200)),
            ),
            (
                &[("retry-after", "100000")],
                expected_reset("in 27 h 46 min", Some(100_000)),
            ),
            (
                &[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"), date],
                expected_reset("at Wed, 21 Oct 2026 07:28:30 GMT", Some(30)),
            ),
            (
                &[("retry-after", "Wed, 21 Oct 2026 07:27:00 GMT"), date],
                expected_reset("at Wed, 21 Oct 2026 07:27:00 GMT", Some(0)),
            ),
            // Without the server's own time of day the length is unknown.
            (
                &[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")],
                expected_reset("at Wed, 21 Oct 2026 07:28:30 GMT", None),
            ),
            (&[("retry-after", "soon")], expected_reset("at soon", None)),
            (
                &[
                    ("x-ratelimit-reset-requests", "20ms"),
                    ("x-ratelimit-reset-tokens", "6m0s"),
                ],
                expected_reset("in 6m0s", Some(360)),
            ),
            (
                &[("x-ratelimit-reset-requests", "1h1m1.5s")],
                expected_reset("in 1h1m1.5s", Some(3661)),
            ),
            (&[("retry-after", " ")], None),
            (&[], None),
        ] {
            assert_eq!(reset_in(headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn a_length_of_time_is_read_exactly() {
        for (text, expected) in [
            ("1s", Duration::from_secs(1)),
            ("0s", Duration::ZERO),
            ("20ms", Duration::from_millis(20)),
            ("60.5ms", Duration::from_micros(60_500)),
            ("500us", Duration::from_micros(500)),
            ("900ns", Duration::from_nanos(900)),
            ("1m26.4s", Duration::from_millis(86_400)),
            ("2m59.123456789s", Duration::new(179, 123_456_789)),
            ("1h2m3.5s", Duration::from_millis(3_723_500)),
        ] {
            assert_eq!(span(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_length_of_time_is_none() {
        for text in [
            "",
            "5",
            "s",
            "-1s",
            "1s1",
            "1.2.3s",
            "9e9h",
            "1d",
            "99999999999999999999h",
        ] {
            assert_eq!(span(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_header_is_too_much(text in "\\PC{0,80}") {
            let _read = span(&text);
            prop_assert!(between(&text, &text).is_none_or(|time| time.is_zero()));
        }
    }

    fn refused(status: u64, seconds: u64) -> ErrorText {
        ErrorText {
            status: Some(status),
            resets: Some(Reset {
                words: String::new(),
                after: Some(Duration::from_secs(seconds)),
            }),
            ..ErrorText::default()
        }
    }

    fn limits(total_ms: Option<u64>) -> Limits {
        Limits {
            waits: 2,
            quiet_ms: 60,
            total_ms,
        }
    }

    /// CAL-ERR-2: a limit is waited for where half the time is left for the answer, and not for ever.
    #[test]
    fn only_a_wait_that_leaves_time_for_the_answer_is_worth_it() {
        let minute = || Waits::new(limits(Some(60_000)));
        assert_eq!(
            minute().before_again(&refused(429, 20)),
            Some(Duration::from_secs(20))
        );
        assert_eq!(minute().before_again(&refused(503, 0)), Some(SHORTEST));
        assert_eq!(minute().before_again(&refused(429, 31)), None);
        assert_eq!(minute().before_again(&refused(401, 1)), None);
        assert_eq!(minute().before_again(&ErrorText::default()), None);
        let mut unbounded = Waits::new(limits(None));
        let day = refused(529, 86_400);
        for _ in 0..2 {
            assert!(unbounded.before_again(&day).is_some());
        }
        assert_eq!(unbounded.before_again(&day), None);
        let mut impatient = Waits::new(Limits {
            waits: 0,
            ..limits(None)
        });
        assert_eq!(impatient.before_again(&refused(429, 1)), None);
    }

    /// CAL-COM-2: a wait is reported at shorter intervals than the allowed silence.
    #[test]
    fn waiting_is_reported_and_ends_when_no_one_listens() {
        let waits = Waits::new(limits(None));
        let length = Duration::from_millis(90);
        let mut events = Vec::new();
        let mut tell = |event: Event| {
            events.push(event);
            true
        };
        let refusal = ErrorText {
            words: "slow down".to_owned(),
            ..refused(429, 1)
        };
        let ended = waits.wait(&refusal, length, &mut Answering::new(&mut tell));
        assert!(ended.is_continue());
        assert!(events.len() >= 2, "{events:?}");
        let doing = Event::Doing {
            what: "waits 1 s until its server accepts requests again".to_owned(),
        };
        assert!(events.contains(&doing), "{events:?}");
        let waiting = Event::Waiting {
            what: "waits 1 s: slow down".to_owned(),
        };
        assert_eq!(events[0], waiting);
        assert_eq!(events.iter().filter(|event| **event == waiting).count(), 1);
        let mut no_one = |_: Event| false;
        let ended = waits.wait(
            &refusal,
            Duration::from_hours(1),
            &mut Answering::new(&mut no_one),
        );
        assert!(ended.is_break());
    }
}
