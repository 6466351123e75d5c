//! [`merged`]: the documents of two branches as one, by what they were before.
//!
//! What git alone brings together is as git has it. Where both changed the same lines, the document is taken apart
//! into what stands there: entries, rows, questions, fields, lines. What one side changed or took out and the other left as it was is
//! so; what both added is there; what both changed differently is named, and one side is leaned on.

use std::collections::{HashMap, HashSet};

use super::{
    Decision,
    document::Notes,
    order::{Three, gaps, in_one, keys},
    piece::{Key, Section, Token},
};
use crate::{
    evidence::Evidence,
    merge::{
        marks::lines,
        sequence::{By, Part, parts, reduced},
    },
};

/// Which side stands where both changed something in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lean {
    Ours,
    Theirs,
}

/// What was made of both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    pub(crate) bytes: Vec<u8>,
    /// What both changed in two ways.
    pub(crate) conflicts: Vec<String>,
    /// What only one can stand of, and did not need a person.
    pub(crate) told: Vec<String>,
}

/// Both documents as one. Without a base everything was added by both, and nothing is taken out. `None` where what was made
/// would not be read as it is meant.
pub(crate) fn merged(
    base: Option<&[u8]>,
    ours: &[u8],
    theirs: &[u8],
    lean: Lean,
) -> Option<Brought> {
    let is_crlf = [base.unwrap_or(ours), ours, theirs].map(|bytes| {
        let first = bytes.iter().position(|byte| *byte == b'\n');
        first.is_some_and(|first| bytes[..first].ends_with(b"\r"))
    });
    if is_crlf != [is_crlf[1]; 3] {
        let [was, ours, theirs] = [base.unwrap_or_default(), ours, theirs].map(with_lf);
        let mut made = merged(base.map(|_| &*was), &ours, &theirs, lean)?;
        if if is_crlf[1] == is_crlf[0] {
            is_crlf[2]
        } else {
            is_crlf[1]
        } {
            made.bytes = lines(&made.bytes)
                .into_iter()
                .flat_map(|line| match line.strip_suffix(b"\n") {
                    Some(line) => [line, b"\r\n"].concat(),
                    None => line.to_vec(),
                })
                .collect();
        }
        return Some(made);
    }
    if let Some(base) = base {
        let all = [base, ours, theirs].map(paragraphs);
        let (left, is_settled) = reduced(&all[0], &all[1], &all[2]);
        let [was, own, new] = left.map(|lines| lines.concat());
        let made = if is_settled {
            Some(Brought {
                bytes: own,
                ..Brought::default()
            })
        } else {
            by_pieces(&was, &own, &new, lean)
        };
        let made = made
            .filter(|made| is_sound(made, base, ours, theirs) && is_true(made, base, ours, theirs));
        if made.is_some() {
            return made;
        }
    }
    let made = by_pieces(base.unwrap_or_default(), ours, theirs, lean);
    made.filter(|made| is_true(made, base.unwrap_or_default(), ours, theirs))
}

/// Whether each entry leans on what it leant on in one of the three, and on nothing of another; and whether none is there, unless a
/// person is asked, that one side took back and both come from.
fn is_true(made: &Brought, base: &[u8], ours: &[u8], theirs: &[u8]) -> bool {
    let read = |bytes: &[u8]| Notes::read(bytes.to_vec()).decisions();
    let all = [base, ours, theirs].map(read);
    let has = |side: &[Decision], of: &Decision| {
        side.iter()
            .any(|entry| entry.ts == of.ts && entry.words() == of.words())
    };
    let there = read(&made.bytes);
    let is_cited = |entry: &Decision, evidence: &Evidence| {
        let mut known = all.iter().flatten();
        known.any(|of| {
            of.ts == entry.ts && of.words() == entry.words() && of.evidence.contains(evidence)
        })
    };
    there.iter().all(|entry| {
        let is_revived = has(&all[0], entry) && !(has(&all[1], entry) && has(&all[2], entry));
        (!is_revived || !made.conflicts.is_empty())
            && entry
                .evidence
                .iter()
                .all(|evidence| is_cited(entry, evidence))
    })
}

