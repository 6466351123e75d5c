//! Merges the beads of two branches: decisions, hand-offs and plans of both, and the keys that
//! people added.

use serde_json::{Map, Value};

use super::{REPLACES, Sheet};

/// Result of merging two beads.
pub(crate) struct MergedBeads {
    /// The merge result, with our value in conflicts.
    pub(crate) ours: Sheet,
    /// The same with their value in conflicts; `None` if there is no conflict.
    pub(crate) theirs: Option<Sheet>,
    /// Values that both sides changed differently: keys, with the keys that contain them, and
    /// comments.
    pub(crate) conflicts: Vec<String>,
}

/// Merges their changes into our bead: for each key, the side that changed it wins; for a list, the
/// additions of both are kept.
pub(crate) fn merged(base: Option<&Sheet>, ours: &Sheet, theirs: &Sheet) -> MergedBeads {
    let none = Map::new();
    let was = base.map_or(&none, Sheet::members);
    let both = of_both_maps(was, ours.members(), theirs.members());
    let whole = |conflicts: Vec<String>| MergedBeads {
        ours: ours.clone(),
        theirs: Some(theirs.clone()),
        conflicts,
    };
    let made = match ours.brought_to(&both.ours, base, theirs) {
        Ok(made) => made,
        Err(key) => return whole(vec![key]),
    };
    let sides = [ours, theirs];
    let lost = made.lost_comments(base, sides);
    let mut conflicts = both.conflicts;
    if lost.is_empty() {
        let instead = match conflicts.as_slice() {
            [] => None,
            _ => Some(made.brought_to(&both.theirs, base, theirs)),
        };
        return match instead.transpose() {
            Ok(theirs) => MergedBeads {
                ours: made,
                theirs,
                conflicts,
            },
            Err(_) => whole(conflicts),
        };
    }
    // A line that has no place in our text may have one in theirs.
    let other = of_both_maps(was, theirs.members(), ours.members());
    let back = theirs.brought_to(&other.ours, base, ours).ok();
    let of_back = back.as_ref().map(|back| back.lost_comments(base, sides));
    if let (Some(back), Some([]), []) = (&back, of_back.as_deref(), conflicts.as_slice()) {
        return MergedBeads {
            ours: back.clone(),
            theirs: None,
            conflicts,
        };
    }
    // If there is another conflict, they are within its conflict markers.
    if conflicts.is_empty() {
        conflicts.extend(lost.into_iter().chain(of_back.into_iter().flatten()));
        conflicts.sort();
        conflicts.dedup();
    }
    match back {
        Some(theirs) => MergedBeads {
            ours: made,
            theirs: Some(theirs),
            conflicts,
        },
        None => whole(conflicts),
    }
}

/// Merged values, and the conflicts between the sides.
#[derive(Default)]
struct Both<T> {
    ours: T,
    theirs: T,
    /// Keys that both changed differently; empty for a value itself.
    conflicts: Vec<String>,
}

fn of_both_maps(
    was: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
) -> Both<Map<String, Value>> {
    let mut all: Both<Map<String, Value>> = Both::default();
    let new = theirs.keys().filter(|key| !ours.contains_key(*key));
    for key in ours.keys().chain(new) {
        let mut both = of_both(was.get(key), ours.get(key), theirs.get(key));
        // The first one to close it closed it.
        if !both.conflicts.is_empty()
            && key == "closed"
            && let (Some(Value::String(ours)), Some(Value::String(theirs))) =
                (ours.get(key), theirs.get(key))
        {
            let first: Option<Value> = Some(ours.min(theirs).as_str().into());
            both = Both {
                ours: first.clone(),
                theirs: first,
                conflicts: Vec::new(),
            };
        }
        let named = both
            .conflicts
            .into_iter()
            .map(|inner| match inner.as_str() {
                "" => key.clone(),
                inner => format!("{key}.{inner}"),
            });
        all.conflicts.extend(named);
        all.ours.extend(both.ours.map(|value| (key.clone(), value)));
        let theirs = both.theirs.map(|value| (key.clone(), value));
        all.theirs.extend(theirs);
    }
    all
}

