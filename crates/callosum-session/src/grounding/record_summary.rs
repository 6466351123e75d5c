//! [`Brief`]: the parts of a record that counting claims needs, so that a hundred thousand records
//! need not be parsed fully.

use std::borrow::Cow;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::claim::{Claim, ClaimKind, claim_of};
use crate::{
    evidence::{Evidence, ROOT_PREFIX},
    source::Source,
    trajectory::{Record, RecordForm, name_of_claim},
};

/// A claim, or a record that is not a claim or has an unusual form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Brief {
    /// A claim, in the form that we write.
    Claim {
        ts: String,
        /// First line of its record, counted from 1.
        line: usize,
        claim: Box<Claim>,
    },
    Record(Record),
}

impl Brief {
    /// Returns the claim that it is, in a file of this name.
    pub(crate) fn claim(self, file: &str) -> Option<Claim> {
        let (line, claim) = match self {
            Self::Claim { line, claim, .. } => (line, *claim),
            Self::Record(record) if record.phase() == "cite" => (record.line, claim_of(&record)),
            Self::Record(_) => return None,
        };
        Some(Claim {
            place: format!("{file}:{line}"),
            ..claim
        })
    }
}

impl RecordForm for Brief {
    fn quickly(line: &[u8], number: usize) -> Option<Self> {
        if !line.starts_with(b"{") {
            return None;
        }
        let plain: Plain<'_> = serde_json::from_slice(line).ok()?;
        if plain.phase != "cite" {
            return None;
        }
        Some(Self::Claim {
            ts: plain.ts.to_string(),
            line: number,
            claim: Box::new(plain.claim()),
        })
    }

    fn of(record: Record) -> Self {
        Self::Record(record)
    }

    fn ts(&self) -> &str {
        match self {
            Self::Claim { ts, .. } => ts,
            Self::Record(record) => record.ts(),
        }
    }

    fn record(&self) -> Option<&Record> {
        match self {
            Self::Claim { .. } => None,
            Self::Record(record) => Some(record),
        }
    }

    fn covered_as(&self) -> Option<u64> {
        match self {
            Self::Claim { ts, claim, .. } => {
                let decision = claim.decision.as_deref().unwrap_or_default();
                Some(name_of_claim(ts, decision, &claim.text))
            }
            Self::Record(record) => record.covered_as(),
        }
    }

    fn is_needed(&self) -> bool {
        match self {
            Self::Claim { .. } => true,
            Self::Record(record) => record.phase() == "cite",
        }
    }
}

/// A record of a claim that has only our members, each of its type and once. Any other record is
/// read the general way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "fields that a claim does not need must be named, or serde rejects the line"
)]
struct Plain<'l> {
    #[serde(borrow)]
    phase: Cow<'l, str>,
    #[serde(borrow, default)]
    ts: Cow<'l, str>,
    #[serde(borrow, default)]
    decision: Cow<'l, str>,
    #[serde(default)]
    claim: String,
    #[serde(borrow, default)]
    bead_id: Cow<'l, str>,
    #[serde(borrow, default)]
    grounding: Cow<'l, str>,
    #[serde(default)]
    evidence: Vec<SummaryPosition>,
    #[serde(borrow, default)]
    agent: Cow<'l, str>,
    #[serde(borrow, default)]
    title: Cow<'l, str>,
    #[serde(borrow, default)]
    rationale: Cow<'l, str>,
    #[serde(borrow, default)]
    session_id: Cow<'l, str>,
    #[serde(default)]
    test_scenarios: Vec<String>,
    #[serde(default)]
    tokens: u64,
    #[serde(default)]
    revision: u32,
    #[serde(borrow, default)]
    healed_from: Cow<'l, str>,
    #[serde(default)]
    bead_not_current: bool,
}

impl Plain<'_> {
    fn claim(self) -> Claim {
        let cited = self.evidence.len();
        let evidence: Vec<Evidence> = self
            .evidence
            .into_iter()
            .filter_map(|place| place.0)
            .collect();
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Claim {
            text: self.claim,
            title: self.title.into_owned(),
            decision: some(&self.decision),
            bead: some(&self.bead_id),
            kind: ClaimKind::named(Some(&self.grounding)),
            unread: cited - evidence.len(),
            evidence,
            revision: self.revision,
            place: String::new(),
            said_in: Source::Trajectory,
            revised_in: None,
        }
    }
}

/// A cited place; `None` if its path does not begin at the root.
struct SummaryPosition(Option<Evidence>);

