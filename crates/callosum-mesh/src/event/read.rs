//! Reading a [`Draft`] from JSON that came from elsewhere: every fault is named, none is guessed
//! away.

use callosum_redact::secrets::mask;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{Draft, Faults, InvalidEvent};
use crate::{agent::AgentName, topic::Topic};

/// Most bytes of a submitted event.
pub const LONGEST: usize = 64 * 1024;

/// So deep may a payload's lists and objects stand in one another.
pub const DEEPEST: usize = 32;

/// Most bytes of a text outside the payload.
const LONGEST_TEXT: usize = 4096;

/// Texts by which something is known, so that they are kept as they are or not at all.
const NAMES: [&str; 4] = ["id", "machine", "session_id", "pane_id"];

/// Largest difference between `ts` and `timestamp`.
const SAME_MOMENT: SignedDuration = SignedDuration::from_secs(1);

/// The keys of the seed's schema (Seed CALC §4, layer 1), and `id`.
const KEYS: [&str; 11] = [
    "type",
    "event",
    "source",
    "machine",
    "timestamp",
    "ts",
    "session_id",
    "pane_id",
    "cwd",
    "payload",
    "id",
];

impl Draft {
    /// Reads an event in the form of the seed's schema (Seed CALC §4, layer 1).
    ///
    /// `type` (or `event`, its other name) and `source` are required. `timestamp` defaults to now,
    /// and `machine` to this one. `id`, which the seed does not have, identifies a second copy.
    ///
    /// Fails with all of its faults: keys that are not of the schema, values of another kind, names
    /// with a secret in them, two names that differ, two times that are more than a second apart, a
    /// payload more than [`DEEPEST`] deep. The caller, which still has the bytes, checks that there
    /// are no more than [`LONGEST`].
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let Value::Object(members) = value else {
            return Err(Faults(vec![fault("", value, "an object")]));
        };
        let mut reader = Reader {
            members,
            faults: Vec::new(),
        };
        let draft = reader.draft();
        reader.refuse_unknown();
        match draft {
            Some(draft) if reader.faults.is_empty() => Ok(draft),
            _ => Err(Faults(reader.faults)),
        }
    }
}

struct Reader<'a> {
    members: &'a Map<String, Value>,
    faults: Vec<InvalidEvent>,
}

impl Reader<'_> {
    fn draft(&mut self) -> Option<Draft> {
        let topic = self.topic();
        let source = self.parsed::<AgentName>("source", "the name of an agent, as `claude-code`");
        if let Some(ours) = source.as_ref().filter(|source| source.is_us()) {
            self.faults.push(InvalidEvent {
                key: "source".to_owned(),
                found: format!("`{ours}`"),
                wanted: "the name of an agent; this one is reserved for Callosum itself".to_owned(),
            });
        }
        if source.is_none() && self.is_missing("source") {
            self.miss("source", "the name of an agent, as `claude-code`");
        }
        let timestamp = self.timestamp();
        let id = self.text("id");
        let machine = self.text("machine");
        let session_id = self.text("session_id");
        let pane_id = self.text("pane_id");
        let cwd = self.text("cwd");
        let payload = self.payload();
        Some(Draft {
            topic: topic?,
            source: source?,
            id,
            machine,
            timestamp,
            session_id,
            pane_id,
            cwd,
            payload,
            from: None,
        })
    }

    fn topic(&mut self) -> Option<Topic> {
        const WANTED: &str = "a topic, as `agent.task_complete`";
        let kind = self.parsed::<Topic>("type", WANTED);
        let alias = self.parsed::<Topic>("event", WANTED);
        if self.is_missing("type") && self.is_missing("event") {
            self.miss("type", WANTED);
        }
        if let (Some(kind), Some(alias)) = (&kind, &alias)
            && kind != alias
        {
            let wanted = format!("the same as `type`, which is `{kind}`");
            self.faults.push(InvalidEvent {
                key: "event".to_owned(),
                found: format!("`{alias}`"),
                wanted,
            });
        }
        kind.or(alias)
    }

    fn timestamp(&mut self) -> Option<Timestamp> {
        let timestamp = self.parsed::<Timestamp>("timestamp", "a time as in 2026-01-02T03:04:05Z");
        let seconds = match self.members.get("ts") {
            None | Some(Value::Null) => None,
            Some(value) => {
                let seconds = value.as_f64().and_then(|seconds| {
                    let span = SignedDuration::try_from_secs_f64(seconds).ok()?;
                    Timestamp::from_duration(span).ok()
                });
                if seconds.is_none() {
                    self.wrong("ts", "a number of seconds since 1970");
                }
                seconds
            }
        };
        if let (Some(timestamp), Some(seconds)) = (timestamp, seconds)
            && timestamp.duration_since(seconds).abs() > SAME_MOMENT
        {
            let wanted = format!("the same time as `timestamp`, which is {timestamp}");
            self.faults.push(InvalidEvent {
                key: "ts".to_owned(),
                found: seconds.to_string(),
                wanted,
            });
        }
        timestamp.or(seconds)
    }

    fn payload(&mut self) -> Map<String, Value> {
        match self.members.get("payload") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(payload)) if is_shallow(payload.values(), DEEPEST) => {
                payload.clone()
            }
            Some(Value::Object(_)) => {
                self.faults.push(InvalidEvent {
                    key: "payload".to_owned(),
                    found: "deeper".to_owned(),
                    wanted: format!("at most {DEEPEST} lists and objects deep"),
                });
                Map::new()
            }
            Some(_) => {
                self.wrong("payload", "an object");
                Map::new()
            }
        }
    }

    /// A text that may be missing or null.
    fn text(&mut self, key: &str) -> Option<String> {
        match self.members.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if NAMES.contains(&key) && !mask(text).found.is_empty() => {
                // Masked it would name something else.
                self.faults.push(InvalidEvent {
                    key: key.to_owned(),
                    found: "text that contains a secret".to_owned(),
                    wanted: "a name without one".to_owned(),
                });
                None
            }
            Some(Value::String(text)) if !text.is_empty() && text.len() <= LONGEST_TEXT => {
                Some(text.clone())
            }
            Some(_) => {
                self.wrong(key, "text of 1 to 4,096 bytes, or null");
                None
            }
        }
    }

    fn parsed<T: std::str::FromStr>(&mut self, key: &str, wanted: &str) -> Option<T> {
        let value = self.members.get(key).filter(|value| !value.is_null())?;
        let parsed = value.as_str().and_then(|text| text.parse().ok());
        if parsed.is_none() {
            self.wrong(key, wanted);
        }
        parsed
    }

    fn refuse_unknown(&mut self) {
        for (key, value) in self.members {
            if !KEYS.contains(&key.as_str()) {
                let key: String = mask(key).text.chars().take(80).collect();
                let wanted = format!(
                    "within `payload`: beside it only these keys are allowed: {}",
                    KEYS.join(", ")
                );
                self.faults.push(fault(&key, value, &wanted));
            }
        }
    }

    fn is_missing(&self, key: &str) -> bool {
        self.members.get(key).is_none_or(Value::is_null)
    }

    fn miss(&mut self, key: &str, wanted: &str) {
        self.faults.push(InvalidEvent {
            key: key.to_owned(),
            found: "missing".to_owned(),
            wanted: wanted.to_owned(),
        });
    }

    fn wrong(&mut self, key: &str, wanted: &str) {
        let value = self.members.get(key).unwrap_or(&Value::Null);
        self.faults.push(fault(key, value, wanted));
    }
}

