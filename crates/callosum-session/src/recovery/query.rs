//! [`DecisionHit`]: the decisions on a topic, out of all that were ever made.

use super::{
    current_state::Recollected,
    levels::{Record, decision_line, fitted, handed_over, whole},
    ranking::ranked,
};
use crate::{
    evidence::Tree,
    notes::Notes,
    transaction::{Session, SessionError},
};

/// Decisions on a topic: every decision in the notes and every hand-off in a trajectory that shares
/// words with a query, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionHit {
    /// As many of them as could be shown.
    records: Vec<Record>,
    /// Total number.
    all: usize,
}

impl DecisionHit {
    /// Searches, for output of at most `budget` tokens.
    ///
    /// Each decision is read once for its words and dropped; only the evidence of those that could
    /// be shown is checked.
    pub fn gather(session: &Session<'_>, query: &str, budget: u64) -> Result<Self, SessionError> {
        let notes = session.notes()?.unwrap_or_else(|| Notes::read(Vec::new()));
        let newest = notes.newest();
        let handed: Vec<String> = session
            .all_hand_offs()?
            .iter()
            .filter(|made| made.reasoning.is_some())
            .map(|made| handed_over(made, budget))
            .collect();
        let words = |index: usize| newest.nth(index).map(|made| decision_line(&made, ""));
        let texts = (0..newest.len()).map(|index| words(index).unwrap_or_default());
        let found = ranked(texts.chain(handed.iter().cloned()), query);
        let tree = Tree::new(session.disk, &session.zones.tree);
        let record = |index: &usize| match index.checked_sub(newest.len()) {
            Some(index) => handed.get(index).cloned().map(Record::of),
            None => newest
                .nth(*index)
                .map(|made| whole(&Recollected::of(made, &tree))),
        };
        // No record is less than a token.
        let could_fit = found.iter().take(budget as usize);
        Ok(Self {
            records: could_fit.filter_map(record).collect(),
            all: found.len(),
        })
    }

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.all == 0
    }

    /// As many whole records as fit, in at most `budget` tokens, estimated, of longer ones the title and the
    /// place, and how many more there are.
    pub fn told(&self, budget: u64) -> String {
        fitted(&self.records, self.all, budget)
    }
}
