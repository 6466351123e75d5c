//! Possible states after a crash of one file whose last changes were not synced.
//!
//! A disk writes whole sectors, in an order of its own, and the size apart from the data. So each
//! sector has its content after any one of the changes, the size is that after any one of them, and
//! a sector within the size that never reached the disk holds zeros.

use std::{collections::HashSet, sync::Arc};

use super::{memory, trace::Step};

/// Unit that a disk writes whole or not at all.
pub(super) const SECTOR: usize = 512;

/// Maximum number of combinations of sectors and sizes for which all are generated.
const EXHAUSTIVE: usize = 64;

/// Number of further combinations, drawn at random in addition to those that are always generated.
const DRAWN: usize = 6;

/// Returns the possible contents of a file: first its synced content, last its newest.
///
/// Always among them, for each unsynced change: all changes up to it and none after; its new size
/// with nothing of its data; its data with the size before; each cut between its sectors, with
/// those before it written and with those after it; and it alone, with no change before it. All
/// combinations of sectors and sizes are generated if there are no more than 64, else 6 more are
/// drawn.
pub(super) fn file_versions<'s>(
    synced: &Arc<Vec<u8>>,
    unsynced: impl Iterator<Item = &'s Step>,
    random: &mut fastrand::Rng,
) -> Vec<Arc<Vec<u8>>> {
    let mut history = vec![synced.as_ref().clone()];
    for step in unsynced {
        let mut content = history[history.len() - 1].clone();
        change(&mut content, step);
        history.push(content);
    }
    let newest = history.len() - 1;
    let mut versions = Versions::new(&history);
    versions.found.push(Arc::clone(synced));
    versions.seen.insert(synced.as_ref().clone());
    for now in 1..=newest {
        let before = now - 1;
        versions.add(now, |_| before);
        versions.add(before, |_| now);
        let changed = versions.changed(now);
        for &cut in changed.iter().skip(1) {
            for size in [before, now] {
                versions.add(size, |sector| if sector < cut { now } else { before });
                versions.add(size, |sector| if sector < cut { before } else { now });
            }
        }
        versions.add(
            now,
            |sector| {
                if changed.contains(&sector) { now } else { 0 }
            },
        );
        if now < newest {
            versions.add(now, |_| now);
        }
    }
    versions.combine(random);
    let mut found = versions.found;
    if newest > 0 {
        found.push(Arc::new(history.swap_remove(newest)));
    }
    found
}

/// Makes a change of a file's content.
pub(super) fn change(content: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Write { offset, bytes, .. } => memory::write(content, bytes, *offset),
        Step::SetLen { len, .. } => content.resize(*len as usize, 0),
        Step::SyncFile { .. }
        | Step::FailedSync { .. }
        | Step::Name(_)
        | Step::SyncFolder { .. }
        | Step::Told { .. } => {}
    }
}

struct Versions<'h> {
    /// The content after each change, from the synced one on.
    history: &'h [Vec<u8>],
    sectors: usize,
    seen: HashSet<Vec<u8>>,
    found: Vec<Arc<Vec<u8>>>,
}

impl<'h> Versions<'h> {
    fn new(history: &'h [Vec<u8>]) -> Self {
        let longest = history.iter().map(Vec::len).max().unwrap_or(0);
        let mut versions = Self {
            history,
            sectors: longest.div_ceil(SECTOR),
            seen: HashSet::new(),
            found: Vec::new(),
        };
        // It comes last, however else it may come about.
        if let Some(newest) = history.get(1..).and_then(<[_]>::last) {
            versions.seen.insert(newest.clone());
        }
        versions
    }

    /// Adds the file with the size after one change, and each sector as after another.
    fn add(&mut self, size: usize, sector_after: impl Fn(usize) -> usize) {
        let mut content = vec![0; self.history[size].len()];
        for (sector, bytes) in content.chunks_mut(SECTOR).enumerate() {
            let from = self.sector(sector_after(sector), sector);
            let count = from.len().min(bytes.len());
            bytes[..count].copy_from_slice(&from[..count]);
        }
        if self.seen.insert(content.clone()) {
            self.found.push(Arc::new(content));
        }
    }

    fn sector(&self, after: usize, sector: usize) -> &'h [u8] {
        let content = &self.history[after];
        let from = content.len().min(sector * SECTOR);
        &content[from..content.len().min(from + SECTOR)]
    }

    /// The sectors that a change touched.
    fn changed(&self, change: usize) -> Vec<usize> {
        (0..self.sectors)
            .filter(|&sector| self.sector(change, sector) != self.sector(change - 1, sector))
            .collect()
    }

    /// The changes after which a sector, or the size, was another than before.
    fn choices(&self, is_changed: impl Fn(usize) -> bool) -> Vec<usize> {
        let changed = (1..self.history.len()).filter(|&change| is_changed(change));
        std::iter::once(0).chain(changed).collect()
    }

    fn combine(&mut self, random: &mut fastrand::Rng) {
        let history = self.history;
        let mut choices: Vec<Vec<usize>> = (0..self.sectors)
            .map(|sector| {
                self.choices(|change| {
                    self.sector(change, sector) != self.sector(change - 1, sector)
                })
            })
            .collect();
        choices.push(self.choices(|change| history[change].len() != history[change - 1].len()));
        for pick in super::crashes::combinations(&choices, EXHAUSTIVE, DRAWN, random) {
            self.add(pick[self.sectors], |sector| pick[sector]);
        }
    }
}