/// The lines, each with the blank ones behind it: what is added behind a blank line and before it is added in one place.
fn paragraphs(bytes: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    let (mut start, mut end) = (0, 0);
    for line in lines(bytes) {
        if end > start && !line.trim_ascii().is_empty() {
            all.push(&bytes[start..end]);
            start = end;
        }
        end += line.len();
    }
    all.push(&bytes[start..end]);
    all
}

fn with_lf(bytes: &[u8]) -> Vec<u8> {
    let lines = lines(bytes).into_iter();
    lines
        .flat_map(|line| match line.strip_suffix(b"\r\n") {
            Some(line) => [line, b"\n"].concat(),
            None => line.to_vec(),
        })
        .collect()
}

/// Whether nothing that both sides close is left open, no entry, row or question is there more often than either side has it, and
/// each entry is there that one side added, or both have.
fn is_sound(made: &Brought, base: &[u8], ours: &[u8], theirs: &[u8]) -> bool {
    let read = |bytes: &[u8]| Notes::read(bytes.to_vec());
    let all = [made.bytes.as_slice(), base, ours, theirs].map(read);
    let open = all.each_ref().map(|notes| notes.outline.unclosed.len());
    if open[0] > open[2].max(open[3]) {
        return false;
    }
    let [there, base, ours, theirs] = all.each_ref().map(counted);
    let of = |counts: &HashMap<Known, usize>, key: &Known| counts.get(key).copied().unwrap_or(0);
    let is_doubled = |(key, many): (&Known, &usize)| *many > of(&ours, key).max(of(&theirs, key));
    if there.iter().any(is_doubled) {
        return false;
    }
    let is_wanted = |key: &Known| match (of(&base, key), of(&ours, key), of(&theirs, key)) {
        (0, ours, theirs) => ours.max(theirs) > 0,
        (_, ours, theirs) => ours.min(theirs) > 0,
    };
    let mut entries = ours.keys().chain(theirs.keys());
    // Of what both changed in two ways one is left out.
    !made.conflicts.is_empty()
        || entries.all(|key| key.0.is_empty() || !is_wanted(key) || of(&there, key) > 0)
}

/// The time of an entry and its words; of a row its place, and of a question its words.
type Known = (String, String);

fn counted(notes: &Notes) -> HashMap<Known, usize> {
    let mut counts: HashMap<Known, usize> = HashMap::new();
    for section in notes.sections() {
        if let Some(entry) = &section.entry {
            let known = (entry.ts.clone(), entry.words().to_owned());
            *counts.entry(known).or_default() += 1;
        }
        for token in section.tokens {
            if let Key::Row(words, _) | Key::Question(words, _) = token.key {
                *counts.entry((String::new(), words)).or_default() += 1;
            }
        }
    }
    counts
}

/// Both by their sections and what stands in each.
pub(crate) fn by_pieces(base: &[u8], ours: &[u8], theirs: &[u8], lean: Lean) -> Option<Brought> {
    let read = |bytes: &[u8]| Notes::read(bytes.to_vec());
    let all = [base, ours, theirs].map(read);
    let eol = all[1].eol();
    let unclosed = all[1..].iter().map(|notes| notes.outline.unclosed.len());
    let unclosed = unclosed.max().unwrap_or(0);
    let sections = all.map(|notes| notes.sections());
    let mut merge = Merge {
        lean,
        conflicts: Vec::new(),
        told: Vec::new(),
    };
    let made = merge.sections([&sections[0], &sections[1], &sections[2]]);
    let wanted = made.iter().filter(|(section, _)| section.entry.is_some());
    let wanted = wanted.count();
    let mut bytes: Vec<u8> = Vec::new();
    let mut is_behind_entry = false;
    for (section, is_joined) in made {
        let is_entry = section.entry.is_some();
        let is_tight = is_joined && is_entry && is_behind_entry && !bytes.ends_with(b"\n\n");
        if is_tight && !bytes.ends_with(b"\r\n\r\n") {
            ended(&mut bytes, eol);
            bytes.extend_from_slice(eol.as_bytes());
        }
        for token in section.tokens {
            for text in [token.text, token.blanks] {
                if !text.is_empty() {
                    ended(&mut bytes, eol);
                    bytes.extend_from_slice(&text);
                }
            }
        }
        is_behind_entry = is_entry;
    }
    let there = read(&bytes);
    let is_open = there.outline.unclosed.len() > unclosed;
    let there = there.sections().into_iter();
    let there = there.filter(|section| section.entry.is_some()).count();
    (there == wanted && !is_open).then_some(Brought {
        bytes,
        conflicts: merge.conflicts,
        told: merge.told,
    })
}

