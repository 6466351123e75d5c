//! Matches the sections of three documents with [`keys`], and orders those of both with [`in_one`].

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use super::{decision::Decision, sections::Section};
use crate::{merge::diff3::beside, sanitize::says_the_same, timestamp::in_order};

/// The sections of the base, ours and theirs.
pub(super) type Versions<'s> = [&'s [Section]; 3];

/// Items at one place: of ours, and of theirs.
pub(super) type Gap<'k, K> = (Option<&'k [K]>, Option<&'k [K]>);

/// Returns the items that two sequences share, given for both, and between them those of each
/// alone.
pub(super) fn gaps<'k, K: Eq + Hash>(own: &'k [K], new: &'k [K]) -> Vec<Gap<'k, K>> {
    let some = |items: &'k [K]| Some(items).filter(|items| !items.is_empty());
    let all = beside(own, new).into_iter();
    let gaps = all.map(|stretch| (some(&own[stretch.ours]), some(&new[stretch.theirs])));
    gaps.collect()
}

/// Returns a number for each section of the three: the same for those that are one.
pub(super) fn keys(all: Versions<'_>) -> [Vec<usize>; 3] {
    let mut next = 0;
    let mut titled: HashMap<(&str, usize), usize> = HashMap::new();
    let mut entries: HashMap<&str, Vec<(usize, Vec<&Section>)>> = HashMap::new();
    let mut keys: [Vec<usize>; 3] = Default::default();
    let mut of_base = 0;
    for (side, sections) in all.into_iter().enumerate() {
        let mut found: Vec<Option<usize>> = vec![None; sections.len()];
        let mut taken: HashSet<usize> = HashSet::new();
        let ways: [fn(&Section, &Section) -> bool; 4] = [
            |a, b| a.says(b),
            |a, b| a.is_withdrawn() == b.is_withdrawn() && is_of_one(a, b),
            is_of_one,
            |a, b| entry_title(a) == entry_title(b),
        ];
        for (way, is_one) in ways.iter().enumerate() {
            for (section, found) in sections.iter().zip(&mut found) {
                let Some(entry) = section.decision().filter(|_| found.is_none()) else {
                    continue;
                };
                let of_its_time = entries.get_mut(entry.ts.as_str()).into_iter().flatten();
                let mut free = of_its_time.filter(|(id, _)| !taken.contains(id));
                // Two that both sides made are one by their words alone.
                let is_known = |id: usize| way < ways.len() - 1 || id < of_base;
                let same = free.find(|(id, known)| {
                    is_known(*id) && known.iter().any(|known| is_one(known, section))
                });
                if let Some((id, known)) = same {
                    known.push(section);
                    taken.insert(*id);
                    *found = Some(*id);
                }
            }
        }
        let mut many: HashMap<&str, usize> = HashMap::new();
        for (section, found) in sections.iter().zip(found) {
            let mut new = || {
                next += 1;
                next - 1
            };
            let id = match (section.decision(), found) {
                (_, Some(id)) => id,
                (Some(entry), None) => {
                    let id = new();
                    entries
                        .entry(&entry.ts)
                        .or_default()
                        .push((id, vec![section]));
                    id
                }
                (None, None) => {
                    let number = many.entry(&section.title).or_default();
                    *number += 1;
                    *titled.entry((&section.title, *number)).or_insert_with(new)
                }
            };
            keys[side].push(id);
        }
        if side == 0 {
            of_base = next;
        }
    }
    keys
}

/// Whether both belong to a decision of the same words, visible or not.
fn is_of_one(a: &Section, b: &Section) -> bool {
    !words_of(a).is_empty() && says_the_same(words_of(a), words_of(b))
}

fn words_of(section: &Section) -> &str {
    section.decision().map_or("", Decision::words)
}

fn entry_title(section: &Section) -> Option<&str> {
    section.decision().map(|made| made.title.as_str())
}

/// Orders the sections of both sides at one place: entries first, in the order of their times,
/// since they belong to the log before them; then deeper ones, and ours before theirs.
pub(super) fn in_one(
    own: Vec<usize>,
    new: Vec<usize>,
    made: &HashMap<usize, Section>,
) -> Vec<usize> {
    if own.is_empty() || new.is_empty() {
        return [own, new].concat();
    }
    let (own, own_rest) = entries_first(own, made);
    let (new, new_rest) = entries_first(new, made);
    let ts = |unit: &Vec<usize>| {
        let entry = made[&unit[0]].decision();
        entry
            .filter(|entry| entry.is_dated())
            .map(|entry| in_order(&entry.ts).to_owned())
    };
    let mut both: Vec<Vec<usize>> = Vec::new();
    let mut new = new.into_iter().peekable();
    for own in own {
        let is_before =
            |new: &Vec<usize>| ts(new).is_some() && ts(&own).is_some() && ts(new) < ts(&own);
        while let Some(earlier) = new.next_if(is_before) {
            both.push(earlier);
        }
        both.push(own);
    }
    both.extend(new);
    let level = |rest: &[usize]| rest.first().map_or(0, |id| made[id].level);
    if level(&new_rest) > level(&own_rest) {
        both.extend([new_rest, own_rest]);
    } else {
        both.extend([own_rest, new_rest]);
    }
    both.concat()
}

/// Returns the entries that it begins with, each with the headings below it, and the rest.
fn entries_first(ids: Vec<usize>, made: &HashMap<usize, Section>) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut ids = ids.into_iter().peekable();
    while let Some(id) = ids.next_if(|id| {
        let last = units.last().map(|unit| made[&unit[0]].level);
        made[id].decision().is_some() || last.is_some_and(|last| made[id].level > last)
    }) {
        match units.last_mut().filter(|_| made[&id].decision().is_none()) {
            Some(unit) => unit.push(id),
            None => units.push(vec![id]),
        }
    }
    (units, ids.collect())
}
