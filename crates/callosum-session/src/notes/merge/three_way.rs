//! [`Merge`]: merges the sections of both, and the elements of each.

use std::collections::{HashMap, HashSet};

use super::ConflictSide;
use crate::{
    merge::diff3::{By, Part, parts},
    notes::{
        document::LOG,
        order::{Versions, gaps, in_one, keys},
        sections::{Key, Section, Token},
    },
};

/// Merge of both, as far as it has come.
pub(super) struct Merge {
    lean: ConflictSide,
    pub(super) conflicts: Vec<String>,
    pub(super) notices: Vec<String>,
    /// Whether there is a conflict that cannot be shown as one element.
    pub(super) is_unread: bool,
}

impl Merge {
    pub(super) fn new(lean: ConflictSide) -> Self {
        Self {
            lean,
            conflicts: Vec::new(),
            notices: Vec::new(),
            is_unread: false,
        }
    }

    fn conflict(&mut self, what: String) {
        if !self.conflicts.contains(&what) {
            self.conflicts.push(what);
        }
    }

    /// Returns the sections of both, each with whether its text of one side is put next to that of
    /// the other.
    pub(super) fn sections(&mut self, all: Versions<'_>) -> Vec<(Section, bool)> {
        let keys = keys(all);
        let mut known: [HashMap<usize, usize>; 3] = Default::default();
        for (known, keys) in known.iter_mut().zip(&keys) {
            known.extend(keys.iter().copied().zip(0..));
        }
        let mut ids: Vec<usize> = keys[1].iter().chain(&keys[2]).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let mut made: HashMap<usize, Section> = HashMap::new();
        for id in ids {
            let mut sides = all.iter().zip(&known);
            let mut side = || {
                let (sections, known) = sides.next()?;
                known.get(&id).map(|at| &sections[*at])
            };
            if let Some(section) = self.section([side(), side(), side()]) {
                made.insert(id, section);
            }
        }
        keep_log(&mut made, &keys, all);
        drop_copies(&mut made, all);
        let mut order: Vec<(usize, bool)> = Vec::new();
        for part in parts(&keys[0], &keys[1], &keys[2]) {
            let (own, new) = (&keys[1][part.ours.clone()], &keys[2][part.theirs.clone()]);
            for (own, new) in gaps(own, new) {
                match (own, new) {
                    (Some(own), Some(new)) if own == new => {
                        order.extend(own.iter().map(|id| (*id, false)));
                    }
                    (own, new) => {
                        // What one side alone moved is where that side has it.
                        let is_moved = |id: &usize, by: By, there: &HashMap<usize, usize>| {
                            part.by == by && there.contains_key(id)
                        };
                        let own = own.unwrap_or_default().iter();
                        let own = own.filter(|id| !is_moved(id, By::Theirs, &known[2]));
                        let new = new.unwrap_or_default().iter();
                        let new = new.filter(|id| !is_moved(id, By::Ours, &known[1]));
                        let is_there = |id: &&usize| made.contains_key(*id);
                        let own: Vec<usize> = own.filter(is_there).copied().collect();
                        let new: Vec<usize> = new.filter(is_there).copied().collect();
                        let is_joined = !own.is_empty() && !new.is_empty();
                        let both = in_one(own, new, &made);
                        order.extend(both.into_iter().map(|id| (id, is_joined)));
                    }
                }
            }
        }
        let order = order.into_iter();
        order
            .filter_map(|(id, is_joined)| Some((made.remove(&id)?, is_joined)))
            .collect()
    }

    /// Merges a section of both; `None` if it is removed.
    fn section(&mut self, [was, own, new]: [Option<&Section>; 3]) -> Option<Section> {
        let (kept, other) = match (own, new) {
            (Some(own), Some(new)) if own.is_withdrawn() || new.is_withdrawn() => {
                return Some(self.withdrawn(was, own, new).clone());
            }
            (Some(own), Some(new)) => {
                let tokens = [
                    was.map_or(&[][..], |was| &was.tokens),
                    &own.tokens,
                    &new.tokens,
                ];
                return Some(Section {
                    tokens: self.tokens(own, tokens),
                    ..own.clone()
                });
            }
            (Some(own), None) => (own, ConflictSide::Ours),
            (None, Some(new)) => (new, ConflictSide::Theirs),
            (None, None) => return None,
        };
        let Some(was) = was else {
            return Some(kept.clone());
        };
        if kept.says(was) {
            return None;
        }
        // If both withdrew it, the words that one of them left stay, hidden. One that was restored
        // is there, also if the other removed the comment.
        if kept.is_withdrawn() != was.is_withdrawn() {
            return Some(kept.clone());
        }
        self.conflict(kept.name());
        (self.lean == other).then(|| kept.clone())
    }