/// Ends a last line that has no end.
fn ended(bytes: &mut Vec<u8>, eol: &str) {
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.extend_from_slice(eol.as_bytes());
    }
}

struct Merge {
    lean: Lean,
    conflicts: Vec<String>,
    told: Vec<String>,
}

impl Merge {
    fn conflict(&mut self, what: String) {
        if !self.conflicts.contains(&what) {
            self.conflicts.push(what);
        }
    }

    /// The sections of both, each with whether what one side has stands beside what the other has.
    fn sections(&mut self, all: Three<'_>) -> Vec<(Section, bool)> {
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
        let mut order: Vec<(usize, bool)> = Vec::new();
        for part in parts(&keys[0], &keys[1], &keys[2]) {
            let (own, new) = (&keys[1][part.ours.clone()], &keys[2][part.theirs.clone()]);
            for (own, new) in gaps(own, new) {
                match (own, new) {
                    (Some(own), Some(new)) if own == new => {
                        order.extend(own.iter().map(|id| (*id, false)));
                    }
                    (own, new) => {
                        // What one side alone moved stands where that side has it.
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

    /// What a section is of both; nothing where it is taken out.
    fn section(&mut self, [was, own, new]: [Option<&Section>; 3]) -> Option<Section> {
        let (kept, other) = match (own, new) {
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
            (Some(own), None) => (own, Lean::Ours),
            (None, Some(new)) => (new, Lean::Theirs),
            (None, None) => return None,
        };
        let Some(was) = was else {
            return Some(kept.clone());
        };
        if kept.says(was) {
            return None;
        }
        self.conflict(kept.name());
        (self.lean == other).then(|| kept.clone())
    }

    /// The tokens of a section that both have.
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
                        None => put(self.alone(of, before, own, Lean::Ours)),
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
                        None => put(self.alone(of, before, new, Lean::Theirs)),
                    }
                }
            }
        }
        made
    }

    /// Which lines of text that one side alone has in a stretch stay: of ours, and of theirs.
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
            By::Nobody => return [ours, theirs],
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
        // Evidence of both stands beside one another.
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
            Lean::Ours => [by_us, HashSet::new()],
            Lean::Theirs => [HashSet::new(), by_them],
        }
    }

    /// What is made of a token that both have.
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
            Lean::Ours => own,
            Lean::Theirs => new,
        }
    }

    /// What is made of a token that one side alone has; nothing where the other took it out.
    fn alone(
        &mut self,
        of: &Section,
        was: Option<&Token>,
        there: &Token,
        side: Lean,
    ) -> Option<Token> {
        let Some(was) = was else {
            return Some(there.clone());
        };
        let is_same = was.words() == there.words()
            // When a row was last looked at is no reason to keep it.
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

    /// A field that both changed: of two checkpoints the later, else ours, which is told.
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
            self.told.push(format!(
                "both sides set a field of Active Context: `{field}` stays, and theirs, `{}`, goes",
                new.value
            ));
        }
        own
    }

    /// A row that both changed: when it was last looked at counts by itself.
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
