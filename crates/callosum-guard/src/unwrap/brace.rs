//! Braces: the words that `{a,b}` and `{1..3}` make of one.

use crate::shell::tree::{Part, Word};

/// How many words braces may make of one.
const MAX_BRACES: usize = 64;

/// A piece of a word while braces are taken apart.
#[derive(Clone)]
enum Atom {
    Bare(char),
    Whole(Part),
}

/// The words that braces make of one.
pub(super) fn braces(word: &Word) -> Vec<Word> {
    let mut atoms = Vec::new();
    for part in &word.parts {
        match part {
            Part::Text {
                text,
                quoted: false,
            } => atoms.extend(text.chars().map(Atom::Bare)),
            other => atoms.push(Atom::Whole(other.clone())),
        }
    }
    let mut done = Vec::new();
    let mut open = vec![atoms];
    while let Some(atoms) = open.pop() {
        if done.len() + open.len() >= MAX_BRACES {
            done.push(atoms);
            continue;
        }
        match first_brace(&atoms) {
            Some(choices) => open.extend(choices.into_iter().rev()),
            None => done.push(atoms),
        }
    }
    done.into_iter().map(|atoms| joined(&atoms)).collect()
}

/// What the first brace of a word may be replaced by, where it is one that expands.
fn first_brace(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    for start in 0..atoms.len() {
        if !matches!(atoms[start], Atom::Bare('{')) {
            continue;
        }
        let mut depth = 0usize;
        let mut cuts = vec![start];
        for (at, atom) in atoms.iter().enumerate().skip(start) {
            match atom {
                Atom::Bare('{') => depth += 1,
                Atom::Bare(',') if depth == 1 => cuts.push(at),
                Atom::Bare('}') => {
                    depth -= 1;
                    if depth == 0 {
                        cuts.push(at);
                        break;
                    }
                }
                _ => {}
            }
        }
        if depth != 0 {
            continue;
        }
        let end = *cuts.last()?;
        let choices: Vec<Vec<Atom>> = if cuts.len() > 2 {
            cuts.windows(2)
                .map(|pair| atoms[pair[0] + 1..pair[1]].to_vec())
                .collect()
        } else {
            match range(&atoms[start + 1..end]) {
                Some(choices) => choices,
                None => continue,
            }
        };
        return Some(
            choices
                .into_iter()
                .map(|choice| {
                    let mut whole = atoms[..start].to_vec();
                    whole.extend(choice);
                    whole.extend_from_slice(&atoms[end + 1..]);
                    whole
                })
                .collect(),
        );
    }
    None
}

/// `a..c` and `1..3`.
fn range(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let mut text = String::new();
    for atom in atoms {
        match atom {
            Atom::Bare(c) => text.push(*c),
            Atom::Whole(_) => return None,
        }
    }
    let (from, to) = text.split_once("..")?;
    let atoms = |text: String| text.chars().map(Atom::Bare).collect::<Vec<_>>();
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let (low, high) = (from.min(to), from.max(to));
        return Some(
            (low..=high)
                .take(MAX_BRACES)
                .map(|number| atoms(number.to_string()))
                .collect(),
        );
    }
    let mut from = from.chars();
    let mut to = to.chars();
    match (from.next(), from.next(), to.next(), to.next()) {
        (Some(from), None, Some(to), None) => Some(
            (from.min(to)..=from.max(to))
                .take(MAX_BRACES)
                .map(|letter| vec![Atom::Bare(letter)])
                .collect(),
        ),
        _ => None,
    }
}

fn joined(atoms: &[Atom]) -> Word {
    let mut word = Word::default();
    for atom in atoms {
        match atom {
            Atom::Bare(c) => {
                let mut buffer = [0; 4];
                word.push_text(c.encode_utf8(&mut buffer), false);
            }
            Atom::Whole(part) => word.parts.push(part.clone()),
        }
    }
    word
}
