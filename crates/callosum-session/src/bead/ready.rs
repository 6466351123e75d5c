//! [`ready`]: the beads that can be worked on.

use std::collections::HashMap;

use super::index::Row;

/// Whether a status says that nothing is left to do.
pub fn is_closed(status: &str) -> bool {
    ["closed", "done", "completed", "cancelled", "tombstone"].contains(&status)
}

/// Returns the beads that can be worked on: not closed, not blocked in words or by their status,
/// and with every bead that they need closed. Most urgent first, then oldest, then by id.
///
/// A bead that is needed and is not there holds back as one that is open: it may be healed.
pub fn ready(rows: &[Row]) -> Vec<&Row> {
    let by_id: HashMap<&str, &Row> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let is_met = |id: &String| {
        by_id
            .get(id.as_str())
            .is_some_and(|row| is_closed(&row.status))
    };
    let mut ready: Vec<&Row> = rows
        .iter()
        .filter(|row| {
            let is_open =
                !is_closed(&row.status) && !["blocked", "deferred"].contains(&row.status.as_str());
            is_open && !row.is_blocked && row.needs.iter().all(is_met)
        })
        .collect();
    ready.sort_by(|a, b| (a.priority, &a.created, &a.id).cmp(&(b.priority, &b.created, &b.id)));
    ready
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, status: &str, priority: i64, needs: &[&str]) -> Row {
        Row {
            id: id.to_owned(),
            status: status.to_owned(),
            priority,
            needs: needs.iter().map(|&id| id.to_owned()).collect(),
            ..Row::default()
        }
    }

    /// LOA-BEAD-1: open beads without blockers come by priority; blocked ones do not come.
    #[test]
    fn a_bead_is_ready_when_all_that_it_needs_is_closed() {
        let rows = [
            row("bd-1", "open", 2, &[]),
            row("bd-2", "in_progress", 1, &["bd-3"]),
            row("bd-3", "closed", 0, &[]),
            row("bd-4", "open", 0, &["bd-1"]),
            row("bd-5", "open", 0, &["bd-gone"]),
            row("bd-6", "blocked", 0, &[]),
            row("bd-7", "open", 0, &["bd-8"]),
            row("bd-8", "open", 3, &["bd-7"]),
            Row {
                is_blocked: true,
                ..row("bd-9", "open", 0, &[])
            },
        ];
        let ids: Vec<&str> = ready(&rows).iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["bd-2", "bd-1"]);
    }
}
