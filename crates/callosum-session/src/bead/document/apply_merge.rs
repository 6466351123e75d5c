//! [`Sheet::brought_to`]: writes the merged content of two sides into a bead's file, with their own
//! lines as far as possible.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use serde_json::{Map, Value};

use super::{
    lines::{comment, is_key, joined, put_in, span_end},
    sheet::Sheet,
};
use crate::merge::diff3::{By, parts};

impl Sheet {
    /// Returns the file with the merged content of both sides, which both come from `base`: the
    /// lines of a key are those of the side that changed them. Fails with the first key for which
    /// no way of writing works.
    pub(in crate::bead) fn brought_to(
        &self,
        wanted: &Map<String, Value>,
        base: Option<&Self>,
        theirs: &Self,
    ) -> Result<Self, String> {
        let mut made = self.clone();
        let new = wanted
            .keys()
            .filter(|key| !self.members().contains_key(*key));
        let keys: Vec<&String> = self.members().keys().chain(new).collect();
        for key in keys {
            let mut goal = made.members().clone();
            match wanted.get(key) {
                Some(value) => goal.insert(key.clone(), value.clone()),
                None => goal.remove(key),
            };
            let candidates = made.candidates(key, wanted.get(key), base, theirs);
            let candidates = candidates.into_iter().chain(made.in_braces(&goal));
            let mut read = candidates.filter_map(|text| Self::read(&text).ok());
            made = read
                .find(|made| *made.members() == goal)
                .ok_or_else(|| key.clone())?;
        }
        let was = base.map(Self::head).unwrap_or_default();
        let own = made.head();
        let head = by_set(&was, &own, &theirs.head());
        if head != own {
            let text = joined(&made.lines(), 0..own.len(), &made.ended(&head));
            made = Self::read(&text)
                .ok()
                .filter(|new| new.members() == made.members())
                .unwrap_or(made);
        }
        Ok(made)
    }

    /// Returns the comments that one of the sides wrote and that neither `base` nor this file has,
    /// and the comments that this file has although a side removed them. A comment that the sides
    /// wrote at two places should be there twice.
    pub(in crate::bead) fn lost_comments(
        &self,
        base: Option<&Self>,
        sides: [&Self; 2],
    ) -> Vec<String> {
        let (was, there) = (
            base.map(Self::comments).unwrap_or_default(),
            self.comments(),
        );
        let sides = sides.map(Self::comments);
        let mut written: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (comment, places) in sides.iter().flatten() {
            if !was.contains_key(comment) {
                written.entry(comment).or_default().extend(places);
            }
        }
        let lost = written.into_iter().filter(|(comment, places)| {
            there
                .get(comment)
                .is_none_or(|there| there.len() < places.len())
        });
        let taken_out = was.keys().filter(|comment| {
            there.contains_key(*comment) && !sides.iter().all(|side| side.contains_key(*comment))
        });
        let lost: BTreeSet<&str> = lost
            .map(|(comment, _)| comment)
            .chain(taken_out.copied())
            .collect();
        lost.into_iter().map(str::to_owned).collect()
    }

    /// Returns each comment with its places: the words before the colon of its own line, or of the
    /// next line that is not a comment.
    fn comments(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut place = "";
        for line in self.text().lines().rev() {
            let comment = comment(line);
            let line = line.trim_end();
            let words = &line[..line.len() - comment.map_or(0, str::len)];
            if !words.trim().is_empty() {
                place = words.split(':').next().unwrap_or(words).trim();
            }
            if let Some(comment) = comment {
                all.entry(comment).or_default().push(place);
            }
        }
        all
    }

    /// Texts that may say of one key what is wanted, best first.
    fn candidates(
        &self,
        key: &str,
        goal: Option<&Value>,
        base: Option<&Self>,
        theirs: &Self,
    ) -> Vec<String> {
        let (was, own, new) = (
            base.and_then(|base| base.of_key(key)),
            self.of_key(key),
            theirs.of_key(key),
        );
        let lines = self.lines();
        let mut candidates = Vec::new();
        let mut instead = |made: &[&str]| {
            let made = self.ended(made);
            candidates.push(match self.span(key) {
                Some(span) => joined(&lines, span, &made),
                None => put_in(&lines, self.place_of(key, theirs), &made, self.eol()),
            });
        };
        match (&was, &own, &new) {
            _ if own == new || new == was => {}
            (was, own, Some(new)) if own == was => instead(new),
            (Some(was), Some(own), Some(new)) => {
                let by_set = by_set(was, own, new);
                let of_both = [by_hunk(was, own, new), by_line(was, own, new), Some(by_set)];
                for made in of_both.into_iter().flatten() {
                    instead(&made);
                }
                if keeps_comments(was, own, new) {
                    instead(new);
                }
            }
            (None, Some(own), Some(new)) if keeps_comments(&[], own, new) => instead(new),
            _ => {}
        }
        match goal {
            None => instead(&[]),
            Some(goal) => {
                candidates.push(self.text().to_owned());
                candidates.extend(self.rewritten(key, goal));
            }
        }
        candidates
    }

