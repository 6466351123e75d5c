//! [`classify`]: the seed's rules per severity, repeats and the cooldown.

use callosum_diagnose::{ErrorEvent, Severity, error_type};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize, Serializer};

use super::{SuggestedFix, confidence};

/// Highest level; more strikes do not raise it (Seed CAKE §1).
const TOP_LEVEL: u32 = 4;

/// The errors that get a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interventions {
    /// Errors that come back, and errors with a known fix.
    #[default]
    Repeat,
    /// Each error that the seed's rules name.
    All,
    /// None.
    Off,
}

/// Thresholds of the classifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The errors that get a message.
    pub mode: Interventions,
    /// Confidence that a high error must exceed, from 0 to 1.
    pub high_confidence: f64,
    /// Occurrences of a medium error before it gets a message.
    pub medium_repeats: u32,
    /// Minutes after a message in which the same error gets none, unless it is critical.
    pub cooldown_minutes: u32,
    /// Messages for one error at which a person is notified; 1 to 10, other values are clamped.
    pub max_strikes: u32,
}

impl Default for Rules {
    /// Returns the seed's thresholds (Seed CAKE §2 and §6), in the quiet mode.
    fn default() -> Self {
        Self {
            mode: Interventions::Repeat,
            high_confidence: 0.8,
            medium_repeats: 3,
            cooldown_minutes: 5,
            max_strikes: 4,
        }
    }
}

/// History of one error, by its signature. Without a store, the caller passes one occurrence and no strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Occurrences so far, this one included.
    pub occurrences: u32,
    /// Time of the last message for it.
    pub last_message_at: Option<Timestamp>,
    /// The current time.
    pub now: Timestamp,
    /// Whether a fix of it is remembered.
    pub has_known_fix: bool,
    /// Messages that it already got. The next one is strike `strikes + 1`.
    pub strikes: u32,
}

/// The class of an error, and whether it gets a message (Seed CAKE §2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Classification {
    /// The class of the error.
    pub error_type: String,
    /// Its severity, written as `LOW`, `MEDIUM`, `HIGH` or `CRITICAL`.
    #[serde(serialize_with = "in_capitals")]
    pub severity: Severity,
    /// Confidence in the event, from 0 to 1.
    pub confidence: f64,
    /// Whether it gets a message.
    pub intervention_required: bool,
    /// A fix derived from the event.
    pub suggested_fix: Option<SuggestedFix>,
    /// Escalation level of the message, 1 to 4.
    pub level: u8,
    /// Whether this message is the one at which a person is notified.
    pub needs_person: bool,
    /// The rule that decided.
    pub reason: &'static str,
}

/// Writes a severity as the seed does.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn in_capitals<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match severity {
        Severity::Low => "LOW",
        Severity::Medium => "MEDIUM",
        Severity::High => "HIGH",
        Severity::Critical => "CRITICAL",
    })
}

/// Classifies an error and decides whether it gets a message.
///
/// Critical errors always get one. High errors need more than the threshold of confidence, medium ones the repeats or a
/// known fix; low ones are only logged. The mode `repeat` also asks high errors to come back or to have a known fix.
/// A known fix replaces the repeats of a medium error in every mode: a failed test that someone has already fixed here is
/// what the memory is for. An event whose type is not a class is low.
pub fn classify(
    event: &ErrorEvent,
    facts: &Facts,
    rules: &Rules,
    suggested_fix: Option<SuggestedFix>,
) -> Classification {
    let confidence = confidence(event);
    let severity = if error_type::is_class(&event.error_type) {
        event.severity
    } else {
        Severity::Low
    };
    let (intervention_required, reason) = decide(severity, confidence, facts, rules);
    let strike = facts.strikes.saturating_add(1);
    Classification {
        error_type: event.error_type.clone(),
        severity,
        confidence,
        intervention_required,
        suggested_fix,
        level: strike.min(TOP_LEVEL) as u8,
        needs_person: intervention_required && strike >= rules.max_strikes.clamp(1, 10),
        reason,
    }
}

/// Decides whether there is a message, and names the rule.
fn decide(
    severity: Severity,
    confidence: f64,
    facts: &Facts,
    rules: &Rules,
) -> (bool, &'static str) {
    if rules.mode == Interventions::Off {
        return (false, "interventions are off");
    }
    match severity {
        Severity::Low => return (false, "low severity is only logged"),
        Severity::Critical => return (true, "critical severity"),
        Severity::Medium | Severity::High => {}
    }
    if is_cooling_down(facts, rules) {
        return (false, "a message for it was sent within the cooldown");
    }
    if severity == Severity::Medium {
        return if facts.has_known_fix {
            (true, "a fix is known")
        } else if facts.occurrences >= rules.medium_repeats {
            (true, "medium severity, repeated often enough")
        } else {
            (false, "medium severity, repeated too seldom")
        };
    }
    if confidence <= rules.high_confidence {
        return (false, "high severity, confidence too low");
    }
    if facts.has_known_fix {
        (true, "a fix is known")
    } else if facts.occurrences >= 2 {
        (true, "the error came back")
    } else if rules.mode == Interventions::All {
        (true, "high severity")
    } else {
        (false, "first occurrence without a known fix")
    }
}

/// Returns whether the last message is more recent than the cooldown. A message from further in the future than the cooldown is
/// a clock that was set back, and does not count.
fn is_cooling_down(facts: &Facts, rules: &Rules) -> bool {
    let cooldown = SignedDuration::from_secs(i64::from(rules.cooldown_minutes) * 60);
    facts.last_message_at.is_some_and(|last| {
        let passed = facts.now.duration_since(last);
        passed < cooldown && passed > -cooldown
    })
}

