//! What is told instead of a command that is stopped: another, written with the operands of the one that is stopped.
//!
//! `{0}` stands for the first operand where there are no more, `{1..}` for all from the second on. What would be done
//! with other operands than those is never told, so that nobody who takes it at its word does harm.

use super::Subject;
use crate::unwrap::value::Arg;

/// Longer than this, in bytes, no alternative is told.
const LONGEST: usize = 200;

/// The command that an alternative stands for; `None` where the one that is stopped has no such operands, or not all
/// of them are known.
pub(crate) fn filled(alternative: &str, subject: &Subject<'_>) -> Option<String> {
    let Some((before, rest)) = alternative.split_once('{') else {
        return Some(alternative.to_owned());
    };
    let Some((place, after)) = rest.split_once('}') else {
        return Some(alternative.to_owned());
    };
    let Ok(from) = place.trim_end_matches("..").parse::<usize>() else {
        return Some(alternative.to_owned());
    };
    // Elsewhere the same words are about something else.
    let call = subject.call;
    let is_moved = ["-C", "--git-dir", "--work-tree"]
        .iter()
        .any(|option| call.name == "git" && subject.has(option));
    if call.elsewhere || is_moved || call.cwd != subject.facts.cwd {
        return None;
    }
    let operands = subject.operands.get(from..)?;
    let is_of_one = !place.ends_with("..");
    if operands.is_empty() || is_of_one && operands.len() > 1 {
        return None;
    }
    let words: Option<Vec<String>> = operands.iter().map(|(word, _)| quoted(word)).collect();
    let filled = format!("{before}{}{after}", words?.join(" "));
    (filled.len() <= LONGEST).then_some(filled)
}

/// A word as a shell takes it for what it is; `None` where it is not known, or would be an option.
fn quoted(word: &Arg) -> Option<String> {
    let text = word.text.as_str();
    if !word.is_known() || text.is_empty() || text.starts_with('-') {
        return None;
    }
    let is_plain = text.chars().all(|letter| {
        letter.is_alphanumeric()
            || "-_=+./:@%,".contains(letter)
            || word.glob && "*?[]".contains(letter)
    });
    Some(if is_plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    })
}