/// The same for one value; `None` if it is removed.
fn of_both(
    was: Option<&Value>,
    ours: Option<&Value>,
    theirs: Option<&Value>,
) -> Both<Option<Value>> {
    let settled = |value: Option<Value>| Both {
        ours: value.clone(),
        theirs: value,
        conflicts: Vec::new(),
    };
    if ours == theirs || theirs == was {
        return settled(ours.cloned());
    }
    if ours == was {
        return settled(theirs.cloned());
    }
    match (ours, theirs) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            let none = Map::new();
            let was = was.and_then(Value::as_object).unwrap_or(&none);
            let both = of_both_maps(was, ours, theirs);
            Both {
                ours: Some(Value::Object(both.ours)),
                theirs: Some(Value::Object(both.theirs)),
                conflicts: both.conflicts,
            }
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
            let was = was.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            settled(Some(of_both_lists(was, ours, theirs).into()))
        }
        _ => Both {
            ours: ours.cloned(),
            theirs: theirs.cloned(),
            conflicts: vec![String::new()],
        },
    }
}

/// Returns our items without those that they removed, plus those that they added. An item that they
/// changed keeps its place.
fn of_both_lists(was: &[Value], ours: &[Value], theirs: &[Value]) -> Vec<Value> {
    let is_new = |item: &Value| !was.contains(item) && !ours.contains(item);
    let mut in_place: Vec<&Value> = Vec::new();
    let mut both = Vec::new();
    for item in ours {
        if theirs.contains(item) || !was.contains(item) {
            both.push(item.clone());
            continue;
        }
        let at = was.iter().position(|known| known == item);
        let instead = at.and_then(|at| theirs.get(at));
        if let Some(instead) = instead.filter(|instead| is_new(instead)) {
            in_place.push(instead);
            both.push(instead.clone());
        }
    }
    let new = theirs.iter();
    let new = new.filter(|item| is_new(item) && !in_place.contains(item));
    // Evidence that replaces other evidence replaces what both knew, not what ours added since.
    let (instead, new): (Vec<&Value>, Vec<&Value>) =
        new.partition(|item| item.get(REPLACES) == Some(&Value::Bool(true)));
    let known = both.iter().rposition(|item| theirs.contains(item));
    let behind = known.map_or(0, |known| known + 1);
    both.splice(behind..behind, instead.into_iter().cloned());
    both.extend(new.into_iter().cloned());
    both
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bead::Bead;

    const BASE: &str = "id: bd-1\ntitle: a # kept\nstatus: open\ncustom: base\nlabels: [x]\nteam:\n  lead: ann\n  \
                        # whom to ask\n  size: 2\n  rooms: [1]\ndecisions:\n  - {ts: t0, decision: x}\n";

    fn read(text: &str) -> Sheet {
        Sheet::read(text).unwrap()
    }

    /// Returns the merged text, or the conflict if a person must decide.
    fn of(ours: &str, theirs: &str) -> Result<String, String> {
        let made = merged(Some(&read(BASE)), &read(ours), &read(theirs));
        match made.conflicts.as_slice() {
            [] => Ok(made.ours.text().to_owned()),
            named => Err(named.join(", ")),
        }
    }

    fn decided(text: &str, ts: &str) -> String {
        format!("{text}  - {{ts: {ts}, decision: {ts}}}\n")
    }

    /// LOA-BEAD-1: additions of two branches to a bead are there, and conflicts are named.
    #[test]
    fn both_sides_of_a_bead_are_kept() {
        let theirs = decided(&BASE.replace("open", "closed"), "t2");
        let made = of(&decided(BASE, "t1"), &theirs).unwrap();
        assert!(made.contains("# kept\nstatus: closed\n"), "{made}");
        let read = read(&made);
        let decided = read.members()["decisions"].as_array().unwrap();
        let times: Vec<&str> = decided
            .iter()
            .map(|one| one["ts"].as_str().unwrap())
            .collect();
        assert_eq!(times, ["t0", "t1", "t2"]);
        let both = of(&BASE.replace("open", "blocked"), &theirs);
        assert_eq!(both, Err("status".to_owned()));
    }

    /// LOA-BEAD-1, LOA-FMT-1: a key of a person's own that one side changed, added or took out is as that side has it, down into
    /// mappings and lists, with its comments.
    #[test]
    fn keys_of_a_person_are_as_the_side_has_them_that_changed_them() {
        let ours = decided(&BASE.replace("lead: ann", "lead: bob # new"), "t1");
        for (from, to) in [
            ("custom: base", "custom: THEIRS # why"),
            (
                "custom: base",
                "custom: base\nextra:\n  deep: {a: [1, 2]}\n  # said\n  b: |\n    two\n    lines",
            ),
            ("labels: [x]", "labels: [x, y]"),
            ("  size: 2\n", "  size: 3\n"),
            (
                "  rooms: [1]",
                "  rooms: [1, 2]\n  # ours alone\n  floor: 1",
            ),
            ("custom: base\n", ""),
            ("labels: [x]\n", "labels: [x]\n# said of what follows\n"),
        ] {
            let theirs = BASE.replace(from, to);
            for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
                let made = of(ours, theirs).unwrap();
                for expected in [to, "lead: bob # new", "ts: t1", "# whom to ask"] {
                    assert!(made.contains(expected), "{expected} in {made}");
                }
                assert!(to.contains(from) || to.is_empty() != made.contains("custom"));
                assert_eq!(
                    of(&made, theirs).unwrap(),
                    made,
                    "made again, it changes nothing"
                );
            }
        }
        let added = |key: &str| format!("{BASE}{key}: 1\n");
        let made = of(&added("k_ours"), &added("k_theirs")).unwrap();
        assert!(
            made.contains("k_ours: 1\n") && made.contains("k_theirs: 1\n"),
            "{made}"
        );
        let listed = |item: &str| BASE.replace("labels: [x]", &format!("labels: [x, {item}]"));
        let made = of(&listed("y"), &listed("z")).unwrap();
        assert_eq!(
            read(&made).members()["labels"],
            serde_json::json!(["x", "y", "z"])
        );
        let gone = BASE.replace("labels: [x]", "labels: []");
        let made = of(&gone, &listed("z")).unwrap();
        assert_eq!(read(&made).members()["labels"], serde_json::json!(["z"]));
    }

    /// LOA-BEAD-1, LOA-GRD-1: additional evidence of one side stays if the other side replaces
    /// evidence, whichever side is ours.
    #[test]
    fn evidence_of_one_side_outlives_what_the_other_cites_instead() {
        let cites = |line: u32, instead: &str| {
            format!(
                "{BASE}  - {{ts: t0, decision: x, evidence: [{{path: \"${{PROJECT_ROOT}}/a\", line: {line}}}]{instead}}}\n"
            )
        };
        let (besides, instead) = (cites(1, ""), cites(2, ", replaces_evidence: true"));
        for (ours, theirs) in [(&besides, &instead), (&instead, &besides)] {
            let made = read(&of(ours, theirs).unwrap());
            let made = Bead::of(made.members()).decisions;
            let cited: usize = made.iter().map(|made| made.evidence.len()).sum();
            assert_eq!(cited, 2, "{made:?}");
        }
    }

    /// LOA-BEAD-1, LOA-FMT-1: conflicts are named with the keys that contain them, and no comment
    /// of either side is lost silently.
    #[test]
    fn what_both_changed_is_named() {
        let with = |from: &str, to: &str| BASE.replace(from, to);
        for (ours, theirs, expected) in [
            (
                with("lead: ann", "lead: b"),
                with("lead: ann", "lead: c"),
                "team.lead",
            ),
            (with("base", "b"), with("custom: base\n", ""), "custom"),
            (
                with("# kept", "# ours"),
                with("# kept", "# theirs"),
                "# ours, # theirs",
            ),
        ] {
            assert_eq!(of(&ours, &theirs).unwrap_err(), expected);
        }
        let closed = |at: &str| format!("{}closed: {at}\n", BASE.replace("open", "closed"));
        for (ours, theirs) in [("t3", "t4"), ("t4", "t3")] {
            let made = of(&closed(ours), &closed(theirs)).unwrap();
            assert_eq!(read(&made).members()["closed"], "t3");
        }
    }

    /// LOA-BEAD-1: comments at the head of a file are those of both, in either direction of the
    /// merge, and one that a side removed is gone.
    #[test]
    fn comments_at_the_head_are_those_of_both() {
        let base = format!("# a\n# b\n{BASE}");
        let ours = base.replace("# b\n", "# b\n# ours\n");
        for (theirs, head) in [
            (base.replace("# a\n", ""), "# b\n# ours\n"),
            (base.replace("# b\n", ""), "# a\n# ours\n"),
            (base.replace("# b\n", "# c\n"), "# a\n# ours\n# c\n"),
            (format!("# first\n{base}"), "# first\n# a\n# b\n# ours\n"),
            (base.replace("# b\n", "# b\n# ours\n"), "# a\n# b\n# ours\n"),
        ] {
            let merged = |ours: &str, theirs: &str| {
                let made = merged(Some(&read(&base)), &read(ours), &read(theirs));
                assert_eq!(made.conflicts, [""; 0]);
                made.ours.text().to_owned()
            };
            assert_eq!(merged(&ours, &theirs), format!("{head}{BASE}"));
            let sorted = |text: String| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert_eq!(
                sorted(merged(&theirs, &ours)),
                sorted(merged(&ours, &theirs))
            );
        }
    }

    /// LOA-BEAD-1, LOA-FMT-1: the same words at two places are two comments, in either direction of
    /// the merge.
    #[test]
    fn a_comment_at_two_places_is_kept_twice() {
        let (base, todo) = ("id: bd-1\ntitle: a # why\nstatus: open\n", "# to do\n");
        let ours = base.replace("a # why\n", "b\n# of the status\n");
        let ours = format!("{todo}{ours}");
        let theirs = base.replace(" # why\n", &format!("\n# of the status\n\n{todo}"));
        for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
            let made = merged(Some(&read(base)), &read(ours), &read(theirs));
            assert_eq!(made.conflicts, [""; 0]);
            assert_eq!(made.ours.text().matches(todo).count(), 2);
        }
    }

    /// Optional lines of a bead, in addition to its id.
    const MAY: [[&str; 4]; 8] = [
        ["", "# head\n", "# head\n# more\n", "# other\n"],
        [
            "title: a\n",
            "title: a # why\n",
            "title: b\n",
            "title: a # how\n",
        ],
        [
            "",
            "# of the status\n",
            "# of status\n",
            "# of the status\n\n# more\n",
        ],
        [
            "status: open\n",
            "status: closed\n",
            "status: blocked # so\n",
            "",
        ],
        [
            "",
            "custom: x\n",
            "custom: y\n# behind\n",
            "custom: x # whose\n",
        ],
        [
            "labels:\n  - a\n",
            "labels:\n  - a\n  # of b\n  - b\n",
            "labels:\n  - c # c\n  - a\n",
            "labels: []\n",
        ],
        [
            "",
            "team:\n  lead: x\n",
            "team:\n  lead: x\n  # asked\n  size: 2\n",
            "team:\n  lead: y # new\n",
        ],
        [
            "",
            "# end\n",
            "next_steps:\n  - one\n",
            "next_steps:\n  - two # late\n",
        ],
    ];

    fn bead() -> impl Strategy<Value = String> {
        let which = proptest::collection::vec(
            prop_oneof![3 => Just(0_usize), 2 => Just(1), 1 => 2..4_usize],
            MAY.len(),
        );
        which.prop_map(|which| {
            let mut pieces: Vec<&str> =
                MAY.iter().zip(which).map(|(of, which)| of[which]).collect();
            pieces.insert(1, "id: bd-1\n");
            pieces.concat()
        })
    }

    proptest! {
        /// LOA-BEAD-1, LOA-FMT-1: a merge in either direction has the same conflicts, and without
        /// conflicts the same lines.
        #[test]
        fn both_ways_round_say_the_same((base, ours, theirs) in (bead(), bead(), bead())) {
            let of = |ours: &str, theirs: &str| merged(Some(&read(&base)), &read(ours), &read(theirs));
            let lines = |sheet: &Sheet| {
                let lines = sheet.text().lines().filter(|line| !line.trim().is_empty());
                let mut lines: Vec<String> = lines.map(str::to_owned).collect();
                lines.sort();
                lines
            };
            let (made, back) = (of(&ours, &theirs), of(&theirs, &ours));
            let sorted = |mut names: Vec<String>| { names.sort(); names };
            prop_assert_eq!(sorted(made.conflicts.clone()), sorted(back.conflicts));
            if made.conflicts.is_empty() {
                prop_assert_eq!(lines(&made.ours), lines(&back.ours), "{}\n--\n{}", made.ours.text(), back.ours.text());
            }
            prop_assert_eq!(of(&ours, &base).ours.text().to_owned(), ours);
            prop_assert_eq!(of(&base, &theirs).ours.text().to_owned(), theirs);
        }
    }

    /// LOA-BEAD-1: outside of what a person must decide, changes of one side are in both versions
    /// that the person sees.
    #[test]
    fn what_both_changed_is_all_that_differs() {
        let ours = decided(&BASE.replace("open", "blocked"), "t1");
        let theirs = decided(&BASE.replace("open", "closed"), "t2").replace("base", "THEIRS");
        let made = merged(Some(&read(BASE)), &read(&ours), &read(&theirs));
        assert_eq!(made.conflicts, ["status"]);
        let [left, right] = [made.ours, made.theirs.unwrap()].map(|sheet| sheet.text().to_owned());
        assert_eq!(left.replace("blocked", "closed"), right);
        for expected in ["t1", "t2", "custom: THEIRS"] {
            assert!(left.contains(expected), "{expected} in {left}");
        }
    }
}
