//! [`is_sound`] and [`is_true`]: whether a merge result, read again the usual way, says what both
//! sides do.

use std::collections::HashMap;

use super::MergeResult;
use crate::{
    evidence::Evidence,
    notes::{Decision, document::Notes, sections::Key},
};

/// Whether each entry has only evidence that it has in one of the three versions, and none of
/// another entry; whether no entry occurs more often than in either side; and whether, unless there
/// is a conflict, no entry of the base that one side withdrew is there.
pub(super) fn is_true(made: &MergeResult, base: &[u8], ours: &[u8], theirs: &[u8]) -> bool {
    let read = |bytes: &[u8]| Notes::read(bytes.to_vec()).decisions();
    let all = [base, ours, theirs].map(read);
    let all = all.each_ref().map(|decisions| by_words(decisions));
    let there = read(&made.bytes);
    by_words(&there).iter().all(|(words, entries)| {
        let of = all
            .each_ref()
            .map(|side| side.get(words).map_or(&[][..], Vec::as_slice));
        let is_revived = !of[0].is_empty() && (of[1].is_empty() || of[2].is_empty());
        let is_cited = |evidence: &Evidence| {
            let mut known = of.iter().flat_map(|side| side.iter());
            known.any(|known| known.evidence.contains(evidence))
        };
        (!is_revived || !made.conflicts.is_empty())
            && entries.len() <= of[1].len().max(of[2].len())
            && entries
                .iter()
                .all(|entry| entry.evidence.iter().all(is_cited))
    })
}

/// Decisions by their times and words.
fn by_words(decisions: &[Decision]) -> HashMap<(&str, &str), Vec<&Decision>> {
    let mut known: HashMap<(&str, &str), Vec<&Decision>> = HashMap::new();
    for decision in decisions {
        let words = (decision.ts.as_str(), decision.words());
        known.entry(words).or_default().push(decision);
    }
    known
}

/// Whether nothing that both sides close is left open, no entry, row or question is there more often than either side has it, and
/// each entry is there that one side added, or both have.
pub(super) fn is_sound(made: &MergeResult, base: &[u8], ours: &[u8], theirs: &[u8]) -> bool {
    let read = |bytes: &[u8]| Notes::read(bytes.to_vec());
    let all = [made.bytes.as_slice(), base, ours, theirs].map(read);
    let open = all.each_ref().map(|notes| notes.outline.unclosed.len());
    if open[0] > open[2].max(open[3]) {
        return false;
    }
    let [there, base, ours, theirs] = all.each_ref().map(counted);
    let of = |counts: &HashMap<Known, usize>, key: &Known| counts.get(key).copied().unwrap_or(0);
    let is_doubled = |(key, many): (&Known, &usize)| *many > of(&ours, key).max(of(&theirs, key));
    let has_both = |counts: &HashMap<Known, usize>, key: &Known| {
        of(counts, key) > 0 && key.withdrawn().is_some_and(|other| of(counts, &other) > 0)
    };
    let is_twofold =
        |key: &Known| has_both(&there, key) && !has_both(&ours, key) && !has_both(&theirs, key);
    if there.iter().any(is_doubled) || there.keys().any(is_twofold) {
        return false;
    }
    let is_wanted = |key: &Known| match (of(&base, key), of(&ours, key), of(&theirs, key)) {
        (0, ours, theirs) => ours.max(theirs) > 0,
        (_, ours, theirs) => ours.min(theirs) > 0,
    };
    // A decision that one side withdrew is in no log.
    let is_left = |key: &Known| {
        let other = key.withdrawn();
        other.is_some_and(|other| is_wanted(&other) && of(&base, &other) == 0)
    };
    let mut keys = ours.keys().chain(theirs.keys());
    // One version of each conflict is left out.
    !made.conflicts.is_empty()
        || keys.all(|key| !key.is_entry() || !is_wanted(key) || is_left(key) || of(&there, key) > 0)
}

/// Element that is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Known {
    /// An entry, by its time and words.
    Entry(String, String),
    /// One within a comment.
    Withdrawn(String, String),
    /// A row by its place, or a question by its words.
    Line(String),
}

impl Known {
    fn is_entry(&self) -> bool {
        !matches!(self, Self::Line(_))
    }

    /// The same entry within a comment.
    fn withdrawn(&self) -> Option<Self> {
        match self {
            Self::Entry(ts, words) => Some(Self::Withdrawn(ts.clone(), words.clone())),
            _ => None,
        }
    }
}

fn counted(notes: &Notes) -> HashMap<Known, usize> {
    let mut counts: HashMap<Known, usize> = HashMap::new();
    let mut count = |known: Known| *counts.entry(known).or_default() += 1;
    for section in notes.sections() {
        let name = |made: &Decision| (made.ts.clone(), made.words().to_owned());
        if let Some((ts, words)) = section.entry.as_ref().map(name) {
            count(Known::Entry(ts, words));
        }
        for (ts, words) in section.withdrawn.iter().map(name) {
            count(Known::Withdrawn(ts, words));
        }
        for token in section.tokens {
            if let Key::Row(words, _) | Key::Question(words, _) = token.key {
                count(Known::Line(words));
            }
        }
    }
    counts
}
