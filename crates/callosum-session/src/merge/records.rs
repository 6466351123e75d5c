//! Two branches' trajectories as one: each record once, and none that one of them took out.

use std::collections::HashMap;

use crate::trajectory::records;

/// Returns the records of both, without those that one side removed since the base. Claims of one
/// side since its last hand-off come after the hand-offs of both, so that they go on counting.
pub(super) fn merged(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let (was, ours, theirs) = (units(base), units(ours), units(theirs));
    let counts = [&was, &ours, &theirs].map(|units| counted(units));
    let of = |at: usize, unit: &[u8]| counts[at].get(unit).copied().unwrap_or(0);
    let wanted = |unit: &[u8]| match (of(0, unit), of(1, unit), of(2, unit)) {
        (was, ours, theirs) if theirs == was => ours,
        (was, ours, theirs) if ours == was => theirs,
        (_, ours, theirs) => ours.max(theirs),
    };
    let kept = |units: Vec<&'_ [u8]>| -> Vec<Vec<u8>> {
        let mut there: HashMap<&[u8], usize> = HashMap::new();
        let mut kept = Vec::new();
        for unit in units {
            let many = there.entry(unit).or_default();
            if *many < wanted(unit) {
                *many += 1;
                kept.push(unit.to_vec());
            }
        }
        kept
    };
    let (ours, theirs) = (kept(ours), kept(theirs));
    let shared = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    let (prefix, own) = ours.split_at(shared);
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for unit in own {
        *known.entry(unit).or_default() += 1;
    }
    let mut new: Vec<&Vec<u8>> = Vec::new();
    for unit in &theirs[shared..] {
        match known.get_mut(unit.as_slice()).filter(|many| **many > 0) {
            Some(many) => *many -= 1,
            None => new.push(unit),
        }
    }
    let own: Vec<&Vec<u8>> = own.iter().collect();
    let (own_over, own_since) = own.split_at(ended(&own));
    let (new_over, new_since) = new.split_at(ended(&new));
    let all = prefix
        .iter()
        .chain([own_over, new_over, own_since, new_since].concat());
    let mut made = Vec::new();
    for unit in all {
        made.extend_from_slice(unit);
        made.push(b'\n');
    }
    made
}

/// Returns the number of records up to and including the last hand-off.
fn ended(units: &[&Vec<u8>]) -> usize {
    let is_handoff = |unit: &&Vec<u8>| {
        let records = records(unit).records;
        let first = records.first();
        first.is_some_and(|record| record.phase() == "session_handoff")
    };
    let last = units.iter().rposition(is_handoff);
    last.map_or(0, |last| last + 1)
}

fn counted<'u>(units: &[&'u [u8]]) -> HashMap<&'u [u8], usize> {
    let mut counts = HashMap::new();
    for unit in units {
        *counts.entry(*unit).or_default() += 1;
    }
    counts
}

/// Returns each line that is not blank; the lines of a record that spreads over several, as one.
pub(crate) fn units(bytes: &[u8]) -> Vec<&[u8]> {
    let mut units = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = |from: usize| {
            let rest = bytes[from..].iter().position(|byte| *byte == b'\n');
            rest.map_or(bytes.len(), |end| from + end)
        };
        let mut last = end(at);
        if bytes[at..last].trim_ascii_end() == b"{" {
            let mut line = last + 1;
            while line < bytes.len() {
                let line_end = end(line);
                let text = bytes[line..line_end].trim_ascii_end();
                if text == b"}" {
                    last = line_end;
                    break;
                }
                // Anything else that begins at its column means that the record was torn before it.
                if !text.starts_with(b" ") && !text.starts_with(b"\t") {
                    break;
                }
                line = line_end + 1;
            }
        }
        let unit = bytes[at..last].trim_ascii_end();
        if !unit.trim_ascii().is_empty() {
            units.push(unit);
        }
        at = last + 1;
    }
    units
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cite(of: &str) -> String {
        format!("{{\"phase\":\"cite\",\"claim\":\"{of}\"}}\n")
    }

    const OVER: &str = "{\"phase\":\"session_handoff\"}\n";

    fn made(base: &str, ours: &str, theirs: &str) -> String {
        let made = merged(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        String::from_utf8(made).unwrap()
    }

    /// LOA-TRJ-1, LOA-GRD-1: records are there once each, and a hand-off of one branch ends no claim of the other.
    #[test]
    fn claims_of_one_branch_stand_behind_the_hand_off_of_the_other() {
        let base = cite("old");
        let ended = format!("{base}{}{OVER}", cite("ours"));
        let going = format!("{base}{}", cite("theirs"));
        let wanted = format!("{ended}{}", cite("theirs"));
        for known in [&base, ""] {
            for (ours, theirs) in [(&ended, &going), (&going, &ended)] {
                assert_eq!(made(known, ours, theirs), wanted);
            }
        }
    }

    /// LOA-TRJ-1, LOA-GRD-1: a cherry-picked commit brings its own record, and none of the branch
    /// that it comes from; the record of a reverted commit is removed.
    #[test]
    fn a_record_that_one_side_does_not_have_stays_out() {
        let (a, b, c) = (cite("a"), cite("b"), cite("c"));
        let branch = format!("{a}{b}");
        assert_eq!(
            made(&branch, &a, &format!("{branch}{c}")),
            format!("{a}{c}")
        );
        let later = format!("{a}{b}{c}");
        assert_eq!(made(&branch, &later, &a), format!("{a}{c}"));
        let printed = "{\n  \"phase\": \"cite\",\n  \"claim\": \"b\"\n}\n";
        let torn = "{\n  \"phase\": \"ci\nwords\n";
        for odd in [printed, torn] {
            let there = format!("{a}{odd}");
            assert_eq!(made(&a, &there, &format!("{a}{c}")), format!("{there}{c}"));
            assert_eq!(made(&there, &a, &format!("{there}{c}")), format!("{a}{c}"));
        }
    }

    const LINES: [&str; 8] = [
        "{\"phase\":\"cite\",\"claim\":\"a\"}",
        "{\"phase\":\"cite\",\"claim\":\"b\"}",
        "{\"phase\":\"cite\",\"claim\":\"c\"}",
        "{\"phase\":\"session_handoff\"}",
        "{\n  \"phase\": \"x\"\n}",
        "{\n  \"torn",
        "words",
        "{\"to",
    ];

    fn file() -> impl Strategy<Value = String> {
        let lines = proptest::collection::vec(proptest::sample::select(&LINES[..]), 0..7);
        lines.prop_map(|lines| {
            let ended = lines.iter().map(|line| format!("{line}\n"));
            ended.collect::<String>()
        })
    }

    proptest! {
        /// LOA-TRJ-1: one side that changed nothing changes nothing of the other, both ways round have the same records, and merged
        /// again nothing changes.
        #[test]
        fn what_one_side_did_stays_done((base, ours, theirs) in (file(), file(), file())) {
            let sorted = |text: &str| {
                let mut units: Vec<Vec<u8>> = units(text.as_bytes()).into_iter().map(<[u8]>::to_vec).collect();
                units.sort();
                units
            };
            prop_assert_eq!(made(&base, &ours, &base), ours.clone());
            prop_assert_eq!(sorted(&made(&base, &base, &theirs)), sorted(&theirs));
            let both = made(&base, &ours, &theirs);
            prop_assert_eq!(sorted(&both), sorted(&made(&base, &theirs, &ours)));
            prop_assert_eq!(sorted(&made(&base, &both, &theirs)), sorted(&both));
        }
    }
}