    /// Merges an entry that both have and that at least one has within a comment. A change of one
    /// side alone wins; otherwise the comment, if it has all that the other one says. Of two that
    /// say the same, it is always the same one.
    fn withdrawn<'s>(
        &mut self,
        was: Option<&Section>,
        own: &'s Section,
        new: &'s Section,
    ) -> &'s Section {
        let left_it = |side: &Section| was.is_some_and(|was| was.says(side));
        if own.says(new) || left_it(new) {
            return own;
        }
        if left_it(own) {
            return new;
        }
        let (ours, theirs) = (own.plain(), new.plain());
        let was_withdrawn = was.is_some_and(Section::is_withdrawn);
        let base_text = was.map(Section::plain).unwrap_or_default();
        match (own.is_withdrawn(), new.is_withdrawn()) {
            (true, true) if ours == theirs => {
                let is_ours = own.tokens[0].text <= new.tokens[0].text;
                return if is_ours { own } else { new };
            }
            (true, _) if !was_withdrawn && ours.contains(&theirs) => return own,
            (_, true) if !was_withdrawn && theirs.contains(&ours) => return new,
            // One brought it back, the other changed no word of the comment.
            (true, false) if was_withdrawn && base_text == ours => return new,
            (false, true) if was_withdrawn && base_text == theirs => return own,
            _ => {}
        }
        // Of a comment around several, the others would be nowhere on one side of the marks.
        self.is_unread |= !was_withdrawn && own.withdrawn.len().max(new.withdrawn.len()) > 1;
        self.conflict(own.name());
        match self.lean {
            ConflictSide::Ours => own,
            ConflictSide::Theirs => new,
        }
    }

    /// Returns the tokens of a section that both have.
    fn tokens(&mut self, of: &Section, all: [&[Token]; 3]) -> Vec<Token> {
        let keys = all.map(|tokens| tokens.iter().map(|token| &token.key).collect::<Vec<_>>());
        let known = all.map(|tokens| {
            let own = tokens.iter().filter(|token| token.key.is_own());
            own.map(|token| (&token.key, token))
                .collect::<HashMap<_, _>>()
        });
        let mut made: Vec<Token> = Vec::new();
        let mut there: HashSet<Key> = HashSet::new();
        let mut put = |token: Option<Token>| {
            let token =
                token.filter(|token| !token.key.is_own() || there.insert(token.key.clone()));
            made.extend(token);
        };
        for part in parts(&keys[0], &keys[1], &keys[2]) {
            let (was, own, new) = (
                &all[0][part.base.clone()],
                &all[1][part.ours.clone()],
                &all[2][part.theirs.clone()],
            );
            let kept = self.kept_texts(of, &part, was, own, new);
            let of_both = gaps(&keys[1][part.ours.clone()], &keys[2][part.theirs.clone()]);
            let (mut own, mut new) = (own.iter(), new.iter());
            for (ours, theirs) in of_both {
                if let (Some(ours), Some(theirs)) = (ours, theirs)
                    && ours == theirs
                {
                    for (own, new) in own.by_ref().zip(new.by_ref()).take(ours.len()) {
                        let before = known[0].get(&own.key).copied();
                        let alike = || was.iter().find(|token| token.key == own.key);
                        put(Some(self.token(of, before.or_else(alike), own, new)));
                    }
                    continue;
                }
                for own in own.by_ref().take(ours.map_or(0, <[_]>::len)) {
                    if !own.key.is_own() {
                        put(Some(own.clone()).filter(|own| kept[0].contains(&own.key)));
                        continue;
                    }
                    let before = known[0].get(&own.key).copied();
                    match known[2].get(&own.key) {
                        Some(_) if part.by == By::Theirs => {}
                        Some(new) => put(Some(self.token(of, before, own, new))),
                        None => put(self.alone(of, before, own, ConflictSide::Ours)),
                    }
                }
                for new in new.by_ref().take(theirs.map_or(0, <[_]>::len)) {
                    if !new.key.is_own() {
                        put(Some(new.clone()).filter(|new| kept[1].contains(&new.key)));
                        continue;
                    }
                    let before = known[0].get(&new.key).copied();
                    match known[1].get(&new.key) {
                        Some(_) if part.by == By::Ours => {}
                        Some(own) => put(Some(self.token(of, before, own, new))),
                        None => put(self.alone(of, before, new, ConflictSide::Theirs)),
                    }
                }
            }
        }
        made
    }

    /// Returns the lines of text to keep of those that one side alone has in a stretch: of ours,
    /// and of theirs.
    fn kept_texts<'t>(
        &mut self,
        of: &Section,
        part: &Part,
        was: &'t [Token],
        own: &'t [Token],
        new: &'t [Token],
    ) -> [HashSet<&'t Key>; 2] {
        fn texts(tokens: &[Token]) -> Vec<&Token> {
            let texts = tokens.iter().filter(|token| !token.key.is_own());
            texts.collect()
        }
        let keys = |tokens: &'t [Token]| -> HashSet<&'t Key> {
            texts(tokens).into_iter().map(|token| &token.key).collect()
        };
        let (before, ours, theirs) = (keys(was), keys(own), keys(new));
        match part.by {
            By::Neither => return [ours, theirs],
            By::Ours => return [ours, HashSet::new()],
            By::Theirs => return [HashSet::new(), theirs],
            By::Both => {}
        }
        let added = |tokens: &'t [Token]| -> Vec<&'t Token> {
            let texts = texts(tokens).into_iter();
            texts.filter(|token| !before.contains(&token.key)).collect()
        };
        let (by_us, by_them) = (added(own), added(new));
        let mut gone = texts(was).into_iter();
        let gone = gone.find(|token| !ours.contains(&token.key) && !theirs.contains(&token.key));
        let is_alike = by_us
            .iter()
            .map(|token| &token.key)
            .eq(by_them.iter().map(|token| &token.key));
        let mut all_added = by_us.iter().chain(&by_them);
        // Evidence of both is kept side by side.
        let is_cited = of.entry.is_some() && all_added.all(|token| token.is_evidence());
        let by_us = by_us.iter().map(|token| &token.key).collect();
        let by_them = by_them.iter().map(|token| &token.key).collect();
        let Some(gone) = gone.filter(|_| !is_alike && !is_cited) else {
            return [by_us, by_them];
        };
        let line = String::from_utf8_lossy(gone.words());
        let line = line.lines().next().unwrap_or_default();
        let what = match &of.entry {
            Some(_) => of.name(),
            None => line.trim().to_owned(),
        };
        self.conflict(what);
        match self.lean {
            ConflictSide::Ours => [by_us, HashSet::new()],
            ConflictSide::Theirs => [HashSet::new(), by_them],
        }
    }

    /// Merges a token that both have.
    fn token(&mut self, of: &Section, was: Option<&Token>, own: &Token, new: &Token) -> Token {
        let blanks = match was {
            Some(was) if was.blanks == own.blanks => &new.blanks,
            _ => &own.blanks,
        };
        let blanks = blanks.clone();
        let is_ours =
            own.words() == new.words() || was.is_some_and(|was| was.words() == new.words());
        if is_ours || was.is_some_and(|was| was.words() == own.words()) {
            let kept = if is_ours { own } else { new };
            return Token {
                blanks,
                ..kept.clone()
            };
        }
        let kept = match &own.key {
            Key::Field(name, _) => self.field(name, was, own, new),
            Key::Row(place, _) => {
                return Token {
                    blanks,
                    ..self.row(place, was, own, new)
                };
            }
            Key::Question(..) if new.is_ticked() && !own.is_ticked() => new,
            Key::Question(..) | Key::Text(_) => own,
            Key::Head | Key::Label(..) => {
                self.conflict(of.name());
                self.leant(own, new)
            }
        };
        Token {
            blanks,
            ..kept.clone()
        }
    }

    fn leant<'t>(&self, own: &'t Token, new: &'t Token) -> &'t Token {
        match self.lean {
            ConflictSide::Ours => own,
            ConflictSide::Theirs => new,
        }
    }

    /// Merges a token that one side alone has; `None` if the other removed it.
    fn alone(
        &mut self,
        of: &Section,
        was: Option<&Token>,
        there: &Token,
        side: ConflictSide,
    ) -> Option<Token> {
        let Some(was) = was else {
            return Some(there.clone());
        };
        let is_same = was.words() == there.words()
            // The time at which a row was last verified is no reason to keep it.
            || matches!(there.key, Key::Row(..)) && was.cells[0] == there.cells[0];
        if is_same {
            return None;
        }
        if matches!(there.key, Key::Question(..)) {
            return Some(there.clone());
        }
        self.conflict(match &there.key {
            Key::Row(place, _) => place.clone(),
            Key::Field(..) => String::from_utf8_lossy(there.words()).into_owned(),
            _ => of.name(),
        });
        (self.lean == side).then(|| there.clone())
    }

    /// Merges a field that both changed: of two checkpoints the later, otherwise ours, and the
    /// merge reports it.
    fn field<'t>(
        &mut self,
        name: &str,
        was: Option<&Token>,
        own: &'t Token,
        new: &'t Token,
    ) -> &'t Token {
        let was = was.map_or("", |was| &was.value);
        if own.value == new.value || new.value == was || new.value.is_empty() {
            return own;
        }
        let is_checkpoint = name == "last checkpoint";
        if own.value == was || own.value.is_empty() || is_checkpoint && own.value < new.value {
            return new;
        }
        if !is_checkpoint {
            let field = String::from_utf8_lossy(own.words());
            let field = field.trim_start_matches(['-', '*', '+', ' ', '\t']);
            self.notices.push(format!(
                "both sides set a field of Active Context: `{field}` was kept, and theirs, `{}`, \
                 was dropped",
                new.value
            ));
        }
        own
    }

    /// Merges a row that both changed: the time at which it was last verified is merged by itself.
    fn row(&mut self, place: &str, was: Option<&Token>, own: &Token, new: &Token) -> Token {
        let purpose = |token: &Token| token.cells[0].clone();
        let was = was.map(purpose);
        let (ours, theirs) = (purpose(own), purpose(new));
        let mut kept = if ours == theirs || was.as_ref() == Some(&theirs) {
            own
        } else if was.as_ref() == Some(&ours) {
            new
        } else {
            self.conflict(place.to_owned());
            self.leant(own, new)
        }
        .clone();
        let later = own.cells[1].as_str().max(&new.cells[1]);
        if kept.cells[1] != later {
            let text = String::from_utf8_lossy(&kept.text).into_owned();
            if let Some(at) = text
                .rfind(&kept.cells[1])
                .filter(|_| !kept.cells[1].is_empty())
            {
                let end = at + kept.cells[1].len();
                kept.text = format!("{}{later}{}", &text[..at], &text[end..]).into_bytes();
                later.clone_into(&mut kept.cells[1]);
            }
        }
        kept
    }
}