/// The members of a cited place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members<'l> {
    #[serde(borrow)]
    path: Cow<'l, str>,
    line: u64,
    #[serde(default, deserialize_with = "there")]
    last_line: Option<u64>,
    #[serde(default, deserialize_with = "there")]
    quote: Option<String>,
}

impl<'de> Deserialize<'de> for SummaryPosition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMembers;

        impl<'de> Visitor<'de> for OfMembers {
            type Value = SummaryPosition;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a cited place")
            }

            // A list of the values alone is not a place.
            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<SummaryPosition, A::Error> {
                let members = Members::deserialize(MapAccessDeserializer::new(members))?;
                let line = |line: u64| u32::try_from(line).unwrap_or(u32::MAX);
                let path = members.path.strip_prefix(ROOT_PREFIX);
                Ok(SummaryPosition(path.map(|path| Evidence {
                    path: path.to_owned(),
                    first: line(members.line),
                    last: line(members.last_line.unwrap_or(members.line)),
                    quote: members.quote,
                })))
            }
        }

        deserializer.deserialize_map(OfMembers)
    }
}

/// Returns a value that is there and of its kind: `null` is neither.
fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::trajectory::{kept, records};

    #[test]
    fn what_we_write_is_read_without_being_taken_apart() {
        let line = json!({
            "ts": "2026-01-02T03:04:05Z", "agent": "a", "phase": "cite", "decision": "2026-01-02T03:04:05Z",
            "claim": "Use \"one\" pool", "title": "Use", "grounding": "citation", "tokens": 3,
            "evidence": [{"path": "${PROJECT_ROOT}/a.rs", "line": 2, "last_line": 3, "quote": "fn two()"}],
            "rationale": "so", "test_scenarios": ["x"], "bead_id": "bd-1", "session_id": "s",
            "revision": 2, "healed_from": "bead", "bead_not_current": true,
        });
        let line = line.to_string();
        let quick = Brief::quickly(line.as_bytes(), 7).unwrap();
        let slow = records(line.as_bytes()).records.remove(0);
        let slow = Brief::of(Record { line: 7, ..slow });
        assert_eq!(quick.covered_as(), slow.covered_as());
        assert_eq!(quick.claim("f"), slow.claim("f"));
    }

    fn member() -> impl Strategy<Value = (String, Value)> {
        let names = [
            "phase",
            "ts",
            "decision",
            "claim",
            "grounding",
            "evidence",
            "bead_id",
            "tokens",
            "revision",
            "path",
            "source",
            "quote",
            "other",
        ];
        let place = json!({"path": "${PROJECT_ROOT}/a.rs", "line": 1, "quote": "x y"});
        let mut odd = place.clone();
        odd["last_line"] = Value::Null;
        let values = [
            json!("cite"),
            json!("citation"),
            json!("${PROJECT_ROOT}/a.rs:2"),
            json!(null),
            json!(7),
            json!(1.0),
            json!({"type": "citation"}),
            json!([]),
            json!(["`x y z` [${PROJECT_ROOT}/a.rs:1]"]),
            json!([["${PROJECT_ROOT}/a.rs", 1, 1, "x y"]]),
            json!([place.clone(), odd]),
            json!([place.clone(), {"path": "a.rs", "line": 1}, {"path": "${PROJECT_ROOT}/a.rs", "line": "1"}]),
            json!([{"path": "${PROJECT_ROOT}/a.rs", "line": u64::MAX, "quote": null}, place]),
        ];
        let names = proptest::sample::select(names.to_vec());
        (
            names.prop_map(str::to_owned),
            proptest::sample::select(values.to_vec()),
        )
    }

    proptest! {
        /// LOA-GRD-1: both ways of reading a record give the same claim, and agree on lines that
        /// are no record.
        #[test]
        fn a_claim_is_the_same_whichever_way_it_is_read(
            members in proptest::collection::vec(member(), 0..6), cut in 0_usize..400,
        ) {
            let written: Vec<String> =
                members.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
            let line = format!("{{\"phase\":\"cite\",{}}}", written.join(","));
            for line in [&line[..], line.get(..cut.min(line.len())).unwrap_or_default(), "[\"cite\"]"] {
                let slow = records(line.as_bytes());
                let quick = kept::<Brief>(line.as_bytes());
                prop_assert_eq!(&quick.bad, &slow.bad);
                let of = |brief: Brief| brief.claim("f");
                let quick: Vec<_> = quick.records.into_iter().map(of).collect();
                let slow: Vec<_> = slow.records.into_iter().map(Brief::of).map(of).collect();
                prop_assert_eq!(quick, slow);
            }
        }
    }
}
