//! The beads of two branches as one: what both decided, handed off and plan, and the keys that people added.

use serde_json::{Map, Value};

use super::{Sheet, SheetError};

/// Why two beads cannot be made one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeadMergeError {
    /// One of them is no bead.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// Both changed something that only a person can tell.
    #[error("both sides changed `{key}`")]
    Both {
        /// The key, with those that it stands in.
        key: String,
    },
    /// A comment that one of them wrote has no place in what both say.
    #[error("`{comment}` would be lost")]
    Comment {
        /// The comment, with its mark.
        comment: String,
    },
}

/// Our bead with what theirs has beside it: of each key, what one side changed, and of a list, what both added.
pub(crate) fn merged(
    base: Option<&Sheet>,
    ours: &Sheet,
    theirs: &Sheet,
) -> Result<Sheet, BeadMergeError> {
    let none = Map::new();
    let was = base.map_or(&none, Sheet::members);
    let wanted = of_both_maps(was, ours.members(), theirs.members())
        .map_err(|key| BeadMergeError::Both { key })?;
    let made = ours.brought_to(&wanted, base, theirs);
    let made = made.map_err(|key| BeadMergeError::Both { key })?;
    match made.lost_comment(base, [ours, theirs]) {
        Some(comment) => Err(BeadMergeError::Comment { comment }),
        None => Ok(made),
    }
}

/// What both say; the key that both changed, where they did.
fn of_both_maps(
    was: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut both = Map::new();
    let new = theirs.keys().filter(|key| !ours.contains_key(*key));
    for key in ours.keys().chain(new) {
        let value = of_both(was.get(key), ours.get(key), theirs.get(key));
        let value = value.map_err(|inner| match inner.as_str() {
            "" => key.clone(),
            inner => format!("{key}.{inner}"),
        });
        let value = match (value, ours.get(key), theirs.get(key)) {
            // Whoever closed it first, closed it.
            (Err(_), Some(Value::String(ours)), Some(Value::String(theirs))) if key == "closed" => {
                Some(ours.min(theirs).as_str().into())
            }
            (value, ..) => value?,
        };
        both.extend(value.map(|value| (key.clone(), value)));
    }
    Ok(both)
}

/// The same of one value; nothing where it is taken out. In the error is the key within it that both changed.
fn of_both(
    was: Option<&Value>,
    ours: Option<&Value>,
    theirs: Option<&Value>,
) -> Result<Option<Value>, String> {
    if ours == theirs || theirs == was {
        return Ok(ours.cloned());
    }
    if ours == was {
        return Ok(theirs.cloned());
    }
    match (ours, theirs) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            let none = Map::new();
            let was = was.and_then(Value::as_object).unwrap_or(&none);
            of_both_maps(was, ours, theirs).map(|both| Some(Value::Object(both)))
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
            let was = was.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            Ok(Some(of_both_lists(was, ours, theirs).into()))
        }
        _ => Err(String::new()),
    }
}

/// Our items without those that they took out, and those that they added; one that they changed stands where it stood.
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
    let new = theirs
        .iter()
        .filter(|item| is_new(item) && !in_place.contains(item));
    both.extend(new.cloned());
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "id: bd-1\ntitle: a # kept\nstatus: open\ncustom: base\nlabels: [x]\nteam:\n  lead: ann\n  \
                        # whom to ask\n  size: 2\n  rooms: [1]\ndecisions:\n  - {ts: t0, decision: x}\n";

    fn read(text: &str) -> Sheet {
        Sheet::read(text).unwrap()
    }

    fn of(ours: &str, theirs: &str) -> Result<String, BeadMergeError> {
        let made = merged(Some(&read(BASE)), &read(ours), &read(theirs))?;
        Ok(made.text().to_owned())
    }

    fn decided(text: &str, ts: &str) -> String {
        format!("{text}  - {{ts: {ts}, decision: {ts}}}\n")
    }

    /// LOA-BEAD-1: what two branches added to a bead is there, and what only a person can tell is named.
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
        assert_eq!(
            both,
            Err(BeadMergeError::Both {
                key: "status".to_owned()
            })
        );
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
                for said in [to, "lead: bob # new", "ts: t1", "# whom to ask"] {
                    assert!(made.contains(said), "{said} in {made}");
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

    /// LOA-BEAD-1, LOA-FMT-1: what both changed is named with the keys that it stands in, and no comment of either side goes in
    /// silence.
    #[test]
    fn what_both_changed_is_named() {
        let with = |from: &str, to: &str| BASE.replace(from, to);
        for (ours, theirs, said) in [
            (
                with("lead: ann", "lead: b"),
                with("lead: ann", "lead: c"),
                "both sides changed `team.lead`",
            ),
            (
                with("base", "b"),
                with("custom: base\n", ""),
                "both sides changed `custom`",
            ),
            (
                with("# kept", "# ours"),
                with("# kept", "# theirs"),
                "`# theirs` would be lost",
            ),
        ] {
            assert_eq!(of(&ours, &theirs).unwrap_err().to_string(), said);
        }
        let closed = |at: &str| format!("{}closed: {at}\n", BASE.replace("open", "closed"));
        for (ours, theirs) in [("t3", "t4"), ("t4", "t3")] {
            let made = of(&closed(ours), &closed(theirs)).unwrap();
            assert_eq!(read(&made).members()["closed"], "t3");
        }
    }
}
