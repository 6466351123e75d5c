//! [`RunId`] and [`CallKey`]: what a run and a call in it are named by, in records and before
//! providers.

use std::{fmt, str::FromStr};

use callosum_json::Checksum;
use callosum_plan::{Value, Yield};
use serde::{Deserialize, Deserializer, Serialize, de};

/// Names one run of a plan; a UUID in its hyphenated lower-case form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunId(String);

/// A text that is no run's id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a run id: it must have 36 characters of 0-9, a-f and `-`")]
pub struct InvalidRunId {
    /// The text.
    pub text: String,
}

impl RunId {
    /// Returns the id as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(text: &str) -> Result<Self, InvalidRunId> {
        let is_id = text.len() == 36
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
        if is_id {
            return Ok(Self(text.to_owned()));
        }
        Err(InvalidRunId {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// Names one call of one run, for records and for providers that get a key with each call: SHA-256
/// over run, plan, input, position, capability, arguments and attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallKey(pub Checksum);

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Part that all keys of a run have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBase {
    /// The run. Without it a plan that is run each night would be answered with the first night's.
    pub run: RunId,
    /// The hash of the plan's source.
    pub plan: Checksum,
    /// The hash of its input.
    pub input: Checksum,
}

impl KeyBase {
    /// Returns the key of a call at its `attempt`th try, from 1.
    ///
    /// Each part is hashed behind its length, so that no two calls have the same bytes.
    pub fn key(&self, call: &Yield, attempt: u32) -> CallKey {
        let position = call.position.to_string();
        let arguments = arguments_text(&call.arguments);
        let attempt = attempt.to_be_bytes();
        let parts: [&[u8]; 7] = [
            self.run.0.as_bytes(),
            self.plan.as_bytes(),
            self.input.as_bytes(),
            position.as_bytes(),
            call.capability.as_str().as_bytes(),
            arguments.as_bytes(),
            &attempt,
        ];
        let lengths = parts.map(|part| (part.len() as u64).to_be_bytes());
        let mut framed: Vec<&[u8]> = vec![b"callosum-call-1\0"];
        for (length, part) in lengths.iter().zip(parts) {
            framed.extend([length, part]);
        }
        CallKey(Checksum::of_parts(&framed))
    }
}

/// Writes a call's arguments as one text that is the same for the same values.
pub fn arguments_text(arguments: &[Value]) -> String {
    let texts: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    format!("[{}]", texts.join(" "))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use callosum_plan::{CompileOptions, Limits, Machine, Outcome, compile};

    use super::*;

    fn first_call(source: &str) -> Yield {
        let program = Arc::new(compile(source, &CompileOptions::default()).unwrap());
        let mut machine = Machine::start(program, &BTreeMap::new(), Limits::default()).unwrap();
        match machine.run() {
            Outcome::Yield(mut waiting) => waiting.remove(0),
            other => panic!("{other:?}"),
        }
    }

    fn base() -> KeyBase {
        KeyBase {
            run: "00000000-0000-4000-8000-000000000001".parse().unwrap(),
            plan: Checksum::of(b"plan"),
            input: Checksum::of(b"{}"),
        }
    }

    /// CCOS-RTFS-2: each thing that makes a call another call makes its key another key.
    #[test]
    fn a_key_differs_with_each_part_and_only_then() {
        let base = base();
        let call = first_call("(call :a.b \"x\" 1)");
        let key = base.key(&call, 1);
        assert_eq!(base.key(&first_call("(call :a/b \"x\" 1)"), 1), key);
        let other_run = KeyBase {
            run: "00000000-0000-4000-8000-000000000002".parse().unwrap(),
            ..base.clone()
        };
        let other_plan = KeyBase {
            plan: Checksum::of(b"other"),
            ..base.clone()
        };
        let others = [
            base.key(&call, 2),
            base.key(&first_call("(call :a.c \"x\" 1)"), 1),
            base.key(&first_call("(call :a.b \"x\" 1.0)"), 1),
            base.key(&first_call("(call :a.b \"x 1\")"), 1),
            other_run.key(&call, 1),
            other_plan.key(&call, 1),
        ];
        assert!(others.iter().all(|other| *other != key), "{others:?}");
    }

    #[test]
    fn an_id_that_could_be_a_path_is_refused() {
        assert!("../../../../etc/passwd".parse::<RunId>().is_err());
        assert!("".parse::<RunId>().is_err());
    }
}