    /// Returns candidate texts in which the value of the key is replaced by a newly written one.
    fn rewritten(&self, key: &str, goal: &Value) -> Vec<String> {
        let own = self.members().get(key).and_then(Value::as_array);
        let (Value::Array(items), own) = (goal, own) else {
            return self.set(key, goal);
        };
        let mut candidates = Vec::new();
        if let Some(added) = own.and_then(|own| items.strip_prefix(own.as_slice())) {
            let pushed = added.iter().try_fold(self.clone(), |sheet, item| {
                let mut wanted = sheet.members().get(key)?.as_array()?.clone();
                wanted.push(item.clone());
                let made = sheet.push(key, item).into_iter();
                let mut made = made.filter_map(|text| Self::read(&text).ok());
                made.find(|made| made.members().get(key).and_then(Value::as_array) == Some(&wanted))
            });
            candidates.extend(pushed.map(|sheet| sheet.text().to_owned()));
        }
        candidates.extend(self.replace(key, items));
        candidates.extend(self.set(key, goal));
        candidates
    }

    /// Returns the lines of a key's value, including the comments after it.
    fn span(&self, key: &str) -> Option<Range<usize>> {
        let lines = self.lines();
        let at = lines.iter().position(|line| is_key(line, key))?;
        Some(at..span_end(&lines, at))
    }

    /// These lines without their ends.
    fn of_key(&self, key: &str) -> Option<Vec<&str>> {
        let lines = self.text().lines();
        let span = self.span(key)?;
        Some(lines.skip(span.start).take(span.len()).collect())
    }

    /// Returns the lines before the first key, without line ends.
    fn head(&self) -> Vec<&str> {
        let keys = self.members().keys();
        let first = keys
            .filter_map(|key| self.span(key))
            .map(|span| span.start)
            .min();
        self.text().lines().take(first.unwrap_or(0)).collect()
    }

    /// Returns lines with the ends that this file's have.
    fn ended(&self, lines: &[&str]) -> String {
        let mut ended = String::new();
        for line in lines {
            ended.push_str(line);
            ended.push_str(self.eol());
        }
        ended
    }

    /// Returns the line before which a key of theirs belongs: after the nearest preceding key that
    /// is also here, or at the end.
    fn place_of(&self, key: &str, theirs: &Self) -> usize {
        let before = theirs.span(key).map_or(0, |span| span.start);
        let there = theirs
            .members()
            .keys()
            .filter_map(|key| Some((theirs.span(key)?.start, key)));
        let mut there: Vec<(usize, &String)> = there.filter(|(at, _)| *at < before).collect();
        there.sort_unstable();
        let lines = self.lines();
        let is_last = before == 0 || there.len() + 1 == theirs.members().len();
        let behind = there.iter().rev().find_map(|(_, key)| self.span(key));
        let end = lines.iter().rposition(|line| line.trim_end() == "...");
        match behind.filter(|_| !is_last) {
            Some(span) => span.end,
            None => end.unwrap_or(lines.len()),
        }
    }
}

/// Whether the new lines have every comment that our own do and should have, and no other that we took out.
fn keeps_comments(was: &[&str], own: &[&str], new: &[&str]) -> bool {
    let of = |lines: &[&str]| -> BTreeSet<String> {
        let comments = lines.iter().filter_map(|line| comment(line));
        comments.map(str::to_owned).collect()
    };
    let (was, own, new) = (of(was), of(own), of(new));
    own.difference(&was).all(|comment| new.contains(comment))
        && new.intersection(&was).all(|comment| own.contains(comment))
}

/// Returns the lines without those that one side removed, plus those that both added: if both
/// changed the same ones, ours first.
fn by_set<'l>(was: &[&'l str], own: &[&'l str], new: &[&'l str]) -> Vec<&'l str> {
    let mut made = Vec::new();
    for part in parts(was, own, new) {
        let (was, own, new) = (&was[part.base], &own[part.ours], &new[part.theirs]);
        match part.by {
            By::Neither | By::Ours => made.extend(own),
            By::Theirs => made.extend(new),
            By::Both => {
                let kept = own
                    .iter()
                    .filter(|line| !was.contains(line) || new.contains(line));
                let added = new
                    .iter()
                    .filter(|line| !was.contains(line) && !own.contains(line));
                made.extend(kept.chain(added));
            }
        }
    }
    made
}

/// Returns the lines with the changes of both, if each changed one stretch and the two do not meet.
fn by_hunk<'l>(was: &[&'l str], own: &[&'l str], new: &[&'l str]) -> Option<Vec<&'l str>> {
    let changed = |now: &[&'l str]| {
        let alike = |(a, b): &(&&str, &&str)| a == b;
        let before = was.iter().zip(now).take_while(alike).count();
        let rest = was[before..].iter().rev().zip(now[before..].iter().rev());
        let behind = rest.take_while(alike).count();
        (
            before..was.len() - behind,
            now[before..now.len() - behind].to_vec(),
        )
    };
    let (mut first, mut second) = (changed(own), changed(new));
    if first.0.start > second.0.start || first.0.end > second.0.end {
        (first, second) = (second, first);
    }
    let is_apart = first.0.end <= second.0.start && !(first.0.is_empty() && first.0 == second.0);
    is_apart.then(|| {
        let between = &was[first.0.end..second.0.start];
        let parts = [
            &was[..first.0.start],
            &first.1,
            between,
            &second.1,
            &was[second.0.end..],
        ];
        parts.concat()
    })
}

/// The same if neither added or removed a line.
fn by_line<'l>(was: &[&'l str], own: &[&'l str], new: &[&'l str]) -> Option<Vec<&'l str>> {
    if was.len() != own.len() || was.len() != new.len() {
        return None;
    }
    let lines = was.iter().zip(own).zip(new);
    let lines = lines.map(|((was, own), new)| match (own == was, new == was) {
        (true, _) => Some(*new),
        (_, true) => Some(*own),
        _ => (own == new).then_some(*own),
    });
    lines.collect()
}
