//! Braces: the words that `{a,b}` and `{1..3}` make of one.

use crate::shell::tree::{Part, Word};

/// Limit on the words that braces may make of one.
const MAX_BRACES: usize = 64;

/// The longest text that may be a range, in characters: two numbers of 64 bits and the `..` between
/// them.
const LONGEST_RANGE: usize = 48;

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

/// Returns the choices for the first brace of a word that expands.
fn first_brace(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let cuts = first_that_expands(atoms)?;
    let (start, end) = (*cuts.first()?, *cuts.last()?);
    let choices: Vec<Vec<Atom>> = match cuts.as_slice() {
        [_, _] => range(&atoms[start + 1..end])?,
        cuts => cuts
            .array_windows()
            .map(|[from, to]| atoms[from + 1..*to].to_vec())
            .collect(),
    };
    let whole = |choice| [&atoms[..start], choice, &atoms[end + 1..]].concat();
    Some(
        choices
            .iter()
            .map(|choice| whole(choice.as_slice()))
            .collect(),
    )
}

/// Finds the first brace that expands: its start, the commas in it, and its end. One pass, however
/// many braces are open.
fn first_that_expands(atoms: &[Atom]) -> Option<Vec<usize>> {
    let mut open: Vec<Vec<usize>> = Vec::new();
    let mut first: Option<Vec<usize>> = None;
    for (at, atom) in atoms.iter().enumerate() {
        match (atom, open.last_mut()) {
            (Atom::Bare('{'), _) => open.push(vec![at]),
            (Atom::Bare(','), Some(cuts)) => cuts.push(at),
            (Atom::Bare('}'), Some(_)) => {
                let mut cuts = open.pop()?;
                cuts.push(at);
                let is_first = first.as_ref().is_none_or(|first| cuts[0] < first[0]);
                let expands = || cuts.len() > 2 || range(&atoms[cuts[0] + 1..at]).is_some();
                if is_first && expands() {
                    first = Some(cuts);
                }
                if open.is_empty() && first.is_some() {
                    break;
                }
            }
            _ => {}
        }
    }
    first
}

/// `a..c` and `1..3`.
fn range(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    if atoms.len() > LONGEST_RANGE {
        return None;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: a word of nothing but open braces is read in one pass, and the brace behind them still expands.
    #[test]
    fn braces_that_nothing_closes_are_passed_over() {
        let expanded = |text: &str| {
            let mut word = Word::default();
            word.push_text(text, false);
            let words = braces(&word).into_iter();
            words.filter_map(|word| word.literal()).collect::<Vec<_>>()
        };
        let open = "{".repeat(60_000);
        assert_eq!(expanded(&open), [open.as_str()]);
        let behind = [format!("{open}a"), format!("{open}b")];
        assert_eq!(expanded(&format!("{open}{{a,b}}")), behind);
        let closed = format!("{open}{}", "}".repeat(60_000));
        assert_eq!(expanded(&closed), [closed.as_str()]);
        assert_eq!(expanded("{{a,b},c}"), ["a", "b", "c"]);
        assert_eq!(expanded("{1..3}{x}"), ["1{x}", "2{x}", "3{x}"]);
    }
}