#[cfg(test)]
mod tests {
    use callosum_diagnose::StreamSource;

    use super::*;

    fn event(severity: Severity) -> ErrorEvent {
        ErrorEvent {
            error_type: "KeyError".to_owned(),
            file_path: Some("shop.py".to_owned()),
            line_number: Some(3),
            message: "'x'".to_owned(),
            code: None,
            module: None,
            test: None,
            severity,
            stream_source: StreamSource::Merged,
            timestamp: "2026-01-02T03:04:05Z".to_owned(),
            raw_output: String::new(),
        }
    }

    fn facts(occurrences: u32) -> Facts {
        Facts {
            occurrences,
            last_message_at: None,
            now: "2026-01-02T03:04:05Z".parse().unwrap(),
            has_known_fix: false,
            strikes: 0,
        }
    }

    fn is_required(severity: Severity, facts: Facts, mode: Interventions) -> bool {
        let rules = Rules {
            mode,
            ..Rules::default()
        };
        classify(&event(severity), &facts, &rules, None).intervention_required
    }

    /// CAKE-CLS-1: the rules per severity, in each mode, by occurrences and known fixes.
    #[test]
    fn each_severity_has_its_rule_in_each_mode() {
        use Interventions::{All, Off, Repeat};
        use Severity::{Critical, High, Low, Medium};
        for (severity, occurrences, known, repeat, all) in [
            (Critical, 1, false, true, true),
            (High, 1, false, false, true),
            (High, 2, false, true, true),
            (High, 1, true, true, true),
            (Medium, 1, false, false, false),
            (Medium, 2, false, false, false),
            (Medium, 3, false, true, true),
            (Medium, 1, true, true, true),
            (Low, 9, true, false, false),
        ] {
            let facts = Facts {
                has_known_fix: known,
                ..facts(occurrences)
            };
            let row = format!("{severity:?} {occurrences} {known}");
            assert_eq!(is_required(severity, facts, Repeat), repeat, "{row}");
            assert_eq!(is_required(severity, facts, All), all, "{row}");
            assert!(!is_required(severity, facts, Off), "{row}");
        }
    }

    /// CAKE-CLS-1: a high error of exactly the threshold's confidence gets no message.
    #[test]
    fn a_high_error_must_exceed_the_threshold() {
        let mut loose = event(Severity::High);
        loose.file_path = None;
        let at = Rules {
            high_confidence: 0.75,
            ..Rules::default()
        };
        let found = classify(&loose, &facts(5), &at, None);
        assert!((found.confidence - 0.75).abs() < 1e-9 && !found.intervention_required);
        let below = Rules {
            high_confidence: 0.74,
            ..Rules::default()
        };
        assert!(classify(&loose, &facts(5), &below, None).intervention_required);
    }

    /// CAKE-CLS-1: the cooldown silences all but critical errors, ends exactly on time, and does not outlast a clock change.
    #[test]
    fn the_cooldown_silences_until_its_last_second() {
        for (last, silent) in [
            ("2026-01-02T02:59:06Z", true),
            ("2026-01-02T02:59:05Z", false),
            ("2026-01-02T03:06:00Z", true),
            ("2026-01-03T00:00:00Z", false),
        ] {
            let facts = Facts {
                last_message_at: Some(last.parse().unwrap()),
                ..facts(5)
            };
            for severity in [Severity::High, Severity::Medium] {
                assert_eq!(
                    is_required(severity, facts, Interventions::Repeat),
                    !silent,
                    "{last}"
                );
            }
            assert!(is_required(
                Severity::Critical,
                facts,
                Interventions::Repeat
            ));
        }
    }

    /// CAKE-OP-2: the level follows the strikes up to 4, and a person is notified from `max_strikes` on.
    #[test]
    fn the_level_saturates_and_a_person_is_notified() {
        for (strikes, max_strikes, level, person) in [
            (0, 4, 1, false),
            (2, 4, 3, false),
            (3, 4, 4, true),
            (9, 10, 4, true),
            (5, 10, 4, false),
            (0, 1, 1, true),
            (0, 0, 1, true),
            (u32::MAX, 99, 4, true),
        ] {
            let rules = Rules {
                max_strikes,
                ..Rules::default()
            };
            let facts = Facts {
                strikes,
                ..facts(3)
            };
            let found = classify(&event(Severity::High), &facts, &rules, None);
            assert_eq!((found.level, found.needs_person), (level, person));
        }
    }

    /// CAKE-CLS-1: an event whose type is not a class is low, and the seed's names and capitals are written.
    #[test]
    fn an_invalid_event_is_low_and_the_form_is_the_seeds() {
        let mut odd = event(Severity::Critical);
        odd.error_type = "not a class".to_owned();
        let found = classify(&odd, &facts(9), &Rules::default(), None);
        assert!(!found.intervention_required);
        assert_eq!(serde_json::to_value(&found).unwrap()["severity"], "LOW");
        let fix = SuggestedFix {
            command: "pip install requests".to_owned(),
        };
        let written = serde_json::to_value(classify(
            &event(Severity::High),
            &facts(2),
            &Rules::default(),
            Some(fix),
        ))
        .unwrap();
        assert_eq!(written["severity"], "HIGH");
        assert_eq!(written["suggested_fix"], "pip install requests");
        assert_eq!(written["intervention_required"], true);
    }
}
