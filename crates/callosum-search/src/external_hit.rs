//! [`Proposal`]: lines of the tree that another program takes for an answer, and their passage.

use std::collections::HashSet;

use rusqlite::params;

use super::{
    index::{Index, IndexError},
    row::{ROWS, Row},
    tree::TREE,
};

/// Lines of a file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The file's path from the root.
    pub path: String,
    /// Its first line, from 1.
    pub first: u32,
    /// Its last line.
    pub last: u32,
}

impl Proposal {
    /// Returns the overlap of its lines with those of a passage, from 0 to 1: the lines that both
    /// have, divided by the span of both.
    fn alike(&self, row: &Row) -> f64 {
        let count = |first: u32, last: u32| f64::from(last.saturating_add(1).saturating_sub(first));
        let shared = count(self.first.max(row.first), self.last.min(row.last));
        let either = count(self.first.min(row.first), self.last.max(row.last));
        if either > 0.0 { shared / either } else { 0.0 }
    }
}

impl Index {
    /// The passages that have most of the lines of each proposal, each passage once, in their order.
    ///
    /// What is no file of the tree, or lines that it does not have, has none.
    pub(super) fn passages_of(&self, proposals: &[Proposal]) -> Result<Vec<Row>, IndexError> {
        let sql = format!(
            "{ROWS} WHERE collection = ?1 AND place = ?2 AND first <= ?4 AND last >= ?3 \
             ORDER BY first, last DESC"
        );
        let mut rows: Vec<Row> = Vec::new();
        let mut known = HashSet::new();
        for proposal in proposals {
            let within: Vec<Row> = self.tell(|connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                let Proposal { path, first, last } = proposal;
                let rows = statement.query_map(params![TREE, path, first, last], Row::read)?;
                rows.collect()
            })?;
            // The last of those that are as alike is the innermost.
            let best = within
                .into_iter()
                .max_by(|one, other| proposal.alike(one).total_cmp(&proposal.alike(other)));
            rows.extend(best.filter(|row| proposal.alike(row) > 0.0 && known.insert(row.id)));
        }
        Ok(rows)
    }
}
