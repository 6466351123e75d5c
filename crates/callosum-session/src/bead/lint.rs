//! Oddities of beads that can be read: unknown words, names that differ from the file's, and beads
//! that depend on themselves.
//!
//! Nothing here rejects anything: a value that is not understood is reported, and the default is
//! used.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::{
    document::Sheet,
    index::Row,
    view::{uncounted, understood_priority},
};

/// The statuses that a bead can be given. Others in a file are kept, and count as open.
pub const STATUSES: [&str; 8] = [
    "open",
    "in_progress",
    "blocked",
    "deferred",
    "closed",
    "done",
    "completed",
    "cancelled",
];

/// The last priority that a bead can be given; 0 is the first.
pub const LAST_PRIORITY: i64 = 4;

/// Returns the oddities of a file, each with its line, counted from 1.
pub(super) fn faults(id: &str, sheet: &Sheet) -> Vec<(usize, String)> {
    let members = sheet.members();
    let mut faults = Vec::new();
    let mut fault = |key: &str, what: String| faults.push((sheet.line_of(key).unwrap_or(1), what));
    match members.get("id") {
        Some(Value::String(own)) if own == id => {}
        Some(Value::String(own)) => {
            fault(
                "id",
                format!("its id is `{own}`, but the file name determines the id: {id}"),
            );
        }
        Some(_) => fault(
            "id",
            format!("its id is not text; the file name determines the id: {id}"),
        ),
        None => {}
    }
    match members.get("status") {
        None | Some(Value::Null) => {}
        Some(Value::String(status))
            if STATUSES.contains(&status.as_str()) || status == "tombstone" => {}
        Some(other) => {
            let allowed = STATUSES.join(", ");
            fault(
                "status",
                format!("{other} is not one of {allowed}: the bead counts as open"),
            );
        }
    }
    match members.get("priority") {
        None | Some(Value::Null) => {}
        some @ Some(other) => {
            let is_one = understood_priority(some)
                .is_some_and(|priority| (0..=LAST_PRIORITY).contains(&priority));
            if !is_one {
                let what = format!("{other} is not a priority: 0 (first) to {LAST_PRIORITY}");
                fault("priority", what);
            }
        }
    }
    for what in uncounted(members.get("decisions")) {
        fault("decisions", what);
    }
    faults
}

/// Returns the beads that need themselves, by way of others or not: each circle once, from its
/// least id.
pub fn circles(rows: &[Row]) -> Vec<Vec<&str>> {
    let needs: HashMap<&str, &[String]> = rows
        .iter()
        .map(|row| (row.id.as_str(), row.needs.as_slice()))
        .collect();
    let mut done: HashSet<&str> = HashSet::new();
    let mut circles: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows {
        // The path from the start, with the number of dependencies already followed for each bead.
        let mut way: Vec<(&str, usize)> = vec![(&row.id, 0)];
        let mut on_way: HashMap<&str, usize> = HashMap::from([(row.id.as_str(), 0)]);
        while let Some((id, followed)) = way.last_mut() {
            let next = needs.get(*id).and_then(|needs| needs.get(*followed));
            *followed += 1;
            let Some(next) = next.map(String::as_str) else {
                done.insert(id);
                on_way.remove(*id);
                way.pop();
                continue;
            };
            if let Some(&at) = on_way.get(next) {
                let mut circle: Vec<&str> = way[at..].iter().map(|(id, _)| *id).collect();
                let least = (0..circle.len()).min_by_key(|at| circle[*at]);
                circle.rotate_left(least.unwrap_or(0));
                circles.entry(circle[0]).or_insert(circle);
            } else if !done.contains(next) && needs.contains_key(next) {
                on_way.insert(next, way.len());
                way.push((next, 0));
            }
        }
    }
    circles.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, needs: &[&str]) -> Row {
        Row {
            id: id.to_owned(),
            needs: needs.iter().map(|&id| id.to_owned()).collect(),
            ..Row::default()
        }
    }

    /// LOA-BEAD-1: everything that is not understood is named by its line, and nothing else.
    #[test]
    fn what_is_odd_about_a_bead_is_named_by_its_line() {
        let faults_of = |text: &str| faults("bd-1", &Sheet::read(text).unwrap());
        assert_eq!(
            faults_of("id: bd-1\nstatus: in_progress\npriority: P1\n"),
            []
        );
        assert_eq!(faults_of("title: no more\n"), []);
        let odd = faults_of("title: x\nid: bd-9\n# c\npriority: high\nstatus: wip\n");
        let lines: Vec<usize> = odd.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 5, 4]);
        assert!(odd[2].1.contains("\"high\" is not a priority"), "{odd:?}");
        assert_eq!(faults_of("priority: 9\nid: 7\n").len(), 2);
        let odd = faults_of(
            "title: x\ndecisions:\n  - {ts: 2026-01-02, decision: a}\n  - {ts: 2026-01-02, decision: a, evidence: []}\n\
             \x20 - {ts: 2026-01-02, decision: b}\n  - {decision: c}\n  - d\n",
        );
        assert_eq!(
            odd,
            [
                (2, "decision 4 has no `ts`, and is ignored".to_owned()),
                (
                    2,
                    "decision 5 is not a mapping with `ts` and `decision`, and is ignored"
                        .to_owned()
                ),
            ]
        );
        assert_eq!(faults_of("decisions: later\n").len(), 1);
    }

    /// LOA-BEAD-1: beads that need themselves are found once each, however long the way is.
    #[test]
    fn a_circle_is_found_once() {
        let rows = [
            row("bd-1", &["bd-2", "bd-gone"]),
            row("bd-2", &["bd-3"]),
            row("bd-3", &["bd-1"]),
            row("bd-4", &["bd-4"]),
            row("bd-5", &["bd-1", "bd-4"]),
        ];
        assert_eq!(circles(&rows), [vec!["bd-1", "bd-2", "bd-3"], vec!["bd-4"]]);
        let long: Vec<Row> = (0..20_000)
            .map(|n| row(&format!("bd-{n}"), &[&format!("bd-{}", n + 1)]))
            .collect();
        assert_eq!(circles(&long), [[""; 0]; 0]);
    }
}
