//! [`Comparison`]: the relations of scout beside those of an oracle.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::AddAssign,
};

use super::oracle::{Kind, Relation, Relations, When};

/// A group of relations that is judged apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Run,
    Types,
    Tests,
}

impl Group {
    pub(super) const ALL: [Self; 3] = [Self::Run, Self::Types, Self::Tests];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Types => "types",
            Self::Tests => "tests",
        }
    }

    fn of(relation: &Relation) -> Self {
        if is_test(&relation.from) || relation.purpose == When::Tests {
            Self::Tests
        } else if relation.purpose == When::Types {
            Self::Types
        } else {
            Self::Run
        }
    }
}

/// Whether a file is a test by its path.
fn is_test(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder = |part| matches!(part, "test" | "tests" | "__tests__");
    let marks = [".test.", ".tst.", ".test-d.", ".spec."];
    folder.split('/').any(is_folder)
        || name == "conftest.py"
        || name.starts_with("test_")
        || name.ends_with("_test.go")
        || marks.iter().any(|mark| name.contains(mark))
}

/// How many relations both sides have, and how many only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Score {
    pub(super) both: usize,
    /// Only scout has them.
    pub(super) wrong: usize,
    /// Only the oracle has them.
    pub(super) missed: usize,
}

impl Score {
    /// The share of scout's relations that hold, in percent.
    pub(super) fn precision(self) -> f64 {
        percent(self.both, self.wrong)
    }

    /// The share of the oracle's relations that scout has, in percent.
    pub(super) fn recall(self) -> f64 {
        percent(self.both, self.missed)
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        self.both += other.both;
        self.wrong += other.wrong;
        self.missed += other.missed;
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no tree has as many relations as a float has digits"
)]
fn percent(right: usize, others: usize) -> f64 {
    if right + others == 0 {
        return 100.0;
    }
    100.0 * right as f64 / (right + others) as f64
}

/// A relation without its line.
type Key = (String, String, Option<String>);

/// Relations, each once: its group and line.
type Table = BTreeMap<(Kind, Key), (Group, u32)>;

/// The relations of two sides.
#[derive(Debug)]
pub(super) struct Comparison {
    claimed: Table,
    known: Table,
}

impl Comparison {
    pub(super) fn new(claimed: &Relations, known: &Relations) -> Self {
        let unsure: BTreeSet<Key> = known.unsure.iter().map(key).collect();
        Self {
            claimed: table(claimed, &unsure),
            known: table(known, &unsure),
        }
    }

    pub(super) fn score(&self, kind: Kind, group: Group) -> Score {
        let of = |table: &Table| -> BTreeSet<Key> {
            let wanted = table
                .iter()
                .filter(|((k, _), (g, _))| (*k, *g) == (kind, group));
            wanted.map(|((_, key), _)| key.clone()).collect()
        };
        let (claimed, known) = (of(&self.claimed), of(&self.known));
        Score {
            both: claimed.intersection(&known).count(),
            wrong: claimed.difference(&known).count(),
            missed: known.difference(&claimed).count(),
        }
    }

    /// Returns a line for each relation that only one side has in its group.
    pub(super) fn differences(&self) -> Vec<String> {
        let only = |title: &str, one: &Table, other: &Table| -> Vec<String> {
            let lines = one.iter().filter_map(|(relation, (group, line))| {
                let elsewhere = other.get(relation).map(|(group, _)| *group);
                if elsewhere == Some(*group) {
                    return None;
                }
                let (kind, (from, to, name)) = relation;
                let name = name.as_ref().map(|name| format!(" {name}"));
                let also = elsewhere.map(|group| format!(" (the other side: {})", group.name()));
                Some(format!(
                    "{title} {} {} {from}:{line} -> {to}{}{}",
                    kind.name(),
                    group.name(),
                    name.unwrap_or_default(),
                    also.unwrap_or_default()
                ))
            });
            lines.collect()
        };
        let mut lines = only("false", &self.claimed, &self.known);
        lines.extend(only("missed", &self.known, &self.claimed));
        lines
    }
}

fn key(relation: &Relation) -> Key {
    (
        relation.from.clone(),
        relation.to.clone(),
        relation.name.clone(),
    )
}

/// Each relation once, with its first group: what runs comes before what types need.
fn table(relations: &Relations, unsure: &BTreeSet<Key>) -> Table {
    let edges = relations.edges.iter().map(|edge| (Kind::Edge, edge));
    let uses = relations.uses.iter().map(|used| (Kind::Use, used));
    let mut table = Table::new();
    for (kind, relation) in edges.chain(uses) {
        let key = key(relation);
        if unsure.contains(&key) {
            continue;
        }
        let now = (Group::of(relation), relation.line);
        let first = table.entry((kind, key)).or_insert(now);
        *first = now.min(*first);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &str, purpose: When) -> Relation {
        Relation {
            from: from.to_owned(),
            to: to.to_owned(),
            name: None,
            line: 1,
            purpose,
        }
    }

    fn edges(edges: &[(&str, &str, When)]) -> Relations {
        let edges = edges.iter().map(|(from, to, when)| edge(from, to, *when));
        Relations {
            edges: edges.collect(),
            ..Relations::default()
        }
    }

    #[test]
    fn a_relation_in_the_wrong_group_is_false_in_one_and_missed_in_the_other() {
        let claimed = edges(&[("a.py", "b.py", When::Run), ("a.py", "c.py", When::Run)]);
        let known = edges(&[("a.py", "b.py", When::Types), ("a.py", "c.py", When::Run)]);
        let comparison = Comparison::new(&claimed, &known);
        let run = comparison.score(Kind::Edge, Group::Run);
        assert_eq!((run.both, run.wrong, run.missed), (1, 1, 0));
        let types = comparison.score(Kind::Edge, Group::Types);
        assert_eq!((types.both, types.wrong, types.missed), (0, 0, 1));
        assert_eq!(comparison.differences().len(), 2);
    }

    #[test]
    fn what_the_oracle_is_unsure_of_counts_on_neither_side() {
        let claimed = edges(&[("a.py", "b.py", When::Run)]);
        let mut known = edges(&[("a.py", "d.py", When::Run)]);
        known.unsure = vec![
            edge("a.py", "b.py", When::Run),
            edge("a.py", "d.py", When::Run),
        ];
        let comparison = Comparison::new(&claimed, &known);
        assert!(comparison.score(Kind::Edge, Group::Run).is_empty());
    }

    #[test]
    fn a_test_is_known_by_its_path() {
        for path in [
            "tests/a.py",
            "src/v4/tests/a.ts",
            "a_test.go",
            "types/a.tst.ts",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/testing.py", "latest/a.go", "lib/contest.js"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