/// Keeps the heading of the Decision Log if one side added entries below it: the side that removed
/// the heading had none of them.
fn keep_log(made: &mut HashMap<usize, Section>, keys: &[Vec<usize>; 3], all: Versions<'_>) {
    let is_log = |section: &Section| section.title.eq_ignore_ascii_case(LOG);
    if made.values().all(|section| section.entry.is_none()) || made.values().any(is_log) {
        return;
    }
    let sides = keys[1..].iter().zip(&all[1..]);
    let mut sections = sides.flat_map(|(keys, sections)| keys.iter().zip(*sections));
    if let Some((id, log)) = sections.find(|(_, section)| is_log(section)) {
        made.insert(*id, log.clone());
    }
}

/// Drops comments around entries that repeat another one: if there are more of them than either
/// side has, or if a comment around several has the entry as well and no side has both.
fn drop_copies(made: &mut HashMap<usize, Section>, all: Versions<'_>) {
    let mut withdrawn: Vec<(String, Vec<u8>, usize)> = made
        .iter()
        .filter(|(_, section)| section.is_withdrawn())
        .map(|(id, section)| (section.plain(), section.tokens[0].text.clone(), *id))
        .collect();
    withdrawn.sort_unstable();
    let many = |side: &[Section], text: &str| {
        let same = side.iter().filter(|section| section.is_withdrawn());
        same.filter(|section| section.plain() == text).count()
    };
    let mut there: HashMap<&str, usize> = HashMap::new();
    for (text, _, id) in &withdrawn {
        let has_both =
            |side: &&[Section], other: &str| many(side, text) > 0 && many(side, other) > 0;
        let is_held = |(other, ..): &(String, Vec<u8>, usize)| {
            other.len() > text.len()
                && other.contains(text.as_str())
                && !all[1..].iter().any(|side| has_both(side, other))
        };
        let so_many = there.entry(text).or_default();
        *so_many += 1;
        if *so_many > many(all[1], text).max(many(all[2], text)) || withdrawn.iter().any(is_held) {
            made.remove(id);
        }
    }
}
