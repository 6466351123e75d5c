//! The beads of two branches as one: what both decided, handed off and plan.

use serde_json::Value;

use super::{Sheet, SheetError, Step};

/// Lists to which both sides may have added.
const LISTS: [&str; 8] = [
    "decisions",
    "test_scenarios",
    "handoffs",
    "next_steps",
    "questions",
    "depends_on",
    "dependencies",
    "blockers",
];

/// Keys with one value.
const VALUES: [&str; 7] = [
    "title", "status", "priority", "assignee", "type", "created", "closed",
];

/// Why two beads cannot be made one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeadMergeError {
    /// One of them is no bead, or cannot be written.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// Both changed something that only a person can tell.
    #[error("both sides changed `{key}`")]
    Both {
        /// The key.
        key: String,
    },
}

/// Our bead with what theirs has beside it.
pub(crate) fn merged(
    base: Option<&Sheet>,
    ours: &Sheet,
    theirs: &Sheet,
) -> Result<Sheet, BeadMergeError> {
    let was = |key: &str| base.and_then(|base| base.members().get(key));
    let mut steps = Vec::new();
    for key in LISTS {
        let items = |value: Option<&Value>| match value {
            Some(Value::Array(items)) => items.clone(),
            _ => Vec::new(),
        };
        let (there, before) = (items(ours.members().get(key)), items(was(key)));
        let new = items(theirs.members().get(key)).into_iter();
        let new = new.filter(|item| !there.contains(item) && !before.contains(item));
        steps.extend(new.map(|item| Step::Push(key, item)));
    }
    for (key, new) in theirs.members() {
        let own = ours.members().get(key);
        let is_changed = own != Some(new) && was(key) != Some(new);
        if !is_changed || LISTS.contains(&key.as_str()) {
            continue;
        }
        let known = VALUES.iter().find(|known| **known == key);
        match known.filter(|_| own.is_none() || base.is_some() && own == was(key)) {
            Some(known) => steps.push(Step::Set(known, new.clone())),
            None => return Err(BeadMergeError::Both { key: key.clone() }),
        }
    }
    Ok(ours.with_all(&steps)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-BEAD-1: what two branches added to a bead is there, and what only a person can tell is named.
    #[test]
    fn both_sides_of_a_bead_are_kept() {
        let base =
            "id: bd-1\ntitle: a # kept\nstatus: open\ndecisions:\n  - {ts: t0, decision: x}\n";
        let read = |text: &str| Sheet::read(text).unwrap();
        let with = |more: &str| read(&format!("{base}{more}"));
        let ours = with("  - {ts: t1, decision: a}\n");
        let theirs = read(&base.replace("open", "closed"));
        let theirs = theirs.with(&Step::Push(
            "decisions",
            serde_json::json!({"ts": "t2", "decision": "b"}),
        ));
        let theirs = theirs.unwrap();
        let made = merged(Some(&read(base)), &ours, &theirs).unwrap();
        assert!(
            made.text().contains("# kept\nstatus: closed\n"),
            "{}",
            made.text()
        );
        let decided = made.members()["decisions"].as_array().unwrap();
        let times: Vec<&str> = decided
            .iter()
            .map(|one| one["ts"].as_str().unwrap())
            .collect();
        assert_eq!(times, ["t0", "t1", "t2"]);
        let other = read(&base.replace("open", "blocked"));
        let both = merged(Some(&read(base)), &other, &theirs);
        assert_eq!(
            both,
            Err(BeadMergeError::Both {
                key: "status".to_owned()
            })
        );
    }
}