fn fault(key: &str, value: &Value, wanted: &str) -> InvalidEvent {
    // What is refused is shown, and may be kept where it is shown.
    let shown = mask(&value.to_string()).text;
    let shown: String = shown.chars().take(80).collect();
    InvalidEvent {
        key: key.to_owned(),
        found: format!("`{shown}`"),
        wanted: wanted.to_owned(),
    }
}

fn is_shallow<'a>(mut values: impl Iterator<Item = &'a Value>, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else {
        return false;
    };
    values.all(|value| match value {
        Value::Array(items) => is_shallow(items.iter(), left),
        Value::Object(members) => is_shallow(members.values(), left),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(value: Value) -> String {
        Draft::read(&value).unwrap_err().to_string()
    }

    /// CALC-SEC-1: a secret in a name is rejected, and not repeated in the error.
    #[test]
    fn a_secret_in_a_name_is_refused() {
        let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
        for key in NAMES {
            let mut event = json!({"type": "a.b", "source": "codex"});
            event[key] = secret.into();
            let faults = faults(event);
            assert!(faults.contains(key) && !faults.contains("ghp_"), "{faults}");
        }
        let sound = json!({
            "type": "a.b", "source": "codex", "id": "0b1c5f5e-6f0a-4a52-9d4e-2f6f7c3a1b2d", "machine": "mac-1.local",
            "session_id": "019a2f6f-7c3a-7b2d-9d4e-0b1c5f5e6f0a", "pane_id": "%12",
        });
        assert!(Draft::read(&sound).is_ok());
    }

    /// CALC-L1-1: the schema of the seed, as its own publishers fill it.
    #[test]
    fn an_event_as_the_seed_writes_it_is_read() {
        let draft = Draft::read(&json!({
            "type": "agent.task_complete", "event": "agent.task_complete", "source": "codex",
            "machine": "mac1", "timestamp": "2026-03-09T10:00:00Z", "ts": 1_773_050_400.25,
            "session_id": "s1", "pane_id": null, "cwd": "/work", "payload": {"summary": "done"},
        }));
        let draft = draft.unwrap();
        assert_eq!(draft.topic.as_str(), "agent.task_complete");
        assert_eq!(draft.machine.as_deref(), Some("mac1"));
        assert_eq!(draft.pane_id, None);
        assert_eq!(draft.payload["summary"], "done");
        let least = Draft::read(&json!({"event": "a", "source": "claude"})).unwrap();
        assert_eq!(least.source.as_str(), "claude-code");
    }

    #[test]
    fn every_fault_is_named_with_what_is_allowed() {
        let report = faults(json!({
            "type": "a b", "source": 7, "ts": "now", "payload": [], "extra": true, "cwd": "",
        }));
        for part in [
            "`type` is `\"a b\"`; it must be a topic",
            "`source` is `7`",
            "`ts` is `\"now\"`",
            "`payload` is `[]`; it must be an object",
            "`extra` is `true`; it must be within `payload`",
            "`cwd` is `\"\"`",
        ] {
            assert!(report.contains(part), "{part} in {report}");
        }
        assert!(faults(json!([])).contains("must be an object"));
        assert!(faults(json!({})).contains("`type` is missing"));
        assert!(faults(json!({"type": "a", "event": "b", "source": "x"})).contains("the same as"));
        let apart =
            json!({"type": "a", "source": "x", "timestamp": "2026-03-09T10:00:00Z", "ts": 5});
        assert!(faults(apart).contains("the same time"));
    }

    #[test]
    fn a_payload_has_a_depth() {
        let nested = |depth: usize| {
            let mut value = json!(1);
            for _ in 0..depth {
                value = json!([value]);
            }
            json!({"type": "a", "source": "x", "payload": {"v": value}})
        };
        assert!(Draft::read(&nested(DEEPEST - 1)).is_ok());
        assert!(faults(nested(DEEPEST)).contains("at most 32"));
    }
}
